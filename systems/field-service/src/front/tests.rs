use aldgate_telemetry::attributes::Way;
use aldgate_telemetry::{Ring, Settings, SpanRecord, Telemetry};
use axum::http::request::Parts;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::envelope::Envelope;
use super::guard::{self, Allowed};
use super::trace;

fn parts(headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::post("/mcp");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn check(headers: &[(&str, &str)], expected: Expect) {
    let outcome = guard::origin(&parts(headers), &Allowed::default())
        .map_or_else(|refusal| refusal.into_response().status().to_string(), |()| "served".to_owned());
    expected.assert_eq(&outcome);
}

#[test]
fn hosts_and_origins() {
    check(&[], expect!["served"]);
    check(&[("host", "localhost:8080")], expect!["served"]);
    check(&[("host", "[::1]:8080")], expect!["served"]);
    check(&[("host", "[::1]")], expect!["served"]);
    check(&[("host", "127.0.0.1.nip.io")], expect!["403 Forbidden"]);
    check(&[("host", "localhost:80:80")], expect!["403 Forbidden"]);
    check(&[("host", "")], expect!["403 Forbidden"]);
    check(&[("host", "localhost"), ("host", "localhost")], expect!["400 Bad Request"]);
    check(&[("origin", "http://localhost:3000")], expect!["served"]);
    check(&[("origin", "http://user@localhost")], expect!["served"]);
    check(&[("origin", "http://localhost@evil.example")], expect!["403 Forbidden"]);
    check(&[("origin", "http://localhost/x")], expect!["403 Forbidden"]);
    check(&[("origin", "ftp://localhost")], expect!["403 Forbidden"]);
    check(&[("origin", "localhost")], expect!["403 Forbidden"]);
    check(&[("origin", "null")], expect!["403 Forbidden"]);
}

#[test]
fn an_invalid_traceparent_is_ignored() {
    let continued = |traceparent: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": { "traceparent": traceparent } } });
        let envelope = Envelope::read(body.to_string().as_bytes()).unwrap().unwrap();
        let headers = http::HeaderMap::new();
        trace::span(&Telemetry::off(), Way::Http, &envelope, &headers).traceparent.clone()
    };
    let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let (first, second) = (continued(valid).unwrap(), continued(valid).unwrap());
    assert_ne!(first, second, "each request is a span of its own");
    assert_eq!(first.len(), valid.len());
    for invalid in [
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-short-b7ad6b7169203331-01",
    ] {
        assert_eq!(continued(invalid), None, "{invalid}");
    }
}

/// The span of a request that came by `way` and was answered so, or not at all.
fn seen(request: (&str, Value), way: Way, content: bool, answer: Option<Value>) -> SpanRecord {
    let ring = Some(Ring::new(1));
    let settings = Settings { service: "test", destination: None, sample_ratio: 1.0, content, ring };
    let telemetry = Telemetry::start(settings).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": "a", "method": request.0, "params": request.1});
    let envelope = Envelope::read(body.to_string().as_bytes()).unwrap().unwrap();
    let mut span = trace::span(&telemetry, way, &envelope, &http::HeaderMap::new());
    if let Some(answer) = answer {
        span.answered(&envelope, &answer);
    }
    drop(span);
    let ring = telemetry.ring().unwrap();
    ring.trace(&ring.traces("", 1)[0].trace_id, "").remove(0)
}

fn call(conversation: Value) -> (&'static str, Value) {
    let meta = json!({"gen_ai.conversation.id": conversation});
    ("tools/call", json!({"name": "get_ticket", "arguments": {"ticket_id": "SR-1"}, "_meta": meta}))
}

#[test]
fn a_request_has_a_span_that_says_how_it_ended() {
    let done = || Some(json!({"result": {}}));
    let span = seen(call(json!("run-1")), Way::Stdio, false, done());
    assert_eq!(
        (span.name.as_str(), span.kind.as_str(), span.error),
        ("tools/call get_ticket", "server", None)
    );
    assert_eq!(span.attributes["gen_ai.conversation.id"], "run-1");
    assert_eq!(span.attributes["jsonrpc.request.id"], "a");
    assert_eq!(span.attributes["atlas.mcp.transport"], "stdio");
    assert_eq!(span.attributes["network.transport"], "pipe");
    assert!(!span.attributes.contains_key("gen_ai.tool.call.arguments"));
    let span = seen(call(json!("run-1")), Way::Http, true, done());
    assert_eq!(span.attributes["gen_ai.tool.call.arguments"], r#"{"ticket_id":"SR-1"}"#);

    let span = seen(call(json!("run\n1")), Way::Http, false, Some(json!({"result": {"isError": true}})));
    assert_eq!(span.attributes["error.type"], "tool_error");
    assert!(span.error.is_some() && !span.attributes.contains_key("gen_ai.conversation.id"));

    let span = seen(call(json!("run-1")), Way::Http, false, None);
    assert_eq!(span.attributes["error.type"], "cancelled", "its client left");
}

#[test]
fn no_client_names_a_span() {
    let error = |code: i64| Some(json!({"error": {"code": code, "message": "no"}}));
    let span = seen(("tools/unheard_of", json!({})), Way::Http, false, error(-32601));
    assert_eq!((span.name.as_str(), span.error), ("_OTHER", None));
    assert_eq!(span.attributes["rpc.response.status_code"], "-32601");
    let unknown = ("tools/call", json!({"name": "no_such_tool"}));
    let span = seen(unknown, Way::Http, false, error(-32602));
    assert_eq!((span.name.as_str(), span.attributes.get("gen_ai.tool.name")), ("tools/call", None));
}
