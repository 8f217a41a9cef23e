//! What is known of a request before its form is read, and what is answered where it is refused.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{ConnectInfo, FromRef, FromRequestParts};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header, request};
use maud::{Markup, html};
use time::OffsetDateTime;

use super::keys::random_text;
use super::throttle::Source;
use super::{Fault, PageKey, People, SignedIn, page};

/// A request for a page, and who sent it from where. It is taken from the parts of a request.
pub struct Asked {
    pub(super) headers: HeaderMap,
    /// The key in the address.
    pub(super) key: PageKey,
    pub(super) source: Source,
    pub(super) now: OffsetDateTime,
    /// Names the request in the log and on the page that refuses it.
    pub(super) id: String,
}

/// Whom a refusal is about, as far as the log may tell.
#[derive(Clone, Copy)]
pub(super) enum Whom<'a> {
    /// The account with this id.
    Account(&'a str),
    /// A keyed hash of what was typed as a name: it may be a password in the wrong field.
    Typed(&'a str),
    /// Nobody is known.
    Nobody,
}

impl<S> FromRequestParts<S> for Asked
where
    S: Send + Sync,
    Arc<People>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut request::Parts, state: &S) -> Result<Self, Self::Rejection> {
        let people = Arc::<People>::from_ref(state);
        let told = parts.extensions.get::<Source>().copied();
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| Source(peer.0.ip()));
        let source = told.or(peer).unwrap_or(Source::UNKNOWN);
        let id = random_text::<9>().unwrap_or_default();
        Ok(Self {
            headers: parts.headers.clone(),
            key: PageKey::of(&parts.uri),
            source,
            now: people.now(),
            id,
        })
    }
}

/// Whether a form can have come from a page of this origin, as far as the browser tells: `Sec-Fetch-Site` (Fetch Metadata)
/// and `Origin` (RFC 6454). The form's own token is checked besides.
pub(crate) fn is_from(origin: &str, headers: &HeaderMap) -> bool {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        (values.next(), values.next())
    };
    let site = match one(http::HeaderName::from_static("sec-fetch-site")) {
        (None, _) => true,
        (Some(value), None) => value == "same-origin" || value == "none",
        (Some(_), Some(_)) => false,
    };
    let told = match one(header::ORIGIN) {
        (None, _) => true,
        (Some(value), None) => value.as_bytes() == origin.as_bytes(),
        (Some(_), Some(_)) => false,
    };
    site && told
}

impl Asked {
    /// Whether a form can have come from a page of this server. The form's own token is checked besides.
    pub(super) fn is_from_here(&self, people: &People) -> bool {
        is_from(&people.settings.issuer.origin().ascii_serialization(), &self.headers)
    }

    /// Notes that a form was not taken, at which step and of whom.
    pub(super) fn log(&self, step: &'static str, whom: Whom<'_>) {
        let (account, typed) = match whom {
            Whom::Account(id) => (Some(id), None),
            Whom::Typed(hash) => (None, Some(hash)),
            Whom::Nobody => (None, None),
        };
        tracing::warn!(request = self.id, step, source = %self.source.0, account, typed, "a form was refused");
    }

    /// The answer to a failure, which is logged with all its causes.
    #[must_use]
    pub fn failed(&self, fault: &Fault) -> Response {
        let mut causes = String::new();
        let mut cause = fault.source();
        while let Some(next) = cause {
            causes.push_str(": ");
            causes.push_str(&next.to_string());
            cause = next.source();
        }
        tracing::error!(request = self.id, source = %self.source.0, "{fault}{causes}");
        let (title, told, wait) = match fault {
            Fault::Busy => ("Too busy", "Many people sign in just now. Try again in some seconds.", 5),
            Fault::Revoking(_) => (
                "Not everything ended",
                "You are signed out of all browsers. What programs were granted could not be taken back: sign in and sign out everywhere once more.",
                5,
            ),
            _ => ("This did not work", "It is not your fault. Try again in some minutes.", 60),
        };
        let body = html! { (alert(told)) (self.named()) };
        wait_for(page(StatusCode::SERVICE_UNAVAILABLE, title, &body), Duration::from_secs(wait))
    }

    /// What a form holds; one that cannot be read is noted.
    pub(super) fn sent<T>(&self, sent: Result<Form<T>, FormRejection>) -> Option<T> {
        match sent {
            Ok(Form(sent)) => Some(sent),
            Err(_) => {
                self.log("form", Whom::Nobody);
                None
            }
        }
    }

    /// The page of a form that cannot be taken.
    #[must_use]
    pub fn foreign(&self, back: &str) -> Response {
        let told = "This form was not sent from a page of this server, or it is too old.";
        let body = html! { (alert(told)) p { a href=(back) { "Open the page once more" } } (self.named()) };
        page(StatusCode::FORBIDDEN, "Not taken", &body)
    }

    /// The page of a form that cannot be read, from the page at `path`. It is logged.
    #[must_use]
    pub fn unread(&self, signed_in: &SignedIn, path: &str) -> Response {
        self.log("form", Whom::Account(&signed_in.user.id));
        self.foreign(&signed_in.key.at(path))
    }

    /// What names the request in the log and on the page.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When it came.
    #[must_use]
    pub const fn now(&self) -> OffsetDateTime {
        self.now
    }

    /// The same at an address with this query: where another server led the browser back to an address without a key, the page
    /// that it came from says which.
    #[must_use]
    pub fn at(self, address: &str) -> Self {
        let query = address.split_once('?').map(|(_, query)| query);
        Self { key: PageKey::of_query(query), ..self }
    }

    /// What names the request, for whoever is asked about it.
    #[must_use]
    pub fn named(&self) -> Markup {
        html! { p.quiet { "Request " code { (self.id) } } }
    }
}

/// A message that a screen reader tells at once.
#[must_use]
pub fn alert(told: &str) -> Markup {
    html! { div role="alert" { p { (told) } } }
}

/// The same answer, with the time after which to try again.
#[must_use]
pub fn wait_for(mut response: Response, wait: Duration) -> Response {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    response
}

/// The way to another page after a form (RFC 9110 §15.4.4).
#[must_use]
pub fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// The same answer, with cookies.
pub(super) fn with_cookies(
    mut response: Response,
    cookies: impl IntoIterator<Item = Option<HeaderValue>>,
) -> Response {
    for cookie in cookies.into_iter().flatten() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
