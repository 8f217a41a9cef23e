//! From a behaviour to an HTTP response.

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::header::{CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, Response};
use serde_json::{Value, json};

use crate::Latch;
use crate::behaviour::{Behaviour, ID, response};

/// The connection is to end without a word.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed on purpose")]
pub(crate) struct Closed;

/// What is known of the request that is answered.
pub(crate) struct Asked<'a> {
    /// The id as it was sent.
    pub(crate) id: &'a str,
    /// `params.requestState`.
    pub(crate) state: Option<&'a str>,
}

/// Answers one request.
pub(crate) async fn respond(mut behaviour: Behaviour, asked: Asked<'_>) -> Result<Response<Body>, Closed> {
    loop {
        behaviour = match behaviour {
            Behaviour::After(latch, then) => {
                latch.opened().await;
                *then
            }
            Behaviour::Rounds(rounds, last) => round(&rounds, *last, asked.state),
            Behaviour::Json { status, body } => {
                return Ok(made(status, &[("content-type", "application/json")], filled(&body, asked.id)));
            }
            Behaviour::Stream(events) => {
                let text: String = events.iter().map(|event| as_event(event)).collect();
                return Ok(made(200, &[("content-type", "text/event-stream")], filled(&text, asked.id)));
            }
            Behaviour::Slow(events, last) => return Ok(slow(events, last, asked.id)),
            Behaviour::Http { status, headers, body } => {
                let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let body = match std::str::from_utf8(&body) {
                    Ok(text) => filled(text, asked.id),
                    Err(_) => Body::from(body),
                };
                return Ok(made(status, &headers, body));
            }
            Behaviour::BreakOff => return Ok(broken()),
            Behaviour::Close => return Err(Closed),
            Behaviour::Hang => std::future::pending().await,
        };
    }
}

/// Adds `Connection: close`, so that the client opens a new connection for its next request.
pub(crate) fn closing(response: &mut Response<Body>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

fn round(rounds: &[Value], last: Behaviour, state: Option<&str>) -> Behaviour {
    let begun = match state {
        None => Some(0),
        Some(state) => state.strip_prefix("round ").and_then(|number| number.parse::<usize>().ok()),
    };
    match begun {
        Some(number) if number == rounds.len() => last,
        Some(number) if number < rounds.len() => Behaviour::result(&json!({
            "resultType": "input_required",
            "inputRequests": rounds.get(number),
            "requestState": format!("round {}", number + 1),
        })),
        _ => Behaviour::error(-32602, "the state is not the one that was given out"),
    }
}

fn broken() -> Response<Body> {
    let half = Bytes::from_static(br#"{"jsonrpc":"2.0","#);
    let pieces = [Ok(half), Err(std::io::Error::other("broken off on purpose"))];
    let mut response = Response::new(Body::from_stream(stream::iter(pieces)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Each event when its door opens.
fn slow(events: Vec<(Latch, String)>, last: String, id: &str) -> Response<Body> {
    let said = |text: &str| Bytes::from(format!("data: {}\n\n", text.replace(ID, id)));
    let events = events.into_iter().map(|(door, text)| (Some(door), said(&text)));
    let all: Vec<_> = events.chain([(None, said(&last))]).collect();
    let stream = stream::iter(all).then(|(door, event)| async move {
        if let Some(door) = door {
            door.opened().await;
        }
        Ok::<_, std::io::Error>(event)
    });
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// One event; every line of the text is a line of its data (WHATWG HTML §9.2.5).
fn as_event(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\ndata: ");
    format!("event: message\ndata: {lines}\n\n")
}

fn filled(text: &str, id: &str) -> Body {
    Body::from(text.replace(ID, id))
}

fn made(status: u16, headers: &[(&'static str, &str)], body: Body) -> Response<Body> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    // A script with an impossible status or header shows itself as the empty 500 that no script asks for.
    response.body(body).unwrap_or_else(|_| {
        let mut wrong = Response::new(Body::empty());
        *wrong.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        wrong
    })
}

/// A response with this result.
pub(crate) fn result(result: &str, id: &str) -> Response<Body> {
    made(200, &[("content-type", "application/json")], filled(&response(result), id))
}

/// A JSON-RPC error.
pub(crate) fn error(status: u16, code: i64, message: &str, id: &str) -> Response<Body> {
    let error = json!({"code": code, "message": message});
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    made(status, &[("content-type", "application/json")], Body::from(body))
}
