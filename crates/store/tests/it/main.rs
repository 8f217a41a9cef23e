//! The laws of the store: redeemed once, asked once, denied for good, opened by one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod contracts;

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_approval::{ApprovalId, Binding, CallId, Decision, Record, RecordState, Timestamp, Verdict};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_store::{ApprovalFilter, AskOutcome, Durability, EvidenceFilter, NewRow, Store, StoreFault};
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

async fn ask(store: &Store, number: u8, arguments: &str, now: i64) -> AskOutcome {
    let record = Record::ask(
        ApprovalId::from_random([number; 16]),
        binding(arguments),
        CallId::from_random([9; 16]),
        Timestamp(now),
        100,
    );
    store.ask(record, b"sealed", row("c", "approval_asked"), Timestamp(now), 3).await.unwrap()
}

async fn decide(store: &Store, record: &Record, verdict: Verdict, now: i64) -> Result<Record, StoreFault> {
    let decision =
        Decision { verdict, by: principal("maya", "main"), note: String::new(), at: Timestamp(now) };
    store.decide(record, decision, 100, row("d", "approval_decided")).await
}

fn asked(outcome: AskOutcome) -> Record {
    match outcome {
        AskOutcome::Asked(record) => record,
        other => panic!("not asked: {other:?}"),
    }
}

#[tokio::test]
async fn fifty_racing_redemptions_take_one_approval_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(folder.path()).await.unwrap());
    let pending = asked(ask(&store, 1, "sha256:a", 10).await);
    let approved = decide(&store, &pending, Verdict::Approve, 20).await.unwrap();
    let racing = (0..50_u8).map(|number| {
        let (store, approved) = (store.clone(), approved.clone());
        tokio::spawn(async move {
            let redemption = approved.redeem(&binding("sha256:a"), Timestamp(30)).unwrap();
            let call = CallId::from_random([number; 16]);
            store.redeem(redemption, &call, row(call.as_str(), "intent")).await
        })
    });
    let mut won = 0;
    for task in racing.collect::<Vec<_>>() {
        match task.await.unwrap() {
            Ok(redeemed) => {
                assert_eq!(redeemed.into_parts().1.by.subject, "maya");
                won += 1;
            }
            Err(StoreFault::Spent { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    let filter = EvidenceFilter {
        tenant: "main".into(),
        kind: Some("intent".into()),
        limit: 100,
        ..Default::default()
    };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 1, "an intent without a redemption");
}

#[tokio::test]
async fn one_binding_has_one_open_approval() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let first = asked(ask(&store, 1, "sha256:a", 10).await);
    assert!(matches!(ask(&store, 2, "sha256:a", 20).await, AskOutcome::Open(open) if open.id == first.id));
    assert!(matches!(ask(&store, 3, "sha256:b", 20).await, AskOutcome::Asked(_)), "other arguments");
    // Once it has run out, the next one is asked for, and the old one says so.
    let next = asked(ask(&store, 4, "sha256:a", 110).await);
    assert_ne!(next.id, first.id);
    let (old, _) = store.approval("main", first.id.as_str()).await.unwrap();
    assert_eq!(old.state, RecordState::Expired);
    let (_, arguments) = store.approval("main", first.id.as_str()).await.unwrap();
    assert!(arguments.is_empty(), "the arguments of a call that ran out are kept");
}

#[tokio::test]
async fn a_denial_holds_against_another_client_and_another_policy() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let pending = asked(ask(&store, 1, "sha256:a", 10).await);
    decide(&store, &pending, Verdict::Deny, 20).await.unwrap();
    let (_, arguments) = store.approval("main", pending.id.as_str()).await.unwrap();
    assert!(arguments.is_empty(), "the arguments of a denied call are kept");
    let mut other = binding("sha256:a");
    other.caller.client = "another".into();
    other.policy = "sha256:q".into();
    other.contract = "sha256:d".into();
    let record = Record::ask(
        ApprovalId::from_random([2; 16]),
        other,
        CallId::from_random([9; 16]),
        Timestamp(1_000_000),
        100,
    );
    let outcome = store.ask(record, b"", row("c", "approval_asked"), Timestamp(1_000_000), 3).await.unwrap();
    assert!(matches!(outcome, AskOutcome::Denied(denied) if denied.id == pending.id));
}

#[tokio::test]
async fn a_decision_is_taken_once_and_its_row_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let pending = asked(ask(&store, 1, "sha256:a", 10).await);
    decide(&store, &pending, Verdict::Approve, 20).await.unwrap();
    let twice = decide(&store, &pending, Verdict::Deny, 21).await;
    assert!(matches!(twice, Err(StoreFault::Decide(_))), "{twice:?}");
    let filter = EvidenceFilter {
        tenant: "main".into(),
        kind: Some("approval_decided".into()),
        limit: 9,
        ..Default::default()
    };
    assert_eq!(store.evidence(&filter).await.unwrap().len(), 1);
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
async fn states_are_listed_as_the_clock_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    asked(ask(&store, 1, "sha256:a", 10).await);
    let count = async |state, now| {
        let filter = ApprovalFilter { tenant: "main".into(), state: Some(state), before: None, limit: 9 };
        store.approvals(&filter, Timestamp(now)).await.unwrap().len()
    };
    assert_eq!((count(RecordState::Pending, 109).await, count(RecordState::Expired, 109).await), (1, 0));
    assert_eq!((count(RecordState::Pending, 110).await, count(RecordState::Expired, 110).await), (0, 1));
}

#[tokio::test]
async fn a_list_goes_on_before_the_oldest_of_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    // Two of one millisecond, which the page parts.
    let mut ids = Vec::new();
    for (number, at) in [(1, 10), (2, 11), (3, 11)] {
        ids.push(asked(ask(&store, number, &format!("sha256:{number}"), at).await).id.as_str().to_owned());
    }
    let mut filter = ApprovalFilter { tenant: "main".into(), state: None, before: None, limit: 1 };
    let mut read = Vec::new();
    loop {
        let page = store.approvals(&filter, Timestamp(20)).await.unwrap();
        let Some((oldest, _)) = page.first() else { break };
        filter.before = Some(oldest.id.as_str().to_owned());
        read.extend(page.iter().rev().map(|(record, _)| record.id.as_str().to_owned()));
    }
    ids.sort();
    read.sort();
    assert_eq!(read, ids, "each once");
    filter.tenant = "other".into();
    assert!(store.approvals(&filter, Timestamp(20)).await.unwrap().is_empty());
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
async fn a_principal_has_so_many_pending_approvals_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    for number in 1..=3 {
        asked(ask(&store, number, &format!("sha256:{number}"), 10).await);
    }
    assert!(matches!(ask(&store, 4, "sha256:4", 20).await, AskOutcome::TooMany));
    assert!(
        matches!(ask(&store, 5, "sha256:3", 20).await, AskOutcome::Open(_)),
        "one that is there is found"
    );
    asked(ask(&store, 6, "sha256:4", 200).await);
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
