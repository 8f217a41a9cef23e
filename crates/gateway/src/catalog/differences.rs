//! In what the live contracts of an upstream differ from its lock.

#[cfg(test)]
mod tests;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use aldgate_contract::diff::{Diff, Severity, diff};
use aldgate_contract::rename::{self, Rename};
use aldgate_contract::{Digest, Finding, Item, Kind, Lock, Pin, State};
use serde_json::Value;

use super::drift::{Found, Why};
use super::live::LiveList;
use crate::chain::chain;

/// The members of definitions that MCP defines; others have names that the upstream chose.
const DEFINED: [&str; 12] = [
    "name",
    "title",
    "description",
    "icons",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "_meta",
    "uriTemplate",
    "mimeType",
    "arguments",
];

/// Contracts that are not as pinned, with what differs.
pub(super) fn differences(lock: &Lock, live: &LiveList) -> BTreeMap<Item, Found> {
    let mut found = BTreeMap::new();
    let (mut missing, mut new) = (Vec::new(), Vec::new());
    let definitions = LazyCell::new(|| live.definitions());
    for Finding { item, state } in lock.verify(live.as_live()) {
        match state {
            // Other bytes with the same canonical form say the same; what is served are the pinned bytes.
            State::Same | State::RawOnly { .. } => {}
            State::New => new.push(item),
            State::Missing => missing.push(item),
            State::Changed { live, .. } => {
                let pin = lock.pins(item.kind).get(&item.name);
                let definition = definitions.get(&(item.kind, item.name.as_str()));
                let changed = pin.zip(definition).map(|(pin, definition)| changed(pin, definition, live));
                found.insert(item, changed.unwrap_or_else(|| unreadable("it is gone again")));
            }
            State::Unreadable { why } => {
                found.insert(item, unreadable(&why));
            }
        }
    }
    let mut renames = match (missing.as_slice(), new.as_slice()) {
        ([], _) | (_, []) => BTreeMap::new(),
        (missing, new) => renames(lock, &definitions, missing, new),
    };
    for item in missing {
        let gone = gone(renames.remove(&item));
        found.insert(item, gone);
    }
    // A second definition under a pinned name, or one that cannot be read, leaves open which one a call would meet.
    for (item, why) in &live.refused {
        if lock.pins(item.kind).contains_key(&item.name) {
            found.insert(item.clone(), unreadable(why));
        }
    }
    found
}

/// `after` is the digest of the live canonical form.
fn changed(pin: &Pin, definition: &str, after: Digest) -> Found {
    let diff = match diff(pin.kind, pin.definition.get(), definition) {
        Ok(diff) => diff,
        Err(fault) => return unreadable(&chain(&fault)),
    };
    // What the digests tell apart and the differ does not is not shown to be harmless.
    let severity = diff.severity().unwrap_or(Severity::Breaking);
    Found {
        why: Why::Changed,
        severity,
        form: Digest::of(definition).to_string(),
        after: Some(after.to_string()),
        told: told(severity, &diff),
        detail: cut(&diff.summary()),
        diff,
        renames: Vec::new(),
    }
}

/// A difference in the host's own words: how grave, how many changes, and which members that MCP defines they are in.
fn told(severity: Severity, diff: &Diff) -> String {
    let counts = [Severity::Breaking, Severity::Behavioural, Severity::Compatible, Severity::Cosmetic]
        .into_iter()
        .filter_map(|of| {
            let count = diff.changes().iter().filter(|change| change.severity == of).count();
            (count > 0).then(|| format!("{count} {}", of.word()))
        })
        .collect::<Vec<_>>();
    let counts = if counts.is_empty() { format!("1 {}", severity.word()) } else { counts.join(", ") };
    let mut members = BTreeSet::new();
    let mut others = false;
    for change in diff.changes() {
        let member = change.path.split('/').nth(1).unwrap_or_default();
        match DEFINED.iter().find(|known| **known == member) {
            Some(known) => {
                members.insert(*known);
            }
            None => others = true,
        }
    }
    if others || members.is_empty() {
        members.insert("members that MCP does not define");
    }
    format!("{counts}: {}", members.into_iter().collect::<Vec<_>>().join(", "))
}

fn unreadable(why: &str) -> Found {
    let why = cut(why);
    Found {
        why: Why::Unreadable,
        severity: Severity::Breaking,
        form: format!("unreadable: {why}"),
        after: None,
        told: "it cannot be read".to_owned(),
        detail: format!("cannot be read: {why}"),
        diff: Diff::default(),
        renames: Vec::new(),
    }
}

/// Under which name each tool that is not served any more may be served now, where that is likely.
fn renames(
    lock: &Lock,
    definitions: &BTreeMap<(Kind, &str), &str>,
    missing: &[Item],
    new: &[Item],
) -> BTreeMap<Item, Rename> {
    let gone = tools(missing, |name| Some(lock.tools.get(name)?.definition.get()));
    let new = tools(new, |name| definitions.get(&(Kind::Tool, name)).copied());
    rename::of_tools(&pairs(&gone), &pairs(&new), &[])
        .into_iter()
        .filter(|rename| rename.confidence >= rename::THRESHOLD)
        .map(|rename| (Kind::Tool.item(&rename.from), rename))
        .collect()
}

/// The tools among some items, as many as are compared, with their definitions.
fn tools<'a>(items: &'a [Item], definition: impl Fn(&'a str) -> Option<&'a str>) -> Vec<(&'a str, Value)> {
    let tools = items.iter().filter(|item| item.kind == Kind::Tool).take(rename::MAX_TOOLS);
    tools
        .filter_map(|tool| {
            let definition = serde_json::from_str(definition(&tool.name)?).ok()?;
            Some((tool.name.as_str(), definition))
        })
        .collect()
}

fn pairs<'a>(tools: &'a [(&'a str, Value)]) -> Vec<(&'a str, &'a Value)> {
    tools.iter().map(|(name, definition)| (*name, definition)).collect()
}

/// What is not served any more, perhaps because it is served under another name.
fn gone(rename: Option<Rename>) -> Found {
    let told = "not served any more".to_owned();
    let detail = match &rename {
        Some(rename) => {
            let percent = (rename.confidence * 100.0).round();
            format!("{told}; it may be served as `{}` now ({percent} %)", cut(&rename.to))
        }
        None => told.clone(),
    };
    Found {
        why: Why::Missing,
        severity: Severity::Breaking,
        form: "missing".to_owned(),
        after: None,
        told,
        detail,
        diff: Diff::default(),
        renames: rename.into_iter().collect(),
    }
}

/// Whether a character turns the direction in which others are shown (Unicode Standard Annex 9).
fn steers(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The beginning of what an upstream says, for an operator.
pub(super) fn cut(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !steers(*letter)).take(300).collect()
}
