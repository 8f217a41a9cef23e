use serde_json::{Map, Value};

use crate::pointer;

/// A key or a string of a definition.
pub(super) struct Text<'a> {
    /// JSON Pointer to the member or the string.
    pub(super) path: String,
    pub(super) text: &'a str,
    /// A member's name rather than a value.
    pub(super) is_key: bool,
}

impl Text<'_> {
    pub(super) fn is_of_icon(&self) -> bool {
        !self.is_key && self.path.starts_with("/icons/") && self.path.ends_with("/src")
    }
}

/// Every key and every string, in the order of the definition. The guard bounds the depth.
pub(super) fn of(members: &Map<String, Value>) -> Vec<Text<'_>> {
    let mut found = Vec::new();
    of_members(members, "", &mut found);
    found
}

fn of_members<'a>(members: &'a Map<String, Value>, path: &str, found: &mut Vec<Text<'a>>) {
    for (key, value) in members {
        let path = format!("{path}/{}", escaped(key));
        found.push(Text { path: path.clone(), text: key, is_key: true });
        of_value(value, path, found);
    }
}

fn of_value<'a>(value: &'a Value, path: String, found: &mut Vec<Text<'a>>) {
    match value {
        Value::String(text) => found.push(Text { path, text, is_key: false }),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                of_value(item, format!("{path}/{at}"), found);
            }
        }
        Value::Object(members) => of_members(members, &path, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A name as a step of a JSON Pointer, and its characters that cannot be shown as their numbers.
pub(super) fn escaped(key: &str) -> String {
    let mut step = String::new();
    for c in pointer::escaped(key).chars() {
        match c {
            c if c == ' ' || super::characters::is_printable(c) => step.push(c),
            c => step.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
    }
    step
}
