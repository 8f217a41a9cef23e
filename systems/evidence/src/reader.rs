use async_trait::async_trait;
use http::{HeaderMap, HeaderName};

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
    /// The credentials are not good, or not good for this.
    #[error("{message}")]
    Credentials {
        /// HTTP status: 401 where nobody is known, 403 where the token was not made for this, 503 where nobody can tell.
        status: u16,
        /// The stable code.
        code: &'static str,
        /// What is wrong with the credentials, for the client's developer.
        message: String,
        /// Headers of the response that say which credentials are needed (RFC 9110 §11.6.1, RFC 6750 §3).
        headers: Vec<(HeaderName, String)>,
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
    /// The reader that the credentials in a request's headers stand for. `Authorization` and `DPoP` stand once at most.
    ///
    /// # Errors
    /// Where they stand for nobody, or for one who may not read.
    async fn admit(&self, headers: &HeaderMap) -> Result<Reader, Denied>;
}
