//! Arguments on their way from one version to another, and what was changed of them.

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::place::objects;
use super::{Change, Rule};
use crate::rename::{Rename, THRESHOLD};
use crate::schema::extent;

/// The most changes.
pub(super) const MAX_CHANGES: usize = 256;

/// The most properties that were left of which the reason speaks.
const MAX_TOLD: usize = 3;
/// The most characters of a pointer in the reason.
const MAX_SHOWN: usize = 120;

/// Which changes may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// All that the rules give.
    Repair,
    /// Confirmed renames and coercion.
    Strict,
}

impl Limit {
    pub(super) fn allows(self, rule: Rule) -> bool {
        self == Self::Repair || matches!(rule, Rule::Rename | Rule::Coerce)
    }

    pub(super) fn takes(self, rename: &Rename) -> bool {
        match self {
            Self::Repair => rename.confidence >= THRESHOLD,
            Self::Strict => rename.identity_confirmed,
        }
    }
}

/// A property that was left where it is, because it is not known what became of it.
#[derive(Debug, Clone)]
struct Doubt {
    /// Where it is.
    path: String,
    /// Where it may belong.
    to: String,
    /// Why it stays.
    why: String,
}

pub(super) struct Plan {
    pub(super) limit: Limit,
    pub(super) args: Value,
    pub(super) changes: Vec<Change>,
    /// How much may still be looked at; takes about 0.1 µs each.
    pub(super) effort: usize,
    doubts: Vec<Doubt>,
    /// Whether a bound was reached.
    pub(super) is_full: bool,
}

impl Plan {
    pub(super) fn new(args: Value, limit: Limit, effort: usize) -> Self {
        Self { limit, args, changes: Vec::new(), effort, doubts: Vec::new(), is_full: false }
    }

    /// Whether there is effort left for looking at so much more.
    pub(super) fn spend(&mut self, more: usize) -> bool {
        self.effort = self.effort.saturating_sub(more);
        if self.effort == 0 {
            self.is_full = true;
        }
        !self.is_full
    }

    /// The pointers of all objects that a path leads to, as far as the effort goes.
    pub(super) fn objects(&mut self, path: &str) -> Vec<String> {
        let (found, looked) = objects(&self.args, path);
        if self.spend(looked) { found } else { Vec::new() }
    }

    /// Notes a change that was made.
    pub(super) fn push(&mut self, change: Change) {
        if let (Rule::Rename, Some(to)) = (change.rule, &change.to)
            && self.spend(self.doubts.len())
        {
            for doubt in &mut self.doubts {
                let below = doubt
                    .path
                    .strip_prefix(&change.path)
                    .filter(|rest| rest.is_empty() || rest.starts_with('/'));
                if let Some(rest) = below {
                    doubt.path = format!("{to}{rest}");
                }
                if doubt.to == change.path {
                    doubt.to.clone_from(to);
                }
            }
        }
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        } else {
            self.is_full = true;
        }
    }

    /// Notes a rename that is not made, because a property of the new name is there. With the same value nothing is lost.
    pub(super) fn occupied(&mut self, from: String, to: String, is_same: bool) {
        if !is_same {
            let (old, new) = (shown(&from), shown(&to));
            let why = format!("`{old}` seems to be `{new}` now, which is there with another value");
            self.doubts.push(Doubt { path: from, to, why });
        }
    }

    /// Notes a rename that is not made, because it is not sure enough.
    pub(super) fn doubtful(&mut self, from: String, to: String, confidence: f64) {
        let (old, new) = (shown(&from), shown(&to));
        let why =
            format!("`{old}` may have become `{new}` (confidence {confidence}), which nobody confirmed");
        self.doubts.push(Doubt { path: from, to, why });
    }

    /// Whether a property may be something else now.
    pub(super) fn is_doubtful(&mut self, path: &str) -> bool {
        self.spend(self.doubts.len() / 8);
        self.doubts.iter().any(|doubt| doubt.path == path)
    }

    /// Whether something else may belong at a place.
    pub(super) fn is_reserved(&mut self, path: &str) -> bool {
        self.spend(self.doubts.len() / 8);
        self.doubts.iter().any(|doubt| doubt.to == path)
    }

    /// Why properties were left where they are, in one line.
    pub(super) fn why_left(&self) -> String {
        let told = self.doubts.iter().take(MAX_TOLD).map(|doubt| format!("; {}", doubt.why));
        let more = self.doubts.len().saturating_sub(MAX_TOLD);
        let rest = if more == 0 { String::new() } else { format!("; and so for {more} more") };
        told.collect::<String>() + &rest
    }
}

/// A pointer, cut where it is long: names come from whoever sent the arguments.
fn shown(pointer: &str) -> String {
    let mut text: String = pointer.chars().take(MAX_SHOWN).collect();
    if text.len() < pointer.len() {
        text.push('…');
    }
    text
}

/// How many values a value holds: what copying it takes.
pub(super) fn size(value: &Value) -> usize {
    usize::try_from(extent(value).0).unwrap_or(usize::MAX)
}
