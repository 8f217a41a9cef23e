//! What an upstream answers, and what we answer: read without losing a byte that only passes through.

#[cfg(test)]
mod tests;

mod bytes;
mod read;
mod splice;

use std::ops::Range;

use serde_json::value::RawValue;

use crate::guard::GuardFault;
use crate::presence::Presence;
use crate::quote::Quoted;

pub use bytes::{error_bytes, response_bytes};
pub use read::{read, read_message};
pub use splice::SpliceFault;

/// One message of an upstream while a request is open.
#[derive(Debug, Clone)]
pub enum Message {
    /// The final answer.
    Answer(Answer),
    /// A notification before it.
    Notification {
        /// `notifications/…`
        method: String,
        /// Its parameters, an object.
        params: Option<Box<RawValue>>,
    },
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It was carried out, which includes a tool's own failure.
    Result(ResultView),
    /// It was refused.
    Error {
        /// The JSON-RPC code.
        code: i64,
        /// The upstream's words.
        message: String,
        /// Whatever the upstream adds.
        data: Option<Box<RawValue>>,
        /// The whole error object.
        raw: Box<RawValue>,
    },
}

/// What a result is, by `resultType`; an older server's result has none and is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// `complete`, or absent.
    Complete,
    /// `input_required` (basic/patterns/mrtr).
    InputRequired,
    /// `task`, of the Tasks extension.
    Task,
}

/// A result: its text as it came, and the members that we look at.
#[derive(Debug, Clone)]
pub struct ResultView {
    raw: Box<RawValue>,
    /// Where the value of `_meta` stands in `raw`.
    meta: Option<Range<usize>>,
    /// What it is.
    pub kind: ResultKind,
    /// Whether the result says so itself in `resultType`; one of an older server does not.
    pub kind_stated: bool,
    /// Whether the tool failed.
    pub is_error: Presence<bool>,
    /// The result for programs; any JSON.
    pub structured_content: Presence<Box<RawValue>>,
    /// What is asked, where the kind is [`ResultKind::InputRequired`]; an object.
    pub input_requests: Option<Box<RawValue>>,
    /// The state to send back, where the kind is [`ResultKind::InputRequired`].
    pub request_state: Option<String>,
    /// The task, where the kind is [`ResultKind::Task`].
    pub task_id: Option<String>,
}

impl ResultView {
    /// The result as it came, an object.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Whether the tool says that it failed.
    pub const fn failed(&self) -> bool {
        matches!(self.is_error, Presence::Value(true))
    }
}

/// An answer that must not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// The body is too large, not UTF-8, not JSON, or too deep.
    #[error("the answer cannot be read")]
    Unreadable(#[source] GuardFault),
    /// The body is no JSON-RPC 2.0 object.
    #[error("the answer must be one JSON-RPC 2.0 object")]
    NotJsonRpc,
    /// The answer is to another request.
    #[error("the answer has the id {}, expected `{expected}`", Quoted(.found))]
    WrongId {
        /// The id found, as JSON; empty where there is none.
        found: String,
        /// The id asked for.
        expected: u64,
    },
    /// The answer has a result and an error, or neither.
    #[error("the answer must have exactly one of `result` and `error`")]
    NotOneOutcome,
    /// The upstream sent a request, which no server may do.
    #[error("the upstream sent the request {}; a server may not", Quoted(.method))]
    Request {
        /// Its method.
        method: String,
    },
    /// A notification came where only the answer can be.
    #[error("expected the answer, found the notification {}", Quoted(.method))]
    Notification {
        /// Its method.
        method: String,
    },
    /// A member that we read occurs twice.
    #[error("the answer repeats the member `{member}`")]
    Repeated {
        /// The member.
        member: String,
    },
    /// A member that we read has the wrong type, or is missing.
    #[error("`{member}` in the answer must be {expected}, found {found}")]
    Wrong {
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// `resultType` is unknown, which makes the whole answer invalid (basic/index#responses).
    #[error("the answer has the unknown `resultType` {}", Quoted(.found))]
    UnknownResultType {
        /// What was found.
        found: String,
    },
    /// `input_required` without a question and without a state.
    #[error("an `input_required` answer must have `inputRequests` or `requestState`")]
    NothingAsked,
    /// The upstream's `_meta` holds a key under our own prefix.
    #[error("the answer's `_meta` holds the key {}, which only the gateway may set", Quoted(.key))]
    ReservedKey {
        /// The key.
        key: String,
    },
}
