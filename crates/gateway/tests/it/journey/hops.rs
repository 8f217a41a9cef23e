use aldgate_testkit::Call;
use serde_json::json;

use crate::world::{UPSTREAM_TOKEN, World, code, rpc, token};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[tokio::test]
async fn nothing_that_belongs_to_the_caller_alone_reaches_the_upstream() {
    let world = World::plain().await;
    let call = Call::tool("look", r#"{"text":"t"}"#)
        .header("cookie", "marked-cookie=1")
        .header("x-custom", "marked-header")
        .header("baggage", "marked-baggage=1")
        .header("mcp-session-id", "marked-session")
        .meta("baggage", json!("marked-baggage=2"))
        .meta("io.github.aldgate/refusal", json!("marked-own"))
        .meta("io.modelcontextprotocol/secret", json!("marked-protocol"))
        .meta("progressToken", json!("marked-progress"))
        .meta("com.example/kept", json!({"a": 1}));
    assert_eq!(world.send(&call).await.status, 200);
    let calls = world.up.calls("look");
    let [seen] = calls.as_slice() else { panic!("{calls:?}") };
    assert!(!seen.mentions(&token("agent")) && !seen.mentions("marked-"), "{seen:?}");
    assert_eq!(seen.header("authorization"), format!("Bearer {UPSTREAM_TOKEN}"));
    assert_eq!(seen.meta("com.example/kept"), Some(&json!({"a": 1})), "other keys are forwarded");
    assert_eq!(seen.meta("io.modelcontextprotocol/clientInfo").unwrap()["name"], "aldgate");
    assert_eq!(seen.meta("io.modelcontextprotocol/clientCapabilities"), Some(&json!({})));
    let mirrored = ["mcp-method", "mcp-name", "mcp-protocol-version"].map(|name| seen.header(name));
    assert_eq!(mirrored, ["tools/call", "look", "2026-07-28"]);
}

#[tokio::test]
async fn nothing_of_any_client_is_in_the_gateways_own_requests() {
    let world = World::plain().await;
    world.call("look", r#"{"text":"t"}"#).await;
    let own: Vec<_> = world.up.seen().into_iter().filter(|seen| seen.method != "tools/call").collect();
    assert!(own.len() >= 2, "{own:?}");
    assert!(own.iter().all(|seen| !seen.mentions(&token("agent")) && !seen.mentions("testkit")), "{own:?}");
}

#[tokio::test]
async fn arguments_reach_the_upstream_byte_by_byte() {
    let world = World::plain().await;
    let arguments = r#"{ "n" : 10 , "text":"\u0041 ☃\/" }"#;
    world.call("look", arguments).await;
    let seen = world.up.calls("look").remove(0);
    assert!(seen.body.contains(&format!(r#""arguments":{arguments}"#)), "{}", seen.body);
}

#[tokio::test]
async fn parameters_that_nobody_here_knows_are_forwarded_and_known_ones_made_anew() {
    let world = World::plain().await;
    let call = Call::tool("region", r#"{"region":"north"}"#)
        .header("mcp-param-region", "=?base64?bm9ydGg=?=")
        .header("mcp-param-zone", "a b");
    assert_eq!(world.send(&call).await.status, 200);
    let seen = world.up.calls("region").remove(0);
    assert_eq!((seen.header("mcp-param-region"), seen.header("mcp-param-zone")), ("north", "a b"));
    for (what, call) in [
        ("missing", Call::tool("region", r#"{"region":"north"}"#)),
        ("unequal", Call::tool("region", r#"{"region":"north"}"#).header("mcp-param-region", "south")),
        ("unexpected", Call::tool("region", "{}").header("mcp-param-region", "south")),
    ] {
        let reply = world.send(&call).await;
        let told = (reply.status, rpc(&reply), code(&reply));
        assert_eq!(told, (400, -32020, "AG-WIRE-HEADER".to_owned()), "{what}");
    }
    assert_eq!(world.up.calls("region").len(), 1);
}

#[tokio::test]
async fn a_trace_goes_on_with_a_span_of_this_hop() {
    let world = World::plain().await;
    let sent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let call = Call::tool("look", r#"{"text":"t"}"#)
        .meta("traceparent", json!(sent))
        .meta("tracestate", json!("vendor=1"));
    assert_eq!(world.send(&call).await.status, 200);
    let seen = world.up.calls("look").remove(0);
    let continued = seen.meta("traceparent").unwrap().as_str().unwrap();
    let parts: Vec<_> = continued.split('-').collect();
    let [version, trace, span, flags] = parts.as_slice() else { panic!("{continued}") };
    assert_eq!((*version, *trace, *flags), ("00", TRACE, "01"));
    assert!(*span != "00f067aa0ba902b7" && span.len() == 16, "{span}");
    assert_eq!(seen.meta("tracestate"), Some(&json!("vendor=1")));
    let rows = world.rows().await;
    let own = rows[0]["trace"].as_str().unwrap();
    assert!(own.starts_with(&format!("00-{TRACE}-")) && own.ends_with("-01") && own != sent, "{own}");
    assert!(own != continued, "the hop to the upstream is a span of its own");
    assert!(rows.iter().all(|row| row["trace"] == own), "{rows:?}");

    let broken = Call::tool("look", r#"{"text":"t"}"#).meta("traceparent", json!("00-zz-zz-01"));
    assert_eq!(world.send(&broken).await.status, 200);
    let anew = world.up.calls("look").remove(1);
    let anew = anew.meta("traceparent").unwrap().as_str().unwrap();
    assert!(anew.starts_with("00-") && !anew.contains("zz") && !anew.contains(TRACE), "{anew}");
    assert_eq!(world.up.calls("look").remove(1).meta("tracestate"), None);
}
