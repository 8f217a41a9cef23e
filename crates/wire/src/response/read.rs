use std::ops::Range;

use serde_json::value::RawValue;

use super::{Answer, AnswerFault, Message, ResultKind, ResultView};
use crate::OWN_META_PREFIX;
use crate::guard::{self, Limits};
use crate::json::{Kind, Members, Repeated, has_prefix, kind, string};
use crate::presence::Presence;
use crate::quote::shortened;

impl From<Repeated> for AnswerFault {
    fn from(Repeated(member): Repeated) -> Self {
        Self::Repeated { member }
    }
}

/// Reads the one answer to a request.
///
/// # Errors
/// The first fault; an answer with a fault must not be used.
pub fn read(body: &[u8], expected_id: u64, limits: &Limits) -> Result<Answer, AnswerFault> {
    match read_message(body, expected_id, limits)? {
        Message::Answer(answer) => Ok(answer),
        Message::Notification { method, .. } => Err(AnswerFault::Notification { method }),
    }
}

/// Reads one message of a stream: a notification, or the answer that ends it.
///
/// # Errors
/// The first fault; a message with a fault must not be used.
pub fn read_message(body: &[u8], expected_id: u64, limits: &Limits) -> Result<Message, AnswerFault> {
    guard::check_shape(body, limits).map_err(AnswerFault::Unreadable)?;
    let text = std::str::from_utf8(body).map_err(|_| AnswerFault::NotJsonRpc)?;
    let envelope = Members::read(text).ok_or(AnswerFault::NotJsonRpc)?;
    if envelope.get("jsonrpc")?.and_then(string).as_deref() != Some("2.0") {
        return Err(AnswerFault::NotJsonRpc);
    }
    let id = envelope.get("id")?;
    if let Some(method) = envelope.get("method")? {
        let method = string(method).ok_or_else(|| wrong("method", "a string", Some(method)))?;
        if id.is_some() {
            return Err(AnswerFault::Request { method: shortened(&method) });
        }
        let params = envelope.get("params")?.map(|raw| object("params", raw)).transpose()?;
        return Ok(Message::Notification { method, params });
    }
    let has_id = id.is_some_and(|raw| raw.get() == expected_id.to_string());
    let answer = match (envelope.get("result")?, envelope.get("error")?) {
        (Some(result), None) if has_id => Answer::Result(ResultView::read(result)?),
        // A server leaves the id out of an error when it could not read it (JSON-RPC 2.0 §5).
        (None, Some(error)) if has_id || id.is_none_or(|raw| kind(raw) == Kind::Null) => read_error(error)?,
        (Some(_), None) | (None, Some(_)) => {
            let found = id.map(|raw| shortened(raw.get())).unwrap_or_default();
            return Err(AnswerFault::WrongId { found, expected: expected_id });
        }
        (Some(_), Some(_)) | (None, None) => return Err(AnswerFault::NotOneOutcome),
    };
    Ok(Message::Answer(answer))
}

fn read_error(raw: &RawValue) -> Result<Answer, AnswerFault> {
    let error = Members::read(raw.get()).ok_or_else(|| wrong("error", "an object", Some(raw)))?;
    let code = error.get("code")?;
    let code =
        code.and_then(|raw| raw.get().parse().ok()).ok_or_else(|| wrong("error.code", "an integer", code))?;
    let message = error.get("message")?;
    let message = message.and_then(string).ok_or_else(|| wrong("error.message", "a string", message))?;
    let data = error.get("data")?.map(ToOwned::to_owned);
    Ok(Answer::Error { code, message, data, raw: raw.to_owned() })
}

impl ResultView {
    /// Reads a result that did not come in an envelope, such as the one inside a finished task.
    ///
    /// # Errors
    /// The first member that is wrong.
    pub fn read(raw: &RawValue) -> Result<Self, AnswerFault> {
        let members = Members::read(raw.get()).ok_or_else(|| wrong("result", "an object", Some(raw)))?;
        let result_type = members.get("resultType")?;
        let kind = match result_type.map(|raw| string(raw).ok_or(raw)).transpose() {
            Ok(None) => ResultKind::Complete,
            Ok(Some(name)) => match name.as_str() {
                "complete" => ResultKind::Complete,
                "input_required" => ResultKind::InputRequired,
                "task" => ResultKind::Task,
                _ => return Err(AnswerFault::UnknownResultType { found: shortened(&name) }),
            },
            Err(raw) => return Err(wrong("resultType", "a string", Some(raw))),
        };
        let is_error = match members.get("isError")? {
            None => Presence::Absent,
            Some(raw) => match raw.get() {
                "null" => Presence::Null,
                "true" => Presence::Value(true),
                "false" => Presence::Value(false),
                _ => return Err(wrong("isError", "a boolean", Some(raw))),
            },
        };
        let structured_content = match members.get("structuredContent")? {
            None => Presence::Absent,
            Some(raw) if crate::json::kind(raw) == Kind::Null => Presence::Null,
            Some(raw) => Presence::Value(raw.to_owned()),
        };
        let asked = kind == ResultKind::InputRequired;
        let input_requests = members.get("inputRequests")?.filter(|_| asked);
        let input_requests = input_requests.map(|raw| object("inputRequests", raw)).transpose()?;
        let request_state = members.get("requestState")?.filter(|_| asked);
        let request_state = request_state
            .map(|raw| string(raw).ok_or_else(|| wrong("requestState", "a string", Some(raw))))
            .transpose()?;
        if asked && input_requests.is_none() && request_state.is_none() {
            return Err(AnswerFault::NothingAsked);
        }
        let task_id = match members.get("taskId")? {
            raw if kind == ResultKind::Task => {
                Some(raw.and_then(string).ok_or_else(|| wrong("taskId", "a string", raw))?)
            }
            _ => None,
        };
        let meta = members.get("_meta")?.map(|meta| meta_range(raw, meta)).transpose()?;
        Ok(Self {
            raw: raw.to_owned(),
            meta,
            kind,
            kind_stated: result_type.is_some(),
            is_error,
            structured_content,
            input_requests,
            request_state,
            task_id,
        })
    }
}

/// Checks `_meta` and finds where it stands.
fn meta_range(result: &RawValue, meta: &RawValue) -> Result<Range<usize>, AnswerFault> {
    let members = Members::read(meta.get()).ok_or_else(|| wrong("_meta", "an object", Some(meta)))?;
    if let Some((key, _)) = members.iter().find(|(key, _)| has_prefix(key, OWN_META_PREFIX)) {
        return Err(AnswerFault::ReservedKey { key: shortened(&key) });
    }
    // `meta` borrows from `result`, so the distance of their beginnings is its offset.
    let start = (meta.get().as_ptr() as usize).wrapping_sub(result.get().as_ptr() as usize);
    Ok(start..start.wrapping_add(meta.get().len()))
}

fn object(member: &'static str, raw: &RawValue) -> Result<Box<RawValue>, AnswerFault> {
    match kind(raw) {
        Kind::Object => Ok(raw.to_owned()),
        _ => Err(wrong(member, "an object", Some(raw))),
    }
}

fn wrong(member: &'static str, expected: &'static str, found: Option<&RawValue>) -> AnswerFault {
    AnswerFault::Wrong { member, expected, found: found.map_or("nothing", |raw| kind(raw).described()) }
}
