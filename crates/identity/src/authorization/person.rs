//! People on the pages of this server, as the gateway knows them.

use std::sync::Arc;

use aldgate_authority::{Principal, PrincipalKind};

use super::AuthorizationServer;
use crate::Identity;
use crate::people::User;

/// The client of a principal that acts on a page of this server.
pub const PAGES: &str = "aldgate-pages";

impl AuthorizationServer {
    /// Who somebody is that signed in on a page of this server: the principal that tokens would name, with all scopes that the
    /// person may grant.
    #[must_use]
    pub fn identity_of(&self, user: &User) -> Identity {
        let principal = Principal {
            issuer: self.settings.issuer.clone(),
            subject: user.id.clone(),
            tenant: user.tenant.clone(),
            kind: PrincipalKind::Person,
            roles: user.roles.clone(),
            name: user.display_name.clone(),
            client: PAGES.to_owned(),
            actors: Vec::new(),
        };
        let scopes = Arc::new(self.settings.allowed(&user.roles));
        Identity { principal: Arc::new(principal), scopes, expires_at: None }
    }
}
