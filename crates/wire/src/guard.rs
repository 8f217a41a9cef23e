//! One streaming pass over a raw body, before anything is read from it.
//!
//! Two readers of one text must not see two values: so the text is JSON as RFC 8259 defines it, no object repeats a
//! key, no string holds half a surrogate pair, and no number changes its value when it is read as a common type.

#[cfg(test)]
mod tests;

mod scan;

use crate::quote::Quoted;

/// How large and how deep a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes.
    pub max_bytes: usize,
    /// The deepest nesting of objects and arrays; a bare `{}` has depth 1.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 1 << 20, max_depth: 64 }
    }
}

/// Why a body is refused. Every `at` is an offset in bytes from the start of the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardFault {
    /// The body is larger than the limit.
    #[error("the JSON has {found} bytes, more than the limit of {limit}; send less in one message")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The body is not UTF-8.
    #[error("the JSON is not UTF-8 at byte {at}; encode it as UTF-8")]
    NotUtf8 {
        /// Where the first bad byte is.
        at: usize,
    },
    /// The body begins with a byte order mark (RFC 8259 §8.1).
    #[error("the JSON begins with a byte order mark, which JSON does not allow; leave it out")]
    ByteOrderMark,
    /// The body is not JSON.
    #[error("not JSON: expected {expected} at byte {at}")]
    Syntax {
        /// Where.
        at: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// Objects and arrays are nested too deeply.
    #[error("objects and arrays are nested more than {limit} deep at byte {at}; send a flatter value")]
    TooDeep {
        /// Where the first one too many opens.
        at: usize,
        /// The depth allowed.
        limit: usize,
    },
    /// An object repeats a key, compared after unescaping.
    #[error("the key {} at byte {at} repeats one of the same object; send each key once", Quoted(.key))]
    DuplicateKey {
        /// The key, unescaped, shortened where it is long.
        key: String,
        /// Where the repetition is.
        at: usize,
    },
    /// A string holds half a surrogate pair.
    #[error("the escape at byte {at} is half of a surrogate pair; send both halves or the character itself")]
    LoneSurrogate {
        /// Where the escape begins.
        at: usize,
    },
    /// A number changes its value when it is read as `i64`, `u64` or `f64`.
    #[error(
        "the number {} at byte {at} is not exact in 64 bits; send it as a string, or with fewer digits",
        Quoted(.text)
    )]
    InexactNumber {
        /// The number, shortened where it is long.
        text: String,
        /// Where it begins.
        at: usize,
    },
    /// Something follows the value.
    #[error("expected nothing more at byte {at}; send one JSON value")]
    TrailingData {
        /// Where it begins.
        at: usize,
    },
}

impl GuardFault {
    /// Where in the text the fault is, in bytes; `None` for a fault of the whole.
    pub const fn at(&self) -> Option<usize> {
        match self {
            Self::TooLarge { .. } => None,
            Self::ByteOrderMark => Some(0),
            Self::NotUtf8 { at }
            | Self::Syntax { at, .. }
            | Self::TooDeep { at, .. }
            | Self::DuplicateKey { at, .. }
            | Self::LoneSurrogate { at }
            | Self::InexactNumber { at, .. }
            | Self::TrailingData { at } => Some(*at),
        }
    }
}

/// Checks a body that a client sent, all of it.
///
/// # Errors
/// The first fault; a repeated key is found when its object closes.
pub fn check(body: &[u8], limits: &Limits) -> Result<(), GuardFault> {
    scan::run(body, limits, scan::Rules::Strict)
}

/// Checks size, encoding, syntax and depth alone, for what an upstream sent and we pass on as it is.
///
/// # Errors
/// The first fault.
pub fn check_shape(body: &[u8], limits: &Limits) -> Result<(), GuardFault> {
    scan::run(body, limits, scan::Rules::Shape)
}
