//! Who is signed in.

use std::collections::BTreeSet;
use std::sync::Arc;

use time::OffsetDateTime;

use super::PageKey;

/// A person's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Random and never given to another: the subject of tokens.
    pub id: String,
    /// What the person signs in with.
    pub name: String,
    /// A name to show.
    pub display_name: String,
    /// The tenant that the person belongs to.
    pub tenant: String,
    /// Roles, as policies name them.
    pub roles: BTreeSet<String>,
    /// Nobody signs in with it, and its tokens are refused.
    pub disabled: bool,
}

/// A session of a browser in which somebody is signed in.
#[derive(Clone)]
// Only `is_csrf` takes the same time wherever two differ.
#[cfg_attr(test, derive(PartialEq, Eq))]
pub struct SignedIn {
    /// Who.
    pub user: Arc<User>,
    /// When the person last proved who it is.
    pub at: OffsetDateTime,
    /// What forms of this session carry in the field `csrf`, so that no other page can send them.
    pub csrf: String,
    /// What the addresses of this session's pages carry.
    pub key: PageKey,
    /// The authorization request that the person signed in for: SHA-256 of its sealed text, base64url.
    pub signed_in_for: Option<String>,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SignedIn").field("user", &self.user).field("at", &self.at).finish_non_exhaustive()
    }
}

impl SignedIn {
    /// Whether a form that carries `sent` comes from a page of this session. The time does not depend on `sent`.
    #[must_use]
    pub fn is_csrf(&self, sent: &str) -> bool {
        super::keys::same(&self.csrf, sent)
    }
}

impl User {
    pub(super) fn of(account: aldgate_store::identity::Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            display_name: account.display_name,
            tenant: account.tenant,
            roles: account.roles,
            disabled: account.disabled,
        }
    }
}
