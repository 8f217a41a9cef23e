//! `[identity]`: whose tokens are taken, and the authorization server of the gateway's own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use aldgate_identity::resource::{ProofRule, SigningAlgorithm};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;

/// Whose tokens are taken, beside those of `[[principals]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IdentitySection {
    /// The scopes that a client without a token is told to ask for.
    pub(crate) challenge_scopes: Vec<String>,
    /// Whether tokens are bound to a key of their client (RFC 9449): `off`, `allow` or `require`.
    pub(crate) dpop: ProofRule,
    /// Authorization servers whose tokens are taken.
    pub(crate) issuers: Vec<IssuerSection>,
    /// The authorization server of the gateway's own.
    pub(crate) server: ServerSection,
}

impl Default for IdentitySection {
    fn default() -> Self {
        Self {
            challenge_scopes: vec!["tools:read".to_owned(), "tools:write".to_owned()],
            dpop: ProofRule::default(),
            issuers: Vec::new(),
            server: ServerSection::default(),
        }
    }
}

impl IdentitySection {
    /// All of it but the issuers, which alone are read again while the gateway runs.
    pub(crate) fn without_issuers(&self) -> Self {
        let enabled = Some(self.server.enabled.unwrap_or(self.issuers.is_empty()));
        let server = ServerSection { enabled, ..self.server.clone() };
        Self { issuers: Vec::new(), server, ..self.clone() }
    }
}

/// An authorization server whose tokens are taken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssuerSection {
    /// Its identifier, to the last letter as its tokens and its metadata write it.
    pub(crate) issuer: String,
    /// Where its keys are; found by its metadata (RFC 8414, OpenID Connect Discovery) if this is left out.
    pub(crate) jwks_url: Option<String>,
    /// The signature algorithms of its tokens: `ES256`, `ES384`, `RS256`, `PS256` or `EdDSA`.
    #[serde(default = "algorithms")]
    pub(crate) algorithms: BTreeSet<SigningAlgorithm>,
    /// Audiences that stand for the MCP endpoint beside its own URL.
    #[serde(default)]
    pub(crate) audiences: Vec<String>,
    /// The tenants that it may assert.
    pub(crate) tenants: BTreeSet<String>,
    /// The claim with the tenant, a path such as `org.id`. Without it the principals belong to the one tenant of `tenants`.
    pub(crate) tenant_claim: Option<String>,
    /// The claim with the roles, a path such as `realm_access.roles`.
    #[serde(default = "roles")]
    pub(crate) roles_claim: String,
    /// The claim with `person` or `service`. Without it a token whose subject is its client is a service's.
    pub(crate) kind_claim: Option<String>,
    /// The claim with a name to show.
    #[serde(default = "name")]
    pub(crate) name_claim: String,
    /// Whether tokens are taken whose type is not `at+jwt` (RFC 9068). An id token of the same issuer may then pass for an
    /// access token if its audience is the gateway.
    #[serde(default)]
    pub(crate) plain_jwt: bool,
    /// How tokens are checked that are no JWT (RFC 7662).
    pub(crate) introspection: Option<IntrospectionSection>,
}

fn algorithms() -> BTreeSet<SigningAlgorithm> {
    [SigningAlgorithm::Es256, SigningAlgorithm::Rs256].into()
}

fn roles() -> String {
    "roles".to_owned()
}

fn name() -> String {
    "name".to_owned()
}

/// A person who is several principals. Nobody decides its own call, under whichever of these names it was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonSection {
    /// A name for the person here; it stands nowhere else.
    pub(crate) name: String,
    /// Names of `[[principals]]`.
    #[serde(default)]
    pub(crate) principals: Vec<String>,
    /// Names of accounts of the gateway's own authorization server (`aldgate users`).
    #[serde(default)]
    pub(crate) accounts: Vec<String>,
    /// Clients of that server (`aldgate clients`) that act for themselves or for others in the person's hands.
    #[serde(default)]
    pub(crate) clients: Vec<String>,
    /// Subjects of `[[identity.issuers]]`.
    #[serde(default)]
    pub(crate) subjects: Vec<SubjectSection>,
}

/// A subject as its issuer names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectSection {
    /// The `issuer` of one of `[[identity.issuers]]`.
    pub(crate) issuer: String,
    /// The `sub` of its tokens.
    pub(crate) subject: String,
}

/// How tokens are checked that are no JWT (RFC 7662).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntrospectionSection {
    /// The endpoint.
    pub(crate) url: String,
    /// The id of the gateway there.
    pub(crate) client_id: String,
    /// Environment variable with the gateway's secret there.
    pub(crate) client_secret_env: String,
}

/// The authorization server of the gateway's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSection {
    /// Whether it runs. Left out, it does where there is no `[[identity.issuers]]`, and the gateway is known under `https` or on
    /// this machine.
    pub(crate) enabled: Option<bool>,
    /// The tenants that accounts and clients may belong to.
    pub(crate) tenants: BTreeSet<String>,
    /// How long an access token is good, `1m` to `1h`.
    pub(crate) access_token: Span,
    /// How long a client can refresh its tokens without the person, `1h` to `365days`.
    pub(crate) refresh: Span,
    /// How long a sign-in of a browser lasts without use, `5m` to `7days`.
    pub(crate) session_idle: Span,
    /// How long it lasts at most, `5m` to `30days`.
    pub(crate) session: Span,
    /// The scopes of a client that asks for none.
    pub(crate) default_scopes: Vec<String>,
    /// Scopes that every person may grant.
    pub(crate) everybody: Vec<String>,
    /// Scopes that people of a role may grant beside those.
    pub(crate) roles: BTreeMap<String, Vec<String>>,
    /// Whether clients are known by a document at their URL (CIMD).
    pub(crate) client_metadata: bool,
    /// Hosts of a private network whose clients' documents are fetched although their addresses are not public, each as `host` or,
    /// where the port is not 443, `host:port`. Loopback addresses and those of private networks are reached for these hosts, others
    /// that are not public for none.
    pub(crate) client_metadata_hosts: BTreeSet<String>,
    /// File with the certificate authorities (PEM) of those hosts, which are trusted for them beside the system's. Read at the start.
    pub(crate) client_metadata_ca: Option<PathBuf>,
    /// Whether clients may register themselves (RFC 7591). For old clients: anybody who reaches the gateway may.
    pub(crate) dynamic_registration: bool,
}

impl Default for ServerSection {
    fn default() -> Self {
        let list = |scopes: &[&str]| scopes.iter().map(|&scope| scope.to_owned()).collect();
        let minutes = |minutes: u64| Span::seconds(minutes * 60);
        Self {
            enabled: None,
            tenants: ["default".to_owned()].into(),
            access_token: minutes(10),
            refresh: minutes(30 * 24 * 60),
            session_idle: minutes(8 * 60),
            session: minutes(7 * 24 * 60),
            default_scopes: list(&["tools:read", "tools:write"]),
            everybody: list(&["tools:read", "tools:write", "evidence:read", "approvals:decide", "admin"]),
            roles: BTreeMap::new(),
            client_metadata: true,
            client_metadata_hosts: BTreeSet::new(),
            client_metadata_ca: None,
            dynamic_registration: false,
        }
    }
}
