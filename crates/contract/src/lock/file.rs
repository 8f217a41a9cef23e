//! The text of a lock: pretty JSON for review in git, that still gives the exact bytes of every definition.
//!
//! Each definition is laid out with one member a line, every token spelled as the upstream spelled it, so taking the
//! white space out gives the definition's bytes back. Where the upstream's bytes have white space of their own, they are
//! kept beside it as the string `raw`. Reading checks both against the recorded digests.

use std::collections::BTreeMap;

use aldgate_wire::guard::{self, Limits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Lock, LockFault, Past, Pin, Unfit, UpstreamIdentity, checked};
use crate::digest::Digest;
use crate::kind::Kind;
use crate::layout::{compact, pretty};

/// The format that this program writes and reads.
pub const FORMAT: u64 = 1;

/// A lock may hold many definitions, each as deep as one may be, three levels down.
const LIMITS: Limits = Limits { max_bytes: 64 << 20, max_depth: crate::canonical::LIMITS.max_depth + 3 };

#[derive(Deserialize)]
struct Head {
    format: u64,
}

type Texts = BTreeMap<String, PinText>;
type Retired = BTreeMap<String, Vec<Past>>;

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PinText {
    version: u32,
    digest: Digest,
    raw_digest: Digest,
    pinned_at: String,
    definition: Box<RawValue>,
    raw: Option<String>,
    #[serde(default)]
    history: Vec<Past>,
}

impl Lock {
    /// Reads a lock and computes every digest anew.
    ///
    /// # Errors
    /// A text that is no lock of this [`FORMAT`], or that does not give the digests that it records.
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
            for (name, past) in &retired {
                ascending(kind, name, past, u32::MAX)?;
            }
            let pins = pins.into_iter().map(|(name, pin)| Ok((name.clone(), pin.verified(kind, name)?)));
            *read.pins_mut(kind) = pins.collect::<Result<_, _>>()?;
            read.retired.insert(kind, retired);
        }
        Ok(read)
    }

    /// The text of the lock, with a line feed at the end. The same lock always gives the same text.
    pub fn to_pretty_json(&self) -> String {
        let mut members = vec![("format", FORMAT.to_string()), ("upstream", json(&self.upstream))];
        // A lock of tools alone has the same text as before there were other kinds.
        members.extend(Kind::ALL.into_iter().filter_map(|kind| {
            let pins = self.pins(kind);
            let text = || object(pins.iter().map(|(name, pin)| (name.as_str(), pin.text())));
            (kind == Kind::Tool || !pins.is_empty()).then(|| (kind.member(), text()))
        }));
        members.extend(Kind::ALL.into_iter().filter_map(|kind| {
            let retired = self.retired.get(&kind).filter(|retired| !retired.is_empty())?;
            Some((kind.retired_member(), json(retired)))
        }));
        pretty(&object(members))
    }
}

impl PinText {
    fn verified(self, kind: Kind, name: String) -> Result<Pin, LockFault> {
        let shown = compact(self.definition.get());
        let served = self.raw.unwrap_or_else(|| shown.clone());
        let item = || kind.item(&name);
        let (definition, found) = match checked(kind, &name, &served) {
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
        ascending(kind, &name, &self.history, self.version)?;
        Ok(Pin {
            kind,
            name,
            version: self.version,
            digest: self.digest,
            raw_digest: self.raw_digest,
            definition,
            pinned_at: self.pinned_at,
            history: self.history,
        })
    }
}

impl Pin {
    fn text(&self) -> String {
        let definition = compact(self.definition.get());
        let spelled_apart = definition != self.definition.get();
        let mut members = vec![
            ("version", self.version.to_string()),
            ("digest", json(&self.digest)),
            ("rawDigest", json(&self.raw_digest)),
            ("pinnedAt", json(&self.pinned_at)),
            ("definition", definition),
        ];
        if spelled_apart {
            members.push(("raw", json(&self.definition.get())));
        }
        if !self.history.is_empty() {
            members.push(("history", json(&self.history)));
        }
        object(members)
    }
}

fn ascending(kind: Kind, name: &str, past: &[Past], next: u32) -> Result<(), LockFault> {
    let versions: Vec<u32> = past.iter().map(|past| past.version).chain([next]).collect();
    let ascend = versions.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    if ascend && versions.first().is_some_and(|first| *first > 0) {
        Ok(())
    } else {
        Err(LockFault::Versions { item: kind.item(name) })
    }
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}:{value}", json(&key))).collect();
    format!("{{{}}}", members.join(","))
}

/// Strings, digests, and structs of them: serialising those cannot fail, and if it ever did, the text would not be JSON
/// and reading it back would be refused.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
