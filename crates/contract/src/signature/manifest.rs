use std::collections::BTreeSet;

use aldgate_wire::guard::{self, GuardFault, Limits};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::rename::Confirmed;

/// A signed statement of what was renamed from one contract of a tool to another. Its signature confirms the renames as
/// a person's word does.
///
/// The contracts are named by their digests, which a vendor can compute too; the host's version numbers it cannot know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest(Members);

/// The payload of the JWS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    /// The host's name of the upstream. Absent where the signer does not know it, as a vendor; then it is about these
    /// two definitions wherever they are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upstream: Option<String>,
    /// The tool's name in the contract after.
    tool: String,
    /// The tool's name in the contract before, where it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// Digest of the contract before, of the canonical form.
    before: Digest,
    /// Digest of the contract after.
    after: Digest,
    /// What became of its arguments' properties.
    #[serde(default)]
    renames: Vec<Confirmed>,
}

/// A text that is no manifest, or renames that cannot all be true.
#[derive(Debug, thiserror::Error)]
pub enum ManifestFault {
    /// It is not JSON that can be read without doubt.
    #[error("the manifest cannot be read")]
    Unreadable(#[source] GuardFault),
    /// It has other members than a manifest.
    #[error("the manifest does not have the members of one")]
    Shape(#[source] serde_json::Error),
    /// A name occurs twice on one side.
    #[error("`{name}` is renamed twice; renames are one to one")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A name that stays.
    #[error("`{name}` is renamed to itself; leave it out")]
    Same {
        /// The name.
        name: String,
    },
    /// Nothing.
    #[error("the manifest names no rename")]
    Empty,
}

/// `typ` of a signed manifest.
pub(super) const TYPE: &str = "aldgate-renames+jws";

const LIMITS: Limits = Limits { max_bytes: 192 << 10, max_depth: 8 };

impl Manifest {
    /// A manifest of renames of properties, and of the tool where `was` is given.
    ///
    /// # Errors
    /// Renames that are not one to one, or none at all.
    pub fn new(
        upstream: Option<String>,
        tool: String,
        was: Option<String>,
        (before, after): (Digest, Digest),
        renames: Vec<Confirmed>,
    ) -> Result<Self, ManifestFault> {
        Self(Members { upstream, tool, was, before, after, renames }).checked()
    }

    /// Reads a manifest that is to be signed: `{"upstream"?, "tool", "was"?, "before", "after", "renames": [{"from",
    /// "to"}]}`, the payload of the JWS.
    ///
    /// # Errors
    /// A text that is no manifest, or renames that are not one to one.
    pub fn parse(text: &str) -> Result<Self, ManifestFault> {
        guard::check(text.as_bytes(), &LIMITS).map_err(ManifestFault::Unreadable)?;
        Self(serde_json::from_str(text).map_err(ManifestFault::Shape)?).checked()
    }

    /// The renames of properties, where the manifest is about these two contracts of this upstream's tool; else `None`.
    #[must_use]
    pub fn of(&self, upstream: &str, tool: &str, before: Digest, after: Digest) -> Option<&[Confirmed]> {
        let about = self.0.upstream.as_deref().is_none_or(|named| named == upstream)
            && self.0.tool == tool
            && (self.0.before, self.0.after) == (before, after);
        about.then_some(self.0.renames.as_slice())
    }

    /// The host's name of the upstream, where the signer knew it.
    #[must_use]
    pub fn upstream(&self) -> Option<&str> {
        self.0.upstream.as_deref()
    }

    /// The tool's own rename, where it has one.
    #[must_use]
    pub fn of_tool(&self) -> Option<Confirmed> {
        self.0.was.as_ref().map(|was| Confirmed { from: was.clone(), to: self.0.tool.clone() })
    }

    /// Digests of the contract before and of the one after.
    #[must_use]
    pub const fn contracts(&self) -> (Digest, Digest) {
        (self.0.before, self.0.after)
    }

    pub(super) fn payload(&self) -> String {
        // A struct of strings, digests and lists of them has a JSON text in any case.
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    fn checked(self) -> Result<Self, ManifestFault> {
        let all = self.of_tool().into_iter().chain(self.0.renames.iter().cloned());
        if let Some(same) = all.clone().find(|rename| rename.from == rename.to) {
            return Err(ManifestFault::Same { name: same.from });
        }
        if all.count() == 0 {
            return Err(ManifestFault::Empty);
        }
        let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
        for rename in &self.0.renames {
            for (seen, name) in [(&mut from, &rename.from), (&mut to, &rename.to)] {
                if !seen.insert(name) {
                    return Err(ManifestFault::Repeated { name: name.clone() });
                }
            }
        }
        Ok(self)
    }
}
