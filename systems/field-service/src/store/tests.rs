use crate::content::Content;
use crate::generate::Plan;

use super::{NewOrder, Posted, Spent, Store, locate, rfc3339};

async fn store() -> Store {
    let content = Content::load().unwrap();
    Store::open(None, Plan { tickets: 100, seed: 1 }, &content, &mut |_| {}).await.unwrap()
}

fn order(ticket_id: &str) -> NewOrder<'_> {
    NewOrder {
        part_no: "AC250-TV-S1",
        quantity: 1,
        unit_price_cents: 100,
        ticket_id,
        account_no: "ACC-1",
        justification: "",
        approver: "R",
        approver_note: "",
    }
}

#[tokio::test]
async fn one_decision_gives_at_most_one_order() {
    let store = store().await;
    let first = store.place_order("n1", &order("SR-20031"), 1).await.unwrap();
    assert!(matches!(first, Spent::Now(_)));
    assert_eq!(store.place_order("n1", &order("SR-20031"), 2).await.unwrap(), Spent::Before);
    assert_eq!(store.refuse_order("n1", "deny", 2).await.unwrap(), Spent::Before);
    assert_eq!(store.refuse_order("n2", "deny", 2).await.unwrap(), Spent::Now(()));
    assert_eq!(store.place_order("n2", &order("SR-20031"), 3).await.unwrap(), Spent::Before);
    let orders: i64 =
        sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(store.pool()).await.unwrap();
    assert_eq!(orders, 1);
}

#[tokio::test]
async fn an_order_that_cannot_be_written_spends_nothing() {
    let store = store().await;
    let closed: String = sqlx::query_scalar("SELECT id FROM tickets WHERE status = 'closed' LIMIT 1")
        .fetch_one(store.pool())
        .await
        .unwrap();
    assert_eq!(store.place_order("n", &order(&closed), 1).await.unwrap(), Spent::TicketClosed);
    assert!(!store.is_spent("n").await.unwrap());
    let unknown = NewOrder { part_no: "NOPE", ..order("SR-20031") };
    assert!(store.place_order("n", &unknown, 1).await.is_err(), "the part must exist");
    assert!(!store.is_spent("n").await.unwrap());
}

#[tokio::test]
async fn notes_count_up_and_only_on_open_tickets() {
    let store = store().await;
    let Posted::Appended { notes, written_at, .. } =
        store.append_note("SR-20031", "a", "x", 0).await.unwrap()
    else {
        panic!("not appended");
    };
    assert_eq!(written_at, "1970-01-01T00:00:00Z");
    let ticket = store.ticket("SR-20031").await.unwrap().unwrap();
    assert_eq!(ticket.notes.len() as i64, notes);
    assert_eq!(store.append_note("SR-99999", "a", "x", 0).await.unwrap(), Posted::Unknown);
}

#[tokio::test]
async fn tables_of_another_version_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    let (content, plan) = (Content::load().unwrap(), Plan { tickets: 100, seed: 1 });
    let store = Store::open(Some(&file), plan, &content, &mut |_| {}).await.unwrap();
    sqlx::query("PRAGMA user_version = 9").execute(store.pool()).await.unwrap();
    store.close().await;
    let fault = Store::open(Some(&file), plan, &content, &mut |_| {}).await.unwrap_err();
    assert!(
        fault.to_string().starts_with("the field-service store has tables of version `9`, expected 1;"),
        "{fault}"
    );
}

#[test]
fn a_place_is_a_file_or_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str| locate(Some(&folder.path().join(path))).unwrap().0;
    assert_eq!(file("x.db"), folder.path().join("x.db"));
    assert_eq!(file("new"), folder.path().join("new/field-service.sqlite"));
    assert_eq!(file("a/b.sqlite"), folder.path().join("a/b.sqlite"));
    assert!(folder.path().join("a").is_dir());
    assert_eq!(file(""), folder.path().join("field-service.sqlite"));
    let (path, temporary) = locate(None).unwrap();
    assert!(path.starts_with(temporary.unwrap().path()));
}

#[test]
fn moments_are_rfc_3339_in_utc() {
    assert_eq!(rfc3339(1_795_795_200), "2026-11-27T16:00:00Z");
}

#[tokio::test]
async fn nonces_differ() {
    let store = store().await;
    let (one, two) = (store.nonce().await.unwrap(), store.nonce().await.unwrap());
    assert_eq!(one.len(), 32);
    assert_ne!(one, two);
}
