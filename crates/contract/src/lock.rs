#[cfg(test)]
mod tests;

mod accept;
mod fault;
mod file;
mod identity;
mod lineage;
mod live;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::canonical::{self, CanonicalFault, Fingerprint};
use crate::digest::Digest;
use crate::kind::Kind;
use crate::rename::Confirmed;
use crate::signature::Statement;

pub use accept::Acceptance;
pub use fault::{LockFault, PinFault};
pub use file::FORMAT;
pub use identity::UpstreamIdentity;
pub use lineage::Lineage;
pub use live::Live;
pub use verify::{Finding, State};

/// The last version that a lock has.
const MAX_VERSION: u32 = 2_000_000_000;
/// The last version that may be asked for, so that there is always a next one.
const MAX_CHOSEN: u32 = 1_000_000_000;

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
    /// The tool whose place it took, whose history it goes on with.
    pub renamed_from: Option<String>,
    /// What was renamed within it since the version before, as somebody confirmed.
    pub renames: Vec<Confirmed>,
    /// The checks of [`crate::poison`] whose findings somebody acknowledged, sorted.
    pub acknowledged: Vec<String>,
    /// The reviewer's signature, a detached JWS: see [`crate::signature`].
    pub signature: Option<String>,
    /// The earlier contracts, oldest first.
    pub history: Vec<Past>,
}

/// An earlier contract.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Past {
    /// What its upstream called it: another name than the pin's where a later contract has a `renamed_from`.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Of the canonical form.
    pub digest: Digest,
    /// Of the bytes in `definition`.
    pub raw_digest: Digest,
    /// The definition, the very bytes that were pinned.
    pub definition: Box<RawValue>,
    /// When it was pinned, RFC 3339.
    pub pinned_at: String,
    /// As of a [`Pin`].
    pub renamed_from: Option<String>,
    /// As of a [`Pin`].
    pub renames: Vec<Confirmed>,
    /// As of a [`Pin`].
    pub acknowledged: Vec<String>,
    /// As of a [`Pin`].
    pub signature: Option<String>,
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
    /// Pins what an upstream serves; `at` is the time as RFC 3339 writes it. Pairs of a name and a whole definition as JSON text are tools;
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
    /// next version, without signature, and what is gone is retired. A version that a name has had is never its version
    /// again, whatever became of the name. Kinds that `live` has no list of stay as they are.
    ///
    /// # Errors
    /// The first definition that cannot be pinned.
    pub fn repin<'a>(&self, live: impl Into<Live<'a>>, at: &str) -> Result<Self, PinFault> {
        let mut lock = self.clone();
        for (kind, list) in live.into().lists {
            let last = self.last_versions(kind);
            let mut pins = Pins::new();
            for (name, definition) in list {
                let last = last.get(name).copied().unwrap_or(0);
                let pin = self.next_pin(kind, name, definition, at, last)?;
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

    /// The pinned name that took the place of another one, at once or over several renames; `None` where none did.
    #[must_use]
    pub fn successor(&self, kind: Kind, name: &str) -> Option<&str> {
        let took = |pin: &&Pin| pin.name != name && pin.history.iter().any(|past| past.name == name);
        self.pins(kind).values().find(took).map(|pin| pin.name.as_str())
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

    fn next_pin(
        &self,
        kind: Kind,
        name: &str,
        definition: &str,
        at: &str,
        last: u32,
    ) -> Result<Pin, PinFault> {
        let mut pin = Pin::new(kind, name, definition, at)?;
        pin.history = match self.pins(kind).get(name) {
            Some(before) if before.raw_digest == pin.raw_digest => return Ok(before.clone()),
            Some(before) => before.past(),
            None => self.retired(kind, name).to_vec(),
        };
        pin.version = after(last).ok_or_else(|| PinFault::NoVersion { item: kind.item(name) })?;
        Ok(pin)
    }

    /// The last version that each name of a kind has had, now or ever.
    fn last_versions(&self, kind: Kind) -> BTreeMap<&str, u32> {
        let mut last = BTreeMap::new();
        for (name, version) in self.versions(kind) {
            let known = last.entry(name).or_insert(version);
            *known = version.max(*known);
        }
        last
    }

    /// Every name and version of a kind in the lock.
    fn versions(&self, kind: Kind) -> impl Iterator<Item = (&str, u32)> {
        let pins = self.pins(kind).values();
        let pinned = pins.clone().map(|pin| (pin.name.as_str(), pin.version));
        let past = pins.flat_map(|pin| &pin.history);
        let retired = self.retired.get(&kind).into_iter().flat_map(BTreeMap::values).flatten();
        pinned.chain(past.chain(retired).map(|past| (past.name.as_str(), past.version)))
    }
}

impl Pin {
    /// The first contract of something, without a past.
    fn new(kind: Kind, name: &str, definition: &str, at: &str) -> Result<Self, PinFault> {
        let item = || kind.item(name);
        if !is_time(at) {
            return Err(PinFault::Time { found: at.to_owned() });
        }
        let (definition, found) =
            Checked::new(kind, name, definition).and_then(Checked::kept).map_err(|fault| match fault {
                Unfit::Name => PinFault::Name { item: item() },
                Unfit::Definition(source) => PinFault::Definition { item: item(), source },
            })?;
        Ok(Self {
            kind,
            name: name.to_owned(),
            version: 1,
            digest: found.jcs,
            raw_digest: found.raw,
            definition,
            pinned_at: at.to_owned(),
            renamed_from: None,
            renames: Vec::new(),
            acknowledged: Vec::new(),
            signature: None,
            history: Vec::new(),
        })
    }

    /// What a signature of this contract says; `upstream` is the host's name of the upstream.
    #[must_use]
    pub fn statement<'a>(&'a self, upstream: &'a str) -> Statement<'a> {
        let (kind, name, version, digest) = (self.kind, self.name.as_str(), self.version, self.digest);
        Statement { upstream, kind, name, version, digest }
    }

    /// The history with this contract as its last.
    fn past(&self) -> Vec<Past> {
        self.history.iter().cloned().chain([self.alone()]).collect()
    }

    /// This contract without its history.
    fn alone(&self) -> Past {
        Past {
            name: self.name.clone(),
            version: self.version,
            digest: self.digest,
            raw_digest: self.raw_digest,
            definition: self.definition.clone(),
            pinned_at: self.pinned_at.clone(),
            renamed_from: self.renamed_from.clone(),
            renames: self.renames.clone(),
            acknowledged: self.acknowledged.clone(),
            signature: self.signature.clone(),
        }
    }
}

impl Past {
    /// What a signature of this contract says; `kind` is that of its [`Pin`].
    #[must_use]
    pub fn statement<'a>(&'a self, kind: Kind, upstream: &'a str) -> Statement<'a> {
        let (name, version, digest) = (self.name.as_str(), self.version, self.digest);
        Statement { upstream, kind, name, version, digest }
    }
}

/// The version after one.
fn after(version: u32) -> Option<u32> {
    version.checked_add(1).filter(|next| *next <= MAX_VERSION)
}

/// Whether a text is a time as RFC 3339 writes it.
fn is_time(text: &str) -> bool {
    OffsetDateTime::parse(text, &Rfc3339).is_ok()
}

/// Whether each name is once on either side, and none stands for itself.
fn one_to_one(renames: &[Confirmed]) -> bool {
    let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
    renames.iter().all(|one| one.from != one.to && from.insert(&one.from) && to.insert(&one.to))
}

enum Unfit {
    Name,
    Definition(CanonicalFault),
}

/// A definition that has a canonical form and the name under which it is listed.
struct Checked<'a> {
    /// Without the white space around it.
    text: &'a str,
    members: Map<String, Value>,
    fingerprint: Fingerprint,
}

impl<'a> Checked<'a> {
    fn new(kind: Kind, name: &str, definition: &'a str) -> Result<Self, Unfit> {
        let text = trimmed(definition);
        let members = canonical::parse(text).map_err(Unfit::Definition)?;
        if members.get(kind.key()).and_then(Value::as_str) != Some(name) {
            return Err(Unfit::Name);
        }
        let fingerprint = Fingerprint::of(text, &members).map_err(Unfit::Definition)?;
        Ok(Self { text, members, fingerprint })
    }

    /// The text as it is kept, with its digests.
    fn kept(self) -> Result<(Box<RawValue>, Fingerprint), Unfit> {
        let raw = RawValue::from_string(self.text.to_owned());
        Ok((raw.map_err(|e| Unfit::Definition(CanonicalFault::NoForm(e)))?, self.fingerprint))
    }
}

/// A text without the white space of JSON around it.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}
