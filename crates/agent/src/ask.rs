use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::outcome::Refusal;

/// Whoever answers for the host's user: a terminal, a script, a test.
///
/// Time that an asker takes never counts against a call's time-out.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Answers one elicitation. A reply of [`AskReply::Decline`] or [`AskReply::Cancel`] is sent to the server, which
    /// then ends the call; a server that asks on, or whose approval stays pending, is left waiting
    /// ([`crate::CallOutcome::Waiting`]).
    ///
    /// A form that only gives notice of an approval made elsewhere comes again for as long as the approval is
    /// pending: the asker accepts it to go on waiting.
    async fn answer(&self, ask: InputAsk) -> AskReply;

    /// Decides whether to go on waiting for an approval that is pending elsewhere. Called before each repetition of
    /// a call for which the client declared no elicitation. The default waits on.
    async fn wait(&self, _pending: PendingApproval) -> WaitReply {
        WaitReply::GoOn
    }
}

/// One question of the server to the host's user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputAsk {
    /// The server's own name for itself; not proof of anything.
    pub server: String,
    /// The tool whose call asks.
    pub tool: String,
    /// The server's key for this question.
    pub key: String,
    /// 1 for the first round of the call.
    pub round: usize,
    /// Set when the gateway itself asks, to give notice of an approval that is decided elsewhere: to accept is to
    /// wait on, and the form has nothing to fill in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<Box<Refusal>>,
    /// What is asked.
    #[serde(flatten)]
    pub kind: AskKind,
}

/// The shape of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum AskKind {
    /// A form to fill in.
    Form {
        /// Text of the server for the user.
        message: String,
        /// The flat JSON Schema of the answer.
        requested_schema: Value,
    },
    /// A page to open, which the host never does by itself.
    Url {
        /// Text of the server for the user.
        message: String,
        /// The whole address, to be shown before it is opened.
        url: String,
    },
}

impl AskKind {
    /// The server's text for the user.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Form { message, .. } | Self::Url { message, .. } => message,
        }
    }
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AskReply {
    /// Agreed, with the form's content (empty for a page).
    Accept(Map<String, Value>),
    /// Refused.
    Decline,
    /// Dismissed without a decision.
    Cancel,
}

impl AskReply {
    /// The word that goes over the wire.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    pub(crate) fn to_wire(&self) -> Value {
        let mut reply = Map::new();
        reply.insert("action".to_owned(), Value::from(self.action()));
        if let Self::Accept(content) = self {
            reply.insert("content".to_owned(), Value::Object(content.clone()));
        }
        Value::Object(reply)
    }
}

/// An approval that somebody else still has to decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PendingApproval {
    /// The tool whose call waits.
    pub tool: String,
    /// How often the call was sent so far.
    pub attempt: usize,
    /// The refusal that names the pending approval.
    pub refusal: Refusal,
}

/// Whether to go on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReply {
    /// Repeat the call after a pause.
    GoOn,
    /// Leave the approval pending and end the call.
    Stop,
}
