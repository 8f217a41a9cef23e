//! What an approval is bound to.

use aldgate_authority::Principal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Everything that a decision covers. If one of these values differs when the approval is redeemed, the approval does
/// not cover the call. The argument bytes themselves are kept beside it, encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Who called, with tenant and authenticated client.
    pub caller: Principal,
    /// Identity of the upstream: its name in the configuration and its endpoint.
    pub upstream: String,
    /// The tool as `upstream/tool`.
    pub tool: String,
    /// Digest of the pinned contract, `sha256:<hex>`.
    pub contract: String,
    /// Digest of the arguments in normal form ([`crate::arguments::digest`]).
    pub arguments: String,
    /// Digest of the registry entry.
    pub registry: String,
    /// Digest of the policies that can match the tool.
    pub policy: String,
}

impl Binding {
    /// The key under which at most one approval is pending: every bound value.
    #[must_use]
    pub fn key(&self) -> String {
        let actors = self.actors();
        digest(&[
            "binding",
            &self.caller.tenant,
            &self.caller.issuer,
            &self.caller.subject,
            &self.caller.client,
            &self.upstream,
            &self.tool,
            &self.contract,
            &self.arguments,
            &self.registry,
            &self.policy,
            &actors,
        ])
    }

    /// The key under which a denial holds: tenant, principal, tool and arguments alone, so that neither another client
    /// name nor a reloaded policy resets it.
    #[must_use]
    pub fn denial_key(&self) -> String {
        digest(&[
            "denial",
            &self.caller.tenant,
            &self.caller.issuer,
            &self.caller.subject,
            &self.tool,
            &self.arguments,
        ])
    }

    /// The name of the first bound value in which `other` differs, in words for a person.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let (mine, theirs) = (self.actors(), other.actors());
        let pairs = [
            ("tenant", &self.caller.tenant, &other.caller.tenant),
            ("issuer", &self.caller.issuer, &other.caller.issuer),
            ("principal", &self.caller.subject, &other.caller.subject),
            ("client", &self.caller.client, &other.caller.client),
            ("upstream", &self.upstream, &other.upstream),
            ("tool", &self.tool, &other.tool),
            ("contract", &self.contract, &other.contract),
            ("arguments", &self.arguments, &other.arguments),
            ("registry entry", &self.registry, &other.registry),
            ("policies", &self.policy, &other.policy),
            ("row of those who act for the principal", &mine, &theirs),
        ];
        pairs.into_iter().find(|(_, mine, theirs)| mine != theirs).map(|(name, _, _)| name)
    }

    fn actors(&self) -> String {
        digest(&self.caller.actors.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// SHA-256 over the parts, each preceded by its length, so that no two lists of parts read the same.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}
