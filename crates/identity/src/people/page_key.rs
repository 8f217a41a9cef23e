//! The key of a session's pages.
//!
//! Browsers do not tell ports apart in cookies, so that programs on other ports of this computer get to see them. There a
//! session is good only together with this key. It is made of the session's id with the server's secret: nothing more is
//! kept, and nobody who knows the id can make it. It stands in the addresses of the pages after a sign-in, and in no cookie.
//! What is sent to another server holds it sealed at most, in the `state` that the server leads back with: whoever brings such a
//! state is told no key for it.

use http::Uri;

use super::keys::same;

/// The name of the parameter.
const NAME: &str = "key";

/// The key that the address of a page carries; empty where it has none.
#[derive(Clone, Default)]
// Only `is_same` takes the same time wherever two differ.
#[cfg_attr(test, derive(PartialEq, Eq))]
pub struct PageKey(String);

impl PageKey {
    /// The key in the address of a request.
    #[must_use]
    pub fn of(uri: &Uri) -> Self {
        Self::of_query(uri.query())
    }

    /// The key in a query. One that comes twice is none.
    #[must_use]
    pub fn of_query(query: Option<&str>) -> Self {
        let query = query.unwrap_or_default().as_bytes();
        let mut found = url::form_urlencoded::parse(query).filter(|(name, _)| name == NAME);
        match (found.next(), found.next()) {
            (Some((_, key)), None) => Self(key.into_owned()),
            _ => Self::default(),
        }
    }

    /// Whether there is any in a query.
    pub(super) fn is_in(query: Option<&str>) -> bool {
        url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).any(|(name, _)| name == NAME)
    }

    /// A key that was made here, base64url.
    pub(super) fn made(key: String) -> Self {
        Self(key)
    }

    /// Whether it is the other one, in a time that does not depend on where they differ.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }

    /// The address of a page of the same session. `path` may have a query, and no fragment.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        if self.0.is_empty() {
            return path.to_owned();
        }
        let joint = if path.contains('?') { '&' } else { '?' };
        format!("{path}{joint}{NAME}={}", self.0)
    }
}

/// It is half of what proves who is signed in.
impl std::fmt::Debug for PageKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("PageKey(…)")
    }
}
