use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_store::{Durability, EvidenceFilter, Store};

use super::{Recorder, close_open_intents};
use crate::{Digests, Kind, Row};

fn row(kind: Kind, call: u8) -> Row {
    let principal = Principal {
        issuer: "config".into(),
        subject: "agent".into(),
        tenant: "main".into(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::new(),
        name: "agent".into(),
        client: "agent".into(),
        actors: Vec::new(),
    };
    Row::new(kind, Timestamp(7), CallId::from_random([call; 16]), Arc::new(principal), "tools/call")
}

async fn bodies(store: &Store) -> Vec<Row> {
    let filter = EvidenceFilter { tenant: "main".into(), limit: 1000, ..Default::default() };
    let rows = store.evidence(&filter).await.expect("rows");
    rows.iter().map(|row| serde_json::from_str(&row.body).expect("a row")).collect()
}

#[tokio::test]
async fn a_recorded_row_is_committed_together_with_what_was_queued_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).await.expect("a store"));
    let (recorder, _task) = Recorder::start(store.clone());
    let mut seen = recorder.watch();
    let digests = Digests::new([3; 16]);
    let intent = recorder.queue(&row(Kind::Intent, 1), Some(&digests)).expect("queued");
    recorder.record(&row(Kind::Outcome, 1), Some(&digests), Durability::Group).await.expect("recorded");
    intent.committed().await.expect("committed");
    let kinds: Vec<_> = bodies(&store).await.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [Kind::Intent, Kind::Outcome]);
    assert_eq!(seen.recv().await.expect("a row").kind, Kind::Intent);
    assert_eq!(seen.recv().await.expect("a row").kind, Kind::Outcome);
}

#[tokio::test]
async fn a_queued_row_goes_with_the_next_of_its_call_or_soon_by_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).await.expect("a store"));
    let (recorder, _task) = Recorder::start(store.clone());
    let queue = |call| recorder.queue(&row(Kind::Intent, call), None).expect("queued");
    let (one, two, again) = (queue(1), queue(2), queue(2));
    recorder.record(&row(Kind::Outcome, 2), None, Durability::Group).await.expect("recorded");
    two.committed().await.expect("committed");
    again.committed().await.expect("the same call, begun twice");
    // Nothing more comes of the first call.
    one.committed().await.expect("committed by itself");
    let calls: Vec<_> = bodies(&store).await.iter().map(|row| (row.kind, row.call.clone())).collect();
    let of = |kind, call| (kind, CallId::from_random([call; 16]));
    assert_eq!(calls, [of(Kind::Intent, 2), of(Kind::Intent, 2), of(Kind::Outcome, 2), of(Kind::Intent, 1),]);
    assert_eq!(store.open_intents().await.expect("read").len(), 2, "one of each call has no outcome");
}

#[tokio::test]
async fn the_last_rows_are_written_when_the_recorder_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).await.expect("a store"));
    let (recorder, task) = Recorder::start(store.clone());
    for call in 0..200 {
        drop(recorder.queue(&row(Kind::Answer, call), None).expect("queued"));
    }
    drop(recorder);
    task.await.expect("ended");
    assert_eq!(bodies(&store).await.len(), 200);
}

#[tokio::test]
async fn a_full_queue_is_told_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).await.expect("a store"));
    let (recorder, _task) = Recorder::start(store);
    // The task that commits gets no turn before the queue is full: this test has one thread and does not wait.
    let refused = (0..10_000).find_map(|_| recorder.queue(&row(Kind::Answer, 1), None).err()).expect("full");
    assert!(matches!(refused, super::RecordFault::Full));
}

#[tokio::test]
async fn an_intent_that_a_stopped_gateway_left_is_closed_as_unknown_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).await.expect("a store");
    let rows = [row(Kind::Intent, 1), row(Kind::Outcome, 1), row(Kind::Intent, 2)];
    let rows: Vec<_> = rows.iter().map(|row| row.to_stored(None).expect("a row")).collect();
    store.append(&rows, Durability::Full).await.expect("appended");
    assert_eq!(close_open_intents(&store, Timestamp(99)).await.expect("closed"), 1);
    assert_eq!(close_open_intents(&store, Timestamp(99)).await.expect("closed"), 0);
    let last = bodies(&store).await.pop().expect("a row");
    assert_eq!((last.kind, last.outcome.as_deref()), (Kind::Outcome, Some("unknown")));
    assert_eq!(last.call, CallId::from_random([2; 16]));
}

#[test]
fn digests_under_another_key_say_nothing_of_each_other() {
    let (one, two) = (Digests::new([1; 16]), Digests::new([2; 16]));
    assert_eq!(one.of(b"{}"), one.of(b"{}"));
    assert_ne!(one.of(b"{}"), two.of(b"{}"));
    assert_ne!(one.of(b"{}"), one.of(b"{ }"));
}

#[tokio::test]
async fn ended_calls_are_added_up_by_tool_and_version_and_kept_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).await.expect("a store"));
    let (recorder, task) = Recorder::start(store.clone());
    for (call, outcome, version, violation) in [
        (1, "complete", Some(2), false),
        (2, "failed", Some(2), true),
        (3, "tool_error", Some(1), false),
        (4, "input_required", Some(2), false),
        (5, "complete", None, false),
    ] {
        let ended = Row {
            tool: Some("up/t".into()),
            outcome: Some(outcome.into()),
            contract_version: version,
            violation,
            took_ms: Some(3),
            ..row(Kind::Outcome, call)
        };
        recorder.record(&ended, None, Durability::Group).await.expect("recorded");
    }
    let asked = Row { tool: Some("up/t".into()), contract_version: Some(2), ..row(Kind::Intent, 6) };
    recorder.record(&asked, None, Durability::Group).await.expect("recorded");
    drop(recorder);
    task.await.expect("ended");
    let seen = store.observations("main", "up/t").await.expect("observations");
    let counts: Vec<_> = seen.iter().map(|o| (o.version, o.calls, o.failures, o.violations)).collect();
    assert_eq!(counts, [(2, 2, 1, 1), (1, 1, 1, 0)]);
}
