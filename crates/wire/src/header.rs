//! The headers that mirror the body, and the encoding of their values (basic/transports/streamable-http, SEP-2243).

#[cfg(test)]
mod tests;

mod annotation;
mod param;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;

pub use annotation::{AnnotationFault, ParamHeader, ParamType, param_headers};
pub use param::{ParamFault, check_params, make_params, unrecognised_params};

/// `MCP-Protocol-Version`, on every POST.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`, on every request.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`, on requests that name a tool, prompt, resource or task.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The beginning of the headers that mirror annotated arguments, in lower case as [`HeaderName`] keeps it.
pub const PARAM_PREFIX: &str = "mcp-param-";

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// A header's value that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueFault {
    /// A byte that a plain value may not hold.
    #[error("expected printable ASCII, or UTF-8 as `=?base64?…?=`")]
    Characters,
    /// What stands between the markers is not canonical standard base64 (RFC 4648 §4).
    #[error("expected canonical standard base64 between `=?base64?` and `?=`")]
    Base64,
    /// The decoded bytes are not UTF-8.
    #[error("expected the base64 to hold UTF-8")]
    NotUtf8,
}

/// The header's value for a text: the text itself, or `=?base64?…?=` where it has characters outside of printable
/// ASCII, white space at an end, or looks like an encoded value.
pub fn encode_value(text: &str) -> String {
    let printable = text.bytes().all(|b| matches!(b, 0x20..=0x7E));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(OPENING) && text.ends_with(CLOSING);
    let plain = printable && !padded && !looks_encoded;
    if plain { text.to_owned() } else { format!("{OPENING}{}{CLOSING}", STANDARD.encode(text)) }
}

/// The text of a header's value; white space around the value is not part of it.
///
/// # Errors
/// Characters that a plain value may not hold, or an encoded value that does not decode.
pub fn decode_value(value: &[u8]) -> Result<String, ValueFault> {
    let value = std::str::from_utf8(trimmed(value)).map_err(|_| ValueFault::Characters)?;
    if !value.bytes().all(|b| matches!(b, 0x20..=0x7E | b'\t')) {
        return Err(ValueFault::Characters);
    }
    let encoded = value.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING));
    match encoded {
        Some(base64) => {
            let bytes = STANDARD.decode(base64).map_err(|_| ValueFault::Base64)?;
            String::from_utf8(bytes).map_err(|_| ValueFault::NotUtf8)
        }
        None => Ok(value.to_owned()),
    }
}

/// The value without the spaces and tabs around it (RFC 9110 §5.5).
pub(crate) fn trimmed(value: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let start = value.iter().position(|b| !blank(b)).unwrap_or(value.len());
    let end = value.iter().rposition(|b| !blank(b)).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

/// The name as the specification writes it, for messages.
pub(crate) fn display_name(name: &HeaderName) -> &str {
    match name.as_str() {
        "mcp-protocol-version" => "MCP-Protocol-Version",
        "mcp-method" => "Mcp-Method",
        "mcp-name" => "Mcp-Name",
        other => other,
    }
}
