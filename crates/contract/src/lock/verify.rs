use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use super::{Lock, Pin, Unfit, checked, repeated};
use crate::canonical::{self, same_value};
use crate::digest::Digest;

/// How one live tool compares with its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The same bytes.
    Same {
        /// The tool.
        tool: String,
    },
    /// Another definition.
    Changed {
        /// The tool.
        tool: String,
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
        /// The tool.
        tool: String,
        /// The pinned bytes' digest.
        pinned: Digest,
        /// The live bytes' digest.
        live: Digest,
    },
    /// Pinned, but not in the live list.
    Missing {
        /// The tool.
        tool: String,
    },
    /// In the live list, but not pinned.
    New {
        /// The tool.
        tool: String,
    },
    /// The live definition cannot be used.
    Unreadable {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
}

impl Finding {
    /// The tool.
    pub fn tool(&self) -> &str {
        match self {
            Self::Same { tool }
            | Self::Changed { tool, .. }
            | Self::RawOnly { tool, .. }
            | Self::Missing { tool }
            | Self::New { tool }
            | Self::Unreadable { tool, .. } => tool,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { tool } => write!(f, "`{tool}` is as pinned"),
            Self::Changed { tool, pinned, live, fields } if pinned == live => write!(
                f,
                "`{tool}` changed in {}: an integer above 2^53, which does not show in the digest {pinned}",
                fields.join(", ")
            ),
            Self::Changed { tool, pinned, live, fields } => {
                write!(f, "`{tool}` changed in {}: pinned {pinned}, live {live}", fields.join(", "))
            }
            Self::RawOnly { tool, pinned, live } => {
                write!(f, "`{tool}` is the same definition in other bytes: pinned {pinned}, live {live}")
            }
            Self::Missing { tool } => write!(f, "`{tool}` is pinned, but the upstream does not list it"),
            Self::New { tool } => write!(f, "`{tool}` is listed, but not pinned"),
            Self::Unreadable { tool, why } => write!(f, "`{tool}` cannot be read: {why}"),
        }
    }
}

impl Lock {
    /// Compares a live list, as for [`Lock::pin`], with the pins: one finding for each tool of either, sorted by name.
    pub fn verify<'a>(&self, live: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Finding> {
        let live: Vec<(&str, &str)> = live.into_iter().collect();
        let repeated = repeated(live.iter().map(|(name, _)| *name));
        let by_name: BTreeMap<&str, &str> = live.into_iter().collect();
        let names: BTreeSet<&str> =
            self.tools.keys().map(String::as_str).chain(by_name.keys().copied()).collect();
        names
            .into_iter()
            .map(|name| {
                let tool = name.to_owned();
                if repeated.contains(name) {
                    return Finding::Unreadable {
                        tool,
                        why: "the list has two tools of this name".to_owned(),
                    };
                }
                match (self.tools.get(name), by_name.get(name)) {
                    (Some(pin), Some(definition)) => pin.compare(definition),
                    (Some(_), None) => Finding::Missing { tool },
                    (None, Some(definition)) => match checked(name, definition) {
                        Ok(_) => Finding::New { tool },
                        Err(unfit) => unreadable(tool, &unfit),
                    },
                    // A name comes from one of the two.
                    (None, None) => Finding::Missing { tool },
                }
            })
            .collect()
    }
}

impl Pin {
    fn compare(&self, definition: &str) -> Finding {
        let tool = self.name.clone();
        let (raw, live) = match checked(&self.name, definition) {
            Ok(checked) => checked,
            Err(unfit) => return unreadable(tool, &unfit),
        };
        if live.raw == self.raw_digest {
            return Finding::Same { tool };
        }
        let fields = match (canonical::parse(self.definition.get()), canonical::parse(raw.get())) {
            (Ok(pinned), Ok(live)) => {
                let names: BTreeSet<&String> = pinned.keys().chain(live.keys()).collect();
                let differs = |name: &&String| match (pinned.get(*name), live.get(*name)) {
                    (Some(pinned), Some(live)) => !same_value(pinned, live),
                    _ => true,
                };
                names.into_iter().filter(differs).cloned().collect()
            }
            (Err(fault), _) | (_, Err(fault)) => return unreadable(tool, &Unfit::Definition(fault)),
        };
        let fields: Vec<String> = fields;
        if fields.is_empty() && live.jcs == self.digest {
            Finding::RawOnly { tool, pinned: self.raw_digest, live: live.raw }
        } else {
            Finding::Changed { tool, pinned: self.digest, live: live.jcs, fields }
        }
    }
}

fn unreadable(tool: String, unfit: &Unfit) -> Finding {
    let why = match unfit {
        Unfit::Name => "its definition has another `name`".to_owned(),
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
    Finding::Unreadable { tool, why }
}
