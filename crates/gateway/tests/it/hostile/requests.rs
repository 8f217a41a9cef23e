//! Clients that send every malformed request that a server has to tell from a good one. Each group names the page of the
//! specification that its rules are from.

use aldgate_testkit::Call;
use serde_json::{Value, json};

use super::meanwhile;
use crate::world::{World, code, rpc};

/// A request with the status, JSON-RPC code and stable code that it gets.
type Case = (&'static str, Call, u16, i64, &'static str);

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";

fn note() -> Call {
    Call::tool("note", r#"{"text":"t"}"#)
}

fn replaced(from: &str, to: &str) -> Call {
    let text = note().text();
    assert!(text.contains(from), "{text}");
    note().body(text.replacen(from, to, 1))
}

fn with(name: &str, value: &str) -> Call {
    note().without(name).header(name, value)
}

/// basic/index: JSON-RPC 2.0 in UTF-8.
fn messages() -> Vec<Case> {
    let utf16: Vec<u8> = note().text().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xEF\xBB\xBF".as_slice(), note().text().as_bytes()].concat();
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#;
    vec![
        ("an id of null", note().id("null"), 400, -32600, "AG-WIRE-ID"),
        ("an id that is an object", note().id("{}"), 400, -32600, "AG-WIRE-ID"),
        ("an id that is an array", note().id("[1]"), 400, -32600, "AG-WIRE-ID"),
        ("an id that is a boolean", note().id("true"), 400, -32600, "AG-WIRE-ID"),
        ("an id with a fraction", note().id("1.0"), 400, -32600, "AG-WIRE-ID"),
        ("an id with an exponent", note().id("1e3"), 400, -32600, "AG-WIRE-ID"),
        ("no id", replaced(r#""id":1,"#, ""), 400, -32600, "AG-WIRE-SHAPE"),
        ("an id twice", replaced(r#""id":1"#, r#""id":1,"id":2"#), 400, -32700, "AG-WIRE-DUPLICATE-KEY"),
        ("another JSON-RPC", replaced(r#""2.0""#, r#""1.0""#), 400, -32600, "AG-WIRE-SHAPE"),
        ("JSON-RPC as a number", replaced(r#""2.0""#, "2.0"), 400, -32600, "AG-WIRE-SHAPE"),
        ("no JSON-RPC", replaced(r#""jsonrpc":"2.0","#, ""), 400, -32600, "AG-WIRE-SHAPE"),
        (
            "a method that is none",
            replaced(r#""method":"tools/call""#, r#""method":7"#),
            400,
            -32600,
            "AG-WIRE-SHAPE",
        ),
        ("no method", replaced(r#""method":"tools/call","#, ""), 400, -32600, "AG-WIRE-SHAPE"),
        (
            "params of an array",
            note().body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#),
            400,
            -32600,
            "AG-WIRE-SHAPE",
        ),
        ("a response", note().body(response), 400, -32600, "AG-WIRE-SHAPE"),
        ("a batch", note().body(format!("[{}]", note().text())), 400, -32600, "AG-WIRE-SHAPE"),
        ("a text", note().body("\"tools/call\""), 400, -32600, "AG-WIRE-SHAPE"),
        ("nothing", note().body(""), 400, -32700, "AG-WIRE-SYNTAX"),
        ("half of it", note().body(&note().text().as_bytes()[..40]), 400, -32700, "AG-WIRE-SYNTAX"),
        ("two of them", note().body(format!("{0}{0}", note().text())), 400, -32700, "AG-WIRE-SYNTAX"),
        ("a mark of byte order", note().body(marked), 400, -32700, "AG-WIRE-ENCODING"),
        ("UTF-16", note().body(utf16), 400, -32700, "AG-WIRE-SYNTAX"),
        ("no text", note().body(b"{\"jsonrpc\":\"\xff\"}".to_vec()), 400, -32700, "AG-WIRE-ENCODING"),
        (
            "a member by another case",
            replaced(r#""id":1"#, r#""id":1,"Method":"x""#),
            400,
            -32600,
            "AG-WIRE-SHAPE",
        ),
        ("deep", note().body("[".repeat(100_000)), 400, -32700, "AG-WIRE-DEPTH"),
    ]
}

/// basic/index, basic/versioning: what every request says of itself.
fn metas() -> Vec<Case> {
    let older = note().meta(VERSION, json!("2024-11-05")).without("mcp-protocol-version");
    let older = older.header("mcp-protocol-version", "2024-11-05");
    let level = "io.modelcontextprotocol/logLevel";
    vec![
        (
            "no params",
            note().body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#),
            400,
            -32602,
            "AG-WIRE-META",
        ),
        ("no `_meta`", replaced(r#""_meta""#, r#""meta""#), 400, -32602, "AG-WIRE-META"),
        (
            "`_meta` of another type",
            note()
                .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","_meta":7}}"#),
            400,
            -32602,
            "AG-WIRE-META",
        ),
        ("no version", note().meta(VERSION, Value::Null), 400, -32602, "AG-WIRE-META"),
        ("a version that is no text", note().meta(VERSION, json!(20_260_728)), 400, -32602, "AG-WIRE-META"),
        ("no capabilities", note().meta(CAPABILITIES, Value::Null), 400, -32602, "AG-WIRE-META"),
        (
            "capabilities of another type",
            note().meta(CAPABILITIES, json!("all")),
            400,
            -32602,
            "AG-WIRE-META",
        ),
        ("a client of another type", note().meta(INFO, json!("me")), 400, -32602, "AG-WIRE-META"),
        ("a level that is none", note().meta(level, json!("loud")), 400, -32602, "AG-WIRE-META"),
        ("a token of another type", note().meta("progressToken", json!(1.5)), 400, -32602, "AG-WIRE-META"),
        ("a key by another case", note().meta("ProgressToken", json!(1)), 400, -32602, "AG-WIRE-KEY-CASE"),
        ("an older version", older, 400, -32022, "AG-WIRE-VERSION"),
    ]
}

/// basic/transports/streamable-http: headers that repeat the body.
fn headers() -> Vec<Case> {
    let region = |arguments: &str| Call::tool("region", arguments);
    let mismatch = |what, call| (what, call, 400, -32020, "AG-WIRE-HEADER");
    vec![
        mismatch("no version", note().without("mcp-protocol-version")),
        mismatch("an empty version", with("mcp-protocol-version", "")),
        mismatch("another version", with("mcp-protocol-version", "2025-11-25")),
        mismatch("no method", note().without("mcp-method")),
        mismatch("another method", with("mcp-method", "tools/list")),
        mismatch("a method by another case", with("mcp-method", "Tools/Call")),
        mismatch("no name", note().without("mcp-name")),
        mismatch("another name", with("mcp-name", "look")),
        mismatch("a name by another case", with("mcp-name", "NOTE")),
        mismatch("a name as no base64", with("mcp-name", "=?base64?*?=")),
        mismatch("a name as base64 of no text", with("mcp-name", "=?base64?/w==?=")),
        mismatch("a name as other base64", with("mcp-name", "=?base64?bm90ZQ?=")),
        mismatch("a name that is encoded otherwise", with("mcp-name", "=?BASE64?bm90ZQ==?=")),
        mismatch("no parameter", region(r#"{"region":"north"}"#)),
        mismatch("another parameter", region(r#"{"region":"north"}"#).header("mcp-param-region", "North")),
        mismatch("a parameter of nothing", region("{}").header("mcp-param-region", "north")),
        mismatch(
            "a parameter as no base64",
            region(r#"{"region":"n"}"#).header("mcp-param-region", "=?base64?bg?="),
        ),
        ("two names", note().header("mcp-name", "note"), 400, 7400, "AG-HEAD-REPEATED"),
        (
            "two parameters",
            region(r#"{"region":"n"}"#).header("mcp-param-region", "n").header("mcp-param-region", "n"),
            400,
            7400,
            "AG-HEAD-REPEATED",
        ),
        ("a foreign page", note().header("origin", "https://evil.example"), 403, 7403, "AG-HEAD-ORIGIN"),
        ("a page without an origin", note().header("origin", "null"), 403, 7403, "AG-HEAD-ORIGIN"),
        ("another host", with("host", "evil.example"), 403, 7403, "AG-HEAD-HOST"),
        ("one type of answer", with("accept", "application/json"), 406, 7406, "AG-HEAD-ACCEPT"),
        ("no type of answer", note().without("accept"), 406, 7406, "AG-HEAD-ACCEPT"),
        (
            "a form",
            with("content-type", "application/x-www-form-urlencoded"),
            415,
            7415,
            "AG-HEAD-CONTENT-TYPE",
        ),
        ("compressed", note().header("content-encoding", "gzip"), 415, 7415, "AG-HEAD-ENCODING"),
        ("another token", with("authorization", "Bearer wrong"), 401, 7401, "AG-IDENTITY"),
    ]
}

/// What is not served, or not with these params.
fn params() -> Vec<Case> {
    let wrong = |what, call| (what, call, 200, -32602, "AG-WIRE-PARAMS");
    let mut all = vec![
        wrong("no name", replaced(r#""name":"note","#, "").without("mcp-name")),
        wrong("a name that is none", replaced(r#""name":"note""#, r#""name":7"#)),
        wrong("arguments of an array", Call::tool("note", "[1]")),
        wrong("arguments of null", Call::tool("note", "null")),
        wrong("answers of an array", note().answering(json!([1]))),
        wrong("a state that is none", replaced(r#""arguments""#, r#""requestState":7,"arguments""#)),
        ("an unknown tool", Call::tool("nothing", "{}"), 200, -32602, "AG-TOOL-UNKNOWN"),
        ("a forged state", note().state("v1.forged"), 200, -32602, "AG-STATE"),
        (
            "a param by another case",
            replaced(r#""arguments""#, r#""Name":"look","arguments""#),
            200,
            -32602,
            "AG-WIRE-KEY-CASE",
        ),
        (
            "a cursor",
            {
                let list = Call::method("tools/list");
                let body = list.text().replace(r#""params":{"#, r#""params":{"cursor":"forged","#);
                list.body(body)
            },
            200,
            -32602,
            "AG-PARAMS",
        ),
        (
            "a notification that is a request's",
            Call::method("tools/list").body(r#"{"jsonrpc":"2.0","method":"tools/list"}"#),
            400,
            -32600,
            "AG-WIRE-SHAPE",
        ),
    ];
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "sampling/createMessage",
        "tasks/result",
        "tasks/list",
        "tools/call/",
        "",
    ] {
        all.push(("a method that is not served", Call::method(method), 404, -32601, "AG-WIRE-METHOD"));
    }
    all
}

#[tokio::test]
async fn malformed_requests_are_refused_and_others_are_served() {
    let world = World::plain().await;
    for (what, call, status, number, ag) in [messages(), metas(), headers(), params()].into_iter().flatten() {
        let client = world.client("other");
        let reply = meanwhile(&world, client.send(&call)).await.unwrap();
        let told = (reply.status, rpc(&reply), code(&reply));
        assert_eq!(told, (status, number, ag.to_owned()), "{what}: {}", reply.text());
        let echoed = &reply.json().unwrap()["id"];
        assert!(echoed.is_null() || echoed == 1, "{what}: an id that nobody sent: {}", reply.text());
    }
    assert_eq!(world.up.calls("note").len() + world.up.calls("region").len(), 0);
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

/// basic/transports/streamable-http: what belongs to sessions of older revisions is ignored, and nothing of it comes back.
#[tokio::test]
async fn what_older_revisions_say_changes_nothing() {
    let world = World::plain().await;
    for call in [
        note().header("mcp-session-id", "s-1").header("last-event-id", "7"),
        note().header("x-forwarded-for", "::1").header("x-http-method-override", "DELETE"),
        replaced(r#""arguments""#, r#""task":{"ttl":1},"arguments""#),
    ] {
        let client = world.client("other");
        let reply = meanwhile(&world, client.send(&call)).await.unwrap();
        assert_eq!((reply.status, code(&reply).as_str()), (200, "-"), "{}", reply.text());
        assert_eq!(reply.header("mcp-session-id"), "");
    }
    for method in ["GET", "DELETE", "HEAD", "PUT", "PATCH", "TRACE", "OPTIONS"] {
        let client = world.client("other");
        let request = http::Request::builder().method(method).uri("/mcp").header("host", "localhost");
        let request = request.header("last-event-id", "1").body(bytes::Bytes::new()).unwrap();
        assert_eq!(meanwhile(&world, client.exchange(request)).await.unwrap().status, 405, "{method}");
    }
}
