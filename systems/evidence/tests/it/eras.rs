//! Clients of both eras, and what belongs to neither.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::world::{TOKEN_A, head, meta, world};

/// The call example of the interface, as it is published.
const EXAMPLE: &str = r#"{
"jsonrpc": "2.0",
"id": 2,
"method": "tools/call",
"params": {
"name": "coverage_report",
"arguments": {
"tools": [
"vendor.read"
]
}
}
}"#;

/// Its result.
const EXAMPLE_RESULT: &str = r#"{
"content": [
{
"type": "text",
"text": "{\"status\":\"unvalidated\",\"reason\":\"Observed coverage is not a production drift-safety guarantee.\",\"tools\":[{\"tool\":\"vendor.read\",\"contract\":false,\"observations\":0}]}"
}
],
"structuredContent": {
"result": {
"status": "unvalidated",
"reason": "Observed coverage is not a production drift-safety guarantee.",
"tools": [
{
"tool": "vendor.read",
"contract": false,
"observations": 0
}
]
}
}
}"#;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn the_published_example_runs_after_initialize_as_it_stands() {
    let world = world();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "roots": {} },
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let opened = world.send(head(TOKEN_A), initialize.to_string()).await;
    assert_eq!((opened.status, &opened.body["result"]["protocolVersion"]), (200, &json!("2025-06-18")));
    assert!(!opened.headers.contains_key("mcp-session-id"));
    let version = || head(TOKEN_A).header("MCP-Protocol-Version", "2025-06-18");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let accepted = world.send(version(), initialized).await;
    assert_eq!((accepted.status, accepted.body), (202, Value::Null));
    let called = world.send(version(), EXAMPLE).await;
    assert_eq!(called.status, 200);
    assert_eq!(called.body, json!({ "jsonrpc": "2.0", "id": 2, "result": parsed(EXAMPLE_RESULT) }));
}

#[tokio::test]
async fn the_published_example_runs_in_the_stateless_form() {
    let mut body = parsed(EXAMPLE);
    body["params"]["_meta"] = meta();
    let request = head(TOKEN_A)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "coverage_report");
    let mut called = world().send(request, body.to_string()).await;
    let result = called.body["result"].as_object_mut().unwrap();
    assert_eq!(result.remove("resultType"), Some(json!("complete")));
    let meta = result.remove("_meta").unwrap();
    assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "aldgate.evidence");
    assert_eq!(called.body["result"], parsed(EXAMPLE_RESULT));
}

#[tokio::test]
async fn initialize_agrees_on_a_revision_that_is_spoken() {
    let world = world();
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": {} });
        let body = json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params });
        let opened = world.send(head(TOKEN_A), body.to_string()).await;
        assert_eq!(opened.body["result"]["protocolVersion"], agreed);
        assert_eq!(opened.body["id"], "a");
    }
    for params in [json!({}), json!({ "protocolVersion": 7 })] {
        let refused = world.older(TOKEN_A, "initialize", params).await;
        assert_eq!((refused.status, &refused.body["error"]["code"]), (200, &json!(-32602)));
    }
}

#[tokio::test]
async fn an_older_client_gets_what_its_revision_has() {
    let world = world();
    assert_eq!(world.older(TOKEN_A, "ping", json!({})).await.body["result"], json!({}));
    let listed = world.older(TOKEN_A, "tools/list", json!({})).await;
    let members: Vec<_> = listed.body["result"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["tools"]);
    assert_eq!(listed.body["result"]["tools"].as_array().unwrap().len(), 5);
    for method in ["resources/list", "prompts/list", "server/discover", "logging/setLevel", "nonsense"] {
        let refused = world.older(TOKEN_A, method, json!({})).await;
        assert_eq!((refused.status, &refused.body["error"]["code"]), (200, &json!(-32601)), "{method}");
    }
    let cursor = world.older(TOKEN_A, "tools/list", json!({ "cursor": "" })).await;
    assert_eq!(cursor.body["error"]["code"], -32602);
    let cursor = world.older(TOKEN_A, "tools/list", json!({ "cursor": 7 })).await;
    assert_eq!(cursor.body["error"]["code"], -32602);
}

#[tokio::test]
async fn a_request_without_the_header_is_taken_for_one_of_the_earliest_revision_that_has_it() {
    let called = world().send(head(TOKEN_A), EXAMPLE).await;
    assert_eq!(called.body["result"], parsed(EXAMPLE_RESULT));
}

#[tokio::test]
async fn a_batch_is_answered_where_the_revision_has_batches() {
    let world = world();
    let batch = r#"[
        {"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/initialized"},
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"nope"}},
        {"id":3}
    ]"#;
    let old = || head(TOKEN_A).header("mcp-protocol-version", "2025-03-26");
    let answered = world.send(old(), batch).await;
    assert_eq!(answered.status, 200);
    let seen: Vec<_> = answered
        .body
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["id"], one["error"]["code"]))
        .collect();
    assert_eq!(seen, ["1 null", "2 -32602", "3 -32600"]);
    let quiet = world.send(old(), r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#).await;
    assert_eq!((quiet.status, quiet.body), (202, Value::Null));
    let refused = world.send(head(TOKEN_A).header("mcp-protocol-version", "2025-06-18"), batch).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!(-32600)));
}

async fn modern(headers: &[(&str, &str)], method: &str, meta: Value, expected: Expect) {
    let mut params = json!({ "name": "lookup_contract", "arguments": { "tool": "clock" } });
    if !meta.is_null() {
        params["_meta"] = meta;
    }
    let body = json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": params });
    let request = headers.iter().fold(head(TOKEN_A), |request, (name, value)| request.header(*name, *value));
    let answered = world().send(request, body.to_string()).await;
    let error = &answered.body["error"];
    let result = if answered.body.get("result").is_some() { "result" } else { "" };
    let said = format!("{} {} {}{result}", answered.status, error["code"], error["message"]);
    assert_eq!(answered.body["id"], 9);
    expected.assert_eq(&said);
}

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const CALL: (&str, &str) = ("mcp-method", "tools/call");
const NAME: (&str, &str) = ("mcp-name", "lookup_contract");

#[tokio::test]
async fn headers_of_the_stateless_form_mirror_the_body() {
    modern(&[VERSION, CALL, NAME], "tools/call", meta(), expect!["200 null nullresult"]).await;
    let encoded = ("mcp-name", "=?base64?bG9va3VwX2NvbnRyYWN0?=");
    modern(&[VERSION, CALL, encoded], "tools/call", meta(), expect!["200 null nullresult"]).await;
    modern(
        &[CALL, NAME],
        "tools/call",
        meta(),
        expect![[r#"400 -32020 "the header `MCP-Protocol-Version` is missing; mirror the body in it""#]],
    )
    .await;
    modern(
        &[VERSION, NAME],
        "tools/call",
        meta(),
        expect![[r#"400 -32020 "the header `Mcp-Method` is missing; mirror the body in it""#]],
    )
    .await;
    modern(
        &[VERSION, CALL],
        "tools/call",
        meta(),
        expect![[r#"400 -32020 "the header `Mcp-Name` is missing; mirror the body in it""#]],
    )
    .await;
    modern(&[VERSION, CALL, ("mcp-name", "fetch_audit")], "tools/call", meta(), expect![[r#"400 -32020 "`Mcp-Name` is `fetch_audit`, but the body's `name` is `lookup_contract`; send the same in both""#]]).await;
    modern(&[VERSION, ("mcp-method", "tools/list"), NAME], "tools/call", meta(), expect![[r#"400 -32020 "`Mcp-Method` is `tools/list`, but the body's method is `tools/call`; send the same in both""#]]).await;
}

#[tokio::test]
async fn the_stateless_form_needs_its_metadata_and_its_revision() {
    modern(
        &[VERSION, CALL, NAME],
        "tools/call",
        Value::Null,
        expect![[r#"400 -32602 "expected `params._meta`, as every request has""#]],
    )
    .await;
    let mut capabilities = meta();
    capabilities.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    modern(&[VERSION, CALL, NAME], "tools/call", capabilities, expect![[r#"400 -32602 "`params._meta` lacks `io.modelcontextprotocol/clientCapabilities`; send it with every request""#]]).await;
    let mut nameless = meta();
    nameless.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    modern(&[VERSION, CALL, NAME], "tools/call", nameless, expect!["200 null nullresult"]).await;
    let mut later = meta();
    later["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let header = ("mcp-protocol-version", "2099-01-01");
    modern(
        &[header, CALL, NAME],
        "tools/call",
        later,
        expect![[
            r#"400 -32022 "the protocol version `2099-01-01` is not supported; use one of: 2026-07-28""#
        ]],
    )
    .await;
    // A client that names an unknown revision and follows none is told which are spoken, of either form.
    let spoken = expect![[
        r#"400 -32022 "the protocol version `2020-01-01` is not supported; use one of: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05""#
    ]];
    modern(&[("mcp-protocol-version", "2020-01-01")], "tools/list", Value::Null, spoken).await;
    // The eras do not mix: a body of the one under the header of the other.
    modern(&[("mcp-protocol-version", "2025-11-25"), CALL, NAME], "tools/call", meta(), expect![[r#"400 -32020 "`MCP-Protocol-Version` is `2025-11-25`, but `_meta` says `2026-07-28`; send the same version in both""#]]).await;
    let mut older = meta();
    older["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
    modern(
        &[("mcp-protocol-version", "2025-11-25"), CALL, NAME],
        "tools/call",
        older,
        expect![[
            r#"400 -32022 "the protocol version `2025-11-25` is not supported; use one of: 2026-07-28""#
        ]],
    )
    .await;
}

#[tokio::test]
async fn methods_of_the_stateless_form_that_are_not_served() {
    for method in ["resources/list", "subscriptions/listen", "completion/complete", "tasks/get", "ping"] {
        let answered = world().modern(TOKEN_A, method, json!({})).await;
        assert_eq!((answered.status, &answered.body["error"]["code"]), (404, &json!(-32601)), "{method}");
    }
    modern(&[VERSION, ("mcp-method", "initialize")], "initialize", meta(), expect![[r#"404 -32601 "method not found: `initialize`; no session is opened here, send the version with each request, one of: 2026-07-28""#]]).await;
    modern(&[VERSION, ("mcp-method", "initialize")], "initialize", Value::Null, expect![[r#"400 -32602 "expected `params._meta`, as every request has; `initialize` is of an older revision of MCP, spoken here is `2026-07-28`""#]]).await;
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    for id in ["0", "-1", "9007199254740993", r#""""#, r#""caf\u00e9""#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let world = world();
        let response = world
            .endpoint
            .respond(head(TOKEN_A).body(http_body_util::Full::new(bytes::Bytes::from(body))).unwrap())
            .await;
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        assert_eq!(&bytes[..], format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).as_bytes());
    }
}
