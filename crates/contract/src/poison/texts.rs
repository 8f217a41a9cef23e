use serde_json::{Map, Value};

use crate::pointer;

/// Bytes of names on the way to a place that are told.
const MAX_PATH: usize = 1024;

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

    /// The item's own name is compared elsewhere.
    pub(super) fn is_name(&self) -> bool {
        self.path == "/name" || self.path == "/uriTemplate"
    }
}

/// Where something is in a definition.
#[derive(Clone)]
pub(super) struct Place {
    /// JSON Pointer; to what is around it where the names on the way are too long.
    pub(super) path: String,
    is_cut: bool,
}

impl Place {
    pub(super) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), is_cut: false }
    }

    /// The place of a member or item.
    pub(super) fn below(&self, key: &str) -> Self {
        let is_cut = self.is_cut || self.path.len() + key.len() > MAX_PATH;
        let path = if is_cut { self.path.clone() } else { format!("{}/{}", self.path, escaped(key)) };
        Self { path, is_cut }
    }
}

/// Every key and every string, in the order of the definition. The guard bounds the depth.
pub(super) fn of(members: &Map<String, Value>) -> Vec<Text<'_>> {
    let mut found = Vec::new();
    of_members(members, &Place::new(""), &mut found);
    found
}

fn of_members<'a>(members: &'a Map<String, Value>, place: &Place, found: &mut Vec<Text<'a>>) {
    for (key, value) in members {
        let place = place.below(key);
        found.push(Text { path: place.path.clone(), text: key, is_key: true });
        of_value(value, place, found);
    }
}

fn of_value<'a>(value: &'a Value, place: Place, found: &mut Vec<Text<'a>>) {
    match value {
        Value::String(text) => found.push(Text { path: place.path, text, is_key: false }),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                of_value(item, place.below(&at.to_string()), found);
            }
        }
        Value::Object(members) => of_members(members, &place, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A name as a step of a JSON Pointer, and its characters that cannot be shown as their numbers.
fn escaped(key: &str) -> String {
    let mut step = String::new();
    for c in pointer::escaped(key).chars() {
        match c {
            c if c == ' ' || super::characters::is_printable(c) => step.push(c),
            c => step.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
    }
    step
}
