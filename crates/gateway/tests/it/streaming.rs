//! Notifications on the way to the answer.

use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use crate::world::{World, code, rpc};

const TEXT: &str = r#"{"text":"t"}"#;

/// Progress as the fake sends it; the gateway's token for a request is the request's id.
fn progress(token: &str, progress: f64) -> String {
    let params = format!(r#"{{"progressToken":{token},"progress":{progress},"total":100,"message":"m"}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
}

/// These events, and then the result.
fn stream(mut events: Vec<String>) -> Behaviour {
    events.push(format!(r#"{{"jsonrpc":"2.0","id":%ID%,"result":{}}}"#, done()));
    Behaviour::Stream(events)
}

fn logged(level: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": level}})
}

fn done() -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]})
}

/// The messages of a stream.
fn messages(text: &str) -> Vec<Value> {
    text.split("\n\n")
        .filter(|event| !event.is_empty() && !event.starts_with(':'))
        .map(|event| {
            let data: Vec<_> = event.lines().map(|line| line.strip_prefix("data: ").unwrap()).collect();
            serde_json::from_str(&data.join("\n")).unwrap()
        })
        .collect()
}

fn with_meta(key: &str, value: Value) -> Call {
    Call::tool("look", TEXT).meta(key, value)
}

#[tokio::test]
async fn progress_is_passed_on_under_the_clients_own_token() {
    let world = World::plain().await;
    for token in [json!("mine"), json!(7)] {
        let events = [0.0, 50.0, 50.0, 10.0, 100.0].map(|at| progress("%ID%", at));
        world.up.does("look", stream(events.to_vec()));
        let reply = world.send(&with_meta("progressToken", token.clone())).await;
        assert_eq!(reply.headers.get("content-type").unwrap(), "text/event-stream");
        assert_eq!(reply.headers.get("x-accel-buffering").unwrap(), "no");
        let messages = messages(&reply.text());
        let (last, notices) = messages.split_last().unwrap();
        let seen: Vec<_> = notices.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
        assert_eq!(seen, [0.0, 50.0, 100.0], "only what goes forward");
        assert!(notices.iter().all(|one| one["params"]["progressToken"] == token), "{notices:?}");
        assert_eq!(last["result"]["content"][0]["text"], "done");
        let sent = world.up.calls("look").last().unwrap().meta("progressToken").unwrap().clone();
        assert!(sent.is_u64() && sent != json!("mine"), "{sent}");
    }
}

#[tokio::test]
async fn what_the_client_did_not_ask_for_is_not_sent() {
    let world = World::plain().await;
    world.up.does("look", stream(vec![progress("%ID%", 1.0), logged("emergency").to_string()]));
    let reply = world.send(&Call::tool("look", TEXT)).await;
    assert_eq!(reply.headers.get("content-type").unwrap(), "application/json");
    assert_eq!(code(&reply), "-");
    // Another request's token is nobody's.
    world.up.does("look", stream(vec![progress("\"other\"", 1.0), progress("-1", 1.0)]));
    let reply = world.send(&with_meta("progressToken", json!("mine"))).await;
    assert_eq!(reply.headers.get("content-type").unwrap(), "application/json");
}

#[tokio::test]
async fn no_other_notification_of_an_upstream_is_passed_on() {
    let world = World::plain().await;
    let notice =
        |method: &str| json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1, "uri": "a:b"}});
    let others = [
        "notifications/cancelled",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/vendor",
    ];
    let mut events = others.map(notice).to_vec();
    events.push(logged("error"));
    world.up.does("look", Behaviour::streamed(&events, &done()));
    let call = with_meta("io.modelcontextprotocol/logLevel", json!("debug")).meta("progressToken", json!(1));
    let messages = messages(&world.send(&call).await.text());
    let [message, last] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message["method"], "notifications/message");
    assert_eq!(last["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn log_messages_come_from_the_level_on_that_was_asked_for() {
    let world = World::plain().await;
    let notices = ["debug", "info", "warning", "emergency", "shout"].map(logged);
    world.up.does("look", Behaviour::streamed(&notices, &done()));
    let reply = world.send(&with_meta("io.modelcontextprotocol/logLevel", json!("warning"))).await;
    let messages = messages(&reply.text());
    let (_, notices) = messages.split_last().unwrap();
    let seen: Vec<_> = notices.iter().map(|one| one["params"]["level"].clone()).collect();
    assert_eq!(seen, ["warning", "emergency"]);
    assert_eq!(
        world.up.calls("look").last().unwrap().meta("io.modelcontextprotocol/logLevel").unwrap(),
        "warning"
    );

    let unknown = world.send(&with_meta("io.modelcontextprotocol/logLevel", json!("shout"))).await;
    assert_eq!(rpc(&unknown), -32602, "{}", unknown.text());
}

#[tokio::test]
async fn an_answer_that_fails_after_notifications_ends_the_stream_with_the_refusal() {
    let world = World::plain().await;
    let wrong = json!({"resultType": "task", "taskId": "t"});
    world.up.does("look", Behaviour::streamed(&[logged("error")], &wrong));
    let reply = world.send(&with_meta("io.modelcontextprotocol/logLevel", json!("debug"))).await;
    let messages = messages(&reply.text());
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["error"]["data"]["code"], "AG-UPSTREAM-ANSWER");
    assert_eq!(world.story().await.last().unwrap(), "outcome automatic failed AG-UPSTREAM-ANSWER");
}

#[tokio::test]
async fn progress_goes_forward_over_all_that_is_sent_for_one_request() {
    let world =
        World::start(|config| config.up().may_ask = vec![aldgate_gateway::settings::MayAsk::Form]).await;
    let asks = json!({"resultType": "input_required", "inputRequests": crate::rounds::question(), "requestState": "s"});
    let first = [progress("%ID%", 50.0), format!(r#"{{"jsonrpc":"2.0","id":%ID%,"result":{asks}}}"#)];
    world.up.does_first("look", [Behaviour::Stream(first.to_vec())]);
    world.up.does("look", stream([1.0, 2.0, 60.0].map(|at| progress("%ID%", at)).to_vec()));
    let answer = json!({"size": {"action": "accept", "content": {"size": 3}}});
    let call = with_meta("progressToken", json!("p")).with_forms().answering(answer);
    let reply = world.send(&call).await;
    assert_eq!(world.up.calls("look").len(), 2, "asked and answered: {}", reply.text());
    let messages = messages(&reply.text());
    let seen: Vec<_> = messages.iter().filter_map(|one| one["params"]["progress"].as_f64()).collect();
    assert_eq!(seen, [50.0, 60.0]);
}
