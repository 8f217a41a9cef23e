//! What is said between a host and a model, alike for all APIs.

use serde_json::Value;

/// What a model is told of one tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    /// The name that the API accepts.
    pub(super) name: String,
    pub(super) description: String,
    /// The JSON Schema that the API accepts.
    pub(super) schema: Value,
}

/// One message of a conversation. The first is the task; then the model's and the results of its calls alternate.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    Task(String),
    Model(Vec<Spoken>),
    Results(Vec<CallResult>),
}

/// A part of what a model said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spoken {
    /// Never blank.
    Text(String),
    Call {
        id: String,
        /// As the model wrote it.
        name: String,
        /// An object; an empty one where the model wrote something else.
        arguments: Value,
    },
}

/// What came of one call, in words for the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallResult {
    pub(super) id: String,
    pub(super) content: String,
    pub(super) is_error: bool,
}

/// One request.
pub(super) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) max_answer_tokens: u32,
    pub(super) system: &'a str,
    pub(super) tools: &'a [Definition],
    pub(super) messages: &'a [Message],
}

/// What one event of an answer adds to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Began {
        id: Option<String>,
        model: Option<String>,
    },
    Text(String),
    /// Text of a model that declines.
    Refusal(String),
    Call {
        index: usize,
        id: String,
        name: String,
    },
    Arguments {
        index: usize,
        text: String,
    },
    /// Tokens so far; the last one that is told holds.
    Usage {
        input: Option<u64>,
        output: Option<u64>,
    },
    Stopped(String),
    /// The last event of an answer.
    Ended,
}

/// What it means that an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// There is nothing more to say, or the calls are to be made.
    Done,
    /// A limit on tokens cut it; what to do.
    Cut(&'static str),
    Declined,
    /// The service wants to be asked to go on.
    Paused,
    Unknown,
}

/// What to do where an answer met its own bound.
pub(super) const LONGER: &str = "raise the limit on tokens of one answer, or give a smaller task";
