//! Who calls: from what a request carries to a principal; and how people and programs come by credentials.
//!
//! One trait, [`Authenticator`], stands between the gateway and the ways to prove an identity:
//!
//! - [`TokenTable`]: bearer tokens whose hashes are in the configuration;
//! - [`resource`]: access tokens of authorization servers, checked here;
//! - [`authorization`]: an authorization server of our own, for those who have none, with [`people`] who sign in there.
//!
//! [`client`] is the other side: how our own programs sign in, and how the gateway comes by credentials for upstreams.

pub mod authorization;
pub mod client;
pub mod people;
mod presented;
pub mod proof;
pub mod resource;
pub mod scopes;
mod shown;
mod tokens;
mod unauthenticated;

use std::sync::Arc;

use aldgate_authority::Principal;
use async_trait::async_trait;
use time::OffsetDateTime;

pub use presented::{Door, Doors, Presented, Proof};
pub use scopes::{ScopeFault, Scopes};
pub use tokens::{CONFIGURED, ConfiguredPrincipal, TokenHash, TokenTable, TokensFault};
pub use unauthenticated::{DPOP_NONCE, Protected, Unauthenticated, lacks_scope};

/// Who calls, what for, and until when the credentials are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Who it is.
    pub principal: Arc<Principal>,
    /// What the credentials may be used for.
    pub scopes: Arc<Scopes>,
    /// From when on the credentials are good no more; `None` where they do not expire.
    pub expires_at: Option<OffsetDateTime>,
}

/// Turns credentials into a principal.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Who the credentials of a request stand for at this time.
    ///
    /// # Errors
    /// Where they stand for nobody.
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated>;
}
