//! Configured tokens beside those of authorization servers.

use std::sync::Arc;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::Verifier;
use super::header::{Scheme, Sent};
use crate::{Authenticator, Identity, Presented, TokenTable, Unauthenticated};

/// Asks the configured tokens, then the issuers. A JWT of a configured issuer is the issuer's alone to vouch for, and what is
/// sent with a proof of possession is none of the table's.
pub struct TableFirst {
    /// The configured tokens.
    pub table: TokenTable,
    /// The issuers.
    pub verifier: Arc<Verifier>,
}

#[async_trait]
impl Authenticator for TableFirst {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        let sent = match Sent::read(presented.authorization) {
            // The table takes any characters: its tokens are what somebody chose.
            Err(Unauthenticated::Malformed) => return self.table.authenticate(presented, now).await,
            read => read?,
        };
        if sent.scheme == Scheme::Bearer {
            let listed = self.table.authenticate(presented, now).await;
            if listed != Err(Unauthenticated::Unknown) && !self.verifier.speaks_for(sent.token) {
                return listed;
            }
        }
        self.verifier.authenticate(presented, now).await
    }
}
