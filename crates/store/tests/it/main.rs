//! The laws of the store: redeemed once, asked once, denied for good, opened by one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod approvals;
mod authorization;
mod contracts;
mod events;

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_approval::{ApprovalId, Binding, CallId, Decision, Record, RecordState, Timestamp, Verdict};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_store::{ApprovalFilter, AskOutcome, Durability, EvidenceFilter, NewRow, Store, StoreFault};
use approvals::{ask, asked};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

async fn opened() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::open(folder.path()).await.unwrap(), folder)
}

fn principal(subject: &str, tenant: &str) -> Principal {
    Principal {
        issuer: "config".into(),
        subject: subject.into(),
        tenant: tenant.into(),
        kind: PrincipalKind::Person,
        roles: BTreeSet::new(),
        name: subject.into(),
        client: "cli".into(),
        actors: Vec::new(),
    }
}

fn binding(arguments: &str) -> Binding {
    Binding {
        caller: principal("agent", "main"),
        upstream: "parts http://127.0.0.1:1/mcp".into(),
        tool: "parts/order".into(),
        contract: "sha256:c".into(),
        arguments: arguments.into(),
        registry: "sha256:r".into(),
        policy: "sha256:p".into(),
    }
}

fn row(call: &str, kind: &'static str) -> NewRow {
    of_round(call, 0, kind)
}

fn of_round(call: &str, round: u32, kind: &'static str) -> NewRow {
    NewRow {
        at: 1,
        tenant: "main".into(),
        call: call.into(),
        round,
        kind,
        tool: Some("parts/order".into()),
        digest_key: Some([1; 16]),
        body: format!(r#"{{"round":{round}}}"#),
    }
}

#[tokio::test]
async fn nothing_of_another_tenant_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let pending = asked(ask(&store, 1, "sha256:a", 10).await);
    assert!(matches!(store.approval("other", pending.id.as_str()).await, Err(StoreFault::NoApproval { .. })));
    let others = ApprovalFilter { tenant: "other".into(), state: None, before: None, limit: 9 };
    assert!(store.approvals(&others, Timestamp(20)).await.unwrap().is_empty());
    let filter = EvidenceFilter { tenant: "other".into(), limit: 9, ..Default::default() };
    assert!(store.evidence(&filter).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_round_is_spent_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    store.spend_round("c_1", 1, row("c_1", "intent")).await.unwrap();
    let again = store.spend_round("c_1", 1, row("c_1", "intent")).await;
    assert!(matches!(again, Err(StoreFault::RoundSpent { round: 1, .. })), "{again:?}");
    store.spend_round("c_1", 2, row("c_1", "intent")).await.unwrap();
}

#[tokio::test]
async fn intents_without_an_outcome_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let together = [
        row("c_done", "intent"),
        row("c_done", "outcome"),
        row("c_open", "intent"),
        row("c_later", "intent"),
        row("c_round", "intent"),
        row("c_round", "outcome"),
        of_round("c_round", 1, "intent"),
        row("c_refused", "refusal"),
    ];
    store.append(&together, Durability::Group).await.unwrap();
    let open = async || store.open_intents().await.unwrap().iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!(open().await, [3, 4, 7]);
    store.append(&[row("c_later", "outcome")], Durability::Group).await.unwrap();
    assert_eq!(open().await, [3, 7]);
    // More than the largest statement takes.
    let many: Vec<_> = (0..150).map(|number| row(&format!("c_{number}"), "intent")).collect();
    store.append(&many, Durability::Group).await.unwrap();
    assert_eq!(open().await.len(), 152);
    store.append(&[of_round("c_round", 1, "outcome")], Durability::Group).await.unwrap();
    assert_eq!(open().await.len(), 151);
}

#[tokio::test]
async fn intents_of_a_repeated_read_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let append = async |rows: &[NewRow]| store.append(rows, Durability::Group).await.unwrap();
    let open = async || store.open_intents().await.unwrap().iter().map(|row| row.seq).collect::<Vec<_>>();
    let (intent, outcome) = (|| row("c", "intent"), || row("c", "outcome"));
    append(&[intent()]).await;
    append(&[intent()]).await;
    append(&[outcome()]).await;
    assert_eq!(open().await, [2], "one of two has ended");
    append(&[outcome(), intent(), outcome()]).await;
    assert_eq!(open().await, [0; 0], "the last of three has ended with the second");
    append(&[outcome()]).await;
    append(&[intent()]).await;
    assert_eq!(open().await.len(), 1, "an outcome too many is not kept for later");
}

#[tokio::test]
async fn a_store_of_the_first_form_keeps_its_rows_and_its_open_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aldgate.sqlite");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut old = SqliteConnection::connect_with(&options).await.unwrap();
    let script = include_str!("../../migrations/0001_start.sql");
    sqlx::raw_sql(script).execute(&mut old).await.unwrap();
    let hash =
        script.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let set = format!("PRAGMA user_version = 1; PRAGMA application_id = {}", hash & 0x7fff_ffff);
    sqlx::raw_sql(sqlx::AssertSqlSafe(set)).execute(&mut old).await.unwrap();
    let rows = [
        ("c_done", "intent", r#"{"round":0}"#),
        ("c_done", "outcome", r#"{"round":0}"#),
        ("c_open", "intent", r#"{"round":2}"#),
        // Begun twice, and of a form without a round.
        ("c_twice", "intent", "{}"),
        ("c_twice", "intent", "{}"),
    ];
    for (call, kind, body) in rows {
        sqlx::query(
            "INSERT INTO evidence (at, tenant, call, kind, principal, body) VALUES (1, 'main', ?, ?, 'p', ?)",
        )
        .bind(call)
        .bind(kind)
        .bind(body)
        .execute(&mut old)
        .await
        .unwrap();
    }
    old.close().await.unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let open: Vec<_> = store.open_intents().await.unwrap().iter().map(|row| row.seq).collect();
    assert_eq!(open, [3, 4, 5]);
    let ended = [of_round("c_open", 2, "outcome"), row("c_twice", "outcome"), row("c_twice", "outcome")];
    store.append(&ended, Durability::Group).await.unwrap();
    assert!(store.open_intents().await.unwrap().is_empty());
    let filter = EvidenceFilter { tenant: "main".into(), limit: 10, ..Default::default() };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 8);
}

#[tokio::test]
async fn a_second_gateway_is_kept_out_and_what_was_written_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    store.append(&[row("c", "intent")], Durability::Full).await.unwrap();
    assert!(matches!(Store::open(folder.path()).await, Err(StoreFault::InUse { .. })));
    drop(store);
    let store = Store::open(folder.path()).await.unwrap();
    let filter = EvidenceFilter { tenant: "main".into(), limit: 9, ..Default::default() };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 1);
}

#[tokio::test]
async fn pages_go_backwards_and_each_is_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let rows: Vec<_> = (0..250).map(|_| row("c", "answer")).collect();
    store.append(&rows, Durability::Group).await.unwrap();
    let mut filter = EvidenceFilter { tenant: "main".into(), limit: 100, ..Default::default() };
    let mut seen = Vec::new();
    loop {
        let page = store.evidence(&filter).await.unwrap();
        let Some(first) = page.first() else { break };
        assert!(page.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
        filter.before = Some(first.seq);
        seen.extend(page.iter().map(|row| row.seq));
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=250).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_store_of_another_form_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).await.unwrap());
    drop(Store::open(folder.path()).await.unwrap());
    let file = format!("sqlite:{}", folder.path().join("aldgate.sqlite").display());
    for (pragma, later) in [("PRAGMA application_id = 7", false), ("PRAGMA user_version = 99", true)] {
        let mut connection = sqlx::SqliteConnection::connect(&file).await.unwrap();
        sqlx::raw_sql(pragma).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let refused = Store::open(folder.path()).await.err().unwrap();
        assert_eq!(matches!(refused, StoreFault::LaterVersion { .. }), later, "{refused}");
        assert_eq!(matches!(refused, StoreFault::OtherForm), !later, "{refused}");
    }
}

/// Runs a statement on the store's file, past the store.
async fn behind_its_back(folder: &std::path::Path, statement: &'static str) {
    let file = format!("sqlite:{}", folder.join("aldgate.sqlite").display());
    let mut connection = sqlx::SqliteConnection::connect(&file).await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_transaction_that_the_database_ended_by_itself_is_not_taken_for_an_open_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    store.append(&[row("c_before", "intent")], Durability::Full).await.unwrap();
    // As on a full disk, the database rolls the whole transaction back on its own.
    behind_its_back(
        folder.path(),
        "CREATE TRIGGER full BEFORE INSERT ON evidence BEGIN SELECT RAISE(ROLLBACK, 'no room'); END",
    )
    .await;
    for _ in 0..3 {
        assert!(store.append(&[row("c_lost", "intent")], Durability::Full).await.is_err());
        assert!(store.spend_round("c_lost", 1, row("c_lost", "intent")).await.is_err());
        let record = Record::ask(
            ApprovalId::from_random([1; 16]),
            binding("sha256:a"),
            CallId::from_random([9; 16]),
            Timestamp(10),
            100,
        );
        assert!(store.ask(record, b"", row("c_lost", "approval_asked"), Timestamp(10), 3).await.is_err());
        assert!(store.is_failing());
        assert!(store.ping().await.is_err() && store.is_failing());
    }
    behind_its_back(folder.path(), "DROP TRIGGER full").await;
    store.ping().await.expect("it recovers though nobody writes");
    assert!(!store.is_failing());
    store.append(&[row("c_after", "intent")], Durability::Group).await.unwrap();
    store.ping().await.unwrap();
    store.spend_round("c_lost", 1, row("c_after", "intent")).await.unwrap();
    asked(ask(&store, 2, "sha256:a", 20).await);
    drop(store);
    let store = Store::open(folder.path()).await.unwrap();
    let filter = EvidenceFilter { tenant: "main".into(), limit: 9, ..Default::default() };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 4, "rows that were committed are there");
}

#[tokio::test]
async fn a_write_that_is_given_up_leaves_no_transaction_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    for microseconds in 0..200 {
        let write = [row("c_given_up", "intent")];
        let write = store.append(&write, Durability::Full);
        // Whether it came through before it was given up does not matter.
        let _ = tokio::time::timeout(std::time::Duration::from_micros(microseconds * 5), write).await;
    }
    store.append(&[row("c_last", "intent")], Durability::Full).await.unwrap();
    drop(store);
    let store = Store::open(folder.path()).await.unwrap();
    let filter =
        EvidenceFilter { tenant: "main".into(), call: Some("c_last".into()), limit: 9, ..Default::default() };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 1, "the last row is in nobody's transaction");
}
