//! The same server over lines.

use aldgate_evidence_server::{Reader, serve_stdio};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::fake::State;
use crate::world::{World, meta, world};

async fn lines(world: &World, input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    serve_stdio(&world.server, &Reader::of_tenant("acme"), input, &mut output).await.unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn check(world: &World, input: &str, expected: Expect) {
    let seen: Vec<_> = lines(world, input.as_bytes())
        .await
        .iter()
        .map(|line| {
            let error = &line["error"];
            match line.get("result") {
                Some(result) => format!("{} {}", line["id"], result["structuredContent"]["result"]),
                None => format!("{} {} {}", line["id"], error["code"], error["data"]["code"]),
            }
        })
        .collect();
    expected.assert_eq(&seen.join("\n"));
}

fn call(id: u32, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn modern(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = meta();
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

#[tokio::test]
async fn a_client_that_begins_with_initialize() {
    let world = world();
    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {} });
    let input = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening }).to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        String::new(),
        call(1, "fetch_audit", json!({ "id": "call_of_globex" })),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })
            .to_string(),
        call(2, "query_drift", json!({ "tool": "clock", "limit": 0 })),
        call(3, "coverage_report", json!({ "tools": ["vendor.read"] })),
    ];
    let answers = lines(&world, input.join("\r\n").as_bytes()).await;
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers.len(), 4);
    check(&world, &input[3..].join("\n"), expect![[r#"
        1 null
        2 -32602 "AG-EVIDENCE-ARGUMENTS"
        3 {"status":"unvalidated","reason":"Observed coverage is not a production drift-safety guarantee.","tools":[{"tool":"vendor.read","contract":false,"observations":0}]}"#]]).await;
}

#[tokio::test]
async fn a_client_of_the_stateless_form_needs_no_headers() {
    let world = world();
    let answers = lines(&world, modern(1, "server/discover", json!({})).as_bytes()).await;
    assert_eq!(answers[0]["result"]["supportedVersions"], json!(["2026-07-28"]));
    let drift = json!({ "name": "query_drift", "arguments": { "tool": "vendor.read" } });
    let later = modern(4, "tools/list", json!({})).replace("2026-07-28", "2099-01-01");
    let input = [
        modern(2, "tools/call", drift),
        modern(3, "subscriptions/listen", json!({ "notifications": {} })),
        later,
        modern(5, "tools/call", json!({ "name": "ü" })),
    ];
    check(
        &world,
        &input.join("\n"),
        expect![[r#"
        2 []
        3 -32601 "AG-WIRE-METHOD"
        4 -32022 "AG-WIRE-VERSION"
        5 -32602 "AG-TOOL-UNKNOWN""#]],
    )
    .await;
}

#[tokio::test]
async fn a_line_that_is_no_message_does_not_end_it() {
    let world = world();
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(600 << 10));
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let input = ["nonsense", &long, r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, ping].join("\n");
    check(
        &world,
        &input,
        expect![[r#"
        null -32700 "AG-WIRE-SYNTAX"
        null -32700 "AG-WIRE-TOO-LARGE"
        null -32700 "AG-WIRE-DUPLICATE-KEY"
        7 null"#]],
    )
    .await;
    let unfinished = lines(&world, &long.as_bytes()[..300 << 10]).await;
    assert_eq!(unfinished[0]["error"]["data"]["code"], "AG-WIRE-TOO-LARGE");
}

#[tokio::test]
async fn a_store_that_is_down_and_a_server_that_stops_are_errors_of_their_own() {
    let world = world();
    let asked = call(1, "fetch_audit", json!({ "id": "a" }));
    world.source.set(State::Down);
    check(&world, &asked, expect![[r#"1 7503 "AG-EVIDENCE-STORE""#]]).await;
    world.source.set(State::Invalid);
    let answers = lines(&world, asked.as_bytes()).await;
    assert_eq!(answers[0]["result"]["isError"], true);
    world.server.drain();
    check(&world, &asked, expect![[r#"1 7503 "AG-EVIDENCE-DRAINING""#]]).await;
}
