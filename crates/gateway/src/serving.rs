//! A listener that is not occupied for long: connections are counted, a request's head has to come in time, what is sent has
//! to be taken, and stopping ends.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::middleware::{self, Next};
use axum::response::Response;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

/// How long the head of a request may take, also of the next one on a connection that is kept.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// How long a peer may take nothing of what is sent to it. Nothing else ends a response that nobody reads.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Bytes that are read ahead on a connection, and the most that a head may have.
const READ_AHEAD: usize = 64 << 10;
/// How long the listener rests when the system has no descriptors left.
const REST: Duration = Duration::from_millis(100);

/// Serves a router until `stopping` says so; then the requests under way have `drain` to end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    stopping: watch::Receiver<bool>,
    drain: Duration,
) {
    serve_taken(listener, router, connections, stopping, drain, TAKEN_WITHIN).await;
}

async fn serve_taken(
    listener: TcpListener,
    router: Router,
    connections: usize,
    mut stopping: watch::Receiver<bool>,
    drain: Duration,
    taken: Duration,
) {
    let router = router.layer(middleware::from_fn(alone_if_chunked));
    let places = Arc::new(Semaphore::new(connections));
    let graceful = GracefulShutdown::new();
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(READ_AHEAD);
    let mut open = tokio::task::JoinSet::new();
    loop {
        let accepted = async {
            // With every place taken, the next connection waits in the system's queue.
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            _ = stopping.wait_for(|now| *now) => break,
            accepted = accepted => accepted,
            Some(_ended) = open.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _peer)) => stream,
            Err(fault) => {
                tracing::warn!(error = &fault as &dyn std::error::Error, "a connection was not accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        if let Err(fault) = stream.set_nodelay(true).and_then(|()| taken_within(&stream, taken)) {
            tracing::warn!(
                error = &fault as &dyn std::error::Error,
                "a connection could not be set up, it is closed"
            );
            continue;
        }
        let service = router.clone().map_request(|request: Request<Incoming>| request.map(Body::new));
        let connection = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = graceful.watch(connection);
        open.spawn(async move {
            let _place = place;
            if let Err(fault) = connection.await {
                tracing::debug!(error = &fault as &dyn std::error::Error, "a connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections that did not end in time are closed");
    }
    open.shutdown().await;
}

/// Ends the connection after a request whose body comes in chunks. One that says `Content-Length` too cannot be told from
/// others here, and a proxy before the gateway may have believed the length: what follows on the connection would be read as
/// a request of somebody else (RFC 9112 §6.1).
async fn alone_if_chunked(request: Request<Body>, next: Next) -> Response {
    let chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let mut response = next.run(request).await;
    if chunked {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Ends the connection when what is sent is not taken for so long (`TCP_USER_TIMEOUT`, RFC 5482; also where the peer's window
/// is closed, see tcp(7)). Other systems than Linux have no such option.
#[cfg(target_os = "linux")]
fn taken_within(stream: &tokio::net::TcpStream, time: Duration) -> std::io::Result<()> {
    let milliseconds = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
    Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds)?)
}

#[cfg(not(target_os = "linux"))]
fn taken_within(_stream: &tokio::net::TcpStream, _time: Duration) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn a_peer_that_takes_nothing_of_an_answer_loses_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // More than the buffers of both sides hold.
        let router = Router::new().fallback(|| async { vec![b'x'; 64 << 20] });
        let (_stop, stopping) = watch::channel(false);
        let (drain, taken) = (Duration::from_secs(1), Duration::from_millis(500));
        let serving = tokio::spawn(serve_taken(listener, router, 1, stopping, drain, taken));
        let ask = async || {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
            stream
        };
        let silent = ask().await;
        // The only place is taken, so an answer to another connection shows that it was given back.
        let other = ask().await;
        tokio::time::timeout(Duration::from_secs(60), other.readable())
            .await
            .expect("the place is free")
            .unwrap();
        drop(silent);
        serving.abort();
    }
}
