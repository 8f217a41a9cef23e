use serde_json::Value;

use crate::code;
use crate::outbound::{Object, quoted};
use crate::request::RequestId;

/// The response to a request, its result spliced as bytes.
///
/// `result` is the text of one JSON object, as [`super::ResultView::with_meta`] makes it.
pub fn response_bytes(id: &RequestId, result: &[u8]) -> Vec<u8> {
    let id = id.as_raw().get();
    let mut out = Vec::with_capacity(result.len() + id.len() + 40);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result);
    out.push(b'}');
    out
}

/// An error of our own. An id that could not be read is left out.
///
/// **Invariant:** no code of JSON-RPC's or MCP's reserved range leaves unless the specification defines it; another
/// one becomes an internal error.
pub fn error_bytes(id: Option<&RequestId>, code: i64, message: &str, data: Option<&Value>) -> Vec<u8> {
    let defined = matches!(
        code,
        code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::METHOD_NOT_FOUND
            | code::INVALID_PARAMS
            | code::INTERNAL_ERROR
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION
    );
    let code = if defined || !(-32768..=-32000).contains(&code) { code } else { code::INTERNAL_ERROR };
    let mut error = Object::new(128 + message.len());
    error.raw("code", &code.to_string());
    error.raw("message", &quoted(message));
    if let Some(data) = data {
        error.raw("data", &data.to_string());
    }
    envelope(id, &error.finish())
}

fn envelope(id: Option<&RequestId>, error: &str) -> Vec<u8> {
    let mut out = Object::new(error.len() + 64);
    out.text("jsonrpc", "2.0");
    if let Some(id) = id {
        out.raw("id", id.as_raw().get());
    }
    out.raw("error", error);
    out.finish().into_bytes()
}
