//! MCP envelopes, headers, the body guard and results, without I/O.
//!
//! A client's request comes in through [`request::accept`], which reads the raw body once with [`guard`], checks the
//! shape, the headers and `_meta` in the order that the specification's tests expect, and leaves arguments as raw JSON.
//! A call to an upstream is written by [`outbound`], and what the upstream answers is read by [`response`], [`list`],
//! [`tool`] and [`elicitation`], all without losing a byte that only passes through.
//!
//! **Invariant:** nothing here does I/O, logs, or panics, and no input controls the depth of a recursion.

mod decimal;
mod json;
mod presence;
mod quote;

pub mod arguments;
pub mod code;
pub mod elicitation;
pub mod guard;
pub mod head;
pub mod header;
pub mod list;
pub mod outbound;
pub mod replace;
pub mod request;
pub mod response;
pub mod sse;
pub mod tool;

pub use json::{Kind, kind};
pub use presence::Presence;

/// The prefix of our own `_meta` keys. No client and no upstream may use it.
pub const OWN_META_PREFIX: &str = "io.github.aldgate/";

/// The prefix of the protocol's own `_meta` keys, which are made anew on each hop.
pub const PROTOCOL_META_PREFIX: &str = "io.modelcontextprotocol/";
