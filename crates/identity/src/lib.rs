//! Who calls: from what a request carries to a principal.
//!
//! One trait, [`Authenticator`], stands between the gateway and the ways to prove an identity. Bearer tokens whose
//! hashes are in the configuration are the one way that there is.

mod tokens;

use std::sync::Arc;

use aldgate_authority::Principal;
use async_trait::async_trait;
use time::OffsetDateTime;

pub use tokens::{ConfiguredPrincipal, TokenHash, TokenTable, TokensFault};

/// Why a request has no principal.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unauthenticated {
    /// No `Authorization` header.
    #[error("the request carries no credentials; send `Authorization: Bearer <token>`")]
    Missing,
    /// Another scheme than `Bearer`, or no token after it.
    #[error("the `Authorization` header is not of the form `Bearer <token>`")]
    Malformed,
    /// A token that nobody has.
    #[error("the token is not known here")]
    Unknown,
    /// A token that is not good any more.
    #[error("the token has expired")]
    Expired,
}

impl Unauthenticated {
    /// The value of `WWW-Authenticate` (RFC 6750 §3): the reason only where a token was sent.
    #[must_use]
    pub const fn challenge(&self) -> &'static str {
        match self {
            Self::Missing | Self::Malformed => "Bearer",
            Self::Unknown => {
                r#"Bearer error="invalid_token", error_description="the token is not known here""#
            }
            Self::Expired => r#"Bearer error="invalid_token", error_description="the token has expired""#,
        }
    }
}

/// Who calls, and until when the credentials are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Who it is.
    pub principal: Arc<Principal>,
    /// From when on the credentials are good no more; `None` where they do not expire.
    pub expires_at: Option<OffsetDateTime>,
}

/// Turns credentials into a principal.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Who `authorization`, the value of the request's one `Authorization` header, stands for at this time.
    ///
    /// # Errors
    /// Where it stands for nobody.
    async fn authenticate(
        &self,
        authorization: Option<&[u8]>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated>;
}
