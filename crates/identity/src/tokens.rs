//! Bearer tokens whose hashes are in the configuration (RFC 6750 for the header).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aldgate_authority::{Principal, PrincipalKind};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::{Authenticator, Identity, Presented, ScopeFault, Scopes, Unauthenticated};

/// Issuer of the principals that the configuration names.
pub const CONFIGURED: &str = "config";

/// One principal and the hash of its token. `aldgate token new` makes both.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfiguredPrincipal {
    /// Unique name of the principal; the subject in rulings and evidence.
    pub name: String,
    /// Name to show to people; the principal's name where it is left out.
    pub display_name: Option<String>,
    /// `person` or `service`. Only persons can decide approvals.
    pub kind: PrincipalKind,
    /// The tenant that the principal belongs to.
    #[serde(default = "default_tenant")]
    pub tenant: String,
    /// Roles, as policies name them.
    #[serde(default)]
    pub roles: BTreeSet<String>,
    /// What the token may be used for. Everything, where this is left out: policies decide.
    #[serde(default)]
    pub scopes: Option<Vec<String>>,
    /// SHA-256 of the token, `sha256:<64 hex digits>`. The token itself stands nowhere.
    pub token_sha256: String,
    /// From when on the token is not good any more, RFC 3339 such as `2027-01-31T00:00:00Z`. Without it the token does not
    /// expire.
    #[serde(default)]
    pub expires_at: Option<String>,
}

fn default_tenant() -> String {
    "default".to_owned()
}

/// SHA-256 of a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of `token`.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = hex::decode(text.strip_prefix("sha256:")?).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

impl std::fmt::Display for TokenHash {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "sha256:{}", hex::encode(self.0))
    }
}

/// What is wrong with the configured principals.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokensFault {
    /// The hash has another form.
    #[error(
        "the `token_sha256` of principal `{name}` is not of the form `sha256:<64 hex digits>`; `aldgate token new` prints one"
    )]
    Hash {
        /// The principal.
        name: String,
    },
    /// A time of another form.
    #[error(
        "the `expires_at` of principal `{name}` is `{found}`; expected a time as RFC 3339 writes it, such as `2027-01-31T00:00:00Z`"
    )]
    Expiry {
        /// The principal.
        name: String,
        /// What stands there.
        found: String,
    },
    /// A scope of another form.
    #[error("the `scopes` of principal `{name}` cannot be used: {fault}")]
    Scope {
        /// The principal.
        name: String,
        /// What is wrong.
        fault: ScopeFault,
    },
    /// A name that cannot stand in rulings and evidence.
    #[error(
        "the principal name `{name}` must have 1 to 128 characters and no `/`, `#`, white space or control character"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two principals with one name.
    #[error("two principals are named `{name}`; names must be unique")]
    TwiceNamed {
        /// The name.
        name: String,
    },
    /// Two principals with one token: nobody could tell who called.
    #[error("the principals `{first}` and `{second}` have the same token; each needs its own")]
    SharedToken {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
}

/// The configured principals by the hash of their token.
#[derive(Debug, Default)]
pub struct TokenTable(BTreeMap<TokenHash, Identity>);

impl TokenTable {
    /// Reads the configured principals.
    ///
    /// # Errors
    /// Where a hash or a name is malformed, or one of them stands twice.
    pub fn new(configured: &[ConfiguredPrincipal]) -> Result<Self, TokensFault> {
        let mut names = BTreeSet::new();
        let mut table: BTreeMap<TokenHash, Identity> = BTreeMap::new();
        for one in configured {
            let name = one.name.clone();
            let odd = |letter: char| {
                letter.is_whitespace() || letter.is_control() || letter == '/' || letter == '#'
            };
            if name.is_empty() || name.len() > 128 || name.contains(odd) {
                return Err(TokensFault::Name { name });
            }
            if !names.insert(name.clone()) {
                return Err(TokensFault::TwiceNamed { name });
            }
            let hash = TokenHash::parse(&one.token_sha256).ok_or(TokensFault::Hash { name: name.clone() })?;
            let principal = Principal {
                issuer: CONFIGURED.to_owned(),
                subject: name.clone(),
                tenant: one.tenant.clone(),
                kind: one.kind,
                roles: one.roles.clone(),
                name: one.display_name.clone().unwrap_or_else(|| name.clone()),
                client: name.clone(),
                actors: Vec::new(),
            };
            let expires_at = one.expires_at.as_deref().map(|text| {
                let found = text.chars().filter(|letter| !letter.is_control()).take(64).collect();
                let fault = TokensFault::Expiry { name: name.clone(), found };
                OffsetDateTime::parse(text, &Rfc3339).map_err(|_| fault)
            });
            let scopes = match &one.scopes {
                None => Scopes::known(),
                Some(listed) => Scopes::of(listed.iter().map(String::as_str))
                    .map_err(|fault| TokensFault::Scope { name: name.clone(), fault })?,
            };
            let identity = Identity {
                principal: Arc::new(principal),
                scopes: Arc::new(scopes),
                expires_at: expires_at.transpose()?,
            };
            if let Some(other) = table.insert(hash, identity) {
                return Err(TokensFault::SharedToken {
                    first: other.principal.subject.clone(),
                    second: name,
                });
            }
        }
        Ok(Self(table))
    }
}

#[async_trait]
impl Authenticator for TokenTable {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        let value = presented.authorization.ok_or(Unauthenticated::Missing)?;
        let text = std::str::from_utf8(value).map_err(|_| Unauthenticated::Malformed)?;
        let (scheme, token) = text.split_once(' ').ok_or(Unauthenticated::Malformed)?;
        let token = token.trim_matches(' ');
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || token.contains(' ') {
            return Err(Unauthenticated::Malformed);
        }
        let identity = self.0.get(&TokenHash::of(token)).ok_or(Unauthenticated::Unknown)?;
        match identity.expires_at {
            Some(end) if now >= end => Err(Unauthenticated::Expired),
            _ => Ok(identity.clone()),
        }
    }
}
