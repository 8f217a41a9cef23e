//! The authorization server that tokens for an upstream come from.

use std::sync::Arc;

use time::OffsetDateTime;
use url::Url;

use super::CredentialFault;
use super::kept::Fetched;
use crate::Scopes;
use crate::client::address::{Reach, shown};
use crate::client::discover::{Purpose, ServerFault, authorization_server};
use crate::client::http::Http;
use crate::client::metadata::ServerMetadata;
use crate::client::token_endpoint::{ClientAuthentication, TokenEndpoint, TokenFault, Tokens};
use crate::scopes::APPROVALS_DECIDE;

/// Why a program gets no token.
pub(super) enum ProgramFault {
    /// The server cannot be used.
    Server(ServerFault),
    /// The server does not take how the program proves to be itself.
    Method(&'static str),
    /// The server gave none.
    Token(TokenFault),
    /// It could decide approvals, which no program may.
    Decides,
}

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

    /// The metadata of the server, which has to take how the program proves to be itself.
    pub(super) async fn server(&self, http: &Http, purpose: Purpose) -> Result<ServerMetadata, ProgramFault> {
        let found = authorization_server(http, self.reach(), &self.issuer, purpose).await;
        let (found, method) = (found.map_err(ProgramFault::Server)?, self.authentication.method());
        if found.takes_method(method) { Ok(found) } else { Err(ProgramFault::Method(method)) }
    }

    /// Asks for a token; `form` holds what the grant needs.
    pub(super) async fn ask(
        &self,
        http: &Http,
        form: &[(&str, &str)],
        now: OffsetDateTime,
    ) -> Result<Tokens, CredentialFault> {
        let endpoint = match &self.token_endpoint {
            Some(endpoint) => endpoint.to_string(),
            // Asked for anew with each token, which is seldom: a server that moves its endpoint is followed.
            None => {
                let found = self.server(http, Purpose::Program).await.map_err(|fault| self.fault(fault))?;
                found.token_endpoint.unwrap_or_default()
            }
        };
        let scope = self.scopes.as_ref().map(ToString::to_string);
        let mut form = form.to_vec();
        form.extend(scope.as_deref().filter(|scope| !scope.is_empty()).map(|scope| ("scope", scope)));
        self.ask_at(http, &endpoint, &form, now).await.map_err(|fault| self.fault(fault))
    }

    /// The same, at an endpoint that is known, and for the scopes that the grant has.
    pub(super) async fn ask_at(
        &self,
        http: &Http,
        endpoint: &str,
        form: &[(&str, &str)],
        now: OffsetDateTime,
    ) -> Result<Tokens, ProgramFault> {
        let mut form = form.to_vec();
        form.extend(self.resource.as_deref().map(|resource| ("resource", resource)));
        let asked = self.endpoint(http).ask(endpoint, &form, self.scopes.as_ref(), now).await;
        let tokens = asked.map_err(ProgramFault::Token)?;
        if tokens.access.scopes.as_ref().is_some_and(|scopes| scopes.has(APPROVALS_DECIDE)) {
            return Err(ProgramFault::Decides);
        }
        Ok(tokens)
    }

    /// Where tokens are asked for and given up.
    pub(super) fn endpoint<'a>(&'a self, http: &'a Http) -> TokenEndpoint<'a> {
        TokenEndpoint {
            http,
            reach: self.reach(),
            issuer: &self.issuer,
            client_id: &self.client_id,
            authentication: &self.authentication,
            key: None,
        }
    }

    /// The operator named the issuer, so it says how far addresses reach.
    pub(super) fn reach(&self) -> Reach {
        Url::parse(&self.issuer).map_or(Reach::Elsewhere, |issuer| Reach::of(&issuer))
    }

    /// What is kept of the answer.
    pub(super) fn fetched(&self, tokens: &Tokens) -> Result<Fetched, CredentialFault> {
        let unsendable = || {
            let why = TokenFault::Answer("its `access_token` cannot be sent in a header");
            self.fault(ProgramFault::Token(why))
        };
        let value = tokens.access.authorization().ok_or_else(unsendable)?;
        Ok(Fetched { value, expires_at: tokens.access.expires_at })
    }

    fn fault(&self, fault: ProgramFault) -> CredentialFault {
        let issuer = shown(&self.issuer);
        match fault {
            ProgramFault::Server(source) => CredentialFault::Server { issuer, source: Arc::new(source) },
            ProgramFault::Method(method) => CredentialFault::Method { issuer, method },
            ProgramFault::Token(source) => CredentialFault::Token { issuer, source: Arc::new(source) },
            ProgramFault::Decides => CredentialFault::Decides,
        }
    }
}
