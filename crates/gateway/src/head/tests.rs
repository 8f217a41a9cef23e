use axum::body::Body;
use expect_test::{Expect, expect};
use http::Request;

use super::check;
use crate::settings::{Bounds, Doors};

fn said(change: impl FnOnce(&mut Request<Body>)) -> String {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1:7300")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::empty())
        .expect("request");
    change(&mut request);
    let doors = Doors { hosts: vec!["gate.example".into()], origins: vec!["https://console.example".into()] };
    match check(&doors, &Bounds { body_bytes: 10, ..Bounds::default() }, &request.into_parts().0) {
        Ok(_) => "let in".to_owned(),
        Err(refusal) => format!("{} {}: {refusal}", refusal.http_status(), refusal.code()),
    }
}

fn with(headers: &[(&'static str, &'static str)], expected: &Expect) {
    expected.assert_eq(&said(|request| {
        for (name, _) in headers {
            request.headers_mut().remove(*name);
        }
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().expect("header"));
        }
    }));
}

#[test]
fn ordinary_requests_are_let_in() {
    let let_in = expect!["let in"];
    with(&[], &let_in);
    for host in ["localhost", "LOCALHOST:1", "[::1]:7300", "[::1]", "gate.example:443", "127.0.0.1"] {
        with(&[("host", host)], &let_in);
    }
    with(&[("origin", "https://console.example")], &let_in);
    with(&[("content-type", "Application/JSON; charset=utf-8")], &let_in);
    with(&[("accept", "text/event-stream;q=0.5"), ("accept", "application/json")], &let_in);
    with(&[("mcp-session-id", "old"), ("last-event-id", "1")], &let_in);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let host = expect![
        "403 AG-HEAD-HOST: the host `evil.example` is not served here; add it to `hosts` if it should be"
    ];
    with(&[("host", "evil.example")], &host);
    with(
        &[("host", "127.0.0.1.evil.example")],
        &expect![
            "403 AG-HEAD-HOST: the host `127.0.0.1.evil.example` is not served here; add it to `hosts` if it should be"
        ],
    );
    with(
        &[("host", "127.0.0.1"), ("host", "127.0.0.1")],
        &expect![
            "403 AG-HEAD-HOST: the host `127.0.0.1` is not served here; add it to `hosts` if it should be"
        ],
    );
    let origin = expect![
        "403 AG-HEAD-ORIGIN: requests of this origin are not let in; add it to `origins` if they should be"
    ];
    for foreign in ["https://evil.example", "null", "http://127.0.0.1:7300", "https://console.example:8443"] {
        with(&[("origin", foreign)], &origin);
    }
    with(&[("origin", "https://console.example"), ("origin", "https://evil.example")], &origin);
}

#[test]
fn other_methods_are_refused() {
    for method in [http::Method::GET, http::Method::DELETE, http::Method::PUT] {
        let found = said(|request| *request.method_mut() = method);
        assert_eq!(found, "405 AG-HEAD-METHOD: this endpoint takes POST requests only");
    }
}

#[test]
fn media_types_encodings_sizes_and_repetitions_are_checked() {
    with(
        &[("content-type", "text/plain")],
        &expect!["415 AG-HEAD-CONTENT-TYPE: the body must be `application/json`, found `text/plain`"],
    );
    with(
        &[("content-encoding", "gzip")],
        &expect!["415 AG-HEAD-ENCODING: a body must not be compressed; leave `Content-Encoding` out"],
    );
    let accept =
        expect!["406 AG-HEAD-ACCEPT: `Accept` must name both `application/json` and `text/event-stream`"];
    with(&[("accept", "application/json")], &accept);
    with(&[("accept", "*/*")], &accept);
    with(
        &[("content-length", "11")],
        &expect![
            "413 AG-HEAD-SIZE: the body has 11 bytes, at most 10 are taken; send less, or raise `body_bytes`"
        ],
    );
    with(
        &[("authorization", "Bearer a"), ("authorization", "Bearer b")],
        &expect!["400 AG-HEAD-REPEATED: the header `authorization` stands more than once; send it once"],
    );
    with(
        &[("mcp-method", "tools/list"), ("mcp-method", "tools/call")],
        &expect!["400 AG-HEAD-REPEATED: the header `mcp-method` stands more than once; send it once"],
    );
}
