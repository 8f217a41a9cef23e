use std::fmt;

use thiserror::Error;

/// The most characters of a URI or template.
pub(crate) const MAX_LENGTH: usize = 8192;
/// How often a text is decoded at most in the search for what it hides.
const MAX_DECODINGS: usize = 8;

/// A URI (RFC 3986) that names a resource, without anything that could be read in two ways.
///
/// No dot segments, plain or encoded, however often; no control characters; the decoded text is Unicode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    text: String,
    normal: String,
}

/// Why a text is not a URI that Aldgate rules on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UriFault {
    /// It does not begin with a scheme.
    #[error("it must begin with a scheme, such as `ticket:`, and go on behind it")]
    Scheme,
    /// A character that a URI cannot hold.
    #[error("`{found}` cannot stand in a URI; percent-encode it")]
    Character {
        /// The character.
        found: CharText,
    },
    /// A `%` without two hexadecimal digits.
    #[error("a `%` must have two hexadecimal digits behind it")]
    Percent,
    /// What is encoded is not Unicode text, or a control character.
    #[error("what is percent-encoded must be UTF-8 text without control characters")]
    Encoded,
    /// A delimiter that some readers take for one and others for a part of a name.
    #[error(
        "`/`, `\\`, `?` and `#` must not be percent-encoded in it, however often: servers differ in how they read that"
    )]
    Delimiter,
    /// A fragment: it names a part of what is read, and nothing that a server gives.
    #[error("it must not have a fragment, `#` and what follows")]
    Fragment,
    /// `.` or `..` as a segment, or encoded so often that it cannot be seen.
    #[error("it must not have `.` or `..` as a segment, nor hide one by encoding")]
    Traversal,
    /// It is longer than any that is ruled on.
    #[error("it has more than {MAX_LENGTH} characters")]
    TooLong,
}

/// A character as messages show it: control characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharText(char);

impl fmt::Display for CharText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_debug())
    }
}

impl Uri {
    /// Reads a URI.
    ///
    /// # Errors
    /// See [`UriFault`].
    pub fn parse(text: &str) -> Result<Self, UriFault> {
        if text.len() > MAX_LENGTH {
            return Err(UriFault::TooLong);
        }
        if let Some(found) = text.chars().find(|c| !is_plain(*c) && *c != '%') {
            return Err(UriFault::Character { found: CharText(found) });
        }
        let (scheme, rest) = text.split_once(':').ok_or(UriFault::Scheme)?;
        let odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || scheme.contains(odd) || rest.is_empty() {
            return Err(UriFault::Scheme);
        }
        let encoded = text.split('%').skip(1);
        if !encoded.map(|piece| piece.as_bytes()).all(|piece| {
            piece.first().is_some_and(u8::is_ascii_hexdigit)
                && piece.get(1).is_some_and(u8::is_ascii_hexdigit)
        }) {
            return Err(UriFault::Percent);
        }
        if decoded(text).is_none_or(|plain| plain.contains(char::is_control)) {
            return Err(UriFault::Encoded);
        }
        if rest.contains('#') {
            return Err(UriFault::Fragment);
        }
        if hides_dots(rest) {
            return Err(UriFault::Traversal);
        }
        if hides_delimiters(rest) {
            return Err(UriFault::Delimiter);
        }
        let normal = format!("{}:{}", scheme.to_ascii_lowercase(), normal(rest));
        Ok(Self { text: text.to_owned(), normal })
    }

    /// The URI as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URI as policies see it: scheme in lower case, nothing encoded that can stand plainly, hexadecimal digits in upper
    /// case. The case of everything else is kept. This goes further than RFC 3986 §6.2.2, for which `%40` and `@` may differ:
    /// a server may read both alike, so they are ruled alike.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Unreserved and reserved characters (RFC 3986 §2.2, §2.3).
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=".contains(c)
}

/// Spellings that a server may take for the same resource, with the host in lower case: without the query, without empty
/// segments or a slash at the end, without a port, without a user. An entry for one of them is meant for all.
pub(crate) fn alike(normal: &str) -> Vec<String> {
    let text = folded(normal);
    let (before, authority, after) = divided(&text);
    let names = after.split('?').next().unwrap_or_default();
    let mut names = names.to_owned();
    while names.contains("//") {
        names = names.replace("//", "/");
    }
    let names = names.trim_end_matches('/');
    let address = without_port(authority);
    let host = address.rsplit('@').next().unwrap_or_default();
    let mut hosts = vec![authority, address, host];
    hosts.dedup();
    hosts.iter().flat_map(|host| ["", "/"].map(|end| format!("{before}{host}{names}{end}"))).collect()
}

/// The text with its host in lower case.
pub(super) fn folded(text: &str) -> String {
    let (before, authority, after) = divided(text);
    format!("{before}{}{after}", authority.to_ascii_lowercase())
}

/// What stands before the authority, the authority, and what follows (RFC 3986 §3). There is none without `//`.
fn divided(text: &str) -> (&str, &str, &str) {
    let scheme = text.find(':').map_or(0, |at| at + 1);
    let start = match text.get(scheme..) {
        Some(rest) if rest.starts_with("//") => scheme + 2,
        _ => return (text.get(..scheme).unwrap_or_default(), "", text.get(scheme..).unwrap_or_default()),
    };
    let end = text.get(start..).and_then(|rest| rest.find(['/', '?'])).map_or(text.len(), |at| start + at);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    (part(0..start), part(start..end), part(end..text.len()))
}

/// An authority without its port. The colons of an address in brackets and of a user stay.
fn without_port(authority: &str) -> &str {
    let host = authority.rfind(['@', ']']).map_or(0, |at| at + 1);
    match authority.get(host..).and_then(|rest| rest.find(':')) {
        Some(at) => authority.get(..host + at).unwrap_or(authority),
        None => authority,
    }
}

/// What divides a URI.
const DELIMITING: &str = "/?#[]";

/// Whether something that divides URIs, or names of files, is encoded in it at any level.
fn hides_delimiters(rest: &str) -> bool {
    let mut bytes = rest.as_bytes().to_vec();
    let count = |bytes: &[u8]| bytes.iter().filter(|byte| b"/\\?#".contains(byte)).count();
    for _ in 0..MAX_DECODINGS {
        let next = decoded_bytes(&bytes);
        if count(&next) != count(&bytes) {
            return true;
        }
        bytes = next;
    }
    // What is encoded more often was refused before.
    false
}

/// Whether a segment is `.` or `..` at any level of decoding. Parameters and members of a query count as segments.
fn hides_dots(rest: &str) -> bool {
    let mut bytes = rest.as_bytes().to_vec();
    for _ in 0..MAX_DECODINGS {
        let mut segments = bytes.split(|b| b"/\\?#;&=".contains(b));
        if segments.any(|segment| segment == b"." || segment == b"..") {
            return true;
        }
        let next = decoded_bytes(&bytes);
        if next == bytes {
            return false;
        }
        bytes = next;
    }
    true
}

/// The text without what is percent-encoded needlessly, the rest of it in upper case.
pub(super) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        match u8::from_str_radix(digits, 16).map(char::from) {
            Ok(c) if is_plain(c) && !DELIMITING.contains(c) => out.push(c),
            _ => {
                out.push('%');
                out.push_str(&digits.to_ascii_uppercase());
            }
        }
        out.push_str(rest);
    }
    out
}

/// The text percent-decoded once; `None` where that is not UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(decoded_bytes(text.as_bytes())).ok()
}

/// Bytes percent-decoded once; a `%` without two digits stays.
fn decoded_bytes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let mut byte = [0];
        let digits = after.split_at_checked(2).filter(|_| *first == b'%');
        match digits {
            Some((digits, after)) if hex::decode_to_slice(digits, &mut byte).is_ok() => {
                out.extend(byte);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}
