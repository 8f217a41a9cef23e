//! How a decision ends that did not end by itself.

use super::*;

#[tokio::test]
async fn a_decision_that_panics_is_counted_and_not_taken_for_a_stop() {
    let counters = Counters::default();
    let panicked = tokio::spawn(async { panic!("on the way") }).await;
    let fault = ended(panicked, &counters).unwrap_err();
    assert_eq!((fault.code(), fault.status()), ("AG-INTERNAL", 500), "{fault}");
    assert_eq!(counters.read(), [0, 1, 0]);

    let task = tokio::spawn(std::future::pending());
    task.abort();
    let fault = ended(task.await, &counters).unwrap_err();
    assert!(matches!(fault, DecisionFault::Stopped), "{fault}");
    assert_eq!(counters.read(), [0, 1, 0]);
}

#[test]
fn what_a_caller_sent_does_not_stand_in_a_log() {
    let principal = Principal {
        issuer: "config".into(),
        subject: "agent".into(),
        tenant: "default".into(),
        kind: aldgate_authority::PrincipalKind::Person,
        roles: std::collections::BTreeSet::new(),
        name: "agent".into(),
        client: "cli".into(),
        actors: Vec::new(),
    };
    let binding = aldgate_approval::Binding {
        caller: principal,
        upstream: "up".into(),
        tool: "up/order".into(),
        contract: "sha256:c".into(),
        arguments: "sha256:a".into(),
        registry: "sha256:r".into(),
        policy: "sha256:p".into(),
    };
    let (id, call) = (ApprovalId::from_random([1; 16]), CallId::from_random([2; 16]));
    let seen = Seen {
        record: Record::ask(id.clone(), binding, call, aldgate_approval::Timestamp(0), 1000),
        state: RecordState::Pending,
        arguments: Some("{\"pin\": 4711}".to_owned()),
        title: None,
        entry: None,
        own: false,
        may_decide: true,
    };
    let shown = format!("{seen:?}");
    assert!(!shown.contains("4711") && shown.contains(id.as_str()), "{shown}");
}
