//! An access token and what is known of it.

use http::HeaderValue;
use time::{Duration, OffsetDateTime};

use super::dpop::{DpopFault, DpopKey};
use super::secret::Secret;
use crate::Scopes;

/// How long before its end a token is not used any more: a request takes time, and clocks differ.
pub(super) const SPARE: Duration = Duration::seconds(30);

/// An access token. Its `Debug` does not show it.
#[derive(Clone, Debug)]
pub struct AccessToken {
    pub(super) token: Secret,
    /// What it may be used for; none where the server did not say and nothing was asked for.
    pub scopes: Option<Scopes>,
    /// From when on it is not good any more; none where the server did not say.
    pub expires_at: Option<OffsetDateTime>,
    /// The key that has to be proven, where it is bound to one (RFC 9449).
    pub(super) key: Option<DpopKey>,
}

impl AccessToken {
    /// The value of `Authorization`, marked as sensitive.
    #[must_use]
    pub fn authorization(&self) -> Option<HeaderValue> {
        let scheme = if self.key.is_some() { "DPoP" } else { "Bearer" };
        header(scheme, self.token.expose())
    }

    /// The token, where whoever holds it may use it.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        self.key.is_none().then(|| self.token.expose())
    }

    /// The value of `DPoP` for a request to `url`; none where the token is not bound to a key.
    ///
    /// # Errors
    /// Where the system's random source does not work.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        nonce: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Option<HeaderValue>, DpopFault> {
        let proof = |key: &DpopKey| key.proof(method, url, nonce, Some(self.token.expose()), now);
        self.key.as_ref().map(proof).transpose()
    }

    /// Whether it is good for a request that starts now.
    #[must_use]
    pub fn is_fresh(&self, now: OffsetDateTime) -> bool {
        self.expires_at.is_none_or(|end| now + SPARE < end)
    }
}

/// A value of a header that `Debug` does not show.
pub(super) fn header(scheme: &str, credentials: &str) -> Option<HeaderValue> {
    let text = zeroize::Zeroizing::new(format!("{scheme} {credentials}"));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
