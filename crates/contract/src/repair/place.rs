//! Places in arguments: JSON Pointers (RFC 6901), and paths with `*` for the items of an array.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::rename::{ITEMS, escaped};

/// The place of a member.
pub(super) fn member(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", escaped(name))
}

/// A path one step further.
pub(super) fn step(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}/{step}") }
}

/// The path of the place around, and the last step.
pub(super) fn around(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The pointers of all objects that a path leads to, and how many values were looked at; in arrays `*` leads to every
/// item.
pub(super) fn objects(args: &Value, path: &str) -> (Vec<String>, usize) {
    let (mut found, mut looked) = (vec![(String::new(), args)], 0);
    for name in path.split('/').filter(|_| !path.is_empty()) {
        let mut next = Vec::new();
        looked += found.len();
        for (pointer, value) in found {
            match value {
                Value::Array(items) if name == ITEMS => {
                    next.extend(items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)));
                }
                Value::Object(members) => {
                    if let Some(value) = members.get(&crate::rename::unescaped(name)) {
                        next.push((format!("{pointer}/{name}"), value));
                    }
                }
                _ => {}
            }
        }
        found = next;
    }
    looked += found.len();
    (found.into_iter().filter(|(_, value)| value.is_object()).map(|(pointer, _)| pointer).collect(), looked)
}

/// The object at a pointer.
pub(super) fn object_mut<'a>(args: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    args.pointer_mut(pointer)?.as_object_mut()
}

/// How many bytes the longest pointer into a value has, escapes aside.
pub(super) fn longest(value: &Value) -> usize {
    let (mut most, mut waiting) = (0, vec![(0, value)]);
    while let Some((length, value)) = waiting.pop() {
        most = most.max(length);
        match value {
            Value::Object(members) => {
                waiting.extend(members.iter().map(|(name, value)| (length + 1 + name.len(), value)));
            }
            Value::Array(items) => waiting.extend(items.iter().map(|item| (length + 5, item))),
            _ => {}
        }
    }
    most
}
