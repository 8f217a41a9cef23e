use aldgate_testkit::Call;
use serde_json::{Value, json};

use crate::world::{World, code, rpc, text};

fn look() -> Call {
    Call::tool("look", r#"{"text":"t"}"#)
}

/// Each is refused with this status, JSON-RPC code and stable code, leaves one row and does not reach the upstream.
async fn check(cases: &[(&str, Call, u16, i64, &str)]) {
    let world = World::plain().await;
    for (what, call, status, number, ag) in cases {
        let reply = world.send(call).await;
        let told = (reply.status, rpc(&reply), code(&reply));
        assert_eq!(told, (*status, *number, (*ag).to_owned()), "{what}: {}", reply.text());
    }
    assert_eq!(world.up.calls("look").len(), 0);
    let expected: Vec<_> = cases.iter().map(|(_, _, _, _, ag)| format!("refusal - - {ag}")).collect();
    assert_eq!(world.story().await, expected);
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let with = |name: &str, value: &str| look().without(name).header(name, value);
    check(&[
        ("another method", with("mcp-method", "tools/list"), 400, -32020, "AG-WIRE-HEADER"),
        ("no method", look().without("mcp-method"), 400, -32020, "AG-WIRE-HEADER"),
        ("another name", with("mcp-name", "note"), 400, -32020, "AG-WIRE-HEADER"),
        ("another case", with("mcp-name", "LOOK"), 400, -32020, "AG-WIRE-HEADER"),
        ("no name", look().without("mcp-name"), 400, -32020, "AG-WIRE-HEADER"),
        ("another version", with("mcp-protocol-version", "2025-11-25"), 400, -32020, "AG-WIRE-HEADER"),
        ("no version", look().without("mcp-protocol-version"), 400, -32020, "AG-WIRE-HEADER"),
    ])
    .await;
    let world = World::plain().await;
    let encoded = look().without("mcp-name").header("mcp-name", "=?base64?bG9vaw==?=");
    assert_eq!(world.send(&encoded).await.status, 200, "decoded before it is compared");
}

#[tokio::test]
async fn every_request_says_its_version_and_capabilities() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let older = look()
        .meta(version, json!("2025-11-25"))
        .without("mcp-protocol-version")
        .header("mcp-protocol-version", "2025-11-25");
    let no_meta = look().body(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"text":"t"}}}"#,
    );
    check(&[
        ("no version", look().meta(version, Value::Null), 400, -32602, "AG-WIRE-META"),
        ("no capabilities", look().meta(capabilities, Value::Null), 400, -32602, "AG-WIRE-META"),
        ("capabilities of another type", look().meta(capabilities, json!([])), 400, -32602, "AG-WIRE-META"),
        ("no `_meta`", no_meta, 400, -32602, "AG-WIRE-META"),
        ("an older version", older, 400, -32022, "AG-WIRE-VERSION"),
    ])
    .await;
    let world = World::plain().await;
    let unnamed = look().meta("io.modelcontextprotocol/clientInfo", Value::Null);
    assert_eq!(world.send(&unnamed).await.status, 200, "a client need not say what it is");
}

#[tokio::test]
async fn an_unsupported_version_is_told_which_are() {
    let world = World::plain().await;
    let call = look()
        .meta("io.modelcontextprotocol/protocolVersion", json!("2099-01-01"))
        .without("mcp-protocol-version")
        .header("mcp-protocol-version", "2099-01-01");
    let error = world.send(&call).await.error().unwrap();
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(error["data"]["requested"], "2099-01-01");
}

#[tokio::test]
async fn methods_that_are_not_served_are_not_found() {
    let method = |name: &str| Call::method(name);
    check(&[
        ("no such method", method("tools/destroy"), 404, -32601, "AG-WIRE-METHOD"),
        ("one of an extension", method("tasks/list"), 404, -32601, "AG-WIRE-METHOD"),
        ("an older one", method("ping"), 404, -32601, "AG-WIRE-METHOD"),
        ("initialize", method("initialize"), 404, -32601, "AG-WIRE-METHOD"),
    ])
    .await;
    let world = World::plain().await;
    let reply = world.send(&method("initialize")).await;
    assert!(text(&reply).contains("2026-07-28"), "{}", text(&reply));
}

#[tokio::test]
async fn bodies_with_two_readings_are_refused() {
    let replaced = |from: &str, to: &str| {
        let text = look().text();
        assert!(text.contains(from), "{text}");
        look().body(text.replace(from, to))
    };
    let nested = format!(r#""text":{}1{}"#, "[".repeat(80), "]".repeat(80));
    check(&[
        (
            "a repeated argument",
            replaced(r#""text":"t""#, r#""text":"t","text":"u""#),
            400,
            -32700,
            "AG-WIRE-DUPLICATE-KEY",
        ),
        (
            "repeated once unescaped",
            replaced(r#""text":"t""#, r#""text":"t","te\u0078t":"u""#),
            400,
            -32700,
            "AG-WIRE-DUPLICATE-KEY",
        ),
        (
            "a repeated member of params",
            replaced(r#""name":"look""#, r#""name":"look","name":"note""#),
            400,
            -32700,
            "AG-WIRE-DUPLICATE-KEY",
        ),
        ("too deep", replaced(r#""text":"t""#, &nested), 400, -32700, "AG-WIRE-DEPTH"),
        (
            "half a surrogate pair",
            replaced(r#""text":"t""#, r#""text":"\ud800""#),
            400,
            -32700,
            "AG-WIRE-SURROGATE",
        ),
        (
            "a number that changes",
            replaced(r#""text":"t""#, r#""text":"t","n":123456789012345678901"#),
            400,
            -32700,
            "AG-WIRE-NUMBER",
        ),
        (
            "params by another case",
            replaced(r#""name":"look""#, r#""name":"look","Name":"note""#),
            200,
            -32602,
            "AG-WIRE-KEY-CASE",
        ),
        ("two values", look().body("{} {}"), 400, -32700, "AG-WIRE-SYNTAX"),
        ("no JSON", look().body("{"), 400, -32700, "AG-WIRE-SYNTAX"),
        ("a batch", look().body(format!("[{}]", look().text())), 400, -32600, "AG-WIRE-SHAPE"),
        ("not UTF-8", look().body(b"{\"a\":\"\xff\"}".to_vec()), 400, -32700, "AG-WIRE-ENCODING"),
        ("an id of null", look().id("null"), 400, -32600, "AG-WIRE-ID"),
        ("a long id", look().id(&format!("\"{}\"", "x".repeat(300))), 400, -32600, "AG-WIRE-ID"),
    ])
    .await;
}

#[tokio::test]
async fn unknown_and_unregistered_tools_are_the_same() {
    check(&[
        ("no such tool", Call::tool("nothing", "{}"), 200, -32602, "AG-TOOL-UNKNOWN"),
        ("not registered", Call::tool("hidden", "{}"), 200, -32602, "AG-TOOL-UNKNOWN"),
        ("by another case", Call::tool("Look", r#"{"text":"t"}"#), 200, -32602, "AG-TOOL-UNKNOWN"),
        ("by its key", Call::tool("up/look", r#"{"text":"t"}"#), 200, -32602, "AG-TOOL-UNKNOWN"),
    ])
    .await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let world = World::plain().await;
    for arguments in [
        "{}",
        r#"{"text":1}"#,
        r#"{"text":"t","more":1}"#,
        r#"{"text":"t","n":1.5}"#,
        r#"{"text":"t","Text":"u"}"#,
    ] {
        let reply = world.call("look", arguments).await;
        assert_eq!(code(&reply), "AG-ARGUMENTS", "{arguments}: {}", reply.text());
        assert_eq!(reply.result().unwrap()["isError"], true, "{arguments}");
    }
    assert_eq!(world.up.calls("look").len(), 0);
    assert_eq!(world.story().await, vec!["refusal - - AG-ARGUMENTS"; 5]);
}

#[tokio::test]
async fn a_prohibited_tool_is_refused_without_a_word_of_policy() {
    let world = World::start(|config| {
        config.policy.push_str(
            r#"@id("no-notes") forbid (principal, action == Action::"call", resource == Tool::"up/note");"#,
        );
    })
    .await;
    let registry = world.call("export", "{}").await;
    assert_eq!(code(&registry), "AG-AUTHORITY-PROHIBITED");
    let policy = world.call("note", r#"{"text":"t"}"#).await;
    assert_eq!(code(&policy), "AG-AUTHORITY-FORBIDDEN");
    assert!(!policy.text().contains("no-notes") && !policy.text().contains("Tool::"), "{}", policy.text());
    let nobody = world.client("approver").send(&look()).await.unwrap();
    assert_eq!(code(&nobody), "AG-AUTHORITY-NOT-PERMITTED");
    assert_eq!(world.up.seen().iter().filter(|seen| seen.method == "tools/call").count(), 0);
    assert_eq!(
        world.story().await,
        [
            "refusal prohibited - AG-AUTHORITY-PROHIBITED",
            "refusal prohibited - AG-AUTHORITY-FORBIDDEN",
            "refusal prohibited - AG-AUTHORITY-NOT-PERMITTED",
        ]
    );
}
