//! Messages of clients that began with `initialize` (MCP 2024-11-05 to 2025-11-25): no mirrored headers, no `_meta` that
//! every request needs, and in two revisions several messages in one body.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use super::accept::{Envelope, guarded};
use super::{Rejection, RequestId};
use crate::guard::Limits;
use crate::json::Members;
use crate::quote::Quoted;
use crate::request::meta::names_a_version;

/// The most messages of one batch.
const MOST: usize = 32;

/// The body of one POST, or one line.
#[derive(Debug)]
pub enum Older {
    /// One message.
    One(OlderMessage),
    /// A batch (MCP 2025-03-26, basic#batching): each member is answered by itself.
    Batch(Vec<Result<OlderMessage, Rejection>>),
}

/// One message.
#[derive(Debug)]
pub enum OlderMessage {
    /// A request, which gets exactly one answer.
    Request {
        /// The id, spelled as the client spelled it.
        id: RequestId,
        /// The method, whatever it is.
        method: String,
        /// Its parameters, an object, as they came; no object in them repeats a key.
        params: Option<Box<RawValue>>,
    },
    /// A notification, which gets none.
    Notification {
        /// `notifications/…`
        method: String,
    },
}

/// Reads a body of the `initialize` era; a batch only where `batches` says so.
///
/// # Errors
/// A [`Rejection`] of the whole body.
pub fn accept_older(body: &[u8], limits: &Limits, batches: bool) -> Result<Older, Rejection> {
    guarded(body, limits)?;
    let is_array = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if !(batches && is_array) {
        return message(body).map(Older::One);
    }
    let members: Vec<&RawValue> = serde_json::from_slice(body)
        .map_err(|_| Rejection::shape("expected an array of JSON-RPC messages"))?;
    if members.is_empty() || members.len() > MOST {
        let found = members.len();
        return Err(Rejection::shape(format!("a batch has 1 to {MOST} messages, found {found}")));
    }
    Ok(Older::Batch(members.into_iter().map(|member| message(member.get().as_bytes())).collect()))
}

fn message(body: &[u8]) -> Result<OlderMessage, Rejection> {
    let Envelope { id, method, params } = Envelope::read(body)?;
    match id {
        Some(id) => Ok(OlderMessage::Request { id, method, params: params.map(ToOwned::to_owned) }),
        None if method.starts_with("notifications/") => Ok(OlderMessage::Notification { method }),
        None => Err(Rejection::shape(format!(
            "expected `id`: {} is not a notification, and a request needs one",
            Quoted(&method)
        ))),
    }
}

/// Whether a body says in `params._meta` which revision it follows, as each request of 2026-07-28 does and none of an
/// earlier revision. A body that cannot be read says nothing.
#[must_use]
pub fn names_its_version(body: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(body).ok() else { return false };
    let Some(members) = Members::read(text) else { return false };
    let params = members.get("params").ok().flatten().and_then(|raw| Members::read(raw.get()));
    params.is_some_and(|params| names_a_version(&params))
}
