//! The checks of a token in their order.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use jsonwebtoken::jwk::JwkSet;
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use super::claims::{Checked, Claims, Expected};
use super::fetch::Http;
use super::header::{Scheme, Sent};
use super::introspection::Asker;
use super::jws::Jws;
use super::kept::{self, Good, Kept, Known};
use super::remote::{Remote, Source};
use super::settings::{DOORS, Issuer, KeySource, ProofRule, Settings, SettingsFault};
use super::{HeldKeys, Origin, keys, mapping, refused, shown};
use crate::proof::{self, Asked, NonceRule, ProofFault};
use crate::{Authenticator, Door, Identity, Presented, Proof, Unauthenticated};

/// How long an issuer's answer about a token is kept.
const ANSWER: Duration = Duration::seconds(30);

/// Checks access tokens of the configured issuers.
pub struct Verifier {
    settings: Settings,
    issuers: Vec<Trusted>,
    kept: Kept,
}

/// An issuer, ready to be asked.
struct Trusted {
    settings: Issuer,
    audiences: Vec<(Door, BTreeSet<String>)>,
    keys: Keys,
    asker: Option<Asker>,
}

enum Keys {
    Remote(Remote),
    Held(Arc<dyn HeldKeys>),
}

impl Verifier {
    /// Nothing is fetched before a token needs it.
    ///
    /// # Errors
    /// Where the settings cannot be used.
    pub fn new(settings: Settings) -> Result<Self, SettingsFault> {
        settings.check()?;
        let issuers = settings.issuers.iter().map(|issuer| Trusted::new(issuer, &settings));
        let issuers = issuers.collect::<Result<_, _>>()?;
        Ok(Self { kept: Kept::new(settings.kept), settings, issuers })
    }

    /// The URLs of the issuers: `authorization_servers` of the metadata.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        self.issuers.iter().map(|issuer| issuer.settings.url.as_str())
    }

    /// Whether a token is a JWT that names a configured issuer, whatever else is wrong with it.
    pub(super) fn speaks_for(&self, token: &str) -> bool {
        Jws::is_meant(token)
            && Jws::read(token).is_ok_and(|jws| jws.issuer().is_some_and(|url| self.named(url).is_some()))
    }

    fn named(&self, url: &str) -> Option<(usize, &Trusted)> {
        self.issuers.iter().enumerate().find(|(_, issuer)| issuer.settings.url == url)
    }

    /// What the token stands for at a door, whoever sends it.
    async fn good(&self, token: &str, door: Door, now: OffsetDateTime) -> Result<Arc<Good>, Unauthenticated> {
        let name = kept::name(token, door);
        if let Some(known) = self.kept.get(&name, now)
            && self.still(&known, now)
        {
            return known.found;
        }
        if Jws::is_meant(token) {
            let good = Arc::new(self.signed(token, door, now).await?);
            let until = good.identity.expires_at.unwrap_or(now);
            self.kept.keep(name, Known { found: Ok(good.clone()), until });
            return Ok(good);
        }
        let found = self.opaque(token, door, now).await.map(Arc::new);
        if !matches!(found, Err(Unauthenticated::Unavailable | Unauthenticated::Unknown)) {
            let ends = found.as_ref().ok().and_then(|good| good.identity.expires_at);
            let until = ends.map_or(now + ANSWER, |end| end.min(now + ANSWER));
            self.kept.keep(name, Known { found: found.clone(), until });
        }
        found
    }

    /// Whether what was checked would be found again with the keys of now.
    fn still(&self, known: &Known, now: OffsetDateTime) -> bool {
        let Ok(Good { issuer, keys: Some(checked_with), .. }) = known.found.as_deref() else { return true };
        let now = match self.issuers.get(*issuer).map(|issuer| &issuer.keys) {
            Some(Keys::Remote(remote)) => remote.fresh(now),
            Some(Keys::Held(held)) => Some(held.jwks()),
            None => None,
        };
        now.is_some_and(|now| Arc::ptr_eq(&now, checked_with) || now == *checked_with)
    }

    async fn signed(&self, token: &str, door: Door, now: OffsetDateTime) -> Result<Good, Unauthenticated> {
        let jws = Jws::read(token)?;
        let named = jws.issuer().ok_or_else(|| refused("it names no issuer (`iss`)"))?;
        let (place, issuer) = self.named(named).ok_or_else(|| {
            refused(format!("its issuer `{}` is none whose tokens are taken here", shown(named)))
        })?;
        jws.check_header(issuer.settings.plain_jwt)?;
        let algorithm = jws.algorithm(&issuer.settings.algorithms)?;
        let id = jws.key_id()?;
        let set = match &issuer.keys {
            Keys::Remote(remote) => remote.keys(id, now).await?,
            Keys::Held(held) => held.jwks(),
        };
        jws.verify(&keys::find(&set, id, algorithm)?, algorithm)?;
        self.believed((place, issuer), &jws.claims, Some(set), door, now)
    }

    async fn opaque(&self, token: &str, door: Door, now: OffsetDateTime) -> Result<Good, Unauthenticated> {
        let asked = self.issuers.iter().enumerate();
        let mut asked = asked.filter_map(|(place, issuer)| Some((place, issuer, issuer.asker.as_ref()?)));
        let (place, issuer, asker) = asked.next().ok_or(Unauthenticated::Unknown)?;
        let claims = asker.ask(token, &issuer.settings.url).await?;
        self.believed((place, issuer), &claims, None, door, now)
    }

    /// Claims that are the issuer's own.
    fn believed(
        &self,
        (place, issuer): (usize, &Trusted),
        claims: &Map<String, Value>,
        keys: Option<Arc<JwkSet>>,
        door: Door,
        now: OffsetDateTime,
    ) -> Result<Good, Unauthenticated> {
        let none = BTreeSet::new();
        let audiences = issuer.audiences.iter().find(|(of, _)| *of == door).map(|(_, audiences)| audiences);
        let expected = Expected {
            issuer: &issuer.settings.url,
            audiences: audiences.unwrap_or(&none),
            leeway: self.settings.leeway,
            now,
            issued_at: keys.is_some(),
        };
        let checked = Claims(claims).check(&expected)?;
        let principal = mapping::principal(&issuer.settings, claims, &checked)?;
        let identity = Identity {
            principal: Arc::new(principal),
            scopes: Arc::new(checked.scopes),
            expires_at: Some(checked.expires_at),
        };
        let Checked { bound, grant, actors, .. } = checked;
        Ok(Good { identity, issuer: place, bound, grant, actors, keys })
    }

    /// Whether the grant behind a token still stands.
    fn check_grant(&self, good: &Good) -> Result<(), Unauthenticated> {
        let issuer = self.issuers.get(good.issuer).ok_or(Unauthenticated::Unknown)?;
        let origin = Origin {
            sub: &good.identity.principal.subject,
            grant: good.grant.as_deref(),
            actors: &good.actors,
        };
        match &issuer.keys {
            Keys::Remote(_) => Ok(()),
            Keys::Held(held) if held.stands(&origin) => Ok(()),
            Keys::Held(held) if held.is_current() => Err(refused("it was revoked")),
            Keys::Held(_) => Err(Unauthenticated::Unavailable),
        }
    }

    /// RFC 9449 §7.1: the scheme, the token and the proof have to say the same of who holds a key.
    fn check_possession(
        &self,
        presented: &Presented<'_>,
        sent: Sent<'_>,
        good: &Good,
        now: OffsetDateTime,
    ) -> Result<(), Unauthenticated> {
        let rule = self.settings.proofs;
        let bound = match (sent.scheme, &good.bound) {
            (Scheme::Bearer, None) if rule == ProofRule::Require => {
                return Err(refused(
                    "it is bound to no key; expected one that is sent with a proof (`DPoP`)",
                ));
            }
            (Scheme::Bearer, None) => return Ok(()),
            (Scheme::Bearer, Some(_)) => {
                return Err(refused(
                    "it is bound to a key and was sent as `Bearer`; expected `DPoP` and a proof",
                ));
            }
            (Scheme::Dpop, None) => {
                return Err(refused("it is bound to no key and was sent as `DPoP`; expected `Bearer`"));
            }
            (Scheme::Dpop, Some(_)) if rule == ProofRule::Off => {
                return Err(refused("it was sent as `DPoP`; proofs of possession are not taken here"));
            }
            (Scheme::Dpop, Some(bound)) => bound,
        };
        let value = match presented.proof {
            Proof::Checked => return Ok(()),
            Proof::Sent(value) => value,
        };
        let told = "the request has no one `DPoP` header; expected a proof beside the token";
        let value = value.ok_or_else(|| Unauthenticated::Proof(told.to_owned()))?;
        let nonce = self.settings.nonces.as_ref().map_or(NonceRule::Open, NonceRule::Sealed);
        let (method, url) = (presented.method, presented.url);
        let asked = Asked { method, url, access_token: Some(sent.token), nonce };
        let proven = proof::check(value, &asked, now).map_err(|fault| self.unproven(&fault, now))?;
        if proven.thumbprint != *bound {
            let found = proven.thumbprint;
            return Err(Unauthenticated::Proof(format!(
                "it was made with the key `{found}`; the token is bound to `{bound}`"
            )));
        }
        self.settings.replays.first(&proven, now).map_err(|fault| self.unproven(&fault, now))
    }

    fn unproven(&self, fault: &ProofFault, now: OffsetDateTime) -> Unauthenticated {
        let mut random = [0; 12];
        if let (ProofFault::Nonce, Some(key)) = (fault, &self.settings.nonces)
            && aws_lc_rs::rand::fill(&mut random).is_ok()
            && let Ok(nonce) = proof::issue_nonce(key, random, now)
        {
            return Unauthenticated::Nonce(nonce);
        }
        Unauthenticated::Proof(fault.to_string())
    }
}

impl Trusted {
    fn new(issuer: &Issuer, settings: &Settings) -> Result<Self, SettingsFault> {
        let http = || Http::new(issuer.is_loopback()).map_err(SettingsFault::Client);
        let remote = |source| Ok(Keys::Remote(Remote::new(issuer, source, http()?)));
        let keys = match &issuer.keys {
            KeySource::Jwks(url) => remote(Source::Jwks(url.clone()))?,
            KeySource::Discovered => remote(Source::Discovered)?,
            KeySource::Held(held) => Keys::Held(held.clone()),
        };
        let asked = issuer.introspection.as_ref();
        let asker = asked.map(|asked| Ok(Asker::new(asked, http()?))).transpose()?;
        let audiences = DOORS.map(|door| (door, issuer.audiences_of(door, &settings.doors)));
        Ok(Self { settings: issuer.clone(), audiences: audiences.into(), keys, asker })
    }
}

#[async_trait]
impl Authenticator for Verifier {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        let sent = Sent::read(presented.authorization)?;
        let good = self.good(sent.token, presented.door, now).await?;
        self.check_grant(&good)?;
        self.check_possession(presented, sent, &good, now)?;
        Ok(good.identity.clone())
    }
}
