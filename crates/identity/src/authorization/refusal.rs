//! Refusals: each names the step that failed, what was sent and what was expected, under a request id that the log and the
//! client's error share.

#[cfg(test)]
mod tests;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The error codes of RFC 6749, RFC 7009, RFC 7591, RFC 8707, RFC 9449 and OpenID Connect Core that are used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
    UnsupportedTokenType,
    InvalidScope,
    InvalidTarget,
    AccessDenied,
    LoginRequired,
    ConsentRequired,
    RequestNotSupported,
    RequestUriNotSupported,
    InvalidDpopProof,
    UseDpopNonce,
    InvalidRedirectUri,
    InvalidClientMetadata,
    TemporarilyUnavailable,
    ServerError,
}

impl Code {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::UnsupportedTokenType => "unsupported_token_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::LoginRequired => "login_required",
            Self::ConsentRequired => "consent_required",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::InvalidDpopProof => "invalid_dpop_proof",
            Self::UseDpopNonce => "use_dpop_nonce",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }

    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    /// The step that failed, such as `redirect_uri`.
    pub(super) step: &'static str,
    /// What was sent. No secret is ever put here.
    pub(super) sent: String,
    /// What was expected.
    pub(super) expected: String,
}

/// Shorthand for the one way to make a refusal.
pub(super) fn refuse(
    code: Code,
    step: &'static str,
    sent: impl Into<String>,
    expected: impl Into<String>,
) -> Refusal {
    Refusal { code, step, sent: shown(&sent.into()), expected: expected.into() }
}

/// Names one request in the log and in what its client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestId(String);

impl RequestId {
    pub(super) fn fresh() -> Self {
        // Without randomness nothing else works either; the request is refused for that.
        Self(super::random::<8>().map_or_else(|_| "unknown".to_owned(), hex::encode))
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl Refusal {
    /// Something of ours does not work. The log says what; the client is told no more than that.
    pub(super) fn ours(step: &'static str, fault: &dyn std::error::Error) -> Self {
        let mut told = fault.to_string();
        let mut source = fault.source();
        while let Some(fault) = source {
            told = format!("{told}: {fault}");
            source = fault.source();
        }
        tracing::error!(step, fault = told, "the authorization server does not work");
        refuse(Code::ServerError, step, "a request that may be good", "a store that works; try again later")
    }

    pub(super) fn log(&self, id: &RequestId) {
        tracing::warn!(
            request = %id, error = self.code.as_str(), step = self.step, sent = self.sent,
            expected = self.expected, "refused an authorization request",
        );
    }

    /// What the client or the person is told. Only characters that RFC 6749 §4.1.2.1 allows.
    pub(super) fn description(&self, id: &RequestId) -> String {
        let Self { step, sent, expected, .. } = self;
        let told = format!("{step}: found {sent}, expected {expected} (request {id})");
        let plain = |letter: char| match letter {
            '"' | '\\' => '\'',
            ' '..='~' => letter,
            '…' => '.',
            _ => '?',
        };
        told.chars().map(plain).collect()
    }

    /// The error response of the token, revocation and registration endpoints (RFC 6749 §5.2).
    pub(super) fn response(&self, id: &RequestId) -> Response {
        self.log(id);
        let body = json!({"error": self.code.as_str(), "error_description": self.description(id)});
        answer(self.code.status(), &body)
    }
}

/// A JSON response that nobody keeps.
pub(super) fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = (status, body.to_string()).into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::PRAGMA, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Text of others, short and printable.
pub(super) fn shown(text: &str) -> String {
    let plain = crate::shown::shown(text, 160);
    if plain.is_empty() { "nothing".to_owned() } else { plain }
}
