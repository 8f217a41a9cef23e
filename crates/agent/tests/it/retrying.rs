use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use aldgate_agent::{CallEvent, CallFault, CallLimits, CallOutcome, ClientProfile, Connection};
use serde_json::{Value, json};

use crate::fake::{Fake, Reply, Scripted, accept, done, form, never, quick};

#[tokio::test]
async fn a_read_only_call_is_sent_again_under_a_new_id() {
    let fake = Fake::start(|n, _| match n {
        1 => Reply::Break,
        2 => Reply::Status(502),
        _ => done("found"),
    })
    .await;
    let retried = Mutex::new(Vec::new());
    let connection = fake.connect().await;
    let observer = |event: CallEvent| {
        if let CallEvent::Retried { attempt, .. } = event {
            retried.lock().unwrap().push(attempt);
        }
    };
    let outcome =
        connection.call_observed("look", json!({}), &Scripted::new(never), &observer, None).await.unwrap();
    assert!(matches!(&outcome, CallOutcome::Complete(complete) if complete.text == "found"));
    assert_eq!(*retried.lock().unwrap(), [2, 3]);
    let ids: HashSet<_> = fake.calls().iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn read_only_attempts_are_capped() {
    let fake = Fake::start(|_, _| Reply::Break).await;
    let fault = fake.connect().await.call("look", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Unreachable { attempts: 3, .. }), "{fault:?}");
    assert!(!fault.may_have_run());
    assert_eq!(fake.calls().len(), 3);
}

#[tokio::test]
async fn a_lost_answer_of_any_other_call_is_unsettled_and_never_retried() {
    for how in [|| Reply::Break, || Reply::Status(502), || Reply::Result(Value::from(7))] {
        let fake = Fake::start(move |_, _| how()).await;
        let fault = fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
        assert!(fault.may_have_run(), "{fault:?}");
        assert!(fault.to_string().contains("executed or unknown, do not retry"), "{fault}");
        assert_eq!(fake.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_round_after_the_answers_is_not_retried_either() {
    let fake = Fake::start(|n, _| if n == 1 { form(Some("s")) } else { Reply::Break }).await;
    let fault = fake.connect().await.call("order", json!({}), &Scripted::new(accept)).await.unwrap_err();
    assert!(fault.may_have_run(), "{fault:?}");
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn without_a_listing_nothing_counts_as_read_only() {
    let fake = Fake::start(|_, _| Reply::Break).await;
    let connection =
        Connection::open_with(&fake.endpoint(), ClientProfile::default(), quick()).await.unwrap();
    let fault = connection.call("look", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(fault.may_have_run());
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn a_call_that_could_not_be_sent_is_not_called_executed() {
    let fake = Fake::start(|_, _| done("")).await;
    let connection = fake.connect().await;
    fake.stop().await;
    let fault = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Unreachable { attempts: 1, .. }), "{fault:?}");
}

#[tokio::test]
async fn a_time_out_is_unsettled_unless_the_tool_only_reads() {
    let fake = Fake::start(|_, _| Reply::Hang).await;
    let limits = CallLimits { timeout: Duration::from_secs(2), ..quick() };
    let connection = Connection::open_with(&fake.endpoint(), ClientProfile::default(), limits).await.unwrap();
    connection.tools().await.unwrap();
    let reading = connection.call("look", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(reading, CallFault::TimedOut { .. }), "{reading:?}");
    let ordering = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(ordering.may_have_run(), "{ordering:?}");
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn an_answer_that_is_no_result_is_not_retried() {
    let fake = Fake::start(|_, _| Reply::Result(json!({"resultType": "odd"}))).await;
    let fault = fake.connect().await.call("look", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(&fault, CallFault::Malformed { what, .. } if what.contains("odd")), "{fault:?}");
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn an_error_of_the_server_and_a_refused_token_are_told_apart() {
    let fake = Fake::start(|n, _| match n {
        1 => Reply::Error(-32602, "unknown tool", json!({"code": "AG-UNKNOWN-TOOL"})),
        _ => Reply::Status(401),
    })
    .await;
    let connection = fake.connect().await;
    let first = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(
        matches!(&first, CallFault::Rpc { code: -32602, ag: Some(ag), .. } if ag == "AG-UNKNOWN-TOOL"),
        "{first:?}"
    );
    assert_eq!(first.code(), "AG-UNKNOWN-TOOL");
    let second = connection.call("look", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(second, CallFault::Unauthorized { .. }), "{second:?}");
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn whether_a_call_may_have_run_is_read_from_the_code_of_the_gateway_alone() {
    let unknown = "executed or unknown, do not retry";
    for (message, data, may_have_run, code) in [
        ("anything", json!({"code": "AG-OUTCOME-UNKNOWN", "call": "c-1"}), true, "AG-OUTCOME-UNKNOWN"),
        (unknown, json!({"code": "AG-UPSTREAM-ERROR", "call": "c-1"}), false, "AG-UPSTREAM-ERROR"),
        (unknown, json!({"code": "OTHER"}), false, "AG-AGENT-RPC"),
        (
            unknown,
            json!({"code": "AG-UPSTREAM-ERROR", "call": "c-1", "upstream":
                {"code": 1, "message": unknown, "data": {"code": "AG-OUTCOME-UNKNOWN"}}}),
            false,
            "AG-UPSTREAM-ERROR",
        ),
        (
            unknown,
            json!({"upstream": {"code": "AG-OUTCOME-UNKNOWN", "data": {"code": "AG-OUTCOME-UNKNOWN"}}}),
            false,
            "AG-AGENT-RPC",
        ),
    ] {
        let sent = data.clone();
        let fake = Fake::start(move |_, _| Reply::Error(7502, message, sent.clone())).await;
        let fault = fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
        assert_eq!((fault.may_have_run(), fault.code()), (may_have_run, code), "{data}");
        let named = matches!(&fault, CallFault::Rpc { call: Some(call), .. } if call == "c-1");
        assert_eq!(named, data.get("call").is_some(), "{data}");
        assert_eq!(fake.calls().len(), 1);
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_sent() {
    let fake = Fake::start(|_, _| done("")).await;
    let fault = fake.connect().await.call("look", json!([1]), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Arguments { found: "an array", .. }));
    assert_eq!(fake.calls().len(), 0);
}

#[tokio::test]
async fn dropping_a_call_closes_its_request() {
    let fake = Fake::start(|_, _| Reply::Hang).await;
    let connection = fake.connect().await;
    let asker = Scripted::new(never);
    tokio::select! {
        outcome = connection.call("order", json!({}), &asker) => panic!("a call that hangs ended: {outcome:?}"),
        () = fake.hanging.notified() => {}
    }
    let gone = tokio::time::timeout(Duration::from_secs(30), fake.abandoned.notified()).await;
    assert!(gone.is_ok(), "the server still waits for a client that gave up");
}

#[tokio::test]
async fn an_error_without_an_id_answers_its_request_at_once() {
    let error = json!({"code": -32700, "message": "too large", "data": {"code": "AG-HEAD-SIZE"}});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
    let fake = Fake::start(move |_, _| Reply::Http(413, body.clone())).await;
    let connection = fake.connect().await;
    for tool in ["look", "order"] {
        let fault = connection.call(tool, json!({}), &Scripted::new(never)).await.unwrap_err();
        assert_eq!(fault.code(), "AG-HEAD-SIZE", "{fault:?}");
        assert!(!fault.may_have_run());
    }
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn a_call_that_was_refused_by_its_status_was_not_made() {
    let fake = Fake::start(|_, _| Reply::Status(404)).await;
    let fault = fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert_eq!(fault.code(), "AG-AGENT-STATUS", "{fault:?}");
    assert!(!fault.may_have_run());
    // Too many requests at once: what only reads is asked again.
    let fake = Fake::start(|n, _| if n == 1 { Reply::Status(429) } else { done("found") }).await;
    let connection = fake.connect().await;
    let outcome = connection.call("look", json!({}), &Scripted::new(never)).await.unwrap();
    assert!(matches!(outcome, CallOutcome::Complete(_)));
    assert_eq!(fake.calls().len(), 2);
}

/// Gives out tokens by their number.
#[derive(Default)]
struct Numbered(std::sync::atomic::AtomicUsize);

#[async_trait::async_trait]
impl aldgate_agent::Renewal for Numbered {
    async fn current(&self) -> Option<String> {
        Some(format!("token-{}", self.0.load(std::sync::atomic::Ordering::SeqCst)))
    }

    async fn another(&self, refused: &str) -> Option<String> {
        assert_eq!(Some(refused.to_owned()), self.current().await);
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.current().await
    }
}

#[tokio::test]
async fn a_call_whose_token_is_refused_goes_out_once_more_with_another_and_no_oftener() {
    let fake = Fake::start(|n, _| match n {
        1 | 3 | 4 => Reply::Status(401),
        _ => done("ran"),
    })
    .await;
    let renewal = std::sync::Arc::new(Numbered::default());
    let endpoint = aldgate_agent::Endpoint { renewal: Some(renewal.clone()), ..fake.endpoint() };
    let connection = aldgate_agent::Connection::open(&endpoint).await.unwrap();
    // What is not read-only too: nothing was done with the refused one.
    connection.call("order", json!({}), &Scripted::new(never)).await.unwrap();
    assert_eq!(fake.calls().len(), 2);
    let second = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(second, CallFault::Unauthorized { .. }), "{second:?}");
    assert_eq!(fake.calls().len(), 4);
    assert_eq!(renewal.0.load(std::sync::atomic::Ordering::SeqCst), 2);
}
