//! An account of a user at an upstream: the user lets the gateway use it once, in a browser, and what comes of it is kept
//! sealed.

mod fault;
mod site;
mod state;
#[cfg(test)]
mod tests;
mod vault;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldgate_authority::PrincipalKind;
use async_trait::async_trait;
use http::{HeaderValue, header};
use moka::sync::Cache;
use time::OffsetDateTime;
use url::Url;

use self::site::{Code, Site, to_the_end};
use self::state::State;
use self::vault::Vault;
use super::kept::{Fetched, Kept};
use super::{Caller, CredentialFault, Program, UpstreamCredential, UpstreamHeader};
use crate::client::callback::{self, Expected};
use crate::client::discover::Purpose;
use crate::client::http::Http;
use crate::client::proof_key::{challenge_of, random_text};
use crate::client::secret::Secret;

pub use fault::ConnectionFault;
pub use vault::ConnectionStore;

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
    /// The page on which a person connects an account.
    pub page: Url,
    /// Where the gateway takes the answer; registered at the server to the last letter.
    pub redirect: Url,
    /// Whose people may connect accounts: the issuer of the gateway's own authorization server.
    pub people: String,
}

/// Who is signed in at the gateway, in which session of which browser.
#[derive(Clone, Copy)]
pub struct Who<'a> {
    /// The id of the account.
    pub user: &'a str,
    /// What the session and no other is known by.
    pub session: &'a str,
}

/// An answer of the upstream's authorization server to something that was begun here.
pub struct Returned<'a> {
    query: &'a str,
    sealed: Secret,
    state: State,
}

impl Returned<'_> {
    /// The page of the gateway that it was begun on. Its address may hold half of what proves who is signed in: it says whose
    /// answer it is, and no page that is made of the answer may tell it to whoever brought that.
    #[must_use]
    pub fn back(&self) -> &str {
        self.state.back().expose()
    }
}

/// The accounts of all users at one upstream.
pub struct Connections {
    site: Arc<Site>,
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
        out.debug_struct("Connections").field("settings", &self.site.settings).finish_non_exhaustive()
    }
}

impl Connections {
    /// The accounts at one upstream.
    ///
    /// # Errors
    /// Where a scope is asked for that no program may have.
    pub fn new(
        http: Arc<Http>,
        kept: Arc<ConnectionStore>,
        settings: ConnectionSettings,
    ) -> Result<Self, ConnectionFault> {
        settings.program.check().map_err(|_| ConnectionFault::Decides)?;
        let vault = Vault::new(kept, &settings);
        let kept = Cache::builder().max_capacity(MOST_USERS).time_to_idle(IDLE).build();
        Ok(Self { site: Arc::new(Site { http, settings, vault }), kept })
    }

    /// The upstream's authorization server, and the scopes that it is asked for.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.site.settings.program
    }

    /// The page at which a user lets the gateway use the account. What the answer needs is sealed into its `state`, so that
    /// any replica can take it, with the page of the gateway that leads there.
    ///
    /// # Errors
    /// Where the authorization server cannot be used.
    pub async fn begin(&self, who: Who<'_>, back: &str, now: OffsetDateTime) -> Result<Url, ConnectionFault> {
        let server = self.site.server(Purpose::SignIn).await?;
        let program = self.program();
        let verifier = random_text()?;
        let challenge = challenge_of(&verifier);
        let state = State::new(who, back, verifier, now).seal(self.site.vault.seal(), self.purpose())?;
        let endpoint = server.authorization_endpoint.as_deref().unwrap_or_default();
        let mut url = program.reach().address(endpoint).map_err(ConnectionFault::Address)?;
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &program.client_id)
            .append_pair("redirect_uri", self.site.settings.redirect.as_str())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", state.expose());
        if let Some(resource) = &program.resource {
            query.append_pair("resource", resource);
        }
        if let Some(scopes) = &program.scopes {
            query.append_pair("scope", &scopes.to_string());
        }
        drop(query);
        Ok(url)
    }

    /// Reads the answer: the query of the redirect. Nothing is believed of it yet but that it belongs to something that was
    /// begun here, not long ago.
    ///
    /// # Errors
    /// Where it does not.
    pub fn answer<'a>(&self, query: &'a str, now: OffsetDateTime) -> Result<Returned<'a>, ConnectionFault> {
        let mut states = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state");
        let sealed = states.next().map(|(_, state)| Secret::new(state.into_owned()));
        let sealed = sealed.ok_or(ConnectionFault::State)?;
        let state = State::open(&sealed, self.site.vault.seal(), self.purpose(), now)?;
        Ok(Returned { query, sealed, state })
    }

    /// Takes the answer, from a browser in which somebody is signed in at the gateway. Another user or session than the one that
    /// began is refused: else one could connect an account in another's name.
    ///
    /// # Errors
    /// Where the answer is of another user or server, an account is connected already, or the server gives no tokens.
    pub async fn finish(
        &self,
        answer: Returned<'_>,
        who: Who<'_>,
        now: OffsetDateTime,
    ) -> Result<(), ConnectionFault> {
        let Returned { query, sealed, state } = answer;
        state.check(who)?;
        let server = self.site.server(Purpose::SignIn).await?;
        let promised = server.authorization_response_iss_parameter_supported;
        let expected = Expected { state: sealed, issuer: server.issuer.clone(), promised };
        let code = callback::read(query, &expected).ok_or(ConnectionFault::State)??;
        let with = Code { server, code, verifier: state.into_verifier() };
        let (site, user) = (self.site.clone(), who.user.to_owned());
        to_the_end(async move { site.connect(&user, with, now).await }).await?;
        self.kept.invalidate(who.user);
        Ok(())
    }

    /// Whether a user has connected an account.
    ///
    /// # Errors
    /// Where what is kept cannot be read.
    pub async fn is_connected(&self, user: &str) -> Result<bool, ConnectionFault> {
        Ok(self.site.vault.read(user).await?.is_some())
    }

    /// Ends a connection: at the server (RFC 7009), where that can be told, and here in any case. Says whether the server was
    /// told.
    ///
    /// # Errors
    /// Where it cannot be ended here.
    pub async fn forget(&self, user: &str, now: OffsetDateTime) -> Result<bool, ConnectionFault> {
        let (site, of) = (self.site.clone(), user.to_owned());
        let told = to_the_end(async move { site.forget(&of, now).await }).await;
        self.kept.invalidate(user);
        told
    }

    async fn fetch(&self, user: &str, slot: &User, now: OffsetDateTime) -> Result<Fetched, CredentialFault> {
        let refused = slot.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (site, of) = (self.site.clone(), user.to_owned());
        let found = to_the_end(async move { site.fresh(&of, refused.as_ref(), now).await }).await;
        let kept = found.map_err(|fault| match fault {
            ConnectionFault::Ended => self.nobody(),
            fault => CredentialFault::Kept(Arc::new(fault)),
        })?;
        *slot.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let value = kept.access().authorization().ok_or_else(|| self.nobody())?;
        Ok(Fetched { value, expires_at: kept.access().expires_at })
    }

    fn nobody(&self) -> CredentialFault {
        let settings = &self.site.settings;
        let (upstream, page) = (settings.upstream.clone(), settings.page.to_string());
        CredentialFault::NotConnected { upstream, page }
    }

    /// The account of a caller, where it can have a connection.
    fn user_of<'a>(&self, caller: &'a Caller) -> Result<&'a str, CredentialFault> {
        if caller.principal.kind != PrincipalKind::Person {
            return Err(CredentialFault::Unfit(
                "only a person can connect an account to it, and this is a service",
            ));
        }
        if caller.principal.issuer != self.site.settings.people {
            return Err(CredentialFault::Unfit(
                "only people with an account at the gateway's own authorization server can connect one to it",
            ));
        }
        Ok(&caller.principal.subject)
    }

    fn purpose(&self) -> String {
        vault::purpose("begin", &self.site.settings, "")
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
        let user = self.user_of(caller)?;
        let slot = self.kept.get_with_by_ref(user, Arc::default);
        let value = slot.kept.get(now, self.fetch(user, &slot, now)).await?;
        Ok(Some(UpstreamHeader { name: header::AUTHORIZATION, value }))
    }

    fn refused(&self, caller: Option<&Caller>, header: &UpstreamHeader) {
        let slot = caller.and_then(|caller| self.kept.get(caller.principal.subject.as_str()));
        if let Some(slot) = slot {
            *slot.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.value.clone());
            slot.kept.forget(&header.value);
        }
    }
}
