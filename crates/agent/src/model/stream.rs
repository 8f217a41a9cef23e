use std::error::Error;

use futures::{Stream, StreamExt as _};
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use sse_stream::SseStream;
use thiserror::Error;

use super::config::{Api, Key, ModelLimits};
use super::fault::ModelFault;
use super::reply::Reply;
use super::service::{Told, cut};
use super::talk::Piece;
use super::{anthropic, openai};
use crate::exchange::chain;

/// Why the body of an answer ends early.
#[derive(Debug, Error)]
enum Cut {
    #[error("the answer is too long")]
    TooLong,
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// Reads an answer. What has begun is not asked for again.
pub(super) async fn read(
    api: Api,
    response: reqwest::Response,
    limits: &ModelLimits,
    key: Option<&Key>,
    told: &(dyn Fn(Told) + Send + Sync),
) -> Result<Reply, ModelFault> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("none");
    if !kind.to_ascii_lowercase().starts_with("text/event-stream") {
        let kind = cut(&key.map_or_else(|| kind.to_owned(), |key| key.out_of(kind)), 80);
        return Err(ModelFault::stream(format!(
            "found the media type `{kind}`, expected `text/event-stream`"
        )));
    }
    let mut events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), limits.max_response));
    let mut reply = Reply::default();
    while !reply.ended {
        let event = tokio::time::timeout(limits.idle, events.next());
        let data = match event.await.map_err(|_| ModelFault::stalled(limits.idle))? {
            None => break,
            Some(Ok(event)) => event.data.unwrap_or_default(),
            Some(Err(fault)) => return Err(broken(&fault, limits)),
        };
        if data.len() > limits.max_event {
            return Err(ModelFault::Bound { of: "bytes in one event", limit: limits.max_event });
        }
        // An error that quotes the key does not bring it to a screen or a log.
        let data = match key {
            Some(key) => key.out_of(&data),
            None => data,
        };
        for piece in pieces(api, &data, &reply)? {
            if let Piece::Text(text) = &piece
                && !text.is_empty()
            {
                told(Told::Said(text.clone()));
            }
            reply.take(piece, limits)?;
        }
    }
    // Chat completions end with an event of their own, which some services leave out; that they stopped is enough.
    let whole = reply.ended || api == Api::OpenAi;
    if !whole || reply.stopped.is_none() {
        return Err(ModelFault::stream("it ended before it said that it was complete; try again"));
    }
    Ok(reply)
}

fn pieces(api: Api, data: &str, reply: &Reply) -> Result<Vec<Piece>, ModelFault> {
    if data.is_empty() {
        return Ok(Vec::new());
    }
    if api == Api::OpenAi && data.trim() == "[DONE]" {
        return Ok(vec![Piece::Ended]);
    }
    let event: Value = serde_json::from_str(data)
        .map_err(|fault| ModelFault::stream(format!("found an event that is no JSON ({fault})")))?;
    match api {
        Api::Anthropic => anthropic::pieces(&event),
        Api::OpenAi => openai::pieces(&event, reply.calls().count()),
    }
}

/// The bytes of a body, up to a bound.
fn bounded(
    bytes: impl Stream<Item = reqwest::Result<bytes::Bytes>> + Send,
    limit: usize,
) -> impl Stream<Item = Result<bytes::Bytes, Cut>> + Send {
    let mut left = limit;
    bytes.map(move |piece| {
        let piece = piece.map_err(reqwest::Error::without_url)?;
        left = left.checked_sub(piece.len()).ok_or(Cut::TooLong)?;
        Ok(piece)
    })
}

fn broken(fault: &sse_stream::Error, limits: &ModelLimits) -> ModelFault {
    match fault.source().and_then(|cause| cause.downcast_ref::<Cut>()) {
        Some(Cut::TooLong) => ModelFault::Bound { of: "bytes", limit: limits.max_response },
        Some(Cut::Http(http)) => ModelFault::stream(format!("it broke off ({}); try again", chain(http))),
        None => ModelFault::stream(format!("it is no stream of events ({fault})")),
    }
}
