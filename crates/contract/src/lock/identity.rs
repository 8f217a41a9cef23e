use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::canonical::{self, CanonicalFault};
use crate::digest::Digest;

/// Which upstream a lock is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamIdentity {
    /// The host's own name of it.
    pub name: String,
    /// Where it is: a URL, or `inproc:` and a system.
    pub endpoint: String,
    /// `serverInfo.name` when it was pinned. It is the upstream's own word and proves nothing, but a live server that
    /// gives another name is another server than the reviewed one, and none of its tools are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl UpstreamIdentity {
    /// The canonical form (RFC 8785) of its members; one that is absent is left out.
    ///
    /// # Errors
    /// None that is known: every identity has a canonical form.
    pub fn canonical(&self) -> Result<String, CanonicalFault> {
        canonical::form(&serde_json::to_value(self).map_err(CanonicalFault::NoForm)?)
    }

    /// The digest of the canonical form.
    ///
    /// # Errors
    /// As [`Self::canonical`].
    pub fn digest(&self) -> Result<Digest, CanonicalFault> {
        self.canonical().map(Digest::of)
    }

    /// The digest of the canonical form of each member, by its name.
    ///
    /// # Errors
    /// As [`Self::canonical`].
    pub fn field_digests(&self) -> Result<BTreeMap<String, Digest>, CanonicalFault> {
        crate::field_digests(&self.canonical()?)
    }
}
