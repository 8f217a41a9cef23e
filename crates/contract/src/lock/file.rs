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
use crate::layout::{compact, pretty};

/// The format that this program writes and reads.
pub const FORMAT: u64 = 1;

/// A lock may hold many definitions, each as deep as one may be, three levels down.
const LIMITS: Limits = Limits { max_bytes: 64 << 20, max_depth: crate::canonical::LIMITS.max_depth + 3 };

#[derive(Deserialize)]
struct Head {
    format: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LockText {
    #[serde(rename = "format")]
    _format: u64,
    upstream: UpstreamIdentity,
    tools: BTreeMap<String, PinText>,
    #[serde(default)]
    retired: BTreeMap<String, Vec<Past>>,
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
        for (tool, past) in &lock.retired {
            ascending(tool, past, u32::MAX)?;
        }
        let tools = lock.tools.into_iter().map(|(tool, pin)| Ok((tool.clone(), pin.verified(tool)?)));
        Ok(Self { upstream: lock.upstream, tools: tools.collect::<Result<_, _>>()?, retired: lock.retired })
    }

    /// The text of the lock, with a line feed at the end. The same lock always gives the same text.
    pub fn to_pretty_json(&self) -> String {
        let tools = self.tools.iter().map(|(name, pin)| (name.as_str(), pin.text()));
        let mut members = vec![
            ("format", FORMAT.to_string()),
            ("upstream", json(&self.upstream)),
            ("tools", object(tools)),
        ];
        if !self.retired.is_empty() {
            members.push(("retired", json(&self.retired)));
        }
        pretty(&object(members))
    }
}

impl PinText {
    fn verified(self, tool: String) -> Result<Pin, LockFault> {
        let shown = compact(self.definition.get());
        let served = self.raw.unwrap_or_else(|| shown.clone());
        let (definition, found) = match checked(&tool, &served) {
            Ok(checked) => checked,
            Err(Unfit::Name) => return Err(LockFault::Name { tool }),
            Err(Unfit::Definition(source)) => return Err(LockFault::Definition { tool, source }),
        };
        if compact(definition.get()) != shown {
            return Err(LockFault::RawDiffers { tool });
        }
        for (what, recorded, computed) in
            [("digest", self.digest, found.jcs), ("rawDigest", self.raw_digest, found.raw)]
        {
            if recorded != computed {
                return Err(LockFault::Edited { tool, what, recorded, computed });
            }
        }
        ascending(&tool, &self.history, self.version)?;
        Ok(Pin {
            name: tool,
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

fn ascending(tool: &str, past: &[Past], next: u32) -> Result<(), LockFault> {
    let versions: Vec<u32> = past.iter().map(|past| past.version).chain([next]).collect();
    let ascend = versions.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    if ascend && versions.first().is_some_and(|first| *first > 0) {
        Ok(())
    } else {
        Err(LockFault::Versions { tool: tool.to_owned() })
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
