//! A listener that is not occupied for long: connections are counted, a request's head has to come in time, what is sent has
//! to be taken, and stopping ends.

mod lasting;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderValue, Request, Version};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tower::ServiceExt as _;

pub(crate) use lasting::Lasting;
use lasting::{Stream, Takeover};

/// How long the head of a request may take, also of the next one on a connection that is kept.
const HEAD_WITHIN: Duration = Duration::from_secs(15);
/// How long a peer may take nothing of what is sent to it. Nothing else ends a response that nobody reads.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// How long the listener rests when the system has no descriptors left.
const REST: Duration = Duration::from_millis(100);

/// Where a request comes from: the other end of its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// What answers the requests of a listener.
pub(crate) trait Answering: Clone + Send + Sync + 'static {
    /// The response to one request.
    fn answer(&self, request: Request<Body>) -> impl Future<Output = Response> + Send;
}

impl Answering for Router {
    async fn answer(&self, request: Request<Body>) -> Response {
        self.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }
}

/// Serves until `stopping` says so; then the requests under way have `drain` to end. So many connections are open at
/// once, and the head of a request has `head` bytes at most, which are also what is read ahead on a connection.
pub(crate) async fn serve(
    listener: TcpListener,
    answering: impl Answering,
    connections: usize,
    head: usize,
    stopping: watch::Receiver<bool>,
    drain: Duration,
) {
    serve_taken(listener, answering, (connections, head), stopping, drain, TAKEN_WITHIN).await;
}

async fn serve_taken(
    listener: TcpListener,
    answering: impl Answering,
    (connections, head): (usize, usize),
    mut stopping: watch::Receiver<bool>,
    drain: Duration,
    taken: Duration,
) {
    let places = Arc::new(Semaphore::new(connections));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(head);
    let mut open = JoinSet::new();
    loop {
        let accepted = async {
            // With every place taken, the next connection waits in the system's queue.
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            _ = stopping.wait_for(|now| *now) => break,
            accepted = accepted => accepted,
            Some(ended) = open.join_next() => {
                goes_on(&mut open, ended);
                continue;
            }
        };
        // The semaphore is never closed.
        let Ok(place) = place else { break };
        let (socket, peer) = match accepted {
            Ok((socket, peer)) => (socket, Peer(peer)),
            Err(fault) => {
                tracing::warn!(error = &fault as &dyn std::error::Error, "a connection was not accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        if let Err(fault) = socket.set_nodelay(true).and_then(|()| taken_within(&socket, taken)) {
            tracing::warn!(
                error = &fault as &dyn std::error::Error,
                "a connection could not be set up, it is closed"
            );
            continue;
        }
        open.spawn(connection(server.clone(), (socket, peer), answering.clone(), stopping.clone(), place));
    }
    drop(listener);
    let ending = async {
        while let Some(ended) = open.join_next().await {
            goes_on(&mut open, ended);
        }
    };
    if tokio::time::timeout(drain, ending).await.is_err() {
        tracing::warn!("connections that did not end in time are closed");
    }
    open.shutdown().await;
}

/// A connection whose response lasts goes on in a task of its own, which is as small as it can be.
fn goes_on(open: &mut JoinSet<Option<Stream>>, ended: Result<Option<Stream>, JoinError>) {
    match ended {
        Ok(Some(stream)) => {
            open.spawn(async move {
                stream.serve().await;
                None
            });
        }
        Ok(None) => {}
        Err(fault) => {
            tracing::error!(error = &fault as &dyn std::error::Error, "a connection was dropped");
        }
    }
}

/// Serves the requests of one connection, until it ends or one of its responses lasts.
async fn connection(
    server: http1::Builder,
    (socket, peer): (TcpStream, Peer),
    answering: impl Answering,
    mut stopping: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) -> Option<Stream> {
    let (takeover, mut lasting) = Takeover::new();
    let service = service_fn(move |request: Request<Incoming>| {
        // Older clients do not know chunks.
        let way = (request.version() == Version::HTTP_11).then(|| takeover.clone());
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        let answering = answering.clone();
        async move {
            let chunked = request.headers().contains_key(TRANSFER_ENCODING);
            let mut response = Takeover::respond(way, answering.answer(request)).await;
            if chunked {
                alone(&mut response);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut connection = server.serve_connection(TokioIo::new(socket), service);
    let mut told = false;
    let response = loop {
        tokio::select! {
            ended = Pin::new(&mut connection) => {
                if let Err(fault) = ended {
                    tracing::debug!(error = &fault as &dyn std::error::Error, "a connection ended early");
                }
                return None;
            }
            Some(response) = lasting.recv() => break response,
            _ = stopping.wait_for(|now| *now), if !told => {
                told = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    let socket = connection.into_parts().io.into_inner();
    Some(Stream { socket, response, place })
}

/// Ends the connection after a request whose body comes in chunks. One that says `Content-Length` too cannot be told from
/// others here, and a proxy before the gateway may have believed the length: what follows on the connection would be read as
/// a request of somebody else (RFC 9112 §6.1).
fn alone(response: &mut Response) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
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
        let serving = tokio::spawn(serve_taken(listener, router, (1, 64 << 10), stopping, drain, taken));
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
