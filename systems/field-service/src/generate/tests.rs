use sha2::{Digest as _, Sha256};

use super::Plan;
use crate::content::Content;
use crate::store::Store;

const SEED: u64 = 20_031;

async fn generated(tickets: usize, seed: u64) -> Store {
    let content = Content::load().unwrap();
    Store::open(None, Plan { tickets, seed }, &content, &mut |_| {}).await.unwrap()
}

async fn number(store: &Store, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(store.pool()).await.unwrap()
}

/// A digest of the rows of a query, each as one text.
async fn digest(store: &Store, query: &'static str) -> String {
    let rows: Vec<String> = sqlx::query_scalar(query).fetch_all(store.pool()).await.unwrap();
    assert!(!rows.is_empty());
    hex::encode(Sha256::digest(rows.join("\n").as_bytes()))
}

const TICKETS: &str = "SELECT id || status || model_variant || serial_no || site_id || opened_at || symptom || \
     customer_text || engineer || ifnull(part_no, '') || ifnull(repair_minutes, 0) FROM tickets WHERE ord < 60 ORDER BY ord";
const NOTES: &str =
    "SELECT ticket_ord || written_at || author || note FROM notes WHERE ticket_ord < 60 ORDER BY id";
const PARTS: &str = "SELECT part_no || price_cents || stock || lead_time_days FROM parts ORDER BY part_no";
const CUSTOMERS: &str = "SELECT name || account_no || payment_iban || contract_no FROM customers ORDER BY id";

#[tokio::test]
async fn a_seed_always_gives_the_same_records() {
    let (one, two, other) = (generated(300, 1).await, generated(300, 1).await, generated(300, 2).await);
    for query in [TICKETS, NOTES, PARTS, CUSTOMERS] {
        let first = digest(&one, query).await;
        assert_eq!(first, digest(&two, query).await);
        assert_ne!(first, digest(&other, query).await);
    }
}

#[tokio::test]
async fn a_record_does_not_depend_on_how_many_there_are() {
    let (small, large) = (generated(500, SEED).await, generated(3000, SEED).await);
    for query in [TICKETS, NOTES, PARTS, CUSTOMERS] {
        assert_eq!(digest(&small, query).await, digest(&large, query).await);
    }
}

#[tokio::test]
async fn the_demonstrations_ticket_is_open_in_a_store_of_any_size() {
    for (tickets, seed) in [(100, SEED), (100, 7), (2000, SEED)] {
        let store = generated(tickets, seed).await;
        let ticket = store.ticket("SR-20031").await.unwrap().unwrap();
        assert_eq!(ticket.status, crate::store::TicketStatus::Open);
        assert_eq!(ticket.model_variant, "AC-250-S");
        let history = store.newest_closed("AC-250-S", Some("F-101"), 25).await.unwrap();
        assert!(history.len() >= 4, "{}", history.len());
        assert!(history.iter().all(|ticket| ticket.part_no == "AC250-TV-S1"));
    }
}

#[tokio::test]
async fn records_refer_to_records_that_exist() {
    let store = generated(2000, SEED).await;
    assert_eq!(number(&store, "SELECT count(*) FROM pragma_foreign_key_check").await, 0);
    assert_eq!(number(&store, "SELECT count(*) FROM tickets").await, 2000);
    assert!(number(&store, "SELECT count(*) FROM notes").await >= 20_000, "ten notes for a ticket");
    let missing = "SELECT count(*) FROM tickets t WHERE t.part_no IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM fitment f WHERE f.part_no = t.part_no AND f.model_variant = t.model_variant)";
    assert_eq!(number(&store, missing).await, 0, "what was fitted fits");
    let kinds = "SELECT count(DISTINCT model_variant || fault_code) FROM tickets WHERE status = 'closed'";
    assert_eq!(number(&store, kinds).await, 18 * 25, "each fault of each machine has a history");
    let dated = "SELECT count(*) FROM tickets WHERE closed_at <= opened_at OR (status = 'open') != (closed_at IS NULL)";
    assert_eq!(number(&store, dated).await, 0);
    let newest_first =
        "SELECT count(*) FROM tickets a JOIN tickets b ON b.ord = a.ord + 1 WHERE b.opened_at > a.opened_at";
    assert_eq!(number(&store, newest_first).await, 0);
}

#[tokio::test]
async fn a_few_customer_texts_carry_instructions() {
    let store = generated(2000, SEED).await;
    let aimed = "SELECT count(*) FROM tickets WHERE customer_text LIKE '%nore your previous instructions%' \
         OR customer_text LIKE '%Note to the assistant%' OR customer_text LIKE '%SYSTEM:%' OR customer_text LIKE '%AI agent%'";
    let aimed = number(&store, aimed).await;
    assert!((5..100).contains(&aimed), "{aimed}");
}

#[tokio::test]
async fn numbers_of_tickets_wrap_at_five_digits() {
    let store = generated(21_000, SEED).await;
    for (id, exists) in [("SR-20099", true), ("SR-00000", true), ("SR-99999", true), ("SR-20100", false)] {
        assert_eq!(store.ticket(id).await.unwrap().is_some(), exists, "{id}");
    }
    let distinct = "SELECT count(DISTINCT id) FROM tickets WHERE length(id) = 8";
    assert_eq!(number(&store, distinct).await, 21_000);
}

/// What holds for each ticket holds for 100,000 of them, which then have a million notes. That memory stays bounded is
/// the batches' test.
#[tokio::test]
async fn a_ticket_has_ten_notes_on_average() {
    let store = generated(20_000, SEED).await;
    assert_eq!(number(&store, "SELECT count(*) FROM tickets").await, 20_000);
    let notes = number(&store, "SELECT count(*) FROM notes").await;
    assert!((200_000..=240_000).contains(&notes), "{notes}");
    let most = "SELECT max(n) FROM (SELECT count(*) AS n FROM notes GROUP BY ticket_ord)";
    assert_eq!(number(&store, most).await, 12);
}

#[tokio::test]
async fn every_manual_figure_is_filled_in() {
    let store = generated(100, SEED).await;
    assert_eq!(
        number(&store, "SELECT count(*) FROM passages WHERE passage LIKE '%{%' OR passage LIKE '%}%'").await,
        0
    );
    assert_eq!(number(&store, "SELECT count(DISTINCT document) FROM passages").await, 12);
    assert_eq!(number(&store, "SELECT count(DISTINCT revision) FROM passages").await, 2);
    let pages =
        "SELECT count(*) FROM (SELECT 1 FROM passages GROUP BY document, revision, page HAVING count(*) > 1)";
    assert_eq!(number(&store, pages).await, 0);
}

#[test]
fn each_fault_has_many_phrasings_and_a_part_that_fixes_it() {
    let content = Content::load().unwrap();
    assert_eq!(content.faults.len(), 25);
    for fault in &content.faults {
        assert!(fault.phrases.len() >= 10, "{}", fault.code);
        assert!(content.parts.iter().any(|part| part.category == fault.category), "{}", fault.code);
        assert!(fault.minutes[0] < fault.minutes[1]);
    }
    let contract = crate::contracts::server(".parts").unwrap();
    let find = contract.tools.iter().find(|tool| tool.tool.name == "find_part").unwrap();
    let categories = find.tool.input_schema["properties"]["category"]["enum"].as_array().unwrap().clone();
    let ours: Vec<&str> = content.parts.iter().map(|part| part.category.as_str()).collect();
    assert_eq!(categories, ours, "the catalogue has exactly the categories of the contract");
}
