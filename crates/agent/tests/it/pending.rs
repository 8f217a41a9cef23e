use std::collections::HashSet;

use aldgate_agent::{AskReply, CallFault, CallLimits, CallOutcome, ClientProfile, Connection};
use serde_json::{Map, json};

use crate::fake::{Fake, Reply, Scripted, accept, done, form, never, quick, refusal};

const SILENT: ClientProfile = ClientProfile { declare_form: false, declare_url: false };

#[tokio::test]
async fn a_pending_approval_is_waited_for_by_repeating_the_same_call() {
    let fake = Fake::start(|n, _| if n < 4 { refusal("AG-APPROVAL-PENDING") } else { done("ordered") }).await;
    let asker = Scripted::new(never);
    let outcome = fake.connect_as(SILENT).await.call("order", json!({"q": 1}), &asker).await.unwrap();
    assert!(
        matches!(&outcome, CallOutcome::Complete(complete) if complete.text == "ordered" && !complete.is_error)
    );
    let calls = fake.calls();
    assert_eq!((calls.len(), *asker.waits.lock().unwrap()), (4, 3));
    assert_eq!(calls.iter().map(|call| call.id.to_string()).collect::<HashSet<_>>().len(), 4);
    assert!(
        calls
            .iter()
            .all(|call| call.params["arguments"] == json!({"q": 1})
                && call.params.get("requestState").is_none())
    );
}

#[tokio::test]
async fn the_asker_can_stop_waiting() {
    let fake = Fake::start(|_, _| refusal("AG-APPROVAL-PENDING")).await;
    let asker = Scripted::new(never).with_patience(2);
    let outcome = fake.connect_as(SILENT).await.call("order", json!({}), &asker).await.unwrap();
    let CallOutcome::Waiting { refusal: Some(refusal), rounds: 3 } = outcome else { panic!("{outcome:?}") };
    assert_eq!(refusal.call.as_deref(), Some("c-1"));
    assert_eq!(fake.calls().len(), 3);
}

#[tokio::test]
async fn waiting_is_bounded() {
    let fake = Fake::start(|_, _| refusal("AG-APPROVAL-PENDING")).await;
    let limits = CallLimits { max_rounds: 6, ..quick() };
    let connection = Connection::open_with(&fake.endpoint(), SILENT, limits).await.unwrap();
    let fault = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Rounds { limit: 6, .. }), "{fault:?}");
    assert_eq!(fake.calls().len(), 6);
}

#[tokio::test]
async fn any_other_refusal_is_an_outcome_at_once() {
    for code in ["AG-PROHIBITED", "AG-APPROVAL-DENIED", "ag-approval-pending"] {
        let fake = Fake::start(move |_, _| refusal(code)).await;
        let outcome = fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap();
        let CallOutcome::Complete(complete) = outcome else { panic!("{outcome:?}") };
        let refusal = complete.refusal().unwrap();
        assert_eq!((refusal.code.as_str(), refusal.rule.as_deref()), (code, Some("registry")));
        assert_eq!(fake.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_repeated_call_starts_anew_without_the_state_of_an_earlier_round() {
    let fake = Fake::start(|n, _| match n {
        1 => form(Some("old")),
        2 => refusal("AG-APPROVAL-PENDING"),
        _ => done("ordered"),
    })
    .await;
    fake.connect().await.call("order", json!({}), &Scripted::new(accept)).await.unwrap();
    let calls = fake.calls();
    assert_eq!(calls[1].params["requestState"], "old");
    assert!(calls[2].params.get("requestState").is_none() && calls[2].params.get("inputResponses").is_none());
}

/// What the gateway asks while an approval is pending.
fn notice() -> Reply {
    Reply::Result(json!({
        "resultType": "input_required", "requestState": "sealed",
        "inputRequests": {"approval": {"method": "elicitation/create", "params": {
            "mode": "form", "message": "A person must approve.", "requestedSchema": {"type": "object", "properties": {}}}}},
        "_meta": {"io.github.aldgate/refusal":
            {"code": "AG-APPROVAL-PENDING", "rule": "approval", "call": "c-1", "approval": "ap-1"}}}))
}

#[tokio::test]
async fn a_notice_tells_the_asker_which_approval_is_pending() {
    let fake = Fake::start(|n, _| if n < 3 { notice() } else { done("ordered") }).await;
    let asker = Scripted::new(|ask| {
        assert_eq!(ask.notice.as_ref().and_then(|notice| notice.approval.as_deref()), Some("ap-1"));
        AskReply::Accept(Map::new())
    });
    let outcome = fake.connect().await.call("order", json!({}), &asker).await.unwrap();
    assert!(matches!(&outcome, CallOutcome::Complete(complete) if complete.text == "ordered"));
    assert_eq!(
        fake.calls()[2].params["inputResponses"],
        json!({"approval": {"action": "accept", "content": {}}})
    );
}

#[tokio::test]
async fn whoever_dismisses_the_notice_is_not_made_to_wait() {
    for reply in [AskReply::Decline, AskReply::Cancel] {
        for after in [notice as fn() -> Reply, || refusal("AG-APPROVAL-PENDING")] {
            let fake = Fake::start(move |n, _| if n == 1 { notice() } else { after() }).await;
            let said = reply.clone();
            let asker = Scripted::new(move |_| said.clone());
            let outcome = fake.connect().await.call("order", json!({}), &asker).await.unwrap();
            let CallOutcome::Waiting { refusal: Some(refusal), rounds: 2 } = outcome else {
                panic!("{outcome:?}")
            };
            assert!(refusal.is_pending());
            assert_eq!((fake.calls().len(), *asker.waits.lock().unwrap()), (2, 0));
        }
    }
}
