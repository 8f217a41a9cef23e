use aldgate_wire::code;
use serde_json::{Value, json};

/// JSON-RPC code of what is refused at the HTTP level: this and the status. Positive, as codes of our own are.
const OWN: i64 = 7000;

/// Why a request of a known method has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// Arguments that the tool's input schema does not allow.
    #[error("the arguments of `{tool}` do not fit its input schema: {place}")]
    Arguments { tool: &'static str, place: String },
    /// A tool that is not one of the five.
    #[error("there is no tool `{0}`; `tools/list` names those that there are")]
    UnknownTool(String),
    /// Other parameters that mean nothing here.
    #[error("{0}")]
    Params(&'static str),
    /// A method that is not served to this client.
    #[error("method not found: `{0}`")]
    Method(String),
    /// The store does not answer.
    #[error("the store of evidence is not available; try again later")]
    Store,
    /// The server is about to stop.
    #[error("the server is stopping; try again on another one, or later")]
    Draining,
    /// Too many requests at once.
    #[error("too many requests are worked on; try again later")]
    Busy,
}

impl Fault {
    /// The HTTP status in the modern era; older clients are told the same for 503, and 200 for all else.
    pub(crate) fn http(&self) -> u16 {
        match self {
            Self::Arguments { .. } | Self::UnknownTool(_) | Self::Params(_) => 200,
            Self::Method(_) => 404,
            Self::Store | Self::Draining | Self::Busy => 503,
        }
    }

    /// The JSON-RPC code.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Self::Arguments { .. } | Self::UnknownTool(_) | Self::Params(_) => code::INVALID_PARAMS,
            Self::Method(_) => code::METHOD_NOT_FOUND,
            Self::Store | Self::Draining | Self::Busy => own_code(self.http()),
        }
    }

    /// The stable code.
    pub(crate) fn ag(&self) -> &'static str {
        match self {
            Self::Arguments { .. } => "AG-EVIDENCE-ARGUMENTS",
            Self::UnknownTool(_) => "AG-TOOL-UNKNOWN",
            Self::Params(_) => "AG-PARAMS",
            Self::Method(_) => code::METHOD,
            Self::Store => "AG-EVIDENCE-STORE",
            Self::Draining => "AG-EVIDENCE-DRAINING",
            Self::Busy => "AG-BUSY",
        }
    }

    /// The error's `data`.
    pub(crate) fn data(&self) -> Value {
        json!({ "code": self.ag() })
    }
}

/// The JSON-RPC code beside an HTTP status that JSON-RPC has no code for.
pub(crate) fn own_code(status: u16) -> i64 {
    OWN + i64::from(status)
}
