//! An account of a user at an upstream: the user lets the gateway use it once, in a browser, and what comes of it is kept
//! sealed.

mod fault;
mod state;
#[cfg(test)]
mod tests;
mod vault;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldgate_approval::SealKey;
use async_trait::async_trait;
use http::{HeaderValue, header};
use moka::sync::Cache;
use time::OffsetDateTime;
use url::Url;

use self::state::State;
use self::vault::{Connection, Vault};
use super::kept::{Fetched, Kept};
use super::{Caller, CredentialFault, Program, UpstreamCredential, UpstreamHeader};
use crate::client::address::Reach;
use crate::client::callback::{self, Expected};
use crate::client::discover::{Purpose, authorization_server};
use crate::client::http::Http;
use crate::client::metadata::ServerMetadata;
use crate::client::proof_key::{challenge_of, random_text};
use crate::client::secret::Secret;
use crate::client::token_endpoint::{TokenEndpoint, Tokens};

pub use fault::ConnectionFault;

/// How many users' tokens are kept in memory.
const MOST_USERS: u64 = 10_000;
/// How long a token is kept in memory that nobody uses.
const IDLE: Duration = Duration::from_secs(3600);

/// The accounts at one upstream.
#[derive(Clone, Debug)]
pub struct ConnectionSettings {
    /// The upstream's name.
    pub upstream: String,
    /// The gateway as a client of the upstream's authorization server. Without a token endpoint: the server's metadata are
    /// needed in any case.
    pub program: Program,
    /// Where the gateway takes the answer; registered at the server to the last letter.
    pub redirect: Url,
}

/// The accounts of all users at one upstream.
pub struct Connections {
    http: Arc<Http>,
    settings: ConnectionSettings,
    seal: SealKey,
    vault: Vault,
    kept: Cache<String, Arc<User>>,
}

#[derive(Default)]
struct User {
    kept: Kept,
    /// What the upstream answered with 401: it is refreshed although it has not ended.
    refused: Mutex<Option<HeaderValue>>,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Connections").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Connections {
    /// The accounts at one upstream, kept sealed in a folder of the gateway.
    ///
    /// # Errors
    /// Where the folder cannot be used, or a scope is asked for that no program may have.
    pub fn new(
        http: Arc<Http>,
        folder: &Path,
        seal: SealKey,
        settings: ConnectionSettings,
    ) -> Result<Self, ConnectionFault> {
        settings.program.check().map_err(|_| ConnectionFault::Decides)?;
        let vault = Vault::open(folder, seal.clone(), &settings)?;
        let kept = Cache::builder().max_capacity(MOST_USERS).time_to_idle(IDLE).build();
        Ok(Self { http, settings, seal, vault, kept })
    }

    /// The page at which a user lets the gateway use the account. What the answer needs is sealed into its `state`, so that
    /// any replica can take it.
    ///
    /// # Errors
    /// Where the authorization server cannot be used.
    pub async fn begin(&self, user: &str, now: OffsetDateTime) -> Result<Url, ConnectionFault> {
        let server = self.server(Purpose::SignIn).await?;
        let verifier = random_text()?;
        let challenge = challenge_of(&verifier);
        let state = State::new(user, verifier, now).seal(&self.seal, self.purpose())?;
        let endpoint = server.authorization_endpoint.as_deref().unwrap_or_default();
        let mut url = self.reach().address(endpoint).map_err(ConnectionFault::Address)?;
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.program.client_id)
            .append_pair("redirect_uri", self.settings.redirect.as_str())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", state.expose());
        if let Some(resource) = &self.settings.program.resource {
            query.append_pair("resource", resource);
        }
        if let Some(scopes) = &self.settings.program.scopes {
            query.append_pair("scope", &scopes.to_string());
        }
        drop(query);
        Ok(url)
    }

    /// Takes the answer: the query of the redirect, from a browser in which `user` is signed in at the gateway. Another user
    /// than the one who began is refused: else one could connect an account in another's name.
    ///
    /// # Errors
    /// Where the answer is of another user, server or time, or the server gives no tokens.
    pub async fn finish(&self, query: &str, user: &str, now: OffsetDateTime) -> Result<(), ConnectionFault> {
        let mut states = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
        let sealed = states.next().map(|(_, state)| Secret::new(state.into_owned()));
        let sealed = sealed.ok_or(ConnectionFault::State)?;
        let state = State::open(&sealed, &self.seal, self.purpose())?;
        state.check(user, now)?;
        let server = self.server(Purpose::SignIn).await?;
        let promised = server.authorization_response_iss_parameter_supported;
        let expected = Expected { state: sealed, issuer: server.issuer.clone(), promised };
        let code = callback::read(query, &expected).ok_or(ConnectionFault::State)??;
        let redirect = self.settings.redirect.as_str();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", redirect),
            ("code_verifier", state.verifier().expose()),
        ];
        let tokens = self.ask(&server, &form, now).await?;
        let _lock = self.vault.lock(user).await?;
        self.vault.write(user, &Connection::of(tokens, None))?;
        self.kept.invalidate(user);
        Ok(())
    }

    /// Whether a user has connected an account.
    ///
    /// # Errors
    /// Where what is kept cannot be read.
    pub fn is_connected(&self, user: &str) -> Result<bool, ConnectionFault> {
        Ok(self.vault.read(user)?.is_some())
    }

    /// Ends a connection: at the server (RFC 7009), where that can be told, and here in any case. Says whether the server was
    /// told.
    ///
    /// # Errors
    /// Where it cannot be ended here.
    pub async fn forget(&self, user: &str, now: OffsetDateTime) -> Result<bool, ConnectionFault> {
        let _lock = self.vault.lock(user).await?;
        // What cannot be opened any more is taken away as well.
        let kept = self.vault.read(user).ok().flatten();
        self.vault.remove(user)?;
        self.kept.invalidate(user);
        let Some(kept) = kept else { return Ok(false) };
        let Ok(server) = self.server(Purpose::Program).await else { return Ok(false) };
        let Some(url) = &server.revocation_endpoint else { return Ok(false) };
        let (token, kind) = kept.revocable();
        Ok(self.endpoint().revoke(url, token, kind, now).await.is_ok())
    }

    async fn fetch(&self, user: &str, slot: &User, now: OffsetDateTime) -> Result<Fetched, CredentialFault> {
        let fault = |fault: ConnectionFault| CredentialFault::Kept(Arc::new(fault));
        let refused = slot.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_good = |kept: &Connection| {
            kept.access().is_fresh(now) && kept.access().authorization().as_ref() != refused.as_ref()
        };
        let nobody = || CredentialFault::NotConnected { upstream: self.settings.upstream.clone() };
        let read = || self.vault.read(user).map_err(fault)?.ok_or_else(nobody);
        let mut kept = read()?;
        if !is_good(&kept) {
            let _lock = self.vault.lock(user).await.map_err(fault)?;
            // Another process may have refreshed it while its lock was waited for.
            kept = read()?;
            if !is_good(&kept) {
                kept = match self.refresh(&kept, now).await {
                    Ok(next) => {
                        self.vault.write(user, &next).map_err(fault)?;
                        next
                    }
                    Err(ConnectionFault::Ended) => {
                        self.vault.remove(user).map_err(fault)?;
                        return Err(nobody());
                    }
                    Err(ended) => return Err(fault(ended)),
                };
            }
        }
        *slot.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let value = kept.access().authorization().ok_or_else(nobody)?;
        Ok(Fetched { value, expires_at: kept.access().expires_at })
    }

    async fn refresh(&self, kept: &Connection, now: OffsetDateTime) -> Result<Connection, ConnectionFault> {
        let refresh = kept.refresh().ok_or(ConnectionFault::Ended)?;
        let server = self.server(Purpose::Program).await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        match self.ask(&server, &form, now).await {
            Ok(tokens) => Ok(Connection::of(tokens, Some(kept))),
            Err(ConnectionFault::Token(fault)) if fault.is_final() => Err(ConnectionFault::Ended),
            Err(fault) => Err(fault),
        }
    }

    async fn ask(
        &self,
        server: &ServerMetadata,
        form: &[(&str, &str)],
        now: OffsetDateTime,
    ) -> Result<Tokens, ConnectionFault> {
        let program = &self.settings.program;
        let mut form = form.to_vec();
        form.extend(program.resource.as_deref().map(|resource| ("resource", resource)));
        let url = server.token_endpoint.as_deref().unwrap_or_default();
        Ok(self.endpoint().ask(url, &form, program.scopes.as_ref(), now).await?)
    }

    async fn server(&self, purpose: Purpose) -> Result<ServerMetadata, ConnectionFault> {
        let found = authorization_server(&self.http, self.reach(), &self.settings.program.issuer, purpose);
        found.await.map_err(ConnectionFault::Server)
    }

    fn endpoint(&self) -> TokenEndpoint<'_> {
        let program = &self.settings.program;
        TokenEndpoint {
            http: &self.http,
            reach: self.reach(),
            issuer: &program.issuer,
            client_id: &program.client_id,
            authentication: &program.authentication,
            key: None,
        }
    }

    /// The operator named the issuer, so it says how far addresses reach.
    fn reach(&self) -> Reach {
        Url::parse(&self.settings.program.issuer).map_or(Reach::Elsewhere, |issuer| Reach::of(&issuer))
    }

    fn purpose(&self) -> String {
        vault::purpose("begin", &self.settings, "")
    }
}

#[async_trait]
impl UpstreamCredential for Connections {
    async fn authorization(
        &self,
        caller: Option<&Caller>,
        now: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        let caller = caller.ok_or(CredentialFault::NoCaller)?;
        let slot = self.kept.get_with_by_ref(caller.user.as_str(), Arc::default);
        let value = slot.kept.get(now, self.fetch(&caller.user, &slot, now)).await?;
        Ok(Some(UpstreamHeader { name: header::AUTHORIZATION, value }))
    }

    fn refused(&self, caller: Option<&Caller>, header: &UpstreamHeader) {
        let slot = caller.and_then(|caller| self.kept.get(caller.user.as_str()));
        if let Some(slot) = slot {
            *slot.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.value.clone());
            slot.kept.forget(&header.value);
        }
    }
}
