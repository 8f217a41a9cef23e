//! Which era a message belongs to, and what it asks. Nothing is remembered between messages: those of MCP 2026-07-28 name
//! their revision in `_meta`, all others are of a client that began with `initialize`.

use aldgate_wire::code;
use aldgate_wire::guard::Limits;
use aldgate_wire::header;
use aldgate_wire::request::{
    Incoming, Method, Older, OlderMessage, Rejection, Request, RequestId, accept, accept_line, accept_older,
    names_its_version,
};
use http::HeaderMap;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::fault::Fault;

/// The revision that each of its requests names.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, the newest first.
const OLDER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The one that has batches, and that a request without the header is taken for (MCP 2025-11-25, basic/transports).
const BATCHING: &str = "2025-03-26";

const SERVED: &[Method] = &[Method::Discover, Method::ListTools, Method::CallTool];

/// How requests and results look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// MCP 2026-07-28.
    Modern,
    /// The revisions before it.
    Older,
}

/// What one request asks.
#[derive(Debug)]
pub(crate) enum Ask {
    Discover,
    /// With the revision that the answer names.
    Initialize(&'static str),
    Ping,
    ListTools,
    Call {
        name: String,
        arguments: Option<Box<RawValue>>,
    },
}

/// One request.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) id: RequestId,
    pub(crate) era: Era,
    pub(crate) ask: Result<Ask, Fault>,
}

/// What one body, or one line, holds.
#[derive(Debug)]
pub(crate) enum Message {
    Request(Asking),
    Notification,
    Batch(Vec<Result<Option<Asking>, Rejection>>),
}

/// Reads a body with the headers of its transport; a line of stdio has none.
///
/// # Errors
/// What cannot be read as a message of either era.
pub(crate) fn read(headers: Option<&HeaderMap>, body: &[u8], limits: &Limits) -> Result<Message, Rejection> {
    let named = headers.and_then(|headers| headers.get(&header::PROTOCOL_VERSION));
    let named = named.map(|value| value.to_str().unwrap_or_default().trim());
    // A line that is longer than the limit is not looked into.
    let modern = named.is_some_and(|named| !OLDER.contains(&named))
        || (body.len() <= limits.max_bytes && names_its_version(body));
    if !modern {
        let batches = named.is_none_or(|named| named == BATCHING);
        return Ok(match accept_older(body, limits, batches)? {
            Older::One(message) => older(message).map_or(Message::Notification, Message::Request),
            Older::Batch(messages) => {
                Message::Batch(messages.into_iter().map(|message| message.map(older)).collect())
            }
        });
    }
    let incoming = match headers {
        Some(headers) => {
            accept(headers, body, limits, SERVED, &[MODERN]).map_err(|rejection| match named {
                Some(named) if named != MODERN && rejection.ag == code::META => unspoken(named, rejection),
                _ => rejection,
            })?
        }
        None => accept_line(body, limits, SERVED, &[MODERN])?,
    };
    Ok(match incoming {
        Incoming::Notification { .. } => Message::Notification,
        Incoming::Request(Request { id, method, params, .. }) => {
            let ask = match method {
                Method::ListTools => list(params.cursor.is_some()),
                Method::CallTool => {
                    Ok(Ask::Call { name: params.name.unwrap_or_default(), arguments: params.arguments })
                }
                _ => Ok(Ask::Discover),
            };
            Message::Request(Asking { id, era: Era::Modern, ask })
        }
    })
}

/// What a request is told that names a revision in its header alone, and one that is not spoken: not that it lacks what
/// another revision needs.
fn unspoken(named: &str, rejection: Rejection) -> Rejection {
    let spoken: Vec<&str> = std::iter::once(MODERN).chain(OLDER).collect();
    let named: String = named.chars().take(80).collect();
    let message =
        format!("the protocol version `{named}` is not supported; use one of: {}", spoken.join(", "));
    let data = json!({ "code": code::VERSION, "supported": spoken, "requested": named });
    let (code, ag) = (code::UNSUPPORTED_PROTOCOL_VERSION, code::VERSION);
    Rejection { http: 400, code, message, data: Some(Box::new(data)), ag, ..rejection }
}

/// There is one page, so no cursor was given out.
fn list(cursor: bool) -> Result<Ask, Fault> {
    if cursor {
        Err(Fault::Params("the cursor was not given out here; list anew without one"))
    } else {
        Ok(Ask::ListTools)
    }
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    protocol_version: String,
}

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

fn older(message: OlderMessage) -> Option<Asking> {
    let OlderMessage::Request { id, method, params } = message else { return None };
    let params = params.as_deref().map_or("{}", RawValue::get);
    let ask = match method.as_str() {
        "initialize" => initialize(params),
        "ping" => Ok(Ask::Ping),
        "tools/list" => serde_json::from_str(params)
            .map_err(|_| Fault::Params("`cursor` in `params` of `tools/list` must be a string"))
            .and_then(|params: ListParams| list(params.cursor.is_some())),
        "tools/call" => call(params),
        _ => Err(Fault::Method(method.chars().filter(|c| !c.is_control()).take(80).collect())),
    };
    Some(Asking { id, era: Era::Older, ask })
}

fn initialize(params: &str) -> Result<Ask, Fault> {
    let params: InitializeParams = serde_json::from_str(params)
        .map_err(|_| Fault::Params("`params` of `initialize` needs `protocolVersion`, a string"))?;
    let [newest, ..] = OLDER;
    let spoken = OLDER.into_iter().find(|version| *version == params.protocol_version);
    Ok(Ask::Initialize(spoken.unwrap_or(newest)))
}

fn call(params: &str) -> Result<Ask, Fault> {
    let CallParams { name, arguments } = serde_json::from_str(params)
        .map_err(|_| Fault::Params("`params` of `tools/call` needs `name`, a string"))?;
    // `null` comes from clients that send every member they know.
    Ok(Ask::Call { name, arguments })
}
