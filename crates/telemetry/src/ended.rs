//! How what a span stands for ended, and what counts as an error.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use opentelemetry::trace::Status;

use crate::names;

/// Codes that are the client's fault: no error of the server that answers so (MCP semantic conventions, server span).
const CLIENT_FAULTS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// Codes that JSON-RPC, MCP and this program give a meaning to.
const KNOWN_CODES: [i64; 17] = [
    -32700, -32600, -32601, -32602, -32603, -32000, -32002, -32020, -32021, -32022, -32042, 7403, 7409, 7429,
    7500, 7502, 7504,
];
/// What stands for any other value (OpenTelemetry, `error.type`).
const OTHER: &str = "_OTHER";

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

    /// The same for a measurement: codes that a peer makes up are one.
    #[must_use]
    pub fn measured(&self, side: Side) -> Vec<KeyValue> {
        match self {
            Self::Rpc { code, .. } if !KNOWN_CODES.contains(code) => {
                let mut attributes = vec![KeyValue::new(names::STATUS_CODE, OTHER)];
                attributes.extend(self.error_type(side).map(|_| KeyValue::new(names::ERROR_TYPE, OTHER)));
                attributes
            }
            _ => self.attributes(side),
        }
    }

    /// The attributes of a span that ended so.
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
    fn codes_that_a_peer_makes_up_are_one_label() {
        let labels = |code| {
            let measured = Ended::Rpc { code, message: "no".into() }.measured(Side::Client);
            measured.iter().map(|label| label.value.as_str().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(labels(-32603), ["-32603", "-32603"]);
        assert_eq!(labels(7504), ["7504", "7504"]);
        for code in [1, 123_456, -31_999, i64::MIN] {
            assert_eq!(labels(code), ["_OTHER", "_OTHER"]);
        }
    }

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
