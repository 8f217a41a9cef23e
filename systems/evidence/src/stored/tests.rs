use std::path::Path;
use std::sync::Arc;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_store::{Durability, NewRow};
use expect_test::{Expect, expect};
use serde_json::value::RawValue;

use super::*;

fn row(tenant: &str, call: u8, kind: Kind) -> Row {
    let principal = Principal {
        issuer: "host".to_owned(),
        subject: format!("agent-of-{tenant}"),
        tenant: tenant.to_owned(),
        kind: PrincipalKind::Service,
        roles: std::collections::BTreeSet::new(),
        name: "Agent".to_owned(),
        client: "agent".to_owned(),
        actors: Vec::new(),
    };
    let call = CallId::from_random([call; 16]);
    let mut row = Row::new(kind, Timestamp(1_700), call, Arc::new(principal), "tools/call");
    row.tool = Some("desk/look".into());
    row.contract_version = Some(3);
    row
}

fn drift(tenant: &str, call: u8, said: &str) -> Row {
    let mut row = row(tenant, call, Kind::Drift);
    row.drift = Some(RawValue::from_string(said.to_owned()).unwrap().into());
    row
}

const SAID: &str = r#"{"event":"changed","why":"definition","severity":"behavioural","before":"sha256:1","after":null,"diff":[1],"more":2}"#;

async fn stored(folder: &Path, rows: Vec<NewRow>) -> Stored {
    let store = Store::open(folder).await.unwrap();
    store.append(&rows, Durability::Group).await.unwrap();
    Stored::new(Arc::new(store))
}

fn written(rows: impl IntoIterator<Item = Row>) -> Vec<NewRow> {
    rows.into_iter().map(|row| row.to_stored(None).unwrap()).collect()
}

fn id(call: u8) -> String {
    CallId::from_random([call; 16]).to_string()
}

fn shown<T: std::fmt::Debug>(read: Result<T, Unavailable>, expected: Expect) {
    let text = match read {
        Ok(read) => format!("{read:?}"),
        Err(Unavailable::Invalid(why)) => format!("invalid: {why}"),
        Err(Unavailable::Store(fault)) => format!("store: {fault}"),
    };
    expected.assert_eq(&text);
}

#[tokio::test]
async fn an_artefact_holds_the_rows_of_one_call_of_one_tenant_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        row("acme", 1, Kind::Intent),
        row("globex", 2, Kind::Intent),
        row("acme", 1, Kind::Outcome),
        row("globex", 1, Kind::Refusal),
        drift("acme", 3, SAID),
    ];
    let bodies = written(rows);
    let stored = stored(folder.path(), bodies.clone()).await;
    let call = stored.artefact("acme", &id(1)).await.unwrap().unwrap();
    let record: Vec<_> = call.record.iter().map(ToString::to_string).collect();
    assert_eq!(record, [bodies[0].body.clone(), bodies[2].body.clone()]);
    assert_eq!((call.kind, call.tool.as_deref(), call.whole), (ArtefactKind::Call, Some("desk/look"), true));
    assert_eq!(stored.artefact("acme", &id(3)).await.unwrap().unwrap().kind, ArtefactKind::Drift);
    assert_eq!(stored.artefact("acme", &id(2)).await.unwrap(), None);
    assert_eq!(stored.artefact("globex", &id(1)).await.unwrap().unwrap().record.len(), 1);
    assert_eq!(stored.artefact("nobody", &id(1)).await.unwrap(), None);
}

#[tokio::test]
async fn of_more_rows_than_an_artefact_has_the_newest_are_given() {
    for (count, given, whole) in [(512_usize, 512_usize, true), (513, 512, false)] {
        let folder = tempfile::tempdir().unwrap();
        let rows = (0..count).map(|number| {
            let mut row = row("acme", 1, Kind::Refusal);
            row.at = Timestamp(i64::try_from(number).unwrap());
            row
        });
        let stored = stored(folder.path(), written(rows)).await;
        let artefact = stored.artefact("acme", &id(1)).await.unwrap().unwrap();
        assert_eq!((artefact.record.len(), artefact.whole), (given, whole));
        assert_eq!(artefact.record[0]["at"], count - given);
    }
}

#[tokio::test]
async fn drift_is_read_from_its_rows_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = drift("acme", 4, SAID);
    other.tool = Some("desk/other".into());
    let mut later = drift("acme", 5, r#"{"severity":null}"#);
    later.outcome = Some("quarantined".into());
    let rows =
        [drift("acme", 3, SAID), other, later, drift("globex", 6, SAID), row("acme", 7, Kind::Outcome)];
    let stored = stored(folder.path(), written(rows)).await;
    shown(
        stored.drift_events("acme", "desk/look", 20).await,
        expect![[
            r#"[DriftEvent { version: "3", id: "c_05050505050505050505050505050505", tool: "desk/look", at: 1700, kind: "quarantined", why: None, severity: None, before: None, after: None, diff: Null }, DriftEvent { version: "3", id: "c_03030303030303030303030303030303", tool: "desk/look", at: 1700, kind: "drift", why: Some("definition"), severity: Some(Behavioural), before: Some("sha256:1"), after: None, diff: Array [Number(1)] }]"#
        ]],
    );
    assert_eq!(stored.drift_events("acme", "desk/look", 1).await.unwrap().len(), 1);
    assert_eq!(stored.drift_events("acme", "desk/none", 20).await.unwrap(), []);
}

/// A row whose columns say `acme`, and whose body is another one's.
fn forged(body: &Row) -> NewRow {
    let mut row = row("acme", 1, body.kind).to_stored(None).unwrap();
    row.body = body.to_stored(None).unwrap().body;
    row
}

#[tokio::test]
async fn a_row_that_says_something_else_than_its_columns_makes_the_evidence_invalid() {
    let cut = |kind| {
        let mut row = row("acme", 1, kind).to_stored(None).unwrap();
        row.body.truncate(row.body.len() - 2);
        row
    };
    for (bad, expected) in [
        (
            cut(Kind::Outcome),
            expect!["invalid: row 2 cannot be read: EOF while parsing a value at line 1 column 274"],
        ),
        (forged(&row("globex", 1, Kind::Outcome)), expect!["invalid: row 2 is of another tenant"]),
        (forged(&row("acme", 2, Kind::Outcome)), expect!["invalid: row 2 is of another call"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let good = row("acme", 1, Kind::Intent).to_stored(None).unwrap();
        let other = row("globex", 9, Kind::Intent).to_stored(None).unwrap();
        let stored = stored(folder.path(), vec![good, bad, other]).await;
        shown(stored.artefact("acme", &id(1)).await, expected);
        // The other tenant's evidence is as good as it was.
        assert!(stored.artefact("globex", &id(9)).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_row_of_drift_that_does_not_say_what_drifted_makes_the_evidence_invalid() {
    let mut silent = row("acme", 1, Kind::Drift);
    let mut unversioned = drift("acme", 1, SAID);
    unversioned.contract_version = None;
    let mut elsewhere = drift("acme", 1, SAID);
    elsewhere.tool = Some("desk/other".into());
    silent.contract_version = Some(1);
    for (bad, expected) in [
        (forged(&silent), expect!["invalid: row 1 does not say what drifted"]),
        (forged(&unversioned), expect!["invalid: row 1 names no version of a contract"]),
        (forged(&elsewhere), expect!["invalid: row 1 is no drift of that tool"]),
        (
            forged(&drift("acme", 1, r#"{"severity":"odd"}"#)),
            expect!["invalid: row 1 says in another form what drifted"],
        ),
        (forged(&drift("globex", 1, SAID)), expect!["invalid: row 1 is of another tenant"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let stored = stored(folder.path(), vec![bad]).await;
        shown(stored.drift_events("acme", "desk/look", 20).await, expected);
    }
}

#[tokio::test]
async fn observations_are_those_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let mut seen = Observation { version: 2, ..Observation::default() };
    for took in [1, 3, 3, 40] {
        seen.add(took == 40, took == 40, took);
    }
    let one = Observation { version: 1, calls: 1, ..Observation::default() };
    store.add_observations(&[("acme", "desk/look", &seen), ("acme", "desk/look", &one)]).await.unwrap();
    let stored = Stored::new(Arc::new(store));
    shown(
        stored.observations("acme", "desk/look").await,
        expect![[
            r#"[Observed { version: "2", calls: 4, failures: 1, violations: 1, median_ms: 5, p95_ms: 40, longest_ms: 40 }, Observed { version: "1", calls: 1, failures: 0, violations: 0, median_ms: 0, p95_ms: 0, longest_ms: 0 }]"#
        ]],
    );
    assert_eq!(stored.observations("globex", "desk/look").await.unwrap(), []);
}

#[test]
fn times_are_told_as_the_step_that_holds_them() {
    let check = |times: &[u64], expected: (u64, u64, u64)| {
        let mut seen = Observation::default();
        times.iter().for_each(|took| seen.add(false, false, *took));
        let Observed { median_ms, p95_ms, longest_ms, .. } = observed(&seen);
        assert_eq!((median_ms, p95_ms, longest_ms), expected, "{times:?}");
    };
    check(&[], (0, 0, 0));
    check(&[7], (7, 7, 7));
    check(&[1, 1, 1, 99], (1, 99, 99));
    check(&[1, 1, 80, 99], (1, 99, 99));
    check(&[1, 80, 80, 99], (99, 99, 99));
    check(&[90_000, 100_000], (100_000, 100_000, 100_000));
    let mut many = vec![3; 95];
    many.extend([400; 5]);
    check(&many, (5, 5, 400));
    many.push(400);
    check(&many, (5, 400, 400));
}
