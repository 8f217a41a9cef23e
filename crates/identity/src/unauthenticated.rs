//! Why a request has no principal, and how its client is told (RFC 6750 §3, RFC 9728 §5.1, RFC 9449 §7.1).

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use http::HeaderName;

/// The header with the nonce of the next proof of possession (RFC 9449 §8.2).
pub const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Why a request has no principal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unauthenticated {
    /// No `Authorization` header.
    #[error("the request carries no credentials; send `Authorization: Bearer <token>`")]
    Missing,
    /// Another scheme than `Bearer` or `DPoP`, or no token after it.
    #[error("the `Authorization` header is not of the form `Bearer <token>`")]
    Malformed,
    /// A token that nobody has.
    #[error("the token is not known here")]
    Unknown,
    /// A token that is not good any more.
    #[error("the token has expired")]
    Expired,
    /// A token that is refused, and the check that it failed: what was found and what was expected, no secret of it.
    #[error("the token was refused: {0}")]
    Refused(String),
    /// A proof of possession that is refused, and why.
    #[error("the proof of possession was refused: {0}")]
    Proof(String),
    /// A proof of possession has to hold this nonce.
    #[error("the proof of possession has to hold the nonce of the `DPoP-Nonce` header")]
    Nonce(String),
    /// Nobody can tell whether the token is good: its issuer does not answer. The request may be sent again.
    #[error(
        "the issuer of the token does not answer, so that nobody can tell whether it is good; try again later"
    )]
    Unavailable,
}

/// What a protected resource says of itself when it refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected {
    /// URL of its metadata (RFC 9728 §3), without quotation marks or backslashes.
    pub metadata: String,
    /// The scopes that a client should ask for.
    pub scope: crate::Scopes,
    /// Whether proofs of possession are taken.
    pub dpop: bool,
    /// Whether they are required: then a client without a token is told to bring one with a proof.
    pub dpop_only: bool,
}

impl Unauthenticated {
    /// The error code of the challenge; none where no token was sent (RFC 6750 §3.1).
    #[must_use]
    pub const fn error(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Malformed => None,
            Self::Unknown | Self::Expired | Self::Refused(_) => Some("invalid_token"),
            Self::Proof(_) => Some("invalid_dpop_proof"),
            Self::Nonce(_) => Some("use_dpop_nonce"),
            Self::Unavailable => None,
        }
    }

    /// The HTTP status that it is answered with.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Unavailable => 503,
            _ => 401,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unavailable => "AG-IDENTITY-ISSUER",
            _ => "AG-IDENTITY",
        }
    }

    /// The value of `WWW-Authenticate`; none where the token is not what is wrong.
    #[must_use]
    pub fn challenge(&self, of: Option<&Protected>) -> Option<String> {
        let scheme = match self {
            Self::Unavailable => return None,
            Self::Proof(_) | Self::Nonce(_) => "DPoP",
            Self::Missing | Self::Malformed if of.is_some_and(|of| of.dpop_only) => "DPoP",
            _ => "Bearer",
        };
        let description = self.error().map(|_| self.to_string());
        let members = [("error", self.error()), ("error_description", description.as_deref())];
        Some(challenge(scheme, &members, of))
    }
}

/// What is told where a good token was not made for `what`, which needs a scope or several.
#[must_use]
pub fn lacks_scope(what: &str, needs: &str, has: &crate::Scopes) -> String {
    format!("{what} needs the scope `{needs}`, and the token has `{has}`; ask for a token that has it")
}

impl Protected {
    /// The value of `WWW-Authenticate` where a good token lacks scopes: all that the operation and the token need together,
    /// so that a client that asks for them loses none (MCP 2026-07-28, authorization#scope-challenge-handling).
    #[must_use]
    pub fn insufficient_scope(&self, needed: &crate::Scopes, description: &str) -> String {
        let of = Self { scope: needed.clone(), ..self.clone() };
        let members = [("error", Some("insufficient_scope")), ("error_description", Some(description))];
        challenge(if self.dpop_only { "DPoP" } else { "Bearer" }, &members, Some(&of))
    }
}

fn challenge(scheme: &str, members: &[(&str, Option<&str>)], of: Option<&Protected>) -> String {
    let scope = of.map(|of| of.scope.to_string()).filter(|scope| !scope.is_empty());
    let own = [
        ("scope", scope.as_deref()),
        ("resource_metadata", of.map(|of| of.metadata.as_str())),
        ("algs", of.filter(|of| of.dpop && scheme == "DPoP").map(|_| "ES256 EdDSA")),
    ];
    let mut told = scheme.to_owned();
    let mut separator = ' ';
    for (name, value) in members.iter().chain(&own) {
        let Some(value) = value else { continue };
        // Printable ASCII without quotation mark and backslash: nothing of what was sent can end the value.
        let value: String = value
            .chars()
            .filter(|letter| (letter.is_ascii_graphic() || *letter == ' ') && !matches!(letter, '"' | '\\'))
            .take(300)
            .collect();
        let _ = write!(told, "{separator}{name}=\"{value}\"");
        separator = ',';
    }
    told.replace("\",", "\", ")
}
