//! A token of the gateway itself (RFC 6749 §4.4, MCP extension `io.modelcontextprotocol/oauth-client-credentials`).

use std::sync::Arc;

use async_trait::async_trait;
use http::header;
use time::OffsetDateTime;

use super::kept::Kept;
use super::{Caller, CredentialFault, Program, UpstreamCredential, UpstreamHeader};
use crate::client::http::Http;

/// One token for all callers.
pub struct ClientCredentials {
    http: Arc<Http>,
    program: Program,
    kept: Kept,
}

impl std::fmt::Debug for ClientCredentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ClientCredentials").field("program", &self.program).finish_non_exhaustive()
    }
}

impl ClientCredentials {
    /// For one upstream.
    ///
    /// # Errors
    /// Where a scope is asked for that no program may have.
    pub fn new(http: Arc<Http>, program: Program) -> Result<Self, CredentialFault> {
        program.check()?;
        Ok(Self { http, program, kept: Kept::default() })
    }
}

#[async_trait]
impl UpstreamCredential for ClientCredentials {
    async fn authorization(
        &self,
        _: Option<&Caller>,
        now: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        let fetch = async {
            let form = [("grant_type", "client_credentials")];
            self.program.fetched(&self.program.ask(&self.http, &form, now).await?)
        };
        let value = self.kept.get(now, fetch).await?;
        Ok(Some(UpstreamHeader { name: header::AUTHORIZATION, value }))
    }

    fn refused(&self, _: Option<&Caller>, header: &UpstreamHeader) {
        self.kept.forget(&header.value);
    }
}
