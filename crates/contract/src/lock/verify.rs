use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use super::{Live, Lock, Pin, Unfit, checked, repeated};
use crate::canonical::{self, same_value};
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
        let repeated = repeated(live.iter().map(|(name, _)| *name));
        let by_name: BTreeMap<&str, &str> = live.iter().copied().collect();
        let names: BTreeSet<&str> = pins.keys().map(String::as_str).chain(by_name.keys().copied()).collect();
        let state = |name: &str| {
            if repeated.contains(name) {
                return State::Unreadable { why: format!("the list has two {kind}s of this name") };
            }
            match (pins.get(name), by_name.get(name)) {
                (Some(pin), Some(definition)) => pin.compare(definition),
                (None, Some(definition)) => match checked(kind, name, definition) {
                    Ok(_) => State::New,
                    Err(unfit) => unreadable(kind, &unfit),
                },
                // A name comes from one of the two.
                (_, None) => State::Missing,
            }
        };
        names.into_iter().map(|name| Finding { item: kind.item(name), state: state(name) }).collect()
    }
}

impl Pin {
    fn compare(&self, definition: &str) -> State {
        let (raw, live) = match checked(self.kind, &self.name, definition) {
            Ok(checked) => checked,
            Err(unfit) => return unreadable(self.kind, &unfit),
        };
        if live.raw == self.raw_digest {
            return State::Same;
        }
        let fields: Vec<String> = match (canonical::parse(self.definition.get()), canonical::parse(raw.get()))
        {
            (Ok(pinned), Ok(live)) => {
                let names: BTreeSet<&String> = pinned.keys().chain(live.keys()).collect();
                let differs = |name: &&String| match (pinned.get(*name), live.get(*name)) {
                    (Some(pinned), Some(live)) => !same_value(pinned, live),
                    _ => true,
                };
                names.into_iter().filter(differs).cloned().collect()
            }
            (Err(fault), _) | (_, Err(fault)) => {
                return unreadable(self.kind, &Unfit::Definition(fault));
            }
        };
        if fields.is_empty() && live.jcs == self.digest {
            State::RawOnly { pinned: self.raw_digest, live: live.raw }
        } else {
            State::Changed { pinned: self.digest, live: live.jcs, fields }
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
