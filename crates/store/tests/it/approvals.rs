//! Approvals: asked once, decided once, redeemed once.

use super::*;

pub(crate) async fn ask(store: &Store, number: u8, arguments: &str, now: i64) -> AskOutcome {
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

pub(crate) fn asked(outcome: AskOutcome) -> Record {
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
    // Without the arguments it is the same list, the other way round.
    (filter.before, filter.limit) = (None, 9);
    let newest = store.newest_approvals(&filter, Timestamp(20)).await.unwrap();
    assert_eq!(newest.iter().map(|record| record.id.as_str().to_owned()).collect::<Vec<_>>(), read);
    ids.sort();
    read.sort();
    assert_eq!(read, ids, "each once");
    filter.tenant = "other".into();
    assert!(store.approvals(&filter, Timestamp(20)).await.unwrap().is_empty());
    assert!(store.newest_approvals(&filter, Timestamp(20)).await.unwrap().is_empty());
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
