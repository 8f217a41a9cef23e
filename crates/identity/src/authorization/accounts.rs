//! What the authorization server asks of those who keep the accounts.

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;

use crate::people::{PageKey, SignedIn, User};

/// Those who keep the accounts and the sign-in page at `/oauth/sign-in?continue=<path>`, which with `again=1` asks those too
/// who are signed in.
#[async_trait]
pub trait People: Send + Sync {
    /// Who is signed in in the browser that sent these headers to an address with this key.
    ///
    /// # Errors
    /// Where nobody can tell.
    async fn signed_in(
        &self,
        headers: &HeaderMap,
        key: &PageKey,
        now: OffsetDateTime,
    ) -> Result<Option<SignedIn>, PeopleFault>;

    /// Before the browser is led to another program: ends the session of these headers where such a program would get to see
    /// its cookie. Returns the `Set-Cookie` headers that go with the answer.
    ///
    /// # Errors
    /// Where it could not be ended; then the browser is not led there.
    async fn part(&self, headers: &HeaderMap) -> Result<Vec<HeaderValue>, PeopleFault>;

    /// The account with this id.
    ///
    /// # Errors
    /// Where nobody can tell.
    async fn user(&self, id: &str) -> Result<Option<User>, PeopleFault>;

    /// The accounts whose tokens are refused: all of them, or those that were granted before some time. Asked about once a
    /// second.
    ///
    /// # Errors
    /// Where nobody can tell.
    async fn barred(&self) -> Result<Vec<Barred>, PeopleFault>;
}

/// An account whose tokens are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barred {
    /// The account's id.
    pub user: String,
    /// Only those that were granted before: the person signed out everywhere then. `None`: the account is disabled.
    pub granted_before: Option<OffsetDateTime>,
}

/// Nobody can tell who is signed in.
#[derive(Debug, thiserror::Error)]
#[error("the accounts cannot be read")]
pub struct PeopleFault {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl PeopleFault {
    /// Why not.
    pub fn because(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: source.into() }
    }
}
