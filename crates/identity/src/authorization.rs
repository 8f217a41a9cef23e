//! The authorization server (OAuth 2.1, as MCP 2026-07-28 profiles it), for those who have none.
//!
//! A request's way: [`request`] validates it and seals what was validated; the person signs in with [`crate::people`];
//! [`consent`] asks, keeps the grant and makes a code; [`granted`] gives tokens for it, once.
//!
//! **Invariant:** who is not known is sent nowhere: until client and redirect URI are found good, a refusal is a page.
//!
//! **Invariant:** `approvals:decide` comes from a person who signed in for that very request, and from nothing else: it is
//! refreshed by nobody, a service never has it, and it cannot be exchanged.
//!
//! **Invariant:** a request is answered once.
//!
//! **Invariant:** no program that a browser is led to gets a session. Where cookies are not kept from it, a cookie is nothing
//! without the key of its pages, and a session that answered a request ends first.

mod accounts;
mod address;
mod anywhere;
mod assertion;
mod authorize;
mod client;
mod client_authentication;
mod clients;
mod consent;
mod documents;
mod exchange;
mod granted;
mod held;
mod keys;
mod metadata;
mod params;
mod person;
mod redirect;
mod refusal;
mod registration;
mod request;
mod revocation;
mod service;
mod settings;
mod standing;
#[cfg(test)]
mod tests;
mod token;
mod tokens;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration as StdDuration;

use aldgate_approval::SealKey;
use aldgate_store::StoreFault;
use aldgate_store::identity::IdentityStore;
use arc_swap::ArcSwap;
use axum::Router;
use axum::routing::{get, post};
use jsonwebtoken::jwk::JwkSet;
use time::{Duration, OffsetDateTime};

use crate::Scopes;
use crate::people::throttle::buckets::Buckets;
use crate::proof::Replays;

pub use accounts::{Barred, People, PeopleFault};
pub use client::{ClientFault, ClientMethod, ClientRecord, Service};
pub use clients::{AddedClient, ClientStore, ClientsFault, ListedClient};
use documents::Documents;
pub use documents::{MetadataHosts, MetadataHostsFault};
use granted::GrantRecord;
use keys::Keys;
pub use keys::KeysFault;
pub use person::PAGES;
use refusal::{Code, Refusal, refuse};
pub use settings::{Settings, SettingsFault};
use standing::Standing;

/// Proofs that are remembered: some 15 MiB when full.
const PROOFS: usize = 100_000;
/// Sources that are counted at most.
const SOURCES: usize = 16_384;
/// How often the picture of the store is made anew.
const EVERY: StdDuration = StdDuration::from_secs(1);
/// For how long after a sign-out everywhere grants are still looked for that were made before it, and written only then.
const SETTLED: Duration = Duration::minutes(1);
/// How often what is over is swept out, in pictures.
const SWEEP_EVERY: u32 = 600;

/// An authorization server.
pub struct AuthorizationServer {
    settings: Settings,
    store: Arc<IdentityStore>,
    seal: SealKey,
    people: Arc<dyn People>,
    documents: Documents,
    keys: ArcSwap<Keys>,
    standing: Standing,
    /// Pictures are made in turn: one that began earlier must not replace a later one. Holds which sign-outs everywhere are
    /// settled, by account.
    refreshing: tokio::sync::Mutex<HashMap<String, OffsetDateTime>>,
    replays: Replays,
    /// Registrations of clients, by source.
    registrations: Buckets,
    clock: Clock,
}

/// Tells the time.
type Clock = Box<dyn Fn() -> OffsetDateTime + Send + Sync>;

/// Why the server cannot work.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizationFault {
    /// Its settings.
    #[error(transparent)]
    Settings(#[from] SettingsFault),
    /// Its keys.
    #[error(transparent)]
    Keys(#[from] KeysFault),
    /// Its store.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// Those who keep the accounts.
    #[error(transparent)]
    People(#[from] PeopleFault),
}

impl AuthorizationServer {
    /// A server with these settings. Makes a signing key where the store has none.
    ///
    /// # Errors
    /// Where the settings cannot be, the store or the accounts do not answer, or the keys were sealed with another secret.
    pub async fn new(
        settings: Settings,
        store: Arc<IdentityStore>,
        seal: SealKey,
        people: Arc<dyn People>,
    ) -> Result<Arc<Self>, AuthorizationFault> {
        Self::with_clock(settings, store, seal, people, Box::new(OffsetDateTime::now_utc)).await
    }

    async fn with_clock(
        settings: Settings,
        store: Arc<IdentityStore>,
        seal: SealKey,
        people: Arc<dyn People>,
        clock: Clock,
    ) -> Result<Arc<Self>, AuthorizationFault> {
        settings.check()?;
        let now = clock();
        let keys = Keys::load(&store, &seal, settings.longest_token(), now).await?;
        let registrations = Buckets::new(settings.registrations, SOURCES);
        let documents = Documents::new(settings.allow_loopback_metadata, settings.metadata_hosts.clone());
        let server = Self {
            settings,
            store,
            seal,
            people,
            documents,
            keys: ArcSwap::from_pointee(keys),
            standing: Standing::new(now),
            refreshing: tokio::sync::Mutex::default(),
            replays: Replays::new(PROOFS),
            registrations,
            clock,
        };
        server.refresh().await?;
        Ok(Arc::new(server))
    }

    /// The routes, to be mounted at the root of the issuer's URL.
    pub fn router(self: &Arc<Self>) -> Router {
        let pages = Router::new()
            .route("/oauth/authorize", get(authorize::begin))
            .route("/oauth/authorize/continue", get(authorize::go_on))
            .route(consent::CONSENT, post(consent::answer));
        let mut programs = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata::document))
            .route("/oauth/jwks.json", get(metadata::keys))
            .route("/oauth/token", post(token::endpoint))
            .route("/oauth/revoke", post(revocation::endpoint));
        if self.settings.dynamic_registration {
            programs = programs.route("/oauth/register", post(registration::endpoint));
        }
        let programs = programs.layer(axum::middleware::from_fn(anywhere::readable));
        pages.merge(programs).with_state(Arc::clone(self))
    }

    /// The public keys of access tokens.
    #[must_use]
    pub fn jwks(&self) -> Arc<JwkSet> {
        self.keys.load().public()
    }

    /// Whether tokens of this subject under this grant stand; without a grant, whether the service of this id does. Answered
    /// from memory, which is a second old at most, and from nothing that is older than half a minute: then nobody stands.
    #[must_use]
    pub fn stands(&self, subject: &str, grant: Option<&str>) -> bool {
        self.standing.stands(subject, grant, self.now())
    }

    /// Whether what was revoked is known: while the store does not answer, nobody can tell who stands.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.standing.is_current(self.now())
    }

    /// Whether a client that got a token by exchange still stands: it was written down, and nobody disabled it.
    fn acts(&self, client: &str) -> bool {
        self.standing.stands(client, None, self.now())
    }

    /// Keeps the picture of the store new for as long as anybody has the server: whoever holds it to give out or to check tokens.
    pub async fn keep_current(of: Weak<Self>) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for count in (0..SWEEP_EVERY).cycle() {
            ticks.tick().await;
            let Some(server) = of.upgrade() else { return };
            let done = server.refresh().await;
            let done = if count == 0 { done.and(server.sweep().await) } else { done };
            if let Err(fault) = done {
                let source = std::error::Error::source(&fault).map(ToString::to_string);
                tracing::warn!(%fault, source, "the authorization server does not see what was revoked");
            }
        }
    }

    /// Takes over what was revoked, disabled and rotated, here or by another process.
    ///
    /// # Errors
    /// Where the store or the accounts do not answer.
    pub async fn refresh(&self) -> Result<(), AuthorizationFault> {
        let mut settled = self.refreshing.lock().await;
        let now = self.now();
        let longest = self.settings.longest_token();
        self.standing.begin();
        let mut disabled = HashSet::new();
        let mut still = HashMap::new();
        for barred in self.people.barred().await? {
            if let Some(before) = barred.granted_before {
                if settled.get(&barred.user) != Some(&before) {
                    self.store.revoke_grants_of(&barred.user, millis(before), millis(now)).await?;
                    if now - before < SETTLED {
                        continue;
                    }
                }
                still.insert(barred.user, before);
            } else {
                disabled.insert(barred.user);
            }
        }
        *settled = still;
        let since = millis(now - longest - Duration::minutes(5));
        let revoked = self.store.grants_revoked_since(since).await?.into_iter().collect();
        let services = self.store.enabled_clients().await?.into_iter().collect();
        let keys = self.keys.load_full();
        if !keys.are_those_of(&self.store).await? {
            self.keys.store(Arc::new(Keys::load(&self.store, &self.seal, longest, now).await?));
        }
        self.standing.replace(revoked, disabled, services, now);
        Ok(())
    }

    async fn sweep(&self) -> Result<(), AuthorizationFault> {
        let now = self.now();
        let ended = now - self.settings.longest_token() - Duration::hours(1);
        Ok(self.store.sweep_grants(millis(ended), millis(now)).await?)
    }

    fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }
}

/// Lets a new key sign access tokens from now on: `aldgate keys rotate`, beside a gateway that runs. Returns its id.
///
/// # Errors
/// Where the store does not take it.
pub async fn rotate(
    store: &IdentityStore,
    seal: &SealKey,
    settings: &Settings,
    now: OffsetDateTime,
) -> Result<String, KeysFault> {
    keys::add(store, seal, settings.longest_token(), now, false).await?.ok_or(KeysFault::Key)
}

/// Milliseconds since 1970, as the store keeps times.
fn millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// A time of the store.
fn at(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// Fresh random bytes.
fn random<const N: usize>() -> Result<[u8; N], aws_lc_rs::error::Unspecified> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map(|()| bytes)
}

/// Nothing can be sealed or named.
fn no_seal() -> Refusal {
    refuse(Code::ServerError, "sealing", "a request that may be good", "a random source that works")
}

/// Scopes, as they are told.
fn listed(scopes: &Scopes) -> String {
    if scopes.is_empty() { "none".to_owned() } else { scopes.to_string() }
}
