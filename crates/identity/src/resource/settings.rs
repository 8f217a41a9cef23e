//! Whose tokens are taken, and how.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use aldgate_approval::SealKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::Duration;
use url::{Host, Url};
use zeroize::Zeroizing;

use super::{HeldKeys, SigningAlgorithm, shown};
use crate::proof::Replays;
use crate::{Door, Doors};

pub(super) const DOORS: [Door; 4] = [Door::Mcp, Door::Evidence, Door::Admin, Door::Decisions];

/// All that a [`super::Verifier`] is told.
#[derive(Clone)]
pub struct Settings {
    /// The URLs of the doors, which are the audiences of tokens for them.
    pub doors: Doors,
    /// Whose tokens are taken.
    pub issuers: Vec<Issuer>,
    /// How far the clocks of the issuers may be from ours: 0 to 5 seconds.
    pub leeway: Duration,
    /// What of proofs of possession (RFC 9449).
    pub proofs: ProofRule,
    /// With a key, each proof has to hold a nonce that was sealed with it; every replica has the same.
    pub nonces: Option<SealKey>,
    /// How many checked tokens are remembered.
    pub kept: u64,
    /// The proofs that were used. A verifier that takes the place of another goes on with the other's.
    pub replays: Arc<Replays>,
}

impl Settings {
    /// Leeway of 5 seconds, proofs allowed and without nonces, 10 000 tokens kept, 100 000 proofs remembered.
    #[must_use]
    pub fn new(doors: Doors, issuers: Vec<Issuer>) -> Self {
        Self {
            doors,
            issuers,
            leeway: Duration::seconds(5),
            proofs: ProofRule::Allow,
            nonces: None,
            kept: 10_000,
            replays: Arc::new(Replays::new(100_000)),
        }
    }
}

/// What of proofs of possession (RFC 9449). A token that is bound to a key is never taken without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProofRule {
    /// Tokens that are bound to a key are refused.
    Off,
    /// Both kinds are taken.
    #[default]
    Allow,
    /// Tokens that are not bound to a key are refused.
    Require,
}

/// An authorization server whose tokens are taken.
#[derive(Clone)]
pub struct Issuer {
    /// Its URL, equal to `iss` of its tokens to the last letter.
    pub url: String,
    /// Where its keys are.
    pub keys: KeySource,
    /// The algorithms that it signs with; another is refused, whatever its keys say.
    pub algorithms: BTreeSet<SigningAlgorithm>,
    /// Further audiences of a door, for issuers that cannot put the door's URL into `aud`.
    pub audiences: BTreeMap<Door, BTreeSet<String>>,
    /// The tenants that it may assert.
    pub tenants: Tenants,
    /// The names of its claims.
    pub claims: ClaimNames,
    /// Takes `typ` `JWT` or none beside `at+jwt`: for servers older than RFC 9068.
    pub plain_jwt: bool,
    /// Asks it about tokens that are no JWT. One issuer at most: a token must not be shown to another than its own.
    pub introspection: Option<Introspection>,
}

impl Issuer {
    /// One with the usual claims, that signs its access tokens as RFC 9068 wants it.
    #[must_use]
    pub fn new(url: impl Into<String>, keys: KeySource, tenants: Tenants) -> Self {
        Self {
            url: url.into(),
            keys,
            algorithms: BTreeSet::from([SigningAlgorithm::Es256]),
            audiences: BTreeMap::new(),
            tenants,
            claims: ClaimNames::default(),
            plain_jwt: false,
            introspection: None,
        }
    }
}

/// Where the keys of an issuer are.
#[derive(Clone)]
pub enum KeySource {
    /// A JWK set at this URL.
    Jwks(String),
    /// At the `jwks_uri` of its metadata (RFC 8414, or OpenID Connect discovery).
    Discovered,
    /// In this process.
    Held(Arc<dyn HeldKeys>),
}

/// The tenants that an issuer may assert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tenants {
    /// Its tokens are all of this tenant; no claim is read.
    One(String),
    /// Its tokens name one of these.
    Claimed(BTreeSet<String>),
}

/// The names of claims. Each is the name of a member; a name that is no URL may lead into objects, such as
/// `realm_access.roles`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNames {
    /// The tenant: a text.
    pub tenant: ClaimName,
    /// The roles: a text or a list of texts.
    pub roles: ClaimName,
    /// `person` or `service`; a token without it is refused. With no such claim, a subject that is its own client is a service
    /// and each other a person: an issuer whose programs have subjects of their own needs this claim.
    pub kind: Option<ClaimName>,
    /// A name to show: a text.
    pub name: ClaimName,
}

impl ClaimNames {
    /// Those of our own authorization server: the default ones, and `kind`.
    #[must_use]
    pub fn own() -> Self {
        Self { kind: Some(ClaimName("kind".to_owned())), ..Self::default() }
    }
}

impl Default for ClaimNames {
    /// `tenant`, `roles`, no kind, `name`.
    fn default() -> Self {
        let [tenant, roles, name] = ["tenant", "roles", "name"].map(|name| ClaimName(name.to_owned()));
        Self { tenant, roles, kind: None, name }
    }
}

/// The name of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ClaimName(pub String);

impl ClaimName {
    /// The members that lead to the claim, one inside the other.
    pub(super) fn path(&self) -> impl Iterator<Item = &str> {
        let separator = if self.0.contains("://") { '\0' } else { '.' };
        self.0.split(separator)
    }
}

/// How an issuer is asked about tokens that are no JWT (RFC 7662).
#[derive(Clone)]
pub struct Introspection {
    /// The URL of its endpoint.
    pub endpoint: String,
    /// Who asks.
    pub client_id: String,
    /// The secret of who asks, sent by HTTP Basic.
    pub secret: Zeroizing<String>,
}

impl fmt::Debug for Introspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { endpoint, client_id, .. } = self;
        out.debug_struct("Introspection")
            .field("endpoint", endpoint)
            .field("client_id", client_id)
            .finish_non_exhaustive()
    }
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFault {
    /// An issuer's URL of another form.
    #[error(
        "the issuer `{found}` is no https URL without query, fragment and user; http is taken of loopback addresses alone"
    )]
    Issuer {
        /// What stands there.
        found: String,
    },
    /// The URL of a key set or of an introspection endpoint.
    #[error(
        "`{found}` of issuer `{issuer}` is no https URL without fragment and user; http is taken where both are loopback addresses"
    )]
    Endpoint {
        /// The issuer.
        issuer: String,
        /// What stands there.
        found: String,
    },
    /// Two issuers with one URL.
    #[error("two issuers have the URL `{issuer}`; each needs its own")]
    Twice {
        /// The URL.
        issuer: String,
    },
    /// Nothing to sign with.
    #[error("issuer `{issuer}` may sign with no algorithm; name those that it uses, such as `ES256`")]
    NoAlgorithm {
        /// The issuer.
        issuer: String,
    },
    /// Nobody to speak for.
    #[error(
        "issuer `{issuer}` may assert no tenant, or one that is no name of 1 to 128 characters without control characters"
    )]
    Tenant {
        /// The issuer.
        issuer: String,
    },
    /// A claim without a name.
    #[error("a claim of issuer `{issuer}` has the name `{found}`; expected members with a point between two")]
    Claim {
        /// The issuer.
        issuer: String,
        /// What stands there.
        found: String,
    },
    /// An audience of two doors: a token for the one would open the other.
    #[error("the audience `{audience}` of issuer `{issuer}` stands for two doors; each needs its own")]
    SharedAudience {
        /// The issuer.
        issuer: String,
        /// The audience.
        audience: String,
    },
    /// Two issuers to ask about tokens that do not say whose they are.
    #[error(
        "the issuers `{first}` and `{second}` are both asked about tokens that are no JWT; one would see the tokens of the other"
    )]
    Introspection {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// A leeway out of its bounds.
    #[error("the leeway is {found}; expected 0 to 5 seconds")]
    Leeway {
        /// What it is.
        found: Duration,
    },
    /// The client for HTTP cannot be made.
    #[error("the client that asks the issuers cannot be made")]
    Client(#[source] reqwest::Error),
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), SettingsFault> {
        if self.leeway < Duration::ZERO || self.leeway > Duration::seconds(5) {
            return Err(SettingsFault::Leeway { found: self.leeway });
        }
        let mut seen = BTreeSet::new();
        let mut asked: Option<&Issuer> = None;
        for issuer in &self.issuers {
            issuer.check(&self.doors)?;
            if !seen.insert(&issuer.url) {
                return Err(SettingsFault::Twice { issuer: issuer.url.clone() });
            }
            if issuer.introspection.is_none() {
                continue;
            }
            if let Some(first) = asked.replace(issuer) {
                let [first, second] = [first, issuer].map(|issuer| issuer.url.clone());
                return Err(SettingsFault::Introspection { first, second });
            }
        }
        Ok(())
    }
}

impl Issuer {
    /// Whether it runs on this machine, where http is taken.
    pub(super) fn is_loopback(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| is_loopback(&url))
    }

    /// What `aud` may hold at a door.
    pub(super) fn audiences_of(&self, door: Door, doors: &Doors) -> BTreeSet<String> {
        let more = self.audiences.get(&door).into_iter().flatten();
        more.cloned().chain([doors.url(door).to_owned()]).collect()
    }

    fn check(&self, doors: &Doors) -> Result<(), SettingsFault> {
        let issuer = self.url.clone();
        let good = Url::parse(&self.url)
            .is_ok_and(|url| url.query().is_none() && is_secure(&url, is_loopback(&url)));
        if !good {
            return Err(SettingsFault::Issuer { found: shown(&self.url) });
        }
        let keys = if let KeySource::Jwks(url) = &self.keys { Some(url) } else { None };
        for url in keys.into_iter().chain(self.introspection.iter().map(|one| &one.endpoint)) {
            if !may_ask(url, self.is_loopback()) {
                return Err(SettingsFault::Endpoint { issuer, found: shown(url) });
            }
        }
        if self.algorithms.is_empty() {
            return Err(SettingsFault::NoAlgorithm { issuer });
        }
        let tenants: Vec<_> = match &self.tenants {
            Tenants::One(tenant) => vec![tenant],
            Tenants::Claimed(tenants) => tenants.iter().collect(),
        };
        if tenants.is_empty() || !tenants.iter().all(|tenant| super::mapping::is_name(tenant, 128)) {
            return Err(SettingsFault::Tenant { issuer });
        }
        let claims = &self.claims;
        for name in [&claims.tenant, &claims.roles, &claims.name].into_iter().chain(&claims.kind) {
            if name.path().any(str::is_empty) {
                return Err(SettingsFault::Claim { issuer, found: shown(&name.0) });
            }
        }
        let mut seen = BTreeSet::new();
        for audience in DOORS.into_iter().flat_map(|door| self.audiences_of(door, doors)) {
            if !seen.insert(audience.clone()) {
                return Err(SettingsFault::SharedAudience { issuer, audience });
            }
        }
        Ok(())
    }
}

/// Whether a URL may be asked: https, or http where both it and the issuer are loopback addresses.
pub(super) fn may_ask(url: &str, loopback_issuer: bool) -> bool {
    Url::parse(url).is_ok_and(|url| is_secure(&url, loopback_issuer && is_loopback(&url)))
}

fn is_secure(url: &Url, http: bool) -> bool {
    let scheme = url.scheme() == "https" || (http && url.scheme() == "http");
    scheme && url.fragment().is_none() && url.username().is_empty() && url.password().is_none()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
