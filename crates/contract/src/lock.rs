#[cfg(test)]
mod tests;

mod file;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use aldgate_wire::guard::GuardFault;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::{self, CanonicalFault, Fingerprint};
use crate::digest::Digest;

pub use file::FORMAT;
pub use verify::Finding;

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

/// One contract as it was accepted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pin {
    /// The tool's name at its upstream.
    pub name: String,
    /// Counts the contracts that this tool has had, from 1.
    pub version: u32,
    /// Of the canonical form.
    pub digest: Digest,
    /// Of the bytes in `definition`.
    pub raw_digest: Digest,
    /// The definition, the very bytes that were pinned and are served.
    pub definition: Box<RawValue>,
    /// When it was pinned, RFC 3339.
    pub pinned_at: String,
    /// The earlier contracts, oldest first.
    pub history: Vec<Past>,
}

/// An earlier contract; its definition is in an earlier version of the lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Past {
    /// Its version.
    pub version: u32,
    /// Of the canonical form.
    pub digest: Digest,
    /// Of the bytes.
    pub raw_digest: Digest,
    /// When it was pinned, RFC 3339.
    pub pinned_at: String,
}

/// The pinned contracts of one upstream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Lock {
    /// The upstream.
    pub upstream: UpstreamIdentity,
    /// The contracts by tool name.
    pub tools: BTreeMap<String, Pin>,
    /// The past of tools that the upstream no longer has, so that a version is never used again.
    pub retired: BTreeMap<String, Vec<Past>>,
}

/// A live list that cannot be pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinFault {
    /// A definition has no canonical form.
    #[error("the definition of `{tool}` cannot be pinned")]
    Definition {
        /// The tool.
        tool: String,
        /// Why.
        #[source]
        source: CanonicalFault,
    },
    /// A definition gives another name than the list.
    #[error("the definition of `{tool}` has another `name`; pin the list as the upstream serves it")]
    Name {
        /// The tool.
        tool: String,
    },
    /// A name occurs twice.
    #[error("the tool `{tool}` occurs twice; names must be unique within an upstream")]
    Repeated {
        /// The tool.
        tool: String,
    },
}

/// A lock that must not be used.
#[derive(Debug, thiserror::Error)]
pub enum LockFault {
    /// The text is not JSON that can be read without doubt.
    #[error("the lock cannot be read at line {line}")]
    Unreadable {
        /// Where, from 1.
        line: usize,
        /// Why.
        #[source]
        source: GuardFault,
    },
    /// The text has another format than this program knows.
    #[error(
        "the lock has format {found}, expected {FORMAT}; use the version of aldgate that wrote it, or pin anew"
    )]
    Format {
        /// The format found.
        found: u64,
    },
    /// The text has not the members of a lock.
    #[error("the lock has not the shape of one")]
    Shape(#[source] serde_json::Error),
    /// A digest does not match what it stands beside.
    #[error(
        "the lock was edited: `{tool}` records {what} {recorded}, but its definition has {computed}; \
         restore the file, or pin the tool anew"
    )]
    Edited {
        /// The tool.
        tool: String,
        /// `digest` or `rawDigest`.
        what: &'static str,
        /// The digest in the lock.
        recorded: Digest,
        /// The digest of the definition in the lock.
        computed: Digest,
    },
    /// The kept raw text and the definition shown for review differ in more than white space.
    #[error(
        "the lock was edited: `raw` of `{tool}` is not its `definition`; restore the file, or pin the tool anew"
    )]
    RawDiffers {
        /// The tool.
        tool: String,
    },
    /// A definition gives another name than its key.
    #[error("the lock was edited: the definition under `{tool}` has another `name`; restore the file")]
    Name {
        /// The tool.
        tool: String,
    },
    /// A definition has no canonical form.
    #[error("the lock was edited: the definition of `{tool}` cannot be read; restore the file")]
    Definition {
        /// The tool.
        tool: String,
        /// Why.
        #[source]
        source: CanonicalFault,
    },
    /// Versions do not ascend from 1.
    #[error("the lock was edited: the versions of `{tool}` do not ascend from 1; restore the file")]
    Versions {
        /// The tool.
        tool: String,
    },
}

impl Lock {
    /// Pins a live list: pairs of a tool's name and its whole definition as JSON text. `at` is RFC 3339.
    ///
    /// # Errors
    /// The first definition that cannot be pinned.
    pub fn pin<'a>(
        upstream: UpstreamIdentity,
        live: impl IntoIterator<Item = (&'a str, &'a str)>,
        at: &str,
    ) -> Result<Self, PinFault> {
        Self { upstream, tools: BTreeMap::new(), retired: BTreeMap::new() }.repin(live, at)
    }

    /// A lock of the live list that keeps the history: what did not change by a byte stays as it is, what did gets the
    /// next version, and what is gone is retired.
    ///
    /// # Errors
    /// The first definition that cannot be pinned.
    pub fn repin<'a>(
        &self,
        live: impl IntoIterator<Item = (&'a str, &'a str)>,
        at: &str,
    ) -> Result<Self, PinFault> {
        let mut tools = BTreeMap::new();
        for (name, definition) in live {
            let pin = self.next_pin(name, definition, at)?;
            if tools.insert(name.to_owned(), pin).is_some() {
                return Err(PinFault::Repeated { tool: name.to_owned() });
            }
        }
        let mut retired = self.retired.clone();
        retired.retain(|name, _| !tools.contains_key(name));
        for (name, pin) in self.tools.iter().filter(|(name, _)| !tools.contains_key(*name)) {
            retired.insert(name.clone(), pin.past());
        }
        Ok(Self { upstream: self.upstream.clone(), tools, retired })
    }

    fn next_pin(&self, name: &str, definition: &str, at: &str) -> Result<Pin, PinFault> {
        let tool = || name.to_owned();
        let (raw, Fingerprint { jcs, raw: raw_digest }) =
            checked(name, definition).map_err(|fault| match fault {
                Unfit::Name => PinFault::Name { tool: tool() },
                Unfit::Definition(source) => PinFault::Definition { tool: tool(), source },
            })?;
        let history = match (self.tools.get(name), self.retired.get(name)) {
            (Some(pin), _) if pin.raw_digest == raw_digest => return Ok(pin.clone()),
            (Some(pin), _) => pin.past(),
            (None, past) => past.cloned().unwrap_or_default(),
        };
        let version = history.last().map_or(0, |past| past.version).saturating_add(1);
        Ok(Pin {
            name: tool(),
            version,
            digest: jcs,
            raw_digest,
            definition: raw,
            pinned_at: at.to_owned(),
            history,
        })
    }
}

impl Pin {
    /// The history with this contract as its last.
    fn past(&self) -> Vec<Past> {
        let this = Past {
            version: self.version,
            digest: self.digest,
            raw_digest: self.raw_digest,
            pinned_at: self.pinned_at.clone(),
        };
        self.history.iter().cloned().chain([this]).collect()
    }
}

enum Unfit {
    Name,
    Definition(CanonicalFault),
}

/// A definition that has a canonical form and the name under which it is listed, white space around it left out.
fn checked(name: &str, definition: &str) -> Result<(Box<RawValue>, Fingerprint), Unfit> {
    let definition = definition.trim_matches([' ', '\t', '\n', '\r']);
    let members = canonical::parse(definition).map_err(Unfit::Definition)?;
    if members.get("name").and_then(Value::as_str) != Some(name) {
        return Err(Unfit::Name);
    }
    let fingerprint = canonical::fingerprint(definition).map_err(Unfit::Definition)?;
    let raw = RawValue::from_string(definition.to_owned())
        .map_err(|e| Unfit::Definition(CanonicalFault::NoForm(e)))?;
    Ok((raw, fingerprint))
}

/// Names that occur more than once.
fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| !seen.insert(*name)).collect()
}
