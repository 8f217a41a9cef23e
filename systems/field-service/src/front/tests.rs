use aldgate_telemetry::Telemetry;
use aldgate_telemetry::attributes::Way;
use axum::http::request::Parts;
use expect_test::{Expect, expect};
use serde_json::json;

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
