//! What the gateway's own doors ask of the authorization server.

use std::sync::Arc;

use jsonwebtoken::jwk::JwkSet;

use super::AuthorizationServer;
use crate::resource::{HeldKeys, Origin};

impl HeldKeys for AuthorizationServer {
    fn jwks(&self) -> Arc<JwkSet> {
        Self::jwks(self)
    }

    fn stands(&self, origin: &Origin<'_>) -> bool {
        let Origin { sub, grant, actors } = *origin;
        Self::stands(self, sub, grant) && actors.iter().all(|actor| self.acts(actor))
    }

    fn is_current(&self) -> bool {
        Self::is_current(self)
    }
}
