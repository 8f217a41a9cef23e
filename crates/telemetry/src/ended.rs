//! How what a span stands for ended, and what counts as an error.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use opentelemetry::trace::Status;

use crate::names;

/// Codes that are the client's fault: no error of the server that answers so (MCP semantic conventions, server span).
const CLIENT_FAULTS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// Which side of a request a span is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where the request is made, or what happens inside.
    Client,
    /// Where the request is served.
    Server,
}

/// How something ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<'a> {
    /// As it should; a question to the client is no failure either.
    Well,
    /// With a tool result that says `isError`.
    ToolError {
        /// What it says, where the span may show it.
        message: Option<Cow<'a, str>>,
    },
    /// With a JSON-RPC error.
    Rpc {
        /// Its code.
        code: i64,
        /// Its message.
        message: Cow<'a, str>,
    },
    /// Without an answer.
    Failed {
        /// What kind of failure, one of few words.
        kind: &'static str,
        /// In words, for people.
        message: Cow<'a, str>,
    },
}

impl Ended<'_> {
    /// Before there was an end: nobody waits for it any more.
    #[must_use]
    pub fn given_up() -> Self {
        Self::Failed { kind: "cancelled", message: "given up before it ended".into() }
    }

    /// The value of `error.type`; `None` where there is no error on this side.
    #[must_use]
    pub fn error_type(&self, side: Side) -> Option<Cow<'static, str>> {
        match self {
            Self::Well => None,
            Self::ToolError { .. } => Some(Cow::Borrowed("tool_error")),
            Self::Rpc { code, .. } if side == Side::Server && CLIENT_FAULTS.contains(code) => None,
            Self::Rpc { code, .. } => Some(Cow::Owned(code.to_string())),
            Self::Failed { kind, .. } => Some(Cow::Borrowed(kind)),
        }
    }

    /// The attributes of a span or a measurement that ended so.
    #[must_use]
    pub fn attributes(&self, side: Side) -> Vec<KeyValue> {
        let mut attributes = Vec::new();
        if let Self::Rpc { code, .. } = self {
            attributes.push(KeyValue::new(names::STATUS_CODE, code.to_string()));
        }
        if let Some(kind) = self.error_type(side) {
            attributes.push(KeyValue::new(names::ERROR_TYPE, kind));
        }
        attributes
    }

    /// The status of the span.
    pub(crate) fn status(&self, side: Side) -> Status {
        let message = match self {
            _ if self.error_type(side).is_none() => return Status::Unset,
            Self::Well => return Status::Unset,
            Self::ToolError { message } => message.as_deref().unwrap_or_default(),
            Self::Rpc { message, .. } | Self::Failed { message, .. } => message,
        };
        Status::error(crate::span::cut(message).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Side};

    #[test]
    fn what_counts_as_an_error() {
        let rpc = |code| Ended::Rpc { code, message: "no".into() };
        for code in [-32700, -32600, -32601, -32602, -32002] {
            assert_eq!(rpc(code).error_type(Side::Server), None);
            assert_eq!(rpc(code).error_type(Side::Client).unwrap(), code.to_string());
            assert_eq!(rpc(code).attributes(Side::Server).len(), 1, "the code is recorded all the same");
        }
        for code in [-32603, -32020, 7403] {
            assert_eq!(rpc(code).error_type(Side::Server).unwrap(), code.to_string());
        }
        let tool = Ended::ToolError { message: None };
        assert_eq!(tool.error_type(Side::Server).unwrap(), "tool_error");
        assert_eq!(tool.error_type(Side::Client).unwrap(), "tool_error");
        assert_eq!(Ended::Well.error_type(Side::Client), None);
        let failed = Ended::Failed { kind: "timeout", message: "late".into() };
        assert_eq!(failed.error_type(Side::Server).unwrap(), "timeout");
    }
}
