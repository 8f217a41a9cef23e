//! The head of a request, and the size of its body.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use aldgate_evidence_server::Bounds;
use bytes::Bytes;
use expect_test::expect;
use http_body::{Body, Frame};
use serde_json::json;

use crate::fake::State;
use crate::world::{TOKEN_A, World, collect, head, world, world_with};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn told(world: &World, request: http::request::Builder) -> String {
    let answered = world.send(request, PING).await;
    let code = answered.body["error"]["data"]["code"].as_str().unwrap_or("-");
    format!("{} {} {code}", answered.status, answered.body["error"]["code"])
}

fn without(name: &str) -> http::request::Builder {
    let mut request = head(TOKEN_A);
    request.headers_mut().unwrap().remove(name);
    request
}

#[tokio::test]
async fn what_the_head_must_be() {
    let world = world();
    let mut seen = Vec::new();
    let cases: Vec<(&str, http::request::Builder)> = vec![
        ("as it must be", head(TOKEN_A)),
        ("loopback", without("host").header("host", "127.0.0.1:8080")),
        ("loopback of version 6", without("host").header("host", "[::1]:8080")),
        ("no host", without("host")),
        ("foreign host", without("host").header("host", "evil.example")),
        ("host with a user", without("host").header("host", "a@localhost")),
        ("two hosts", head(TOKEN_A).header("host", "localhost")),
        ("known origin", head(TOKEN_A).header("origin", "https://console.example")),
        ("foreign origin", head(TOKEN_A).header("origin", "https://evil.example")),
        ("null origin", head(TOKEN_A).header("origin", "null")),
        ("GET", head(TOKEN_A).method("GET")),
        ("DELETE", head(TOKEN_A).method("DELETE")),
        ("OPTIONS", head(TOKEN_A).method("OPTIONS")),
        ("no content type", without("content-type")),
        ("text", without("content-type").header("content-type", "text/plain")),
        ("with a charset", without("content-type").header("content-type", "application/json; charset=utf-8")),
        ("compressed", head(TOKEN_A).header("content-encoding", "gzip")),
        ("no accept", without("accept")),
        ("JSON alone", without("accept").header("accept", "application/json")),
        ("two credentials", head(TOKEN_A).header("authorization", TOKEN_A)),
        (
            "two versions",
            head(TOKEN_A)
                .header("mcp-protocol-version", "2025-11-25")
                .header("mcp-protocol-version", "2025-11-25"),
        ),
        ("a session", head(TOKEN_A).header("mcp-session-id", "x").header("last-event-id", "3")),
        ("an announced size", head(TOKEN_A).header("content-length", "262145")),
        ("an announced size beyond numbers", head(TOKEN_A).header("content-length", "18446744073709551615")),
        ("a size at the limit", head(TOKEN_A).header("content-length", "262144")),
    ];
    for (what, request) in cases {
        seen.push(format!("{what}: {}", told(&world, request).await));
    }
    expect![[r#"
        as it must be: 200 null -
        loopback: 200 null -
        loopback of version 6: 200 null -
        no host: 403 7403 AG-HEAD-HOST
        foreign host: 403 7403 AG-HEAD-HOST
        host with a user: 403 7403 AG-HEAD-HOST
        two hosts: 403 7403 AG-HEAD-HOST
        known origin: 200 null -
        foreign origin: 403 7403 AG-HEAD-ORIGIN
        null origin: 403 7403 AG-HEAD-ORIGIN
        GET: 405 7405 AG-HEAD-METHOD
        DELETE: 405 7405 AG-HEAD-METHOD
        OPTIONS: 405 7405 AG-HEAD-METHOD
        no content type: 415 7415 AG-HEAD-CONTENT-TYPE
        text: 415 7415 AG-HEAD-CONTENT-TYPE
        with a charset: 200 null -
        compressed: 415 7415 AG-HEAD-ENCODING
        no accept: 406 7406 AG-HEAD-ACCEPT
        JSON alone: 406 7406 AG-HEAD-ACCEPT
        two credentials: 400 7400 AG-HEAD-REPEATED
        two versions: 400 7400 AG-HEAD-REPEATED
        a session: 200 null -
        an announced size: 413 7413 AG-HEAD-SIZE
        an announced size beyond numbers: 413 7413 AG-HEAD-SIZE
        a size at the limit: 200 null -"#]]
    .assert_eq(&seen.join("\n"));
    let get = world.send(head(TOKEN_A).method("GET"), "").await;
    assert_eq!(get.headers["allow"], "POST");
}

/// A body without an announced size, that counts how much of it was taken.
struct Endless(Arc<AtomicUsize>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(1024, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 1024])))))
    }
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_no_further() {
    let taken = Arc::new(AtomicUsize::new(0));
    let request = head(TOKEN_A).body(Endless(taken.clone())).unwrap();
    let answered = collect(world().endpoint.respond(request).await).await;
    assert_eq!((answered.status, &answered.body["error"]["data"]["code"]), (413, &json!("AG-HEAD-SIZE")));
    assert!(taken.load(Ordering::Relaxed) <= (256 << 10) + 1024);
    // Announced: nothing is read.
    let taken = Arc::new(AtomicUsize::new(0));
    let request = head(TOKEN_A).header("content-length", "300000").body(Endless(taken.clone())).unwrap();
    assert_eq!(world().endpoint.respond(request).await.status().as_u16(), 413);
    assert_eq!(taken.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_limit_itself_is_taken() {
    let limit = 4096;
    let world = world_with(Bounds { body_bytes: limit, ..Bounds::default() });
    let padded = |bytes: usize| format!("{PING}{}", " ".repeat(bytes - PING.len()));
    assert_eq!(world.send(head(TOKEN_A), padded(limit)).await.status, 200);
    assert_eq!(world.send(head(TOKEN_A), padded(limit + 1)).await.status, 413);
}

/// A body that never comes.
struct Silent;

impl Body for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_gives_its_place_back() {
    let world = world_with(Bounds { in_flight: 1, ..Bounds::default() });
    let request = || head(TOKEN_A).body(Silent).unwrap();
    let waiting = world.endpoint.respond(request());
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        told(&world, head(TOKEN_A)).await
    };
    let (waited, busy) = tokio::join!(waiting, meanwhile);
    assert_eq!(waited.status().as_u16(), 400);
    assert_eq!(busy, "503 7503 AG-BUSY");
    assert_eq!(told(&world, head(TOKEN_A)).await, "200 null -");
}

#[tokio::test]
async fn a_client_that_leaves_gives_its_place_back() {
    let world = world_with(Bounds { in_flight: 1, ..Bounds::default() });
    world.source.set(State::Silent);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch_audit","arguments":{"id":"a"}}}"#;
    let request = head(TOKEN_A).body(http_body_util::Full::new(Bytes::from(body))).unwrap();
    {
        let asked = world.endpoint.respond(request);
        tokio::pin!(asked);
        assert!(futures_poll(asked.as_mut()).await.is_pending());
        assert_eq!(told(&world, head(TOKEN_A)).await, "503 7503 AG-BUSY");
    }
    assert_eq!(told(&world, head(TOKEN_A)).await, "200 null -");
}

/// Looks once whether a future is ready.
async fn futures_poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    let mut future = Some(future);
    std::future::poll_fn(|context| Poll::Ready(future.take().unwrap().poll(context))).await
}
