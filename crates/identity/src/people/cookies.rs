//! The cookies that are set here (RFC 6265bis).

#[cfg(test)]
mod tests;

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};

/// A cookie by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cookie {
    /// The id of a session.
    Session,
    /// What the form to sign in is bound to.
    Form,
    /// That somebody signed in with this device before.
    Device,
}

impl Cookie {
    /// Its name. By TLS no other host and no page without TLS can have set it (`__Host-`).
    pub(super) const fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Self::Session, true) => "__Host-aldgate",
            (Self::Session, false) => "aldgate",
            (Self::Form, true) => "__Host-aldgate-form",
            (Self::Form, false) => "aldgate-form",
            (Self::Device, true) => "__Host-aldgate-device",
            (Self::Device, false) => "aldgate-device",
        }
    }

    /// What the browser sent. One that comes twice is none: somebody else may have set the other.
    pub(super) fn read(self, headers: &HeaderMap, secure: bool) -> Option<&str> {
        let name = self.name(secure);
        let mut found = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim_matches(' ').split_once('='))
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value);
        let one = found.next()?;
        found.next().is_none().then_some(one).filter(|value| !value.is_empty() && value.len() <= 256)
    }

    /// The header that sets it, for as long as the browser runs where there is no time. `value` is base64url and dots.
    pub(super) fn set(self, value: &str, lasts: Option<Duration>, secure: bool) -> Option<HeaderValue> {
        let name = self.name(secure);
        let lasts = lasts.map(|lasts| format!("; Max-Age={}", lasts.as_secs())).unwrap_or_default();
        let secure = if secure { "; Secure" } else { "" };
        HeaderValue::from_str(&format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{lasts}")).ok()
    }

    /// The header that takes it away.
    pub(super) fn clear(self, secure: bool) -> Option<HeaderValue> {
        self.set("", Some(Duration::ZERO), secure)
    }
}
