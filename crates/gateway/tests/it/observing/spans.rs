//! Names, kinds, parents and attributes of the spans of a request that goes well.

use aldgate_testkit::{Call, Client};
use expect_test::{Expect, expect};
use serde_json::json;

use super::{CLIENT, TEXT, TRACE, Watched, parent, shown};
use crate::fake;
use crate::world::World;

fn check(watched: &Watched, expected: Expect) {
    expected.assert_eq(&shown(&watched.spans()));
}

#[tokio::test]
async fn a_call_is_a_server_span_its_ruling_and_a_client_span() {
    let watched = Watched::plain().await;
    watched.world.call("look", TEXT).await;
    let call = Call::tool("look", TEXT).id(r#""seven""#).meta("gen_ai.conversation.id", json!("run-1"));
    watched.send(call).await;
    check(
        &watched,
        expect![[r#"
        tools/call look server within the client's span
          aldgate.call.id = CALL
          aldgate.contract.digest = DIGEST
          aldgate.principal = agent
          aldgate.tenant = default
          aldgate.upstream = up
          atlas.mcp.transport = http
          client.address = 127.0.0.1
          client.port = PORT
          gen_ai.conversation.id = run-1
          gen_ai.operation.name = execute_tool
          gen_ai.tool.name = look
          jsonrpc.request.id = seven
          mcp.method.name = tools/call
          mcp.protocol.version = 2026-07-28
          mcp.request.id = seven
          network.protocol.name = http
          network.protocol.version = 1.1
          network.transport = tcp
        ruling internal within tools/call look server
          aldgate.tenant = default
          guardrail.decision = allow
          guardrail.name = automatic
        tools/call look client within tools/call look server
          aldgate.tenant = default
          aldgate.upstream = up
          atlas.mcp.transport = http
          gen_ai.conversation.id = run-1
          gen_ai.operation.name = execute_tool
          gen_ai.tool.name = look
          jsonrpc.request.id = OURS
          mcp.method.name = tools/call
          mcp.protocol.version = 2026-07-28
          mcp.request.id = OURS
          network.protocol.name = http
          network.protocol.version = 1.1
          network.transport = tcp
          server.address = 127.0.0.1
          server.port = PORT
    "#]],
    );
    let sent = watched.world.up.calls("look").remove(1);
    let below = watched.span("tools/call look", "client");
    let expected = parent(&below.span_id, "01");
    assert_eq!(sent.meta("traceparent"), Some(&json!(expected)));
    assert_eq!(sent.header("traceparent"), expected);
    assert_eq!(sent.meta("gen_ai.conversation.id"), Some(&json!("run-1")));
}

#[tokio::test]
async fn lists_prompts_and_resources_have_spans_too() {
    let watched = Watched::start_with(fake::library(), super::settings(false), crate::library::shelves).await;
    watched.send(Call::method("tools/list")).await;
    watched.send(Call::prompt("greet", &json!({"who": "Ada"}))).await;
    watched.send(Call::resource("note://a")).await;
    let seen: Vec<_> = watched
        .spans()
        .iter()
        .filter(|span| span.kind != "internal")
        .map(|span| {
            let said = |name: &str| span.attributes.get(name).map_or("-".to_owned(), ToString::to_string);
            let about = format!("{} {}", said("gen_ai.prompt.name"), said("mcp.resource.uri"));
            format!("{} {} {about} {}", span.name, span.kind, said("gen_ai.operation.name"))
        })
        .collect();
    expect![[r#"
        [
            "tools/list server - - -",
            "prompts/get greet server \"greet\" - -",
            "prompts/get greet client \"greet\" - -",
            "resources/read server - \"note://{id}\" -",
            "resources/read client - \"note://{id}\" -",
        ]
    "#]]
    .assert_debug_eq(&seen);
}

#[tokio::test]
async fn the_parent_is_what_the_message_names_and_else_what_the_headers_name() {
    let watched = Watched::plain().await;
    let other = "00f067aa0ba902b7";
    let call = || Call::tool("look", TEXT);
    let of_message = |call: Call| call.meta("traceparent", json!(parent(CLIENT, "01")));
    for (call, expected) in [
        (of_message(call()), (CLIENT, vec![])),
        (call().header("traceparent", &parent(other, "01")), (other, vec![])),
        (of_message(call()).header("traceparent", &parent(CLIENT, "01")), (CLIENT, vec![])),
        (
            of_message(call()).header("traceparent", &parent(other, "01")),
            (CLIENT, vec![format!("{TRACE}-{other}")]),
        ),
        (
            call().meta("traceparent", json!("00-zz-zz-01")).header("traceparent", &parent(other, "01")),
            (other, vec![]),
        ),
    ] {
        let before = watched.spans().len();
        watched.world.send(&call).await;
        let spans = watched.spans().split_off(before);
        let server = spans.iter().find(|span| span.kind == "server").unwrap();
        assert_eq!((server.parent_id.as_deref().unwrap(), server.links.clone()), expected);
    }
}

#[tokio::test]
async fn what_the_client_does_not_keep_is_not_kept_and_goes_on_so() {
    let watched = Watched::plain().await;
    let call = Call::tool("look", TEXT).meta("traceparent", json!(parent(CLIENT, "00")));
    assert_eq!(watched.world.send(&call).await.status, 200);
    assert_eq!(watched.spans(), []);
    let sent = watched.world.up.calls("look").remove(0);
    let sent = sent.meta("traceparent").unwrap().as_str().unwrap().to_owned();
    assert!(sent.starts_with(&format!("00-{TRACE}-")) && sent.ends_with("-00"), "{sent}");
    let metrics = watched.world.admin("approver").get("/metrics").await.unwrap().text();
    assert!(metrics.contains("mcp_server_operation_duration_seconds_count"), "it is measured all the same");
}

#[tokio::test]
async fn a_hostile_context_is_left_out_and_the_call_goes_on() {
    let watched = Watched::plain().await;
    let long = "x".repeat(10_000);
    for (key, value) in [
        ("traceparent", json!(long)),
        ("traceparent", json!(7)),
        ("traceparent", json!(["00"])),
        ("traceparent", json!(format!("00-{TRACE}-{CLIENT}-01\n"))),
        ("tracestate", json!(long)),
        ("tracestate", json!({"a": 1})),
        ("gen_ai.conversation.id", json!(long)),
        ("gen_ai.conversation.id", json!(7)),
        ("gen_ai.conversation.id", json!("run\u{1b}[31m\n")),
        ("gen_ai.conversation.id", json!("")),
    ] {
        let call = Call::tool("look", TEXT).meta(key, value.clone());
        assert_eq!(watched.world.send(&call).await.status, 200, "{key} {value}");
        let newest = watched.telemetry.ring().unwrap().traces("default", 1).remove(0);
        assert_ne!(newest.trace_id, TRACE, "{key} {value}");
        for span in watched.telemetry.ring().unwrap().trace(&newest.trace_id, "default") {
            assert_eq!(span.attributes.get("gen_ai.conversation.id"), None, "{key} {value}");
            let all = serde_json::to_string(&span).unwrap();
            assert!(all.len() < 2000, "{all}");
        }
    }
    for bytes in [b"\xff\xfe".as_slice(), long.as_bytes(), b"00-"] {
        let request = raw_with_header(&watched.world, bytes);
        let told = watched.world.client("agent").send_bytes(&request).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    }
}

/// A call with these bytes as the value of `traceparent`.
fn raw_with_header(world: &World, value: &[u8]) -> Vec<u8> {
    let client: Client = world.client("agent");
    let wire = client.wire(&Call::tool("look", TEXT)).unwrap();
    let line = b"connection: close\r\n";
    let at = wire.windows(line.len()).position(|part| part == line).unwrap();
    [&wire[..at], b"traceparent: ", value, b"\r\n", &wire[at..]].concat()
}
