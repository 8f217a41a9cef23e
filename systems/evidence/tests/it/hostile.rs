//! Bodies that mean harm.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use crate::world::{TOKEN_A, World, head, world};

async fn told(body: impl Into<bytes::Bytes>) -> String {
    let answered = world().send(head(TOKEN_A), body).await;
    let error = &answered.body["error"];
    format!("{} {} {}", answered.status, error["code"], error["data"]["code"].as_str().unwrap_or("-"))
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"simulate_repair","arguments":{arguments}}}}}"#
    )
}

#[tokio::test]
async fn bodies_that_two_readers_could_read_in_two_ways_are_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(r#"{{"tool":"clock","args":{{"a":{}{}}}}}"#, "[".repeat(61), "]".repeat(61));
    let cases = [
        ("empty", String::new()),
        ("no JSON", "{".to_owned()),
        ("deep", deep),
        ("deep arguments", call(&nested)),
        ("a key twice", call(r#"{"tool":"clock","tool":"open","args":{}}"#)),
        ("a key twice, escaped", call(r#"{"tool":"clock","\u0074ool":"open","args":{}}"#)),
        ("a key twice in args", call(r#"{"tool":"clock","args":{"a":1,"a":2}}"#)),
        ("half a character", call(r#"{"tool":"\ud800","args":{}}"#)),
        ("a number that is not exact", call(r#"{"tool":"clock","args":{"n":9007199254740993.5}}"#)),
        ("two messages", format!("{}{}", call("{}"), call("{}"))),
        ("another version", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned()),
        ("no id", r#"{"jsonrpc":"2.0","method":"tools/list"}"#.to_owned()),
        ("id null", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned()),
        ("a response", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()),
        ("other case", r#"{"jsonrpc":"2.0","id":1,"Method":"ping","method":"ping"}"#.to_owned()),
        ("params as an array", r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#.to_owned()),
    ];
    let mut seen = Vec::new();
    for (what, body) in cases {
        seen.push(format!("{what}: {}", told(body).await));
    }
    seen.push(format!("no UTF-8: {}", told(&b"{\"jsonrpc\":\"\xff\"}"[..]).await));
    seen.push(format!("a mark before it: {}", told(&b"\xef\xbb\xbf{}"[..]).await));
    expect![[r#"
        empty: 400 -32700 AG-WIRE-SYNTAX
        no JSON: 400 -32700 AG-WIRE-SYNTAX
        deep: 400 -32700 AG-WIRE-DEPTH
        deep arguments: 400 -32700 AG-WIRE-DEPTH
        a key twice: 400 -32700 AG-WIRE-DUPLICATE-KEY
        a key twice, escaped: 400 -32700 AG-WIRE-DUPLICATE-KEY
        a key twice in args: 400 -32700 AG-WIRE-DUPLICATE-KEY
        half a character: 400 -32700 AG-WIRE-SURROGATE
        a number that is not exact: 400 -32700 AG-WIRE-NUMBER
        two messages: 400 -32700 AG-WIRE-SYNTAX
        another version: 400 -32600 AG-WIRE-SHAPE
        no id: 400 -32600 AG-WIRE-SHAPE
        id null: 400 -32600 AG-WIRE-ID
        a response: 400 -32600 AG-WIRE-SHAPE
        other case: 400 -32600 AG-WIRE-SHAPE
        params as an array: 400 -32600 AG-WIRE-SHAPE
        no UTF-8: 400 -32700 AG-WIRE-ENCODING
        a mark before it: 400 -32700 AG-WIRE-ENCODING"#]]
    .assert_eq(&seen.join("\n"));
}

#[tokio::test]
async fn names_with_control_characters_are_looked_up_and_not_repeated_in_errors() {
    let world = world();
    for name in
        ["a\u{0}b", "\u{202e}kcolc", "../../etc/passwd", "desk/../vault/open", "' OR 1=1 --", "%2e%2e/open"]
    {
        let value = world.value(TOKEN_A, "query_drift", json!({ "tool": name })).await;
        assert_eq!(value, json!([]), "{name:?}");
        let unknown = world.call(TOKEN_A, &format!("{name}\u{1b}[31m"), json!({})).await;
        assert!(!unknown.body["error"]["message"].as_str().unwrap().contains(char::is_control));
    }
}

static WORLD: LazyLock<World> = LazyLock::new(world);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is sent, there is an answer, and it is one of a client's errors or a result.
    #[test]
    fn whatever_is_sent_is_answered(body in proptest::collection::vec(any::<u8>(), 0..200), mutated in any::<(usize, u8)>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut near = call(r#"{"tool":"clock","args":{"zone":"UTC","n":[1,2.5,null]}}"#).into_bytes();
            let (at, byte) = (mutated.0 % near.len(), mutated.1);
            near[at] = byte;
            for body in [body, near] {
                let answered = WORLD.send(head(TOKEN_A), body).await;
                assert!([200, 202, 400].contains(&answered.status));
                let members = answered.body.as_object();
                assert!(members.is_none_or(|m| m.contains_key("result") != m.contains_key("error")));
            }
        });
    }
}

#[tokio::test]
async fn the_largest_arguments_are_repaired_in_time_that_nobody_waits_for() {
    let world = world();
    let unknown: serde_json::Map<_, _> =
        (0..18_000).map(|number| (format!("k{number}"), json!(number))).collect();
    let mut deep = json!("x");
    for _ in 0..50 {
        deep = json!({ "id": deep });
    }
    let wide: Vec<_> = (0..30_000).map(|number| json!([number])).collect();
    for args in [json!(unknown), deep, json!({ "id": wide })] {
        for mode in ["repair", "observe", "strict"] {
            let arguments = json!({ "tool": "fs_get_ticket", "args": args, "mode": mode });
            let params = json!({ "name": "simulate_repair", "arguments": arguments });
            let began = Instant::now();
            let answered = world.older(TOKEN_A, "tools/call", params).await;
            assert_eq!(answered.body["result"]["structuredContent"]["result"]["dispatched"], false);
            // Some tenths of a second here, and far more were it quadratic.
            assert!(began.elapsed() < Duration::from_secs(20), "{mode}: {:?}", began.elapsed());
        }
    }
}
