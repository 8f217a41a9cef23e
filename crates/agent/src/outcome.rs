use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

#[cfg(test)]
mod tests;

/// The refusal code that means: a person has yet to decide, repeat the same call later.
pub const PENDING_CODE: &str = "AG-APPROVAL-PENDING";

/// The code that means: the call was sent, and nobody knows whether it ran.
pub(crate) const UNKNOWN_CODE: &str = "AG-OUTCOME-UNKNOWN";

/// The code that means: the upstream answered with a JSON-RPC error of its own, and nothing was changed.
pub(crate) const UPSTREAM_ERROR_CODE: &str = "AG-UPSTREAM-ERROR";

/// The `_meta` key under which the gateway says why it refused.
pub(crate) const REFUSAL_KEY: &str = "io.github.aldgate/refusal";

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// The server gave its final result, an error result or a refusal included.
    Complete(Complete),
    /// The call still waits for a person, and the asker chose to stop waiting.
    Waiting {
        /// The gateway's word about the pending approval, if it gave one.
        refusal: Option<Refusal>,
        /// How many rounds were made.
        rounds: usize,
    },
}

/// A final result. Everything in it was written by a tool or its server: data, not instructions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Complete {
    /// Whether the result says that the tool failed.
    pub is_error: bool,
    /// `structuredContent`; a present `null` is `Some(Value::Null)`.
    pub structured: Option<Value>,
    /// The text blocks, joined by line breaks.
    pub text: String,
    /// The result's `_meta`.
    pub meta: Map<String, Value>,
}

impl Complete {
    /// The gateway's refusal, if this result is one.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        if !self.is_error {
            return None;
        }
        Refusal::from_meta(&self.meta, &self.text)
    }
}

/// What the gateway said when it did not let a call run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The stable code, `AG-…`.
    pub code: String,
    /// The rule that decided, where the gateway names it.
    pub rule: Option<String>,
    /// The call's id in the gateway's evidence.
    pub call: Option<String>,
    /// The approval that the call waits for or was denied by.
    pub approval: Option<String>,
    /// The text of the refusal.
    pub text: String,
}

impl Refusal {
    /// Reads the gateway's mark. A gateway refuses an upstream's result that carries it, so behind one it is the
    /// gateway's own word; a server that the agent is connected to without a gateway could write it as well.
    pub(crate) fn from_meta(meta: &Map<String, Value>, text: &str) -> Option<Self> {
        let mark = meta.get(REFUSAL_KEY)?.as_object()?;
        let member = |name: &str| mark.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            code: member("code")?,
            rule: member("rule"),
            call: member("call"),
            approval: member("approval"),
            text: text.to_owned(),
        })
    }

    /// Whether the same call, repeated later, may run.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.code == PENDING_CODE
    }

    /// Whether the gateway says that the call may have run although its answer is lost.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        self.code == UNKNOWN_CODE
    }
}

/// Why a call has no outcome.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallFault {
    /// The server answered with a JSON-RPC error.
    #[error("the server refused the call of `{tool}` with error {code}: {message}")]
    Rpc {
        /// The tool.
        tool: String,
        /// The JSON-RPC code.
        code: i64,
        /// The server's message.
        message: String,
        /// `data.code`, where it is one of the gateway's, `AG-…`. Of the error's data this and `call` alone are the
        /// gateway's word; an upstream's own error, which it may hold as well, is never read.
        ag: Option<String>,
        /// `data.call`: the call's id in the gateway's evidence.
        call: Option<String>,
    },
    /// The endpoint did not take the request, and nothing was changed.
    #[error("the endpoint did not take the call of `{tool}`: {message}; nothing was changed")]
    Refused {
        /// The tool.
        tool: String,
        /// What it said.
        message: String,
        /// The gateway's stable code, `AG-…`, where it gave one.
        ag: Option<String>,
    },
    /// The endpoint wants other credentials.
    #[error(
        "the endpoint did not accept the credentials for `{tool}`{why}; sign in with `aldgate login`, or set a valid token; a scope that a sign-in \
         does not bring is for whoever runs the gateway to allow"
    )]
    Unauthorized {
        /// The tool.
        tool: String,
        /// Its reason in brackets, where it gave one.
        why: String,
        /// The value of `WWW-Authenticate`, where it sent one: what credentials would have to be.
        challenge: Option<String>,
    },
    /// Nothing reached the server, or the tool only reads: nothing was changed.
    #[error("`{tool}` could not be reached in {attempts} attempts; nothing was changed")]
    Unreachable {
        /// The tool.
        tool: String,
        /// How often it was tried.
        attempts: usize,
        /// What the transport said.
        #[source]
        source: TransportTrouble,
    },
    /// A read-only call took too long.
    #[error("`{tool}` gave no answer within {}; nothing was changed", seconds(.after))]
    TimedOut {
        /// The tool.
        tool: String,
        /// The time-out.
        after: Duration,
    },
    /// The answer of a call that may have had effects is lost or unusable.
    #[error("`{tool}`: executed or unknown, do not retry ({what})")]
    Unsettled {
        /// The tool.
        tool: String,
        /// What happened instead of an answer.
        what: String,
    },
    /// A read-only tool's answer is not a valid result.
    #[error("the answer of `{tool}` is not a valid result: {what}")]
    Malformed {
        /// The tool.
        tool: String,
        /// What was found and what was expected.
        what: String,
    },
    /// The arguments are no object; nothing was sent.
    #[error("the arguments of `{tool}` are {found}, expected an object")]
    Arguments {
        /// The tool.
        tool: String,
        /// What was given.
        found: &'static str,
    },
    /// The server asks for something that this client did not declare.
    #[error(
        "`{tool}` asks `{key}` by `{method}`, which this client did not declare; expected a form by `elicitation/create`"
    )]
    UnknownAsk {
        /// The tool.
        tool: String,
        /// The server's key for the question.
        key: String,
        /// What it asked.
        method: String,
    },
    /// The call did not end within the bound on rounds.
    #[error("`{tool}` did not end within {limit} rounds; raise the limit or ask again later")]
    Rounds {
        /// The tool.
        tool: String,
        /// The bound.
        limit: usize,
    },
}

impl CallFault {
    /// The stable code: the gateway's own where it gave one.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Rpc { ag: Some(code), .. } | Self::Refused { ag: Some(code), .. } => code,
            Self::Refused { ag: None, .. } => "AG-AGENT-STATUS",
            Self::Rpc { ag: None, .. } => "AG-AGENT-RPC",
            Self::Unauthorized { .. } => "AG-AGENT-UNAUTHORIZED",
            Self::Unreachable { .. } => "AG-AGENT-UNREACHABLE",
            Self::TimedOut { .. } => "AG-AGENT-TIMEOUT",
            Self::Unsettled { .. } => "AG-AGENT-UNSETTLED",
            Self::Malformed { .. } => "AG-AGENT-MALFORMED",
            Self::Arguments { .. } => "AG-AGENT-ARGUMENTS",
            Self::UnknownAsk { .. } => "AG-AGENT-UNDECLARED-ASK",
            Self::Rounds { .. } => "AG-AGENT-ROUNDS",
        }
    }

    /// Whether the call may have had effects that nobody saw.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        match self {
            Self::Unsettled { .. } => true,
            Self::Rpc { ag, .. } => ag.as_deref() == Some(UNKNOWN_CODE),
            _ => false,
        }
    }
}

/// What the transport said, as text: its own types stay in this crate.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct TransportTrouble(pub(crate) String);

fn seconds(duration: &Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
