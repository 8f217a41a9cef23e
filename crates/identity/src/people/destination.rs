//! Where a person goes after the sign-in.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::PageKey;

/// What a session keeps of the sealed request that it was begun for: its SHA-256, base64url.
pub(crate) fn digest(sealed: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(sealed.as_bytes()))
}

/// A path of this server, known to be one of a few. No other server can be named by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination(String);

/// What goes on at the authorization server.
const AUTHORIZE: &str = "/oauth/authorize/continue?";

/// The pages on which people see and decide what waits for a person.
const APPROVALS: &str = "/approvals";

/// The pages on which people give the gateway access to an upstream in their name.
const CONNECTIONS: &str = "/connections";

/// The longest one.
const LONGEST: usize = 2048;

impl Destination {
    /// Reads the field `continue`. Whatever is not known leads to the account's own page.
    pub(super) fn read(asked: &str) -> Self {
        let good =
            |letter: char| letter.is_ascii_graphic() && !matches!(letter, '\\' | '#' | '"' | '<' | '>');
        let known = asked.len() <= LONGEST && asked.chars().all(good) && is_place(asked);
        Self(if known { asked } else { "/account" }.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The sealed request that the person is on the way to answer.
    pub(super) fn sealed(&self) -> Option<String> {
        let query = self.0.strip_prefix(AUTHORIZE)?;
        let mut found = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "request");
        let (_, sealed) = found.next()?;
        found.next().is_none().then(|| sealed.into_owned())
    }

    /// SHA-256 of the sealed request, base64url.
    pub(super) fn request(&self) -> Option<String> {
        self.sealed().as_deref().map(digest)
    }

    /// Whether the person is on the way to another program or server.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.0.starts_with(AUTHORIZE) || is_below(&self.0, CONNECTIONS)
    }

    /// The path with this destination as its field `continue`.
    pub(super) fn after(&self, path: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        format!("{path}?{}", query.append_pair("continue", &self.0).finish())
    }
}

/// Whether this is the page `of`, or one below it.
fn is_below(asked: &str, of: &str) -> bool {
    asked.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// Whether people are led to this path. A browser takes no part of it for a way up or to another server, and the key of the
/// session that begins is the only one in it.
fn is_place(asked: &str) -> bool {
    let path = asked.split('?').next().unwrap_or_default();
    let known = asked.starts_with(AUTHORIZE) || is_below(path, CONNECTIONS) || is_below(path, APPROVALS);
    let plain = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && !matches!(part, "" | "." | "..")
    };
    known
        && path.split('/').skip(1).all(plain)
        && !PageKey::is_in(asked.split_once('?').map(|(_, query)| query))
}
