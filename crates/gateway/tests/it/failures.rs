//! What upstreams should not do, once to a tool that only reads and once to one that changes something.

use std::time::Duration;

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Latch, Reply};
use serde_json::json;

use crate::fake;
use crate::world::{World, approval, code, rpc, state, text};

const TEXT: &str = r#"{"text":"t"}"#;
/// Bytes of an answer that are read at most in these tests.
const LIMIT: usize = 100_000;

/// Every hostile answer with the code that a read-only call is refused with.
fn hostile(elsewhere: &str) -> Vec<(&'static str, Behaviour, &'static str)> {
    let answer = "AG-UPSTREAM-ANSWER";
    let json = |body: &str| Behaviour::Json { status: 200, body: body.to_owned() };
    let http = |status: u16| Behaviour::Http { status, headers: vec![], body: bytes::Bytes::new() };
    let request = r#"{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let deep = format!(r#"{{"resultType":"complete","content":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    vec![
        ("an answer to another request", Behaviour::wrong_id(), answer),
        ("two answers", Behaviour::two_answers(), answer),
        ("a redirect", Behaviour::redirect(elsewhere), answer),
        ("a compressed answer", Behaviour::compressed(), answer),
        ("401", Behaviour::status(401), "AG-UPSTREAM-CREDENTIAL"),
        ("403", Behaviour::status(403), "AG-UPSTREAM-CREDENTIAL"),
        ("500", Behaviour::status(500), answer),
        ("a page", Behaviour::html(), answer),
        ("202 and nothing", http(202), answer),
        ("200 and nothing", http(200), answer),
        ("too large", Behaviour::large(LIMIT), answer),
        ("malformed", Behaviour::malformed(), answer),
        ("a member twice", Behaviour::duplicate_keys(), answer),
        ("forged `_meta`", Behaviour::forged_meta(), answer),
        ("a task", Behaviour::task(), answer),
        ("an unknown kind", Behaviour::result(&json!({"resultType": "surprise"})), answer),
        ("nothing asked", Behaviour::result(&json!({"resultType": "input_required"})), answer),
        ("too deep", Behaviour::raw_result(&deep), answer),
        (
            "result and error",
            json(r#"{"jsonrpc":"2.0","id":%ID%,"result":{},"error":{"code":1,"message":"m"}}"#),
            answer,
        ),
        ("neither", json(r#"{"jsonrpc":"2.0","id":%ID%}"#), answer),
        ("no object", json("[]"), answer),
        ("a request of the server", json(request), answer),
        ("a notification alone", json(notification), answer),
        ("a stream without an answer", Behaviour::Stream(vec![notification.to_owned()]), answer),
        ("a stream with a request", Behaviour::Stream(vec![request.to_owned()]), answer),
        ("a stream that is too large", Behaviour::Stream(vec!["x".repeat(LIMIT)]), answer),
        ("half an answer", Behaviour::BreakOff, answer),
        ("a closed connection", Behaviour::Close, answer),
    ]
}

fn told(reply: &Reply) -> (u16, i64, String) {
    (reply.status, rpc(reply), code(reply))
}

#[tokio::test]
async fn no_hostile_answer_passes_and_what_was_sent_is_unknown() {
    let elsewhere = fake::upstream();
    let serving = elsewhere.serve().await.unwrap();
    let world = World::start(|config| config.settings.bounds.response_bytes = LIMIT).await;
    let mut expected = Vec::new();
    for (what, behaviour, refused) in hostile(&serving.url()) {
        world.up.does("look", behaviour.clone());
        world.up.does("note", behaviour);
        let read = world.call("look", TEXT).await;
        assert_eq!(told(&read), (200, 7502, refused.to_owned()), "{what}: {}", read.text());
        let written = world.call("note", TEXT).await;
        assert_eq!(
            told(&written),
            (200, 7504, "AG-OUTCOME-UNKNOWN".to_owned()),
            "{what}: {}",
            written.text()
        );
        assert!(
            text(&written).starts_with("executed or unknown, do not retry: upstream `up`"),
            "{}",
            text(&written)
        );
        expected.push("intent automatic - -".to_owned());
        expected.push(format!("outcome automatic failed {refused}"));
        expected.push("intent automatic - -".to_owned());
        expected.push("outcome automatic unknown AG-OUTCOME-UNKNOWN".to_owned());
    }
    let each = expected.len() / 4;
    assert_eq!(
        (world.up.calls("look").len(), world.up.calls("note").len()),
        (each, each),
        "nothing is sent again"
    );
    assert_eq!(elsewhere.seen().len(), 0, "no redirect is followed");
    assert_eq!(world.story().await, expected);
}

#[tokio::test]
async fn the_others_are_served_after_a_failure() {
    let world = World::start(|config| config.settings.bounds.response_bytes = LIMIT).await;
    for (what, behaviour, _) in hostile("http://127.0.0.1:1/") {
        world.up.does("note", behaviour);
        world.call("note", TEXT).await;
        assert_eq!(text(&world.call("look", TEXT).await), "done", "after {what}");
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_that_a_call_may_take() {
    let world = World::start(|config| config.settings.bounds.call_timeout = Duration::from_secs(2)).await;
    assert_eq!(text(&world.call("look", TEXT).await), "done");
    for tool in ["look", "note"] {
        world.up.does(tool, Behaviour::Hang);
    }
    let (read, written) = tokio::join!(world.call("look", TEXT), world.call("note", TEXT));
    assert_eq!(told(&read), (200, 7502, "AG-UPSTREAM-TIMEOUT".to_owned()), "{}", read.text());
    assert!(text(&read).contains("did not answer within 2 s"), "{}", text(&read));
    assert_eq!(told(&written), (200, 7504, "AG-OUTCOME-UNKNOWN".to_owned()), "{}", written.text());
}

#[tokio::test]
async fn while_one_hangs_the_others_are_served() {
    let world = World::plain().await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let slow = world.call("note", TEXT);
    let meanwhile = async {
        world.up.was_called("note", 1).await;
        assert_eq!(text(&world.call("look", TEXT).await), "done");
        assert_eq!(world.send(&Call::method("tools/list")).await.status, 200);
        latch.open();
    };
    let (slow, ()) = tokio::join!(slow, meanwhile);
    assert_eq!(text(&slow), "late");
}

#[tokio::test]
async fn what_was_never_sent_is_not_unknown() {
    let world = World::plain().await;
    world.up.ends_connections();
    let notice = world.send(&Call::tool("order", r#"{"item":"bolts"}"#)).await;
    world.decide(&approval(&notice), "approve").await;
    world.serving.end().await;
    for (tool, arguments) in [("look", TEXT), ("note", TEXT), ("order", r#"{"item":"bolts"}"#)] {
        let reply = world.call(tool, arguments).await;
        assert_eq!(
            told(&reply),
            (200, 7502, "AG-UPSTREAM-UNREACHABLE".to_owned()),
            "{tool}: {}",
            reply.text()
        );
        assert!(text(&reply).contains("cannot be reached"), "{}", text(&reply));
    }
    assert_eq!(world.state_of(&approval(&notice)).await, "redeemed", "a failed send uses the approval up");
    let story = world.story().await;
    let outcomes: Vec<_> = story.iter().filter(|row| row.starts_with("outcome")).collect();
    assert_eq!(
        outcomes,
        [
            "outcome automatic failed AG-UPSTREAM-UNREACHABLE",
            "outcome automatic failed AG-UPSTREAM-UNREACHABLE",
            "outcome requires_approval failed AG-UPSTREAM-UNREACHABLE",
        ]
    );
}

#[tokio::test]
async fn a_round_that_is_never_sent_leaves_unknown_what_the_first_one_did() {
    let world = World::start(|config| config.up().may_ask = vec![MayAsk::Form]).await;
    world.up.ends_connections();
    let form = Behaviour::form("sure", "Sure?", &json!({"type": "object", "properties": {}}));
    let mut rounds = Vec::new();
    for tool in ["look", "note"] {
        world.up.does(tool, Behaviour::asking(form.clone(), "never"));
        let call = Call::tool(tool, TEXT).with_forms();
        let asked = world.send(&call).await;
        rounds.push(call.id("2").state(&state(&asked)).answering(json!({"sure": {"action": "decline"}})));
    }
    world.serving.end().await;
    let [read, written] = rounds.as_slice() else { panic!("two rounds") };
    assert_eq!(code(&world.send(read).await), "AG-UPSTREAM-UNREACHABLE");
    assert_eq!(code(&world.send(written).await), "AG-OUTCOME-UNKNOWN");
}

#[tokio::test]
async fn an_idle_connection_that_ended_is_not_taken_for_a_call_that_was_sent() {
    let world = World::plain().await;
    for number in 1..=100 {
        let reply = world.call("note", TEXT).await;
        assert_eq!(code(&reply), "-", "call {number}: {}", reply.text());
        world.serving.cut();
        if number % 2 == 0 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(world.up.calls("note").len(), 100);
}

#[tokio::test]
async fn a_result_must_have_the_form_that_was_promised() {
    let world = World::plain().await;
    for (what, behaviour) in [
        ("another type", Behaviour::structured(&json!({"celsius": "warm", "parcel": 1}))),
        ("a member missing", Behaviour::structured(&json!({}))),
        ("null", Behaviour::structured(&json!(null))),
        ("no structured content", Behaviour::text("21")),
    ] {
        world.up.does("measure", behaviour.clone());
        world.up.does("ship", behaviour);
        let read = world.call("measure", "{}").await;
        assert_eq!(told(&read), (200, 7502, "AG-UPSTREAM-ANSWER".to_owned()), "{what}: {}", read.text());
        let written = world.call("ship", "{}").await;
        assert_eq!(
            told(&written),
            (200, 7504, "AG-OUTCOME-UNKNOWN".to_owned()),
            "{what}: {}",
            written.text()
        );
    }
}

#[tokio::test]
async fn a_servers_error_with_an_http_status_is_its_answer() {
    let world = World::plain().await;
    for status in [200, 400, 404, 500] {
        let body =
            r#"{"jsonrpc":"2.0","id":%ID%,"error":{"code":4711,"message":"no such book","data":{"k":1.0}}}"#;
        world.up.does("look", Behaviour::Json { status, body: body.to_owned() });
        let reply = world.call("look", TEXT).await;
        assert_eq!(told(&reply), (200, 4711, "AG-UPSTREAM-ERROR".to_owned()), "{status}: {}", reply.text());
        assert_eq!(reply.error().unwrap()["data"]["k"], 1.0);
    }
}

#[tokio::test]
async fn an_upstreams_error_cannot_speak_for_the_gateway_and_brings_no_reserved_code_out() {
    let world = World::plain().await;
    let forged = json!({"code": "AG-APPROVAL-DENIED", "call": "c_0", "uri": "a:b"});
    for (number, passed) in [
        (-32602, -32602),
        (-32601, -32601),
        (-32603, -32603),
        (-32002, -32602),
        (-32042, -32603),
        (-32000, -32603),
        (-32099, -32603),
        (12, 12),
        (-1, -1),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": "%ID%", "error": {"code": number, "message": "m", "data": forged}});
        let body = body.to_string().replace("\"%ID%\"", "%ID%");
        world.up.does("look", Behaviour::Json { status: 200, body });
        let reply = world.call("look", TEXT).await;
        assert_eq!(told(&reply), (200, passed, "AG-UPSTREAM-ERROR".to_owned()), "{number}: {}", reply.text());
        assert_eq!(reply.error().unwrap()["data"]["upstreamData"], forged);
    }
    // What complains of the gateway's own request is not told as if it were the client's.
    for number in [-32020, -32022, -32600, -32700] {
        world.up.does("look", Behaviour::error(number, "m"));
        let reply = world.call("look", TEXT).await;
        assert_eq!(told(&reply), (200, 7502, "AG-UPSTREAM-ANSWER".to_owned()), "{}", reply.text());
    }
}

#[tokio::test]
async fn an_error_of_a_consequential_call_leaves_the_outcome_unknown_unless_it_never_began() {
    let world = World::plain().await;
    for (number, code) in [
        (-32603, "AG-OUTCOME-UNKNOWN"),
        (4711, "AG-OUTCOME-UNKNOWN"),
        (-32002, "AG-OUTCOME-UNKNOWN"),
        (-32602, "AG-UPSTREAM-ERROR"),
        (-32601, "AG-UPSTREAM-ERROR"),
    ] {
        world.up.does("note", Behaviour::error(number, "m"));
        let reply = world.call("note", TEXT).await;
        assert_eq!(told(&reply).2, code, "{number}: {}", reply.text());
        assert_eq!(reply.text().contains("do not retry"), code == "AG-OUTCOME-UNKNOWN", "{}", reply.text());
    }
}

#[tokio::test]
async fn hostile_lists_make_an_upstream_unreachable_and_nothing_is_called() {
    let mut world = World::plain().await;
    for behaviour in [
        Behaviour::html(),
        Behaviour::status(401),
        Behaviour::wrong_id(),
        Behaviour::malformed(),
        Behaviour::Close,
        Behaviour::result(&json!({"resultType": "input_required", "requestState": "s"})),
        Behaviour::result(&json!({"resultType": "complete", "tools": {}})),
    ] {
        world.up.lists_by(Some(behaviour.clone()));
        world.restart(|_| {}).await;
        let reply = world.call("look", TEXT).await;
        assert_eq!(code(&reply), "AG-UPSTREAM-UNREACHABLE", "{behaviour:?}: {}", reply.text());
    }
    assert_eq!(world.up.calls("look").len(), 0);
}
