use serde_json::{Map, Value};

use super::RequestId;
use crate::code;
use crate::guard::GuardFault;

/// Why a message is refused, with all that the answer needs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// The HTTP status.
    pub http: u16,
    /// The JSON-RPC code.
    pub code: i64,
    /// What was found and expected, for the client's developer.
    pub message: String,
    /// The error's data; it always holds `code`, equal to `ag`.
    pub data: Option<Box<Value>>,
    /// The id to answer to, where one could be read.
    pub id: Option<RequestId>,
    /// The stable code, one of those in [`crate::code`].
    pub ag: &'static str,
}

impl Rejection {
    pub(super) fn new(http: u16, code: i64, ag: &'static str, message: impl Into<String>) -> Self {
        let data = Value::Object(Map::from_iter([("code".to_owned(), Value::from(ag))]));
        Self { http, code, message: message.into(), data: Some(Box::new(data)), id: None, ag }
    }

    pub(super) fn shape(message: impl Into<String>) -> Self {
        Self::new(400, code::INVALID_REQUEST, code::SHAPE, message)
    }

    pub(super) fn header(message: impl Into<String>) -> Self {
        Self::new(400, code::HEADER_MISMATCH, code::HEADER, message)
    }

    pub(super) fn meta(message: impl Into<String>) -> Self {
        Self::new(400, code::INVALID_PARAMS, code::META, message)
    }

    /// The status is 200, as is usual for a request that was understood and is wrong; only a missing key of `_meta`
    /// has 400 fixed for it.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(200, code::INVALID_PARAMS, code::PARAMS, message)
    }

    pub(super) fn guard(fault: &GuardFault) -> Self {
        let (http, ag) = match fault {
            GuardFault::TooLarge { .. } => (413, code::TOO_LARGE),
            GuardFault::NotUtf8 { .. } | GuardFault::ByteOrderMark => (400, code::ENCODING),
            GuardFault::Syntax { .. } | GuardFault::TrailingData { .. } => (400, code::SYNTAX),
            GuardFault::TooDeep { .. } => (400, code::DEPTH),
            GuardFault::DuplicateKey { .. } => (400, code::DUPLICATE_KEY),
            GuardFault::LoneSurrogate { .. } => (400, code::SURROGATE),
            GuardFault::InexactNumber { .. } => (400, code::NUMBER),
        };
        Self::new(http, code::PARSE_ERROR, ag, fault.to_string())
    }

    pub(super) fn with(mut self, key: &str, value: Value) -> Self {
        if let Some(Value::Object(data)) = self.data.as_deref_mut() {
            data.insert(key.to_owned(), value);
        }
        self
    }

    pub(super) fn answering(mut self, id: &RequestId) -> Self {
        self.id = Some(id.clone());
        self
    }
}
