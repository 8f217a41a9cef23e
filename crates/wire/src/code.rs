//! Codes that a peer sees: JSON-RPC numbers, and the stable `AG-WIRE-…` names of our own errors.

/// The body is not JSON that can be read without doubt (JSON-RPC 2.0).
pub const PARSE_ERROR: i64 = -32700;
/// The body is JSON, but not a JSON-RPC request (JSON-RPC 2.0).
pub const INVALID_REQUEST: i64 = -32600;
/// The method is not served here; HTTP 404 (MCP, basic/index).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// `params` or `_meta` are wrong, or name something unknown (MCP, basic/index).
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed (JSON-RPC 2.0).
pub const INTERNAL_ERROR: i64 = -32603;
/// A mirrored header is missing, malformed or unequal to the body; HTTP 400 (MCP, basic/transports/streamable-http).
pub const HEADER_MISMATCH: i64 = -32020;
/// The client did not declare a capability that this request needs; HTTP 400 (MCP, basic/index).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The protocol version is not implemented; HTTP 400, data `{supported, requested}` (MCP, basic/versioning).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// The body is larger than the limit.
pub const TOO_LARGE: &str = "AG-WIRE-TOO-LARGE";
/// The body is not UTF-8, or begins with a byte order mark.
pub const ENCODING: &str = "AG-WIRE-ENCODING";
/// The body is not JSON as RFC 8259 defines it.
pub const SYNTAX: &str = "AG-WIRE-SYNTAX";
/// Objects and arrays are nested too deeply.
pub const DEPTH: &str = "AG-WIRE-DEPTH";
/// An object holds one key twice, so that two readers may see two values.
pub const DUPLICATE_KEY: &str = "AG-WIRE-DUPLICATE-KEY";
/// A string holds one half of a surrogate pair, so that no Unicode text corresponds to it.
pub const SURROGATE: &str = "AG-WIRE-SURROGATE";
/// A number would change its value when a peer reads it.
pub const NUMBER: &str = "AG-WIRE-NUMBER";
/// The body is not one JSON-RPC 2.0 request or notification.
pub const SHAPE: &str = "AG-WIRE-SHAPE";
/// The request id is neither a string nor an integer.
pub const ID: &str = "AG-WIRE-ID";
/// A mirrored header is missing, repeated, malformed, or unequal to the body.
pub const HEADER: &str = "AG-WIRE-HEADER";
/// The protocol version is not served.
pub const VERSION: &str = "AG-WIRE-VERSION";
/// A key of `_meta` that every request needs is missing, or one has the wrong type.
pub const META: &str = "AG-WIRE-META";
/// The method is not served.
pub const METHOD: &str = "AG-WIRE-METHOD";
/// A member of `params` is missing or has the wrong type.
pub const PARAMS: &str = "AG-WIRE-PARAMS";
/// A key differs from a known one only by the case of its letters.
pub const KEY_CASE: &str = "AG-WIRE-KEY-CASE";
