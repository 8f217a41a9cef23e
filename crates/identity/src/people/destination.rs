//! Where a person goes after the sign-in.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// What a session keeps of the sealed request that it was begun for: its SHA-256, base64url.
pub(crate) fn digest(sealed: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(sealed.as_bytes()))
}

/// A path of this server, known to be one of a few. No other server can be named by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination(String);

/// What goes on at the authorization server.
const AUTHORIZE: &str = "/oauth/authorize/continue?";

impl Destination {
    /// Reads the field `continue`. Whatever is not known leads to the account's own page.
    pub(super) fn read(asked: &str) -> Self {
        let good =
            |letter: char| letter.is_ascii_graphic() && !matches!(letter, '\\' | '#' | '"' | '<' | '>');
        let known = asked.starts_with(AUTHORIZE) && asked.len() <= 2048 && asked.chars().all(good);
        Self(if known { asked } else { "/account" }.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the sealed request that the person is on the way to answer, base64url.
    pub(super) fn request(&self) -> Option<String> {
        let query = self.0.strip_prefix(AUTHORIZE)?;
        let mut found = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "request");
        let (_, sealed) = found.next()?;
        found.next().is_none().then(|| digest(&sealed))
    }

    /// Whether the person is on the way to another program.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.0.starts_with(AUTHORIZE)
    }

    /// The path with this destination as its field `continue`.
    pub(super) fn after(&self, path: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        format!("{path}?{}", query.append_pair("continue", &self.0).finish())
    }
}
