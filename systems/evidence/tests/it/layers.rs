//! Three layers of failure that are kept apart: HTTP, JSON-RPC, and the tool's result.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};

use crate::fake::State;
use crate::world::{AGENT, TOKEN_A, TOKEN_B, UNRECORDED, head, world};

const READS: [(&str, &str); 3] = [
    ("query_drift", r#"{"tool":"clock"}"#),
    ("fetch_audit", r#"{"id":"call_of_acme"}"#),
    ("coverage_report", r#"{"tools":["clock"]}"#),
];

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn evidence_that_fails_its_check_is_a_result_with_is_error() {
    let world = world();
    world.source.set(State::Invalid);
    for (tool, text) in READS {
        let answered = world.call(TOKEN_A, tool, arguments(text)).await;
        let told = json!([{ "type": "text", "text": "Tenant evidence unavailable or invalid." }]);
        assert_eq!(answered.status, 200);
        assert_eq!(answered.body["result"], json!({ "content": told, "isError": true }));
    }
    let whole =
        world.modern(TOKEN_A, "tools/call", json!({ "name": "fetch_audit", "arguments": { "id": "a" } }));
    let meta = &whole.await.body["result"]["_meta"];
    expect![[r#"{"code":"AG-EVIDENCE-UNAVAILABLE"}"#]]
        .assert_eq(&meta["io.github.aldgate/refusal"].to_string());
    world.source.set(State::Misshapen);
    let answered = world.call(TOKEN_A, "query_drift", json!({ "tool": "clock" })).await;
    assert_eq!(answered.body["result"]["isError"], true);
}

#[tokio::test]
async fn a_store_that_is_down_is_503_in_both_eras() {
    let world = world();
    world.source.set(State::Down);
    let mut told = BTreeSet::new();
    for (tool, text) in READS {
        let answered = world.call(TOKEN_A, tool, arguments(text)).await;
        assert_eq!(answered.status, 503);
        assert_eq!(answered.headers["retry-after"], "1");
        told.insert(answered.body.to_string());
    }
    let told: Vec<_> = told.into_iter().collect();
    expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":7503,"message":"the store of evidence is not available; try again later","data":{"code":"AG-EVIDENCE-STORE"}}}"#]].assert_eq(&told.join("\n"));
    // What needs no store is answered.
    assert_eq!(world.call(TOKEN_A, "lookup_contract", json!({ "tool": "clock" })).await.status, 200);
    let repair = json!({ "tool": "clock", "args": {} });
    assert_eq!(world.call(TOKEN_A, "simulate_repair", repair).await.status, 200);
    // A wrong request stays a wrong request.
    let wrong = world.call(TOKEN_A, "query_drift", json!({ "tool": "clock", "limit": 0 })).await;
    assert_eq!((wrong.status, &wrong.body["error"]["code"]), (200, &json!(-32602)));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_in_time_is_503() {
    let world = world();
    world.source.set(State::Silent);
    let answered = world.call(TOKEN_A, "fetch_audit", json!({ "id": "call_of_acme" })).await;
    assert_eq!(
        (answered.status, &answered.body["error"]["data"]["code"]),
        (503, &json!("AG-EVIDENCE-STORE"))
    );
}

#[tokio::test]
async fn a_server_that_stops_is_503() {
    let world = world();
    world.server.drain();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answered = world.send(head(TOKEN_A), ping).await;
    assert_eq!(answered.status, 503);
    assert_eq!(answered.headers["retry-after"], "1");
    expect![[r#"{"jsonrpc":"2.0","error":{"code":7503,"message":"the server is stopping; try again on another one, or later","data":{"code":"AG-EVIDENCE-DRAINING"}}}"#]].assert_eq(&answered.body.to_string());
    // Who may not ask is not told how it stands.
    assert_eq!(world.send(head("Bearer nobody"), ping).await.status, 401);
}

#[tokio::test]
async fn who_is_not_known_is_401_and_who_may_not_read_is_403() {
    let world = world();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let unknown = world.send(head("Bearer nobody"), ping).await;
    assert_eq!(unknown.status, 401);
    assert_eq!(unknown.headers["www-authenticate"], r#"Bearer error="invalid_token""#);
    expect![[r#"{"jsonrpc":"2.0","error":{"code":7401,"message":"the token is not known here","data":{"code":"AG-IDENTITY"}}}"#]].assert_eq(&unknown.body.to_string());
    let forbidden = world.send(head(AGENT), ping).await;
    assert_eq!(forbidden.status, 403);
    expect![[r#"{"jsonrpc":"2.0","error":{"code":7403,"message":"this principal has no access to evidence","data":{"code":"AG-EVIDENCE-FORBIDDEN"}}}"#]].assert_eq(&forbidden.body.to_string());
    let unrecorded = world.send(head(UNRECORDED), ping).await;
    assert_eq!(
        (unrecorded.status, &unrecorded.body["error"]["data"]["code"]),
        (503, &json!("AG-EVIDENCE-STORE"))
    );
    let unnamed = http::Request::post("/evidence/mcp").header("host", "localhost");
    assert_eq!(world.send(unnamed, ping).await.status, 401);
    // The layers below are not reached: neither with a body that is no JSON, nor with one that is too large.
    assert_eq!(world.send(head("Bearer nobody"), "{").await.status, 401);
    assert_eq!(world.send(head(AGENT), "x".repeat(1 << 20)).await.status, 403);
}

#[tokio::test]
async fn no_answer_changes_a_later_one() {
    let world = Arc::new(world());
    let asked = |token: &'static str| {
        let world = world.clone();
        async move {
            let mut seen = Vec::new();
            for (tool, text) in READS.into_iter().chain([
                ("lookup_contract", r#"{"tool":"clock"}"#),
                ("simulate_repair", r#"{"tool":"clock","args":{"zone":7}}"#),
            ]) {
                seen.push(world.call(token, tool, arguments(text)).await.body);
            }
            seen
        }
    };
    let before = (asked(TOKEN_A).await, asked(TOKEN_B).await);
    for _ in 0..3 {
        assert_eq!((asked(TOKEN_A).await, asked(TOKEN_B).await), before);
    }
}
