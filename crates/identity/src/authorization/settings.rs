//! How the authorization server is set up.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use time::Duration;
use url::Url;

use super::documents::MetadataHosts;
use crate::people::Rate;
use crate::scopes::{ADMIN, APPROVALS_DECIDE, EVIDENCE_READ, TOOLS_READ, TOOLS_WRITE};
use crate::{Door, Doors, Scopes};

/// How long the longest access token that may decide approvals lives.
const LONGEST_DECISION: Duration = Duration::minutes(5);

/// How the authorization server is set up. [`Self::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The issuer: the URL at whose root the server is mounted, without a slash at its end.
    pub issuer: String,
    /// What tokens are for.
    pub doors: Doors,
    /// What a client gets at the MCP endpoint that asks for no scope.
    pub default_scopes: Scopes,
    /// What everybody who signs in may grant.
    pub everybody: Scopes,
    /// What people of a role may grant besides.
    pub role_scopes: BTreeMap<String, Scopes>,
    /// How long an access token lives; one hour at most.
    pub access_token_life: Duration,
    /// How long an access token lives that may decide approvals; five minutes at most.
    pub decision_token_life: Duration,
    /// How long a client may refresh after a person signed in.
    pub refresh_life: Duration,
    /// Whether clients are known by a document at their URL. Where not, none is ever fetched.
    pub client_metadata: bool,
    /// Whether clients may register themselves (RFC 7591).
    pub dynamic_registration: bool,
    /// How many of one source.
    pub registrations: Rate,
    /// How many of them are kept.
    pub most_dynamic_clients: u32,
    /// After what time one of them makes room for others that never got a token.
    pub unused_clients_kept: Duration,
    /// After what time one of them makes room that got no token since.
    pub idle_clients_kept: Duration,
    /// Whether metadata of clients is fetched from this computer too, without TLS: for tests and development.
    pub allow_loopback_metadata: bool,
    /// Hosts from which metadata of clients is fetched although their addresses are private.
    pub metadata_hosts: MetadataHosts,
    /// Whether proofs of possession at the token endpoint have to hold a nonce (RFC 9449 §8).
    pub require_nonce: bool,
}

/// Settings that cannot be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsFault {
    /// The issuer is no URL of that form.
    #[error(
        "the issuer `{found}` cannot be used; expected `https://<host>[:<port>]`, or `http://` on this computer, without path or slash at its end"
    )]
    Issuer {
        /// What was found.
        found: String,
    },
    /// A time that is too long or none.
    #[error("the `{name}` is {found} seconds; expected 1 to {most}")]
    Life {
        /// Which.
        name: &'static str,
        /// Seconds.
        found: i64,
        /// Seconds.
        most: i64,
    },
    /// A default that would be dangerous.
    #[error(
        "the default scopes hold `{APPROVALS_DECIDE}`; who decides approvals asks for it and signs in for it"
    )]
    DefaultDecides,
}

impl Settings {
    /// The defaults for this issuer and these doors.
    #[must_use]
    pub fn new(issuer: String, doors: Doors) -> Self {
        let scopes = |list: &[&str]| Scopes::of(list.iter().copied()).unwrap_or_default();
        Self {
            issuer,
            doors,
            default_scopes: scopes(&[TOOLS_READ, TOOLS_WRITE]),
            everybody: Scopes::default(),
            role_scopes: BTreeMap::new(),
            access_token_life: Duration::minutes(10),
            decision_token_life: LONGEST_DECISION,
            refresh_life: Duration::days(30),
            client_metadata: true,
            dynamic_registration: false,
            registrations: Rate { burst: 50, every: std::time::Duration::from_secs(10) },
            most_dynamic_clients: 1000,
            unused_clients_kept: Duration::hours(1),
            idle_clients_kept: Duration::days(90),
            allow_loopback_metadata: false,
            metadata_hosts: MetadataHosts::default(),
            require_nonce: false,
        }
    }

    /// Checks what the server would refuse to start with.
    ///
    /// # Errors
    /// The first thing that cannot be.
    pub fn check(&self) -> Result<(), SettingsFault> {
        let issuer = || SettingsFault::Issuer { found: self.issuer.clone() };
        let url = Url::parse(&self.issuer).map_err(|_| issuer())?;
        let safe = url.scheme() == "https" || (url.scheme() == "http" && loopback(&url));
        // Equal when written again: no path, no query, no default port, lower case.
        if !safe || url.as_str().strip_suffix('/') != Some(self.issuer.as_str()) || !url.username().is_empty()
        {
            return Err(issuer());
        }
        for (name, life, most) in [
            ("access token life", self.access_token_life, Duration::hours(1)),
            ("decision token life", self.decision_token_life, LONGEST_DECISION),
            ("refresh life", self.refresh_life, Duration::days(365)),
        ] {
            if life < Duration::SECOND || life > most {
                let (found, most) = (life.whole_seconds(), most.whole_seconds());
                return Err(SettingsFault::Life { name, found, most });
            }
        }
        if self.default_scopes.has(APPROVALS_DECIDE) {
            return Err(SettingsFault::DefaultDecides);
        }
        Ok(())
    }

    /// What people of these roles may grant.
    pub(super) fn allowed(&self, roles: &BTreeSet<String>) -> Scopes {
        let each = roles.iter().filter_map(|role| self.role_scopes.get(role));
        each.fold(self.everybody.clone(), |all, more| all.and(more))
    }

    /// Every scope that somebody can grant.
    pub(super) fn every_scope(&self) -> Scopes {
        let all = self.role_scopes.values().fold(self.everybody.clone(), |all, more| all.and(more));
        all.and(&Scopes::known())
    }

    /// What a client gets at a door that asks for no scope.
    pub(super) fn default_for(&self, door: Door) -> Scopes {
        match door {
            Door::Mcp => self.default_scopes.clone(),
            Door::Evidence => Scopes::of([EVIDENCE_READ]).unwrap_or_default(),
            Door::Admin => Scopes::of([ADMIN, EVIDENCE_READ, TOOLS_READ]).unwrap_or_default(),
            Door::Decisions => Scopes::default(),
        }
    }

    /// How long the longest of all access tokens lives.
    pub(super) fn longest_token(&self) -> Duration {
        self.access_token_life.max(self.decision_token_life)
    }

    /// Whether programs at other ports get to see the cookies of the issuer's pages.
    pub(super) fn shares_cookies(&self) -> bool {
        Url::parse(&self.issuer).is_ok_and(|issuer| crate::people::Settings::at(issuer).shares_cookies())
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.issuer)
    }
}

/// Whether a URL is of this computer by name.
pub(super) fn loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
