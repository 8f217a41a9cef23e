//! What was written otherwise where nothing else was found to differ: no difference of two canonical forms is silent.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::{Change, Severity, change, show};
use crate::canonical::same_value;
use crate::pointer::escaped;

/// Where a name of a schema may stand that no value shows: read by a model all the same.
const NAMED: [&str; 2] = ["$defs", "definitions"];
const NAMES: [&str; 3] = ["$anchor", "$dynamicAnchor", "$id"];

/// A change for each member that differs and of which nothing was told: behavioural where names within it changed, else
/// compatible, because it means the same.
pub(super) fn unspoken(before: &Value, after: &Value, told: &[Change]) -> Vec<Change> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else { return Vec::new() };
    let spoken: HashSet<&str> = told.iter().filter_map(|change| change.path.split('/').nth(1)).collect();
    let mut found = Vec::new();
    for (key, after) in new {
        let name = escaped(key);
        let silent = |before: &&Value| !spoken.contains(name.as_str()) && !same_value(before, after);
        let Some(before) = old.get(key).filter(silent) else { continue };
        let (old, new) = (names(before), names(after));
        let (severity, what) = match new.difference(&old).next().or_else(|| old.difference(&new).next()) {
            Some(name) => {
                let name = show::quoted(*name);
                (Severity::Behavioural, format!("names within it, which a model reads, are others: {name}"))
            }
            None => (Severity::Compatible, "it is written otherwise, and means the same".to_owned()),
        };
        found.push(change(severity, &format!("/{name}"), &what, Some(before), Some(after)));
    }
    found
}

/// The names that stand within a schema for schemas.
fn names(schema: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                for key in NAMED {
                    let named = members.get(key).and_then(Value::as_object);
                    found.extend(named.into_iter().flat_map(|named| named.keys().map(String::as_str)));
                }
                found.extend(NAMES.iter().filter_map(|key| members.get(*key)?.as_str()));
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}
