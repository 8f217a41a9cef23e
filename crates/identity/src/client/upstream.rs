//! What the gateway itself shows to the servers behind it. The token that a caller sent is never among it.

mod client_credentials;
mod configured;
mod connection;
mod header;
mod kept;
mod server;
#[cfg(test)]
mod tests;
mod token_exchange;

use std::sync::Arc;

use aldgate_authority::Principal;
use async_trait::async_trait;
use http::{HeaderName, HeaderValue};
use time::OffsetDateTime;

use super::discover::ServerFault;
use super::secret::Secret;
use super::token_endpoint::TokenFault;

pub use client_credentials::ClientCredentials;
pub use configured::{ClientMethod, ConfiguredCredential, ConfiguredFault, CredentialKind, Made, Making};
pub use connection::{ConnectionFault, ConnectionSettings, ConnectionStore, Connections, Returned, Who};
pub use header::{HeaderCredential, HeaderSource};
pub use server::Program;
pub use token_exchange::{TokenExchange, TokenExchangeSettings};

/// A header that is sent to an upstream. Its value is marked as sensitive, so that `Debug` does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamHeader {
    /// Its name, mostly `authorization`.
    pub name: HeaderName,
    /// Its value.
    pub value: HeaderValue,
}

/// Whom a request to an upstream is for.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who calls.
    pub principal: Arc<Principal>,
    /// The access token that the caller sent, where whoever holds it may use it. An authorization server that takes it
    /// exchanges it for another; it is sent nowhere else, and never to an upstream.
    pub token: Option<SubjectToken>,
}

/// An access token that stands for a caller.
#[derive(Clone, Debug)]
pub struct SubjectToken {
    /// The token.
    pub token: Secret,
    /// From when on it is not good any more. What it was exchanged for is not used longer.
    pub expires_at: Option<OffsetDateTime>,
}

/// Why there is no credential; the call is refused then. Holds no secret.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CredentialFault {
    /// The file cannot be read.
    #[error("the file `{path}` with the credential cannot be read")]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// What was found cannot be sent.
    #[error(
        "{place} is empty or cannot be sent in a header; expected one line of printable ASCII characters"
    )]
    Value {
        /// Where it was found.
        place: String,
    },
    /// A credential of the caller, and there is no caller.
    #[error("the upstream is called in the name of a caller, and this request has none")]
    NoCaller,
    /// This caller can have no credential.
    #[error("the upstream is called with a credential of each caller: {0}")]
    Unfit(&'static str),
    /// The caller's token has ended.
    #[error("the token that stands for the caller has ended")]
    CallerEnded,
    /// The authorization server cannot be used.
    #[error("the authorization server `{issuer}` of the upstream cannot be used")]
    Server {
        /// The issuer.
        issuer: String,
        /// Why.
        #[source]
        source: Arc<ServerFault>,
    },
    /// The server does not take how this client proves to be itself.
    #[error(
        "the authorization server `{issuer}` does not list `{method}` in `token_endpoint_auth_methods_supported`"
    )]
    Method {
        /// The issuer.
        issuer: String,
        /// The method.
        method: &'static str,
    },
    /// The server gave no token.
    #[error("the authorization server `{issuer}` gave no token for the upstream")]
    Token {
        /// The issuer.
        issuer: String,
        /// Why.
        #[source]
        source: Arc<TokenFault>,
    },
    /// A token that would not be one of the gateway's own.
    #[error("the token for the upstream is refused: {0}")]
    Refused(&'static str),
    /// The user has not let the gateway use the upstream. The user has to be shown where to.
    #[error(
        "the user has not connected an account to the upstream `{upstream}` yet, or the connection has ended"
    )]
    NotConnected {
        /// The upstream.
        upstream: String,
        /// The page on which an account is connected.
        page: String,
    },
    /// What is kept of the connection cannot be used.
    #[error("the user's connection to the upstream cannot be used")]
    Kept(#[source] Arc<ConnectionFault>),
    /// No program decides approvals.
    #[error("`approvals:decide` is not a scope that a program may have; leave it out")]
    Decides,
}

/// What an upstream is shown.
#[async_trait]
pub trait UpstreamCredential: std::fmt::Debug + Send + Sync {
    /// The header for a request of this caller; none where nothing is shown.
    ///
    /// # Errors
    /// Where there should be one and is not. The request is not sent then.
    async fn authorization(
        &self,
        caller: Option<&Caller>,
        now: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault>;

    /// Forgets a header that the upstream answered with 401, so that the next request has a fresh one. One that has been
    /// replaced meanwhile stays.
    fn refused(&self, caller: Option<&Caller>, header: &UpstreamHeader);
}

/// Nothing is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredential;

#[async_trait]
impl UpstreamCredential for NoCredential {
    async fn authorization(
        &self,
        _: Option<&Caller>,
        _: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        Ok(None)
    }

    fn refused(&self, _: Option<&Caller>, _: &UpstreamHeader) {}
}
