#[cfg(test)]
mod tests;

mod fault;
mod file;
mod live;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::{self, CanonicalFault, Fingerprint};
use crate::digest::Digest;
use crate::kind::Kind;

pub use fault::{LockFault, PinFault};
pub use file::FORMAT;
pub use live::Live;
pub use verify::{Finding, State};

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
    /// What it is the contract of.
    pub kind: Kind,
    /// What its upstream calls it: a tool's or prompt's name, a resource template's `uriTemplate`.
    pub name: String,
    /// Counts the contracts that this item has had, from 1.
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

/// The contracts of one kind, by name.
pub type Pins = BTreeMap<String, Pin>;

/// The pinned contracts of one upstream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Lock {
    /// The upstream.
    pub upstream: UpstreamIdentity,
    /// The contracts of tools, by name.
    pub tools: Pins,
    /// The contracts of resource templates, by `uriTemplate`.
    pub resource_templates: Pins,
    /// The contracts of prompts, by name.
    pub prompts: Pins,
    /// The past of what the upstream no longer has, so that a version is never used again.
    retired: BTreeMap<Kind, BTreeMap<String, Vec<Past>>>,
}

impl Lock {
    /// Pins what an upstream serves; `at` is RFC 3339. Pairs of a name and a whole definition as JSON text are tools;
    /// see [`Live`] for the other kinds.
    ///
    /// # Errors
    /// The first definition that cannot be pinned.
    pub fn pin<'a>(
        upstream: UpstreamIdentity,
        live: impl Into<Live<'a>>,
        at: &str,
    ) -> Result<Self, PinFault> {
        Self::empty(upstream).repin(live, at)
    }

    /// A lock of what is live that keeps the history: what did not change by a byte stays as it is, what did gets the
    /// next version, and what is gone is retired. Kinds that `live` has no list of stay as they are.
    ///
    /// # Errors
    /// The first definition that cannot be pinned.
    pub fn repin<'a>(&self, live: impl Into<Live<'a>>, at: &str) -> Result<Self, PinFault> {
        let mut lock = self.clone();
        for (kind, list) in live.into().lists {
            let mut pins = Pins::new();
            for (name, definition) in list {
                let pin = self.next_pin(kind, name, definition, at)?;
                if pins.insert(name.to_owned(), pin).is_some() {
                    return Err(PinFault::Repeated { item: kind.item(name) });
                }
            }
            let retired = lock.retired.entry(kind).or_default();
            retired.retain(|name, _| !pins.contains_key(name));
            for (name, pin) in self.pins(kind).iter().filter(|(name, _)| !pins.contains_key(*name)) {
                retired.insert(name.clone(), pin.past());
            }
            *lock.pins_mut(kind) = pins;
        }
        Ok(lock)
    }

    /// The contracts of one kind, by name.
    #[must_use]
    pub fn pins(&self, kind: Kind) -> &Pins {
        match kind {
            Kind::Tool => &self.tools,
            Kind::ResourceTemplate => &self.resource_templates,
            Kind::Prompt => &self.prompts,
        }
    }

    /// The earlier contracts of something that the upstream no longer has, oldest first; none where it never was.
    #[must_use]
    pub fn retired(&self, kind: Kind, name: &str) -> &[Past] {
        self.retired.get(&kind).and_then(|past| past.get(name)).map_or(&[], Vec::as_slice)
    }

    fn empty(upstream: UpstreamIdentity) -> Self {
        Self {
            upstream,
            tools: Pins::new(),
            resource_templates: Pins::new(),
            prompts: Pins::new(),
            retired: BTreeMap::new(),
        }
    }

    fn pins_mut(&mut self, kind: Kind) -> &mut Pins {
        match kind {
            Kind::Tool => &mut self.tools,
            Kind::ResourceTemplate => &mut self.resource_templates,
            Kind::Prompt => &mut self.prompts,
        }
    }

    fn next_pin(&self, kind: Kind, name: &str, definition: &str, at: &str) -> Result<Pin, PinFault> {
        let item = || kind.item(name);
        let (raw, Fingerprint { jcs, raw: raw_digest }) =
            checked(kind, name, definition).map_err(|fault| match fault {
                Unfit::Name => PinFault::Name { item: item() },
                Unfit::Definition(source) => PinFault::Definition { item: item(), source },
            })?;
        let history = match self.pins(kind).get(name) {
            Some(pin) if pin.raw_digest == raw_digest => return Ok(pin.clone()),
            Some(pin) => pin.past(),
            None => self.retired(kind, name).to_vec(),
        };
        let version = history.last().map_or(0, |past| past.version).saturating_add(1);
        Ok(Pin {
            kind,
            name: name.to_owned(),
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
fn checked(kind: Kind, name: &str, definition: &str) -> Result<(Box<RawValue>, Fingerprint), Unfit> {
    let definition = definition.trim_matches([' ', '\t', '\n', '\r']);
    let members = canonical::parse(definition).map_err(Unfit::Definition)?;
    if members.get(kind.key()).and_then(Value::as_str) != Some(name) {
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
