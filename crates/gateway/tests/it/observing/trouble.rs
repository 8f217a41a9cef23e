//! What counts as an error, on which side, and what stands in its place.

use std::time::Duration;

use aldgate_testkit::{Behaviour, Call, Latch};
use serde_json::json;

use super::{TEXT, Watched, ended, parent};
use crate::world::{code, eventually};

const CALL: &str = "tools/call look";

/// How the server's and the client's span of one call ended.
async fn both(behaviour: Behaviour) -> (String, String) {
    let watched = Watched::start(|config| config.settings.bounds.call_timeout = Duration::from_secs(2)).await;
    watched.world.call("look", TEXT).await;
    watched.world.up.does("look", behaviour);
    watched.call("look", TEXT).await;
    (ended(&watched.span(CALL, "server")), ended(&watched.span(CALL, "client")))
}

#[tokio::test]
async fn a_tools_own_failure_is_one_on_both_sides() {
    let (server, client) = both(Behaviour::failure("no such thing")).await;
    assert_eq!((server.as_str(), client.as_str()), ("tool_error - tool_error", "tool_error - tool_error"));
}

#[tokio::test]
async fn an_upstreams_error_has_its_code_on_both_sides() {
    // What the client is told is its own code: the gateway keeps what it may not pass on to itself.
    for (code, on_the_server) in [
        (-32603, "-32603 -32603 "),
        (-32000, "-32603 -32603 "),
        (-32602, "- -32602 -"),
        (-32002, "- -32602 -"),
    ] {
        let (server, client) = both(Behaviour::error(code, "the upstream's words")).await;
        assert!(server.starts_with(on_the_server), "{code}: {server}");
        assert_eq!(client, format!("{code} {code} {code}"), "its words are content");
    }
}

#[tokio::test]
async fn no_answer_is_an_error_with_a_word() {
    for (behaviour, word) in [
        (Behaviour::Hang, "timeout"),
        (Behaviour::Close, "connection_broken"),
        (Behaviour::BreakOff, "connection_broken"),
        (Behaviour::status(503), "http_status"),
        (Behaviour::html(), "invalid_answer"),
    ] {
        let (server, client) = both(behaviour).await;
        assert!(server.starts_with("7502 7502 "), "{word}: {server}");
        assert!(client.starts_with(&format!("{word} - ")), "{word}: {client}");
    }
}

#[tokio::test]
async fn a_refused_connection_is_an_error_with_a_word() {
    let watched = Watched::plain().await;
    watched.world.call("look", TEXT).await;
    watched.world.serving.end().await;
    watched.call("look", TEXT).await;
    let client = ended(&watched.span(CALL, "client"));
    assert!(client.starts_with("connect - "), "{client}");
}

#[tokio::test]
async fn what_is_the_clients_fault_is_no_error_of_the_server() {
    let watched = Watched::plain().await;
    assert_eq!(code(&watched.call("no_such_tool", "{}").await), "AG-TOOL-UNKNOWN");
    let span = watched.span("tools/call", "server");
    assert_eq!(ended(&span), "- -32602 -");
    assert_eq!(span.attributes["aldgate.refusal.code"], "AG-TOOL-UNKNOWN");
    assert_eq!(span.attributes.get("gen_ai.tool.name"), None, "no client makes up names");
}

#[tokio::test]
async fn a_refused_envelope_has_a_span_by_its_headers() {
    let watched = Watched::plain().await;
    let around = parent(super::CLIENT, "01");
    for (call, expected) in [
        (Call::tool("look", TEXT).without("mcp-name").header("mcp-name", "note"), "-32020 -32020 "),
        (Call::tool("look", TEXT).body("{"), "- -32700 -"),
        (Call::tool("look", TEXT).body(r#"{"jsonrpc":"2.0","id":1}"#), "- -32600 -"),
    ] {
        let before = watched.spans().len();
        assert_eq!(watched.world.send(&call.header("traceparent", &around)).await.status, 400);
        let spans = watched.spans().split_off(before);
        assert_eq!(spans.len(), 1, "{spans:?}");
        assert_eq!(
            (spans[0].name.as_str(), spans[0].parent_id.as_deref()),
            ("tools/call", Some(super::CLIENT))
        );
        assert!(ended(&spans[0]).starts_with(expected), "{expected}: {}", ended(&spans[0]));
    }
    let before = watched.spans().len();
    let unknown = Call::method("tools/unheard_of").header("traceparent", &around);
    assert_eq!(watched.world.send(&unknown).await.status, 404);
    assert_eq!(watched.spans().len(), before, "no client names spans");
}

#[tokio::test]
async fn a_read_that_its_client_left_was_given_up_on_both_sides() {
    let watched = Watched::plain().await;
    let door = Latch::new();
    watched.world.up.does("look", Behaviour::text("late").after(&door));
    let call = super::traced(Call::tool("look", TEXT));
    let client = watched.world.client("agent");
    client.send_and_leave(&call, watched.world.up.was_called("look", 1)).await.unwrap();
    let spans = eventually("both spans", async || {
        let spans: Vec<_> = watched.spans().into_iter().filter(|span| span.name == CALL).collect();
        (spans.len() == 2).then_some(spans)
    })
    .await;
    for span in spans {
        let said = if span.kind == "server" { "AG-CLIENT-LEFT" } else { "cancelled" };
        assert_eq!(ended(&span), format!("cancelled - {said}"), "{}", span.kind);
    }
    let metrics = watched.world.admin("approver").get("/metrics").await.unwrap().text();
    for side in ["server", "client"] {
        let line = metrics.lines().find(|line| {
            line.starts_with(&format!("mcp_{side}_operation_duration_seconds_count"))
                && line.contains(r#"error_type="cancelled""#)
        });
        assert!(line.is_some_and(|line| line.ends_with(" 1")), "{side}: {line:?}\n{metrics}");
    }
}

#[tokio::test]
async fn a_wait_that_its_client_left_was_given_up() {
    let watched = Watched::start(|config| config.settings.approvals.hold = Duration::from_secs(120)).await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#).with_forms();
    let notice = watched.world.send(&order).await;
    let client = watched.world.client("agent");
    let repeated = super::traced(order.id("2").state(&crate::world::state(&notice)));
    let spans = eventually("the spans", async || {
        let leaving = tokio::time::sleep(Duration::from_millis(100));
        client.send_and_leave(&repeated, leaving).await.unwrap();
        let spans = watched.spans();
        spans.iter().any(|span| span.name == "approval").then_some(spans)
    })
    .await;
    let approval = spans.iter().find(|span| span.name == "approval").unwrap();
    assert_eq!(approval.attributes["guardrail.decision"], json!("require_approval"));
    assert_eq!(ended(approval), "cancelled - cancelled");
}
