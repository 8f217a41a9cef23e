//! What differs between two definitions, for whoever reviews it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Characters of a text that are shown whole.
const WHOLE: usize = 100;
/// Words before and after the place where two long texts differ.
const AROUND: usize = 4;

/// One place where two definitions differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// Where, as a JSON Pointer (RFC 6901).
    pub(super) at: String,
    /// What stands there in the pinned definition.
    pub(super) pinned: Option<Value>,
    /// What stands there in the live one.
    pub(super) live: Option<Value>,
}

/// Every place where two definitions differ in these members.
pub(super) fn changes(pinned: &str, live: &str, fields: &[String]) -> Vec<Change> {
    let (pinned, live) = (members(pinned), members(live));
    let mut found = Vec::new();
    for field in fields {
        let at = format!("/{}", segment(field));
        let (before, after) = (pinned.get(field), live.get(field));
        let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
        let count = found.len();
        let (old, new) = (before.map(|raw| value(raw)), after.map(|raw| value(raw)));
        walk(&at, old.as_ref(), new.as_ref(), &mut found);
        if found.len() == count {
            // Numbers that no type of this program tells apart: the texts do.
            let text = |raw: &RawValue| Value::from(raw.get());
            found.push(Change { at, pinned: before.map(|raw| text(raw)), live: after.map(|raw| text(raw)) });
        }
    }
    found
}

/// The members that differ, each with what stood in it and what stands there now.
pub(super) fn both(pinned: &str, live: &str, fields: &[String]) -> Value {
    let (pinned, live) = (members(pinned), members(live));
    let whole = |field: &String| {
        let mut sides = Map::new();
        for (side, from) in [("pinned", &pinned), ("live", &live)] {
            if let Some(raw) = from.get(field) {
                sides.insert(side.to_owned(), json!(raw));
            }
        }
        (field.clone(), Value::Object(sides))
    };
    Value::Object(fields.iter().map(whole).collect())
}

impl Change {
    /// The place, and below it what was there and what is there now.
    pub(super) fn lines(&self) -> Vec<String> {
        let (pinned, live) = match (&self.pinned, &self.live) {
            (Some(Value::String(pinned)), Some(Value::String(live))) => {
                let (pinned, live) = shortened(pinned, live);
                (Some(Value::from(pinned)), Some(Value::from(live)))
            }
            other => (other.0.clone(), other.1.clone()),
        };
        let mut lines = vec![self.at.clone()];
        lines.extend(pinned.map(|value| format!("  - {value}")));
        lines.extend(live.map(|value| format!("  + {value}")));
        lines
    }
}

fn members(definition: &str) -> BTreeMap<String, Box<RawValue>> {
    // Both were read as objects before they were compared.
    serde_json::from_str(definition).unwrap_or_default()
}

fn walk(at: &str, pinned: Option<&Value>, live: Option<&Value>, found: &mut Vec<Change>) {
    if pinned == live {
        return;
    }
    let (Some(Value::Object(before)), Some(Value::Object(after))) = (pinned, live) else {
        found.push(Change { at: at.to_owned(), pinned: pinned.cloned(), live: live.cloned() });
        return;
    };
    let added = after.keys().filter(|key| !before.contains_key(*key));
    for key in before.keys().chain(added) {
        walk(&format!("{at}/{}", segment(key)), before.get(key), after.get(key), found);
    }
}

/// One segment of a JSON Pointer.
fn segment(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Two texts without the words that both begin and end with, where one is long.
fn shortened(pinned: &str, live: &str) -> (String, String) {
    if pinned.chars().count().max(live.chars().count()) <= WHOLE {
        return (pinned.to_owned(), live.to_owned());
    }
    let words =
        |text: &'_ str| text.split_inclusive(char::is_whitespace).map(str::to_owned).collect::<Vec<_>>();
    let (pinned, live) = (words(pinned), words(live));
    let shorter = pinned.len().min(live.len());
    let first = pinned.iter().zip(&live).take_while(|(a, b)| a == b).count();
    let last = pinned.iter().rev().zip(live.iter().rev()).take_while(|(a, b)| a == b).count();
    let before = first.saturating_sub(AROUND);
    let after = last.min(shorter - first).saturating_sub(AROUND);
    let cut = |words: &[String]| {
        let kept: String = words.iter().take(words.len() - after).skip(before).map(String::as_str).collect();
        let (head, tail) = (if before > 0 { "… " } else { "" }, if after > 0 { "…" } else { "" });
        format!("{head}{kept}{tail}")
    };
    (cut(&pinned), cut(&live))
}
