use async_trait::async_trait;
use http::HeaderValue;

/// Somebody who may read the evidence of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    tenant: String,
}

impl Reader {
    /// A reader of this tenant's evidence; only for whoever has authenticated it and found that it may read.
    #[must_use]
    pub fn of_tenant(tenant: impl Into<String>) -> Self {
        Self { tenant: tenant.into() }
    }

    /// The tenant whose evidence is read.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }
}

/// Why a request may read nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Nobody is known who sends it: HTTP 401.
    #[error("{message}")]
    Unauthenticated {
        /// What is wrong with the credentials, for the client's developer.
        message: String,
        /// The value of `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3).
        challenge: String,
    },
    /// The principal may not read evidence: HTTP 403.
    #[error("this principal has no access to evidence")]
    Forbidden,
    /// The reading could not be recorded: HTTP 503.
    #[error("the reading could not be recorded; nothing was read")]
    Unrecorded,
}

/// Finds out who a request comes from, and whether that principal may read evidence.
#[async_trait]
pub trait Admission: Send + Sync {
    /// The reader that `authorization`, the value of the request's one `Authorization` header, stands for.
    ///
    /// # Errors
    /// Where it stands for nobody, or for one who may not read.
    async fn admit(&self, authorization: Option<&HeaderValue>) -> Result<Reader, Denied>;
}
