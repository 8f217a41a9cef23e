//! The text of a lock: pretty JSON for review in git, that still gives the exact bytes of every definition.
//!
//! Each definition is laid out with one member a line, every token spelled as the upstream spelled it, so taking the
//! white space out gives the definition's bytes back. Where the upstream's bytes have white space of their own, they are
//! kept beside it as the string `raw`. Reading checks both against the recorded digests.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_wire::guard::{self, Limits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Checked, Lock, LockFault, MAX_VERSION, Past, Pin, Unfit, UpstreamIdentity, is_time, one_to_one};
use crate::digest::Digest;
use crate::kind::Kind;
use crate::layout::{compact, pretty};
use crate::poison::CHECKS;
use crate::rename::Confirmed;

/// The format that this program writes and reads.
pub const FORMAT: u64 = 2;

/// A lock may hold many definitions, each as deep as one may be, those of a history five levels down.
const LIMITS: Limits = Limits { max_bytes: 64 << 20, max_depth: crate::canonical::LIMITS.max_depth + 5 };

#[derive(Deserialize)]
struct Head {
    format: u64,
}

type Texts = BTreeMap<String, ContractText<ContractText<Nothing>>>;
type Retired = BTreeMap<String, Vec<ContractText<Nothing>>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LockText {
    #[serde(rename = "format")]
    _format: u64,
    upstream: UpstreamIdentity,
    tools: Texts,
    #[serde(default)]
    resource_templates: Texts,
    #[serde(default)]
    prompts: Texts,
    #[serde(default)]
    retired: Retired,
    #[serde(default)]
    retired_resource_templates: Retired,
    #[serde(default)]
    retired_prompts: Retired,
}

/// One contract; `H` are those before it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContractText<H> {
    version: u32,
    digest: Digest,
    raw_digest: Digest,
    pinned_at: String,
    renamed_from: Option<String>,
    #[serde(default)]
    renames: Vec<Confirmed>,
    #[serde(default)]
    acknowledged: Vec<String>,
    signature: Option<String>,
    definition: Box<RawValue>,
    raw: Option<String>,
    #[serde(default = "Vec::new")]
    history: Vec<H>,
}

/// An earlier contract has no history of its own.
#[derive(Deserialize)]
enum Nothing {}

impl Lock {
    /// Reads a lock and computes every digest anew.
    ///
    /// # Errors
    /// A text that is no lock of this [`FORMAT`], does not give the digests that it records, or says what this program
    /// writes for no lock.
    pub fn parse(text: &str) -> Result<Self, LockFault> {
        guard::check(text.as_bytes(), &LIMITS).map_err(|source| {
            let before = text.as_bytes().get(..source.at().unwrap_or(0)).unwrap_or_default();
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            LockFault::Unreadable { line, source }
        })?;
        let Head { format } = serde_json::from_str(text).map_err(LockFault::Shape)?;
        if format != FORMAT {
            return Err(LockFault::Format { found: format });
        }
        let lock: LockText = serde_json::from_str(text).map_err(LockFault::Shape)?;
        let mut read = Self::empty(lock.upstream);
        for (kind, pins, retired) in [
            (Kind::Tool, lock.tools, lock.retired),
            (Kind::ResourceTemplate, lock.resource_templates, lock.retired_resource_templates),
            (Kind::Prompt, lock.prompts, lock.retired_prompts),
        ] {
            let pins = pins.into_iter().map(|(name, pin)| Ok((name.clone(), pin.pin(kind, name)?)));
            *read.pins_mut(kind) = pins.collect::<Result<_, _>>()?;
            let retired = retired.into_iter().map(|(name, texts)| {
                Ok((name.clone(), lineage(kind, &name, texts, (&name, MAX_VERSION + 1))?))
            });
            read.retired.insert(kind, retired.collect::<Result<_, _>>()?);
            let pinned = read.pins(kind);
            let mut retired = read.retired.get(&kind).into_iter().flat_map(BTreeMap::keys);
            if let Some(name) = retired.find(|name| pinned.contains_key(*name)) {
                return Err(LockFault::Retired { item: kind.item(name) });
            }
            let mut seen = BTreeSet::new();
            if let Some((name, _)) = read.versions(kind).find(|version| !seen.insert(*version)) {
                return Err(LockFault::Versions { item: kind.item(name) });
            }
        }
        Ok(read)
    }

    /// The text of the lock, with a line feed at the end. The same lock always gives the same text.
    pub fn to_pretty_json(&self) -> String {
        let mut members = vec![("format", FORMAT.to_string()), ("upstream", json(&self.upstream))];
        members.extend(Kind::ALL.into_iter().filter_map(|kind| {
            let pins = self.pins(kind);
            let text = || object(pins.iter().map(|(name, pin)| (name.as_str(), pin.text())));
            (kind == Kind::Tool || !pins.is_empty()).then(|| (kind.member(), text()))
        }));
        members.extend(Kind::ALL.into_iter().filter_map(|kind| {
            let retired = self.retired.get(&kind).filter(|retired| !retired.is_empty())?;
            let text = |past: &Vec<Past>| array(past.iter().map(|past| object(past.members())));
            let retired = retired.iter().map(|(name, past)| (name.as_str(), text(past)));
            Some((kind.retired_member(), object(retired)))
        }));
        pretty(&object(members))
    }
}

impl ContractText<ContractText<Nothing>> {
    fn pin(mut self, kind: Kind, name: String) -> Result<Pin, LockFault> {
        let history = std::mem::take(&mut self.history);
        let this = self.past(kind, name)?;
        let before = this.renamed_from.as_deref().unwrap_or(&this.name);
        let history = lineage(kind, before, history, (&this.name, this.version))?;
        if let (Some(from), []) = (&this.renamed_from, history.as_slice()) {
            return Err(LockFault::Heir { item: kind.item(&this.name), found: from.clone() });
        }
        Ok(Pin {
            kind,
            name: this.name,
            version: this.version,
            digest: this.digest,
            raw_digest: this.raw_digest,
            definition: this.definition,
            pinned_at: this.pinned_at,
            renamed_from: this.renamed_from,
            renames: this.renames,
            acknowledged: this.acknowledged,
            signature: this.signature,
            history,
        })
    }
}

impl<H> ContractText<H> {
    /// This contract alone, its digests computed anew.
    fn past(self, kind: Kind, name: String) -> Result<Past, LockFault> {
        let shown = compact(self.definition.get());
        let served = self.raw.unwrap_or_else(|| shown.clone());
        let item = || kind.item(&name);
        let (definition, found) = match Checked::new(kind, &name, &served).and_then(Checked::kept) {
            Ok(checked) => checked,
            Err(Unfit::Name) => return Err(LockFault::Name { item: item() }),
            Err(Unfit::Definition(source)) => return Err(LockFault::Definition { item: item(), source }),
        };
        if compact(definition.get()) != shown {
            return Err(LockFault::RawDiffers { item: item() });
        }
        for (what, recorded, computed) in
            [("digest", self.digest, found.jcs), ("rawDigest", self.raw_digest, found.raw)]
        {
            if recorded != computed {
                return Err(LockFault::Edited { item: item(), what, recorded, computed });
            }
        }
        let item = || kind.item(&name);
        if self.version > MAX_VERSION {
            return Err(LockFault::High { item: item(), found: self.version });
        }
        if !is_time(&self.pinned_at) {
            return Err(LockFault::Time { item: item(), found: self.pinned_at });
        }
        if !one_to_one(&self.renames) {
            return Err(LockFault::Renames { item: item() });
        }
        let mut acknowledged = self.acknowledged.iter();
        if let Some(found) = acknowledged.find(|check| !CHECKS.contains(&check.as_str())) {
            return Err(LockFault::Check { item: item(), found: found.clone() });
        }
        Ok(Past {
            name,
            version: self.version,
            digest: self.digest,
            raw_digest: self.raw_digest,
            definition,
            pinned_at: self.pinned_at,
            renamed_from: self.renamed_from,
            renames: self.renames,
            acknowledged: self.acknowledged,
            signature: self.signature,
        })
    }
}

/// Earlier contracts, oldest first: the newest of them is of `name`, and every version is below that of `next`.
fn lineage(
    kind: Kind,
    name: &str,
    texts: Vec<ContractText<Nothing>>,
    (next, version): (&str, u32),
) -> Result<Vec<Past>, LockFault> {
    let mut name = name.to_owned();
    let mut past = Vec::with_capacity(texts.len());
    for text in texts.into_iter().rev() {
        let one = text.past(kind, name)?;
        name = one.renamed_from.clone().unwrap_or_else(|| one.name.clone());
        past.push(one);
    }
    if let Some(Past { name, renamed_from: Some(from), .. }) = past.last() {
        return Err(LockFault::Heir { item: kind.item(name), found: from.clone() });
    }
    past.reverse();
    let versions: Vec<u32> = past.iter().map(|past| past.version).chain([version]).collect();
    let ascend = versions.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    if ascend && versions.first().is_some_and(|first| *first > 0) {
        return Ok(past);
    }
    Err(LockFault::Versions { item: kind.item(next) })
}

impl Pin {
    fn text(&self) -> String {
        let mut members = self.alone().members();
        if !self.history.is_empty() {
            members.push(("history", array(self.history.iter().map(|past| object(past.members())))));
        }
        object(members)
    }
}

impl Past {
    fn members(&self) -> Vec<(&'static str, String)> {
        let definition = compact(self.definition.get());
        let mut members = vec![
            ("version", self.version.to_string()),
            ("digest", json(&self.digest)),
            ("rawDigest", json(&self.raw_digest)),
            ("pinnedAt", json(&self.pinned_at)),
        ];
        members.extend(self.renamed_from.as_ref().map(|name| ("renamedFrom", json(name))));
        if !self.renames.is_empty() {
            members.push(("renames", json(&self.renames)));
        }
        if !self.acknowledged.is_empty() {
            members.push(("acknowledged", json(&self.acknowledged)));
        }
        members.extend(self.signature.as_ref().map(|signature| ("signature", json(signature))));
        let spelled_apart = definition != self.definition.get();
        members.push(("definition", definition));
        if spelled_apart {
            members.push(("raw", json(&self.definition.get())));
        }
        members
    }
}

fn array(elements: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", elements.into_iter().collect::<Vec<_>>().join(","))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}:{value}", json(&key))).collect();
    format!("{{{}}}", members.join(","))
}

/// Strings, digests, and lists and structs of them: serialising those cannot fail, and if it ever did, the text would not be JSON
/// and reading it back would be refused.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
