//! A response that lasts: a stream of events that may be idle for hours, by the thousand.
//!
//! hyper keeps two buffers of 8 KiB and its own state for each connection, whether or not something is sent. So a response
//! that is marked as [`Lasting`] is taken out of its hands: the connection's socket is taken back, and the rest of the
//! response is written here, in chunks (RFC 9112 §7.1). Nothing else is ever sent on that connection.

use std::future::Future;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::response::Response;
use http::header::CONNECTION;
use http_body_util::BodyExt as _;
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// How HTTP writes a time (RFC 9110 §5.6.7).
const DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// Bytes that a client may send on a connection that serves a lasting response, such as requests that it sent ahead.
const MOST_SENT: usize = 16 << 10;
/// How long a client may take for one event.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);

/// Marks a response whose stream lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lasting;

/// The way to the connection that a request came on.
#[derive(Clone)]
pub(super) struct Takeover(mpsc::Sender<Response>);

/// A connection that serves one lasting response to its end.
pub(super) struct Stream {
    pub(super) socket: TcpStream,
    pub(super) response: Response,
    /// The connection's place, given back with it.
    pub(super) place: OwnedSemaphorePermit,
}

impl Takeover {
    /// The way, and its end at the connection.
    pub(super) fn new() -> (Self, mpsc::Receiver<Response>) {
        let (way, end) = mpsc::channel(1);
        (Self(way), end)
    }

    /// The response for hyper. One that lasts goes to the connection instead, which ends this future with itself.
    pub(super) async fn respond(way: Option<Self>, answering: impl Future<Output = Response>) -> Response {
        let response = answering.await;
        match way {
            Some(Self(way)) if response.extensions().get::<Lasting>().is_some() => {
                // The connection is there as long as it waits for this very response.
                let _ = way.send(response).await;
                std::future::pending().await
            }
            _ => response,
        }
    }
}

impl Stream {
    /// Sends the response until its stream ends or the client leaves.
    pub(super) async fn serve(self) {
        let Self { mut socket, response, place: _place } = self;
        let (parts, mut body) = response.into_parts();
        let sent = AtomicUsize::new(0);
        if taken(socket.write_all(&head(&parts))).await.is_err() {
            return;
        }
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                () = left(&socket, &sent) => return,
            };
            let sent = match frame {
                // A stream that broke has no last chunk.
                Some(Err(_broken)) => return,
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => taken(socket.write_all(&chunk(&data))).await,
                    Ok(_) | Err(_) => continue,
                },
                None => {
                    // Whether the client still reads it or not, this is the end.
                    let _ = taken(socket.write_all(b"0\r\n\r\n")).await;
                    let _ = taken(socket.shutdown()).await;
                    return;
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// What is sent has to be taken in time, however slowly: an event is small.
async fn taken<T>(sending: impl Future<Output = std::io::Result<T>>) -> std::io::Result<T> {
    tokio::time::timeout(TAKEN_WITHIN, sending)
        .await
        .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

fn head(parts: &http::response::Parts) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let reason = parts.status.canonical_reason().unwrap_or_default();
    // Writing to memory does not fail.
    let _ = write!(out, "HTTP/1.1 {} {reason}\r\n", parts.status.as_u16());
    for (name, value) in parts.headers.iter().filter(|(name, _)| *name != CONNECTION) {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    if let Ok(now) = OffsetDateTime::now_utc().format(DATE) {
        let _ = write!(out, "date: {now}\r\n");
    }
    out.extend_from_slice(b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    out
}

fn chunk(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 16);
    let _ = write!(out, "{:x}\r\n", data.len());
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
    out
}

/// Resolves when the client has closed its side, or sends more than a little. What it sends means nothing: the connection
/// closes after this response.
async fn left(socket: &TcpStream, sent: &AtomicUsize) {
    let mut scratch = [0; 256];
    while socket.readable().await.is_ok() {
        // Whoever sends without end takes no more of the gateway's time than others.
        tokio::task::consume_budget().await;
        match socket.try_read(&mut scratch) {
            Ok(0) => return,
            Ok(read) if sent.fetch_add(read, Ordering::Relaxed) + read > MOST_SENT => return,
            Ok(_) => {}
            Err(fault) if fault.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
