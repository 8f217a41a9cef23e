//! The keys of an issuer that are fetched: kept, refreshed, and asked for again when one is not among them.
//!
//! Whoever sends tokens cannot make the gateway fetch at will: one fetch runs at a time, an unknown key causes one a minute,
//! and a fetch that failed is not tried again at once. A fetch runs to its end even if the request that caused it is gone.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jsonwebtoken::jwk::JwkSet;
use serde_json::Value;
use time::{Duration, OffsetDateTime};
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;

use super::fetch::{FetchFault, Http, PATIENCE};
use super::{keys, settings, shown, unique};
use crate::Unauthenticated;

/// How long keys are fresh: at least, at most, and where the issuer does not say.
const SHORTEST: Duration = Duration::minutes(5);
const FRESH: Duration = Duration::hours(24);
const UNSAID: Duration = Duration::minutes(15);
/// How long keys that are not fresh serve while their issuer is down.
const STALE: Duration = Duration::hours(24);
/// How often an unknown key causes a fetch, and how often one is tried that fails while keys are there.
const PAUSE: Duration = Duration::minutes(1);
/// How often a fetch is tried that fails while no keys are there.
const RETRY: Duration = Duration::seconds(10);

/// Where the keys are.
pub(super) enum Source {
    Jwks(String),
    Discovered,
}

/// The keys of one issuer.
pub(super) struct Remote(Arc<Inner>);

struct Inner {
    issuer: String,
    loopback: bool,
    source: Source,
    http: Http,
    held: ArcSwapOption<Held>,
    /// Whoever holds it may fetch.
    turn: Arc<Mutex<Turn>>,
}

struct Held {
    set: Arc<JwkSet>,
    fetched: OffsetDateTime,
    fresh_until: OffsetDateTime,
}

/// When something last happened.
#[derive(Default)]
struct Turn {
    failed: Option<OffsetDateTime>,
    asked_for_unknown: Option<OffsetDateTime>,
}

impl Held {
    /// A clock that was set back makes keys old, not young.
    fn is_fresh(&self, now: OffsetDateTime) -> bool {
        now < self.fresh_until && now > self.fetched - PAUSE
    }

    fn serves(&self, now: OffsetDateTime) -> bool {
        now < self.fresh_until + STALE
    }
}

impl Remote {
    pub(super) fn new(issuer: &settings::Issuer, source: Source, http: Http) -> Self {
        Self(Arc::new(Inner {
            issuer: issuer.url.clone(),
            loopback: issuer.is_loopback(),
            source,
            http,
            held: ArcSwapOption::empty(),
            turn: Arc::default(),
        }))
    }

    /// The keys, if they are fresh. Asks nobody.
    pub(super) fn fresh(&self, now: OffsetDateTime) -> Option<Arc<JwkSet>> {
        self.0.held.load().as_ref().filter(|held| held.is_fresh(now)).map(|held| held.set.clone())
    }

    /// The keys, with the one named `id` where the issuer has it.
    pub(super) async fn keys(
        &self,
        id: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Arc<JwkSet>, Unauthenticated> {
        let ready = || self.fresh(now).filter(|set| !keys::lacks(set, id));
        if let Some(set) = ready() {
            return Ok(set);
        }
        let serving = || self.0.held.load_full().filter(|held| held.serves(now));
        let turn = match self.0.turn.clone().try_lock_owned() {
            Ok(turn) => turn,
            Err(_) => {
                if let Some(held) = serving().filter(|held| !keys::lacks(&held.set, id)) {
                    return Ok(held.set.clone());
                }
                self.0.turn.clone().lock_owned().await
            }
        };
        if let Some(set) = ready() {
            return Ok(set);
        }
        if let Some(turn) = self.allowed(turn, now) {
            let fetch = tokio::spawn(refresh(self.0.clone(), turn, now));
            // A task that panicked has told its reason already; the keys are as they were.
            let _ = fetch.await;
        }
        // Old keys say nothing of a key that may have come since.
        let telling = |held: &Arc<Held>| held.is_fresh(now) || !keys::lacks(&held.set, id);
        let held = serving().filter(telling).ok_or(Unauthenticated::Unavailable)?;
        Ok(held.set.clone())
    }

    /// The turn, if a fetch may begin now.
    fn allowed(&self, mut turn: OwnedMutexGuard<Turn>, now: OffsetDateTime) -> Option<OwnedMutexGuard<Turn>> {
        let within = |last: Option<OffsetDateTime>, pause: Duration| {
            last.is_some_and(|last| (now - last).abs() < pause)
        };
        let held = self.0.held.load();
        let pause = if held.is_some() { PAUSE } else { RETRY };
        if within(turn.failed, pause) {
            return None;
        }
        if held.as_ref().is_some_and(|held| held.is_fresh(now)) {
            if within(turn.asked_for_unknown, PAUSE) {
                return None;
            }
            turn.asked_for_unknown = Some(now);
        }
        Some(turn)
    }
}

async fn refresh(inner: Arc<Inner>, mut turn: OwnedMutexGuard<Turn>, now: OffsetDateTime) {
    let fetched = tokio::time::timeout(PATIENCE, inner.fetch()).await;
    match fetched.unwrap_or(Err(FetchFault::Slow)) {
        Ok((set, age)) => {
            turn.failed = None;
            // Equal keys stay the same value: what was checked with them stays checked.
            let held = inner.held.load();
            let same = held.as_ref().map(|held| &held.set).filter(|held| ***held == set);
            let set = same.cloned().unwrap_or_else(|| Arc::new(set));
            inner.held.store(Some(Arc::new(Held { set, fetched: now, fresh_until: now + age })));
        }
        Err(fault) => {
            turn.failed = Some(now);
            let reason = std::error::Error::source(&fault).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(issuer = %inner.issuer, %fault, reason, "the keys of an issuer could not be fetched");
        }
    }
}

impl Inner {
    async fn fetch(&self) -> Result<(JwkSet, Duration), FetchFault> {
        let url = match &self.source {
            Source::Jwks(url) => url.clone(),
            Source::Discovered => self.discover().await?,
        };
        let answer = self.http.get(&url).await?;
        let said = answer.max_age.map(|age| Duration::seconds(i64::try_from(age).unwrap_or(i64::MAX)));
        Ok((keys::parse(&answer.body)?, said.unwrap_or(UNSAID).clamp(SHORTEST, FRESH)))
    }

    /// `jwks_uri` of the first metadata that is there (RFC 8414 §3.1, OpenID Connect Discovery 1.0 §4).
    async fn discover(&self) -> Result<String, FetchFault> {
        let mut last = FetchFault::NoKeys;
        for url in metadata_urls(&self.issuer) {
            match self.http.get(&url).await {
                Ok(answer) => return self.keys_url(&url, &answer.body),
                Err(fault @ FetchFault::Status { .. }) => last = fault,
                Err(fault) => return Err(fault),
            }
        }
        Err(last)
    }

    /// Metadata that names another issuer is not used (RFC 8414 §3.3).
    fn keys_url(&self, url: &str, body: &[u8]) -> Result<String, FetchFault> {
        let members = unique::object(body).map_err(FetchFault::Json)?;
        let text = |member: &str| members.get(member).and_then(Value::as_str).unwrap_or_default();
        if text("issuer") != self.issuer {
            let [url, expected] = [url, &self.issuer].map(str::to_owned);
            return Err(FetchFault::Issuer { url, found: shown(text("issuer")), expected });
        }
        let keys = text("jwks_uri");
        if settings::may_ask(keys, self.loopback) {
            Ok(keys.to_owned())
        } else {
            Err(FetchFault::KeysUrl { found: shown(keys) })
        }
    }
}

/// Where the metadata of an issuer may be, in the order of MCP 2026-07-28 (authorization server metadata discovery).
pub(super) fn metadata_urls(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else { return Vec::new() };
    let origin = url.origin().ascii_serialization();
    let path = url.path().trim_end_matches('/');
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    urls
}
