use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use super::{Checked, Live, Lock, Pin, Unfit, trimmed};
use crate::canonical::{self, Fingerprint, same_value};
use crate::digest::Digest;
use crate::kind::{Item, Kind};

/// How one live definition compares with its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Of what.
    pub item: Item,
    /// How it compares.
    pub state: State,
}

/// How a live definition compares with a pinned one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The same bytes.
    Same,
    /// Another definition.
    Changed {
        /// The pinned canonical form's digest.
        pinned: Digest,
        /// The live canonical form's digest. Equal to `pinned` where only integers above 2^53 changed, which RFC 8785
        /// does not tell apart.
        live: Digest,
        /// The members that differ, are new, or are gone, sorted.
        fields: Vec<String>,
    },
    /// The same definition in other bytes: order of keys, white space, or the spelling of strings and numbers.
    RawOnly {
        /// The pinned bytes' digest.
        pinned: Digest,
        /// The live bytes' digest.
        live: Digest,
    },
    /// Pinned, but not in the live list.
    Missing,
    /// In the live list, but not pinned.
    New,
    /// The live definition cannot be used.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = &self.item;
        match &self.state {
            State::Same => write!(f, "{item} is as pinned"),
            State::Changed { pinned, live, fields } if pinned == live => write!(
                f,
                "{item} changed in {}: an integer above 2^53, which does not show in the digest {pinned}",
                fields.join(", ")
            ),
            State::Changed { pinned, live, fields } => {
                write!(f, "{item} changed in {}: pinned {pinned}, live {live}", fields.join(", "))
            }
            State::RawOnly { pinned, live } => {
                write!(f, "{item} is the same definition in other bytes: pinned {pinned}, live {live}")
            }
            State::Missing => write!(f, "{item} is pinned, but the upstream does not list it"),
            State::New => write!(f, "{item} is listed, but not pinned"),
            State::Unreadable { why } => write!(f, "{item} cannot be read: {why}"),
        }
    }
}

impl Lock {
    /// Compares what is live, as for [`Lock::pin`], with the pins: one finding for each item of either, sorted by kind
    /// and name. Kinds that `live` has no list of are not compared.
    pub fn verify<'a>(&self, live: impl Into<Live<'a>>) -> Vec<Finding> {
        live.into().lists.into_iter().flat_map(|(kind, list)| self.compare(kind, &list)).collect()
    }

    fn compare(&self, kind: Kind, live: &[(&str, &str)]) -> Vec<Finding> {
        let pins = self.pins(kind);
        let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, definition) in live {
            listed.entry(name).or_default().push(definition);
        }
        let missing = pins.keys().filter(|name| !listed.contains_key(name.as_str()));
        let mut found: Vec<(&str, State)> = missing.map(|name| (name.as_str(), State::Missing)).collect();
        found.extend(listed.into_iter().map(|(name, definitions)| {
            let state = match (definitions.as_slice(), pins.get(name)) {
                ([definition], Some(pin)) => pin.compare(definition),
                ([definition], None) => match Checked::new(kind, name, definition) {
                    Ok(_) => State::New,
                    Err(unfit) => unreadable(kind, &unfit),
                },
                _ => State::Unreadable { why: format!("the list has two {kind}s of this name") },
            };
            (name, state)
        }));
        found.sort_unstable_by_key(|(name, _)| *name);
        found.into_iter().map(|(name, state)| Finding { item: kind.item(name), state }).collect()
    }
}

impl Pin {
    fn compare(&self, definition: &str) -> State {
        // These bytes were checked when they were pinned or the lock was read.
        if trimmed(definition) == self.definition.get() {
            return State::Same;
        }
        let live = match Checked::new(self.kind, &self.name, definition) {
            Ok(live) => live,
            Err(unfit) => return unreadable(self.kind, &unfit),
        };
        let pinned = match canonical::parse(self.definition.get()) {
            Ok(pinned) => pinned,
            Err(fault) => return unreadable(self.kind, &Unfit::Definition(fault)),
        };
        let names: BTreeSet<&String> = pinned.keys().chain(live.members.keys()).collect();
        let differs = |name: &&String| match (pinned.get(*name), live.members.get(*name)) {
            (Some(pinned), Some(live)) => !same_value(pinned, live),
            _ => true,
        };
        let fields: Vec<String> = names.into_iter().filter(differs).cloned().collect();
        let Fingerprint { jcs, raw, .. } = live.fingerprint;
        if fields.is_empty() && jcs == self.digest {
            State::RawOnly { pinned: self.raw_digest, live: raw }
        } else {
            State::Changed { pinned: self.digest, live: jcs, fields }
        }
    }
}

fn unreadable(kind: Kind, unfit: &Unfit) -> State {
    let why = match unfit {
        Unfit::Name => format!("its definition has another `{}`", kind.key()),
        Unfit::Definition(fault) => {
            let mut why = fault.to_string();
            let mut source = fault.source();
            while let Some(cause) = source {
                why = format!("{why}: {cause}");
                source = cause.source();
            }
            why
        }
    };
    State::Unreadable { why }
}
