//! The authorization server that tokens for an upstream come from.

use std::sync::Arc;

use time::OffsetDateTime;
use url::Url;

use super::CredentialFault;
use super::kept::Fetched;
use crate::Scopes;
use crate::client::address::{AddressFault, Reach, shown};
use crate::client::discover::{Purpose, ServerFault, authorization_server};
use crate::client::http::Http;
use crate::client::token_endpoint::{ClientAuthentication, TokenEndpoint, TokenFault, Tokens};
use crate::scopes::APPROVALS_DECIDE;

/// The gateway as a client of an upstream's authorization server. The operator names the server: its credentials go to no
/// server that an upstream names.
#[derive(Clone, Debug)]
pub struct Program {
    /// The issuer.
    pub issuer: String,
    /// Where tokens are asked for; where it is left out, the issuer's metadata say so.
    pub token_endpoint: Option<Url>,
    /// The gateway's identifier there.
    pub client_id: String,
    /// How it proves to be itself.
    pub authentication: ClientAuthentication,
    /// What tokens are for (RFC 8707): the upstream as it calls itself.
    pub resource: Option<String>,
    /// Scopes to ask for.
    pub scopes: Option<Scopes>,
}

impl Program {
    /// Refuses what no program may have.
    pub(super) fn check(&self) -> Result<(), CredentialFault> {
        match &self.scopes {
            Some(scopes) if scopes.has(APPROVALS_DECIDE) => Err(CredentialFault::Decides),
            _ => Ok(()),
        }
    }

    /// Asks for a token; `form` holds what the grant needs.
    pub(super) async fn ask(
        &self,
        http: &Http,
        form: &[(&str, &str)],
        now: OffsetDateTime,
    ) -> Result<Tokens, CredentialFault> {
        let server = |source: ServerFault| CredentialFault::Server {
            issuer: shown(&self.issuer),
            source: Arc::new(source),
        };
        let issuer = Url::parse(&self.issuer)
            .map_err(|_| server(ServerFault::Issuer(AddressFault::Url { found: shown(&self.issuer) })))?;
        let reach = Reach::of(&issuer);
        let endpoint = match &self.token_endpoint {
            Some(endpoint) => endpoint.to_string(),
            // Asked for anew with each token, which is seldom: a server that moves its endpoint is followed.
            None => {
                let found = authorization_server(http, reach, &self.issuer, Purpose::Program)
                    .await
                    .map_err(server)?;
                let method = self.authentication.method();
                if !found.takes_method(method) {
                    return Err(CredentialFault::Method { issuer: shown(&self.issuer), method });
                }
                found.token_endpoint.unwrap_or_default()
            }
        };
        let scope = self.scopes.as_ref().map(ToString::to_string);
        let mut form = form.to_vec();
        form.extend(self.resource.as_deref().map(|resource| ("resource", resource)));
        form.extend(scope.as_deref().filter(|scope| !scope.is_empty()).map(|scope| ("scope", scope)));
        let asked = TokenEndpoint {
            http,
            reach,
            issuer: &self.issuer,
            client_id: &self.client_id,
            authentication: &self.authentication,
            key: None,
        };
        let tokens = asked.ask(&endpoint, &form, self.scopes.as_ref(), now).await;
        let tokens = tokens.map_err(|source| self.fault(source))?;
        if tokens.access.scopes.as_ref().is_some_and(|scopes| scopes.has(APPROVALS_DECIDE)) {
            return Err(CredentialFault::Decides);
        }
        Ok(tokens)
    }

    /// What is kept of the answer.
    pub(super) fn fetched(&self, tokens: &Tokens) -> Result<Fetched, CredentialFault> {
        let unsendable = || self.fault(TokenFault::Answer("its `access_token` cannot be sent in a header"));
        let value = tokens.access.authorization().ok_or_else(unsendable)?;
        Ok(Fetched { value, expires_at: tokens.access.expires_at })
    }

    fn fault(&self, source: TokenFault) -> CredentialFault {
        CredentialFault::Token { issuer: shown(&self.issuer), source: Arc::new(source) }
    }
}
