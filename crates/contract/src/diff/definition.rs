//! The members of two whole definitions.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::document::member_of;
use super::show::quoted;
use super::subsume::Side;
use super::{Change, Severity, change, schema, text_change};
use crate::canonical::same_value;
use crate::kind::Kind;

/// Compares two definitions, member by member.
pub(super) fn compare(kind: Kind, before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    each(before, after, |key, old, new| {
        let path = member_of("", key);
        let mut push = |severity, what: &str| changes.push(change(severity, &path, what, old, new));
        match (key, kind) {
            (key, kind) if key == kind.key() => push(Severity::Breaking, "it is another item"),
            ("title" | "icons", _) => {
                changes.push(text_change(Severity::Cosmetic, &path, key, old, new));
            }
            ("description" | "name" | "_meta", _) => {
                changes.push(text_change(Severity::Behavioural, &path, key, old, new));
            }
            ("annotations", Kind::Tool | Kind::ResourceTemplate) => {
                annotations(&path, old, new, &mut changes)
            }
            ("inputSchema", Kind::Tool) => schema::compare(Side::Input, before, after, &mut changes),
            ("outputSchema", Kind::Tool) => schema::compare(Side::Output, before, after, &mut changes),
            ("execution", Kind::Tool) => execution(&path, old, new, &mut changes),
            ("mimeType", Kind::ResourceTemplate) => {
                push(Severity::Breaking, "contents are of another media type")
            }
            ("arguments", Kind::Prompt) => arguments(&path, old, new, &mut changes),
            _ => push(
                Severity::Breaking,
                &format!(
                    "what {} means is not known, so its change cannot be shown to be harmless",
                    quoted(key)
                ),
            ),
        }
    });
    changes
}

/// Members that differ, in the order of the definition before; those that are new after them.
fn each<'a>(
    before: &'a Value,
    after: &'a Value,
    mut see: impl FnMut(&'a str, Option<&'a Value>, Option<&'a Value>),
) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return };
    for (key, old) in before {
        let new = after.get(key);
        if !new.is_some_and(|new| same_value(old, new)) {
            see(key, Some(old), new);
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        see(key, None, Some(new));
    }
}

/// An absent object, for members that may be absent.
fn or_empty(value: Option<&Value>) -> Option<Value> {
    match value {
        None => Some(Value::Object(Map::new())),
        Some(Value::Object(_)) => value.cloned(),
        Some(_) => None,
    }
}

fn annotations(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let (Some(before), Some(after)) = (or_empty(old), or_empty(new)) else {
        changes.push(text_change(Severity::Behavioural, path, "annotations", old, new));
        return;
    };
    let from = changes.len();
    each(&before, &after, |key, old, new| {
        let severity = if key == "title" { Severity::Cosmetic } else { Severity::Behavioural };
        changes.push(text_change(severity, &member_of(path, key), key, old, new));
    });
    if changes.len() == from {
        changes.push(text_change(Severity::Cosmetic, path, "annotations", old, new));
    }
}

/// How a tool runs. `taskSupport`: what a client may do stays allowed, or not.
fn execution(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let (Some(before), Some(after)) = (or_empty(old), or_empty(new)) else {
        changes.push(change(Severity::Breaking, path, "how it runs changed", old, new));
        return;
    };
    let from = changes.len();
    each(&before, &after, |key, old, new| {
        let path = member_of(path, key);
        let support = |value: Option<&Value>| match value {
            None => Some((true, false)),
            Some(value) => match value.as_str() {
                Some("forbidden") => Some((true, false)),
                Some("optional") => Some((true, true)),
                Some("required") => Some((false, true)),
                _ => None,
            },
        };
        let (severity, what) = match (key, support(old), support(new)) {
            ("taskSupport", Some((plain, task)), Some((plain_now, task_now))) => {
                match (plain && !plain_now, task && !task_now) {
                    (true, _) => (Severity::Breaking, "calls without a task are no longer accepted"),
                    (_, true) => (Severity::Breaking, "calls as a task are no longer accepted"),
                    _ => (Severity::Compatible, "calls without and with a task are accepted as before"),
                }
            }
            _ => (Severity::Breaking, "how it runs changed"),
        };
        changes.push(change(severity, &path, what, old, new));
    });
    if changes.len() == from {
        changes.push(change(Severity::Compatible, path, "how it runs is said in another way", old, new));
    }
}

/// The arguments of a prompt, by name.
fn arguments(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let (Some(before), Some(after)) = (by_name(old), by_name(new)) else {
        changes.push(change(
            Severity::Breaking,
            path,
            "the arguments are not each an object with a name of its own",
            old,
            new,
        ));
        return;
    };
    let from = changes.len();
    for (name, (index, old)) in &before {
        match after.get(name) {
            Some((index, new)) => argument(&format!("{path}/{index}"), name, old, new, changes),
            None => {
                let what = format!("{} is no longer among the arguments", quoted(name));
                changes.push(change(Severity::Breaking, &format!("{path}/{index}"), &what, Some(old), None));
            }
        }
    }
    for (name, (index, new)) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let (severity, what) = match new.get("required") {
            None | Some(Value::Bool(false)) => (Severity::Compatible, "is new and may be left out"),
            _ => (Severity::Breaking, "is new and required"),
        };
        let what = format!("{} {what}", quoted(name));
        changes.push(change(severity, &format!("{path}/{index}"), &what, None, Some(new)));
    }
    if changes.len() == from {
        changes.push(change(Severity::Compatible, path, "the arguments are in another order", old, new));
    }
}

fn argument(path: &str, name: &str, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    each(old, new, |key, old, new| {
        let path = member_of(path, key);
        let required = |value: Option<&Value>| match value {
            None | Some(Value::Bool(false)) => Some(false),
            Some(Value::Bool(true)) => Some(true),
            Some(_) => None,
        };
        let (severity, what) = match (key, required(old), required(new)) {
            ("description" | "title", ..) => {
                changes.push(text_change(Severity::Behavioural, &path, key, old, new));
                return;
            }
            ("required", Some(_), Some(false)) => {
                (Severity::Compatible, format!("{} may be left out", quoted(name)))
            }
            ("required", Some(false), Some(true)) => {
                (Severity::Breaking, format!("{} is required now", quoted(name)))
            }
            _ => (
                Severity::Breaking,
                format!("what {} of an argument means is not known, or not what it was", quoted(key)),
            ),
        };
        changes.push(change(severity, &path, &what, old, new));
    });
}

/// `None` where two have one name, or one has none.
fn by_name(list: Option<&Value>) -> Option<BTreeMap<&str, (usize, &Value)>> {
    let Some(list) = list else { return Some(BTreeMap::new()) };
    let mut named = BTreeMap::new();
    for (index, item) in list.as_array()?.iter().enumerate() {
        let name = item.get("name")?.as_str()?;
        if named.insert(name, (index, item)).is_some() {
            return None;
        }
    }
    Some(named)
}
