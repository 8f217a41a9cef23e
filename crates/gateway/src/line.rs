//! The line to the client while a call is on its way: notifications go out on it, and it tells when the client has left.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http_body_util::BodyExt as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::reply;

/// Notifications that may wait for a slow client; then the upstream's stream waits too.
const WAITING: usize = 16;
/// A comment that keeps an idle stream alive.
pub(crate) const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// The call's end of the line.
pub struct Line {
    notices: mpsc::Sender<Bytes>,
    left: oneshot::Receiver<()>,
}

/// The client's end of the line. The client has left when this is dropped.
pub(crate) struct ClientEnd {
    notices: mpsc::Receiver<Bytes>,
    _here: oneshot::Sender<()>,
}

impl Line {
    /// A line with both its ends.
    pub(crate) fn new() -> (Self, ClientEnd) {
        let (notices, waiting) = mpsc::channel(WAITING);
        let (here, left) = oneshot::channel();
        (Self { notices, left }, ClientEnd { notices: waiting, _here: here })
    }

    /// The part that notifications go out on, and the part that resolves when the client has left.
    pub(crate) fn split(self) -> (mpsc::Sender<Bytes>, oneshot::Receiver<()>) {
        (self.notices, self.left)
    }
}

/// The response of a call: one JSON object, or a stream that begins with the first notification, or with a comment where
/// nothing comes for as long as `alive`, and ends with the response to the request (MCP 2026-07-28,
/// basic/transports/streamable-http).
pub(crate) async fn response(
    mut end: ClientEnd,
    mut call: JoinHandle<Response>,
    alive: Duration,
) -> Result<Response, ()> {
    tokio::select! {
        biased;
        first = end.notices.recv() => match first {
            Some(first) => Ok(streamed(event(&first), end, call, alive)),
            None => call.await.map_err(|_stopped| ()),
        },
        ended = &mut call => ended.map_err(|_stopped| ()),
        () = tokio::time::sleep(alive) => Ok(streamed(Bytes::from_static(KEEP_ALIVE), end, call, alive)),
    }
}

/// Where a stream stands.
enum Stage {
    First(Bytes),
    Notices,
    End,
}

fn streamed(first: Bytes, end: ClientEnd, call: JoinHandle<Response>, alive: Duration) -> Response {
    let state = (Stage::First(first), end, Some(call));
    let frames = stream::unfold(state, move |(stage, mut end, mut call)| async move {
        match stage {
            Stage::First(first) => Some((Ok::<_, std::io::Error>(first), (Stage::Notices, end, call))),
            Stage::Notices => match tokio::time::timeout(alive, end.notices.recv()).await {
                Ok(Some(notice)) => Some((Ok(event(&notice)), (Stage::Notices, end, call))),
                Ok(None) => {
                    let last = last_of(call.take()).await;
                    Some((last, (Stage::End, end, None)))
                }
                Err(_idle) => Some((Ok(Bytes::from_static(KEEP_ALIVE)), (Stage::Notices, end, call))),
            },
            Stage::End => None,
        }
    });
    reply::event_stream(Body::from_stream(frames))
}

/// The response to the request as the last event. A call that broke ends the stream without one.
async fn last_of(call: Option<JoinHandle<Response>>) -> Result<Bytes, std::io::Error> {
    let broken = || std::io::Error::other("the call was stopped");
    let response = call.ok_or_else(broken)?.await.map_err(|_stopped| broken())?;
    let body = response.into_body().collect().await.map_err(std::io::Error::other)?;
    Ok(event(&body.to_bytes()))
}

/// One event. Line ends within the message divide its data; a reader joins them again with line feeds, which JSON takes
/// for the white space that they were.
pub(crate) fn event(message: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + 16);
    for (index, line) in message.split(|byte| *byte == b'\n' || *byte == b'\r').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
    }
    out.extend_from_slice(b"\n\n");
    Bytes::from(out)
}
