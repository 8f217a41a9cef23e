//! What is kept of contracts: drifts with their evidence, versions, violations, observations.

use aldgate_store::{Drifted, EvidenceFilter, NewRow, Observation, PinnedVersion, Store, StoreFault};

use crate::opened;

fn drift(name: &str, pinned: &str, body: &str) -> Drifted {
    Drifted { kind: "tool".into(), name: name.into(), pinned: pinned.into(), body: body.into() }
}

fn event(tenant: &str, tool: &str, body: &str) -> NewRow {
    NewRow {
        tenant: tenant.into(),
        tool: Some(tool.into()),
        kind: "drift",
        call: "d1".into(),
        body: body.into(),
        ..NewRow::default()
    }
}

#[tokio::test]
async fn a_drift_and_its_evidence_are_one_transaction_and_outlive_the_gateway() {
    let (store, folder) = opened().await;
    let rows = [event("a", "up/t", "1"), event("b", "up/t", "2"), event("a", "up/other", "3")];
    store.keep_drifts("up", &[drift("t", "p1", "x")], &rows).await.unwrap();
    store.keep_drifts("up", &[drift("t", "p2", "y"), drift("u", "p1", "z")], &[]).await.unwrap();
    store.keep_drifts("elsewhere", &[drift("t", "p1", "w")], &[]).await.unwrap();
    drop(store);
    let store = Store::open(folder.path()).await.unwrap();
    store.keep_drifts("up", &[drift("t", "p2", "v")], &[]).await.unwrap();
    let kept = [drift("t", "p1", "x"), drift("t", "p2", "v"), drift("u", "p1", "z")];
    assert_eq!(store.drifts("up").await.unwrap(), kept, "each pin has a row of its own");
    let found = store.drift_events("a", "up/t", 10).await.unwrap();
    assert_eq!(found.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["1"]);
    assert!(store.drift_events("c", "up/t", 10).await.unwrap().is_empty());
    for body in ["4", "5"] {
        store.keep_drifts("up", &[], &[event("a", "up/t", body)]).await.unwrap();
    }
    let found = store.drift_events("a", "up/t", 2).await.unwrap();
    assert_eq!(found.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["5", "4"]);
}

#[tokio::test]
async fn a_version_that_was_in_use_is_never_another_one() {
    let (store, _folder) = opened().await;
    let pinned = |version, digest: &str| PinnedVersion {
        kind: "tool".into(),
        name: "t".into(),
        version,
        digest: digest.into(),
    };
    store.note_versions("up", &[pinned(1, "a"), pinned(2, "b")]).await.unwrap();
    store.note_versions("up", &[pinned(2, "c"), pinned(3, "d")]).await.unwrap();
    let noted = store.pinned_versions("up").await.unwrap();
    assert_eq!(noted, [pinned(1, "a"), pinned(2, "b"), pinned(3, "d")]);
    assert!(store.pinned_versions("other").await.unwrap().is_empty());
}

#[tokio::test]
async fn violations_count_while_they_are_young_and_until_they_are_forgotten() {
    let (store, _folder) = opened().await;
    let mut counts = Vec::new();
    for at in [100, 150, 200, 260] {
        counts.push(store.note_violation("up", "t", at, at - 100).await.unwrap());
    }
    assert_eq!(counts, [1, 2, 3, 2]);
    assert_eq!(store.note_violation("up", "other", 260, 160).await.unwrap(), 1);
    store.forget_violations("up", "t").await.unwrap();
    assert_eq!(store.note_violation("up", "t", 261, 161).await.unwrap(), 1);
    assert_eq!(store.note_violation("up", "other", 261, 161).await.unwrap(), 2);
}

#[tokio::test]
async fn observations_add_up_for_each_tenant_tool_and_version() {
    let (store, _folder) = opened().await;
    let seen = |version, calls: &[(bool, bool, u64)]| {
        let mut seen = Observation { version, ..Observation::default() };
        calls.iter().for_each(|(failed, violation, took)| seen.add(*failed, *violation, *took));
        seen
    };
    let (first, second) = (seen(1, &[(false, false, 1), (true, true, 7)]), seen(2, &[(true, false, 90_000)]));
    store
        .add_observations(&[("a", "up/t", &first), ("a", "up/t", &second), ("b", "up/t", &second)])
        .await
        .unwrap();
    store.add_observations(&[("a", "up/t", &first)]).await.unwrap();
    let found = store.observations("a", "up/t").await.unwrap();
    let [newest, oldest] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(newest, &second);
    assert_eq!((oldest.calls, oldest.failures, oldest.violations, oldest.longest_ms), (4, 2, 2, 7));
    assert_eq!(oldest.latencies.iter().sum::<u64>(), 4);
    assert_eq!(
        (oldest.latencies.first(), oldest.latencies.get(3)),
        (Some(&2), Some(&2)),
        "1 ms is below the first bound, 7 ms the fourth"
    );
    assert_eq!(newest.latencies.last(), Some(&1));
    assert_eq!(store.observations("b", "up/t").await.unwrap().len(), 1);
    assert!(store.observations("b", "up/other").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_store_is_read_beside_the_gateway_that_writes_it() {
    let (store, folder) = opened().await;
    store.keep_drifts("up", &[], &[event("a", "up/t", "{}")]).await.unwrap();
    let beside = Store::open_to_read(folder.path()).await.unwrap();
    assert_eq!(beside.drift_events("a", "up/t", 5).await.unwrap().len(), 1);
    store.keep_drifts("up", &[], &[event("a", "up/t", "{}")]).await.unwrap();
    assert_eq!(beside.drift_events("a", "up/t", 5).await.unwrap().len(), 2);
    assert!(beside.keep_drifts("up", &[drift("t", "p", "x")], &[]).await.is_err(), "it is only read");
    let filter = EvidenceFilter { tenant: "a".into(), limit: 9, ..EvidenceFilter::default() };
    assert_eq!(beside.evidence(&filter).await.unwrap().len(), 2);
    let nothing = tempfile::tempdir().unwrap();
    let refused = Store::open_to_read(nothing.path()).await.err().unwrap();
    assert!(matches!(refused, StoreFault::Path { .. }), "{refused}");
    assert!(std::fs::read_dir(nothing.path()).unwrap().next().is_none(), "nothing is made");
}
