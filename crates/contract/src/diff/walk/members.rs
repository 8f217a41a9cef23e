#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::subsume::{KEYWORDS, Shape};
use crate::canonical::same_value;

/// Names and definitions, which other places refer to; these are looked at from there.
pub(super) const NAMING: [&str; 7] =
    ["$defs", "definitions", "$anchor", "$dynamicAnchor", "$schema", "$ref", "$dynamicRef"];

/// Values by name, in order; where a schema refers to another, one name may have several.
#[derive(Default)]
pub(super) struct Members<'a> {
    pub(super) names: Vec<&'a str>,
    values: HashMap<&'a str, Vec<&'a Value>>,
}

impl<'a> Members<'a> {
    pub(super) fn push(&mut self, name: &'a str, value: &'a Value) {
        let values = self.values.entry(name).or_default();
        if values.is_empty() {
            self.names.push(name);
        }
        values.push(value);
    }

    /// All members of some objects.
    pub(super) fn of(objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut members = Self::default();
        for (name, value) in objects.into_iter().filter_map(Value::as_object).flat_map(Map::iter) {
            members.push(name, value);
        }
        members
    }

    pub(super) fn get(&self, name: &str) -> &[&'a Value] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The names of both, those that only the other has last.
    pub(super) fn names_with(&self, other: &Self) -> Vec<&'a str> {
        let added = other.names.iter().filter(|name| !self.values.contains_key(*name));
        self.names.iter().chain(added).copied().collect()
    }
}

/// Values in pairs: first those that are equal, where there are few; then the others in order. Equal ones are last.
pub(super) fn pairs<'a>(
    old: &[&'a Value],
    new: &[&'a Value],
    in_order: bool,
) -> Vec<(Option<&'a Value>, Option<&'a Value>)> {
    // One of each is a pair whatever they say.
    if let ([old], [new]) = (old, new) {
        return vec![(Some(*old), Some(*new))];
    }
    let mut left = new.to_vec();
    let (mut rest, mut equal) = (Vec::new(), Vec::new());
    let in_order = in_order || old.len().saturating_mul(new.len()) > 4096;
    for before in old {
        match left.iter().position(|after| !in_order && same_value(before, after)) {
            Some(place) => equal.push((Some(*before), Some(left.remove(place)))),
            None => rest.push(*before),
        }
    }
    let count = rest.len().max(left.len());
    (0..count).map(|at| (rest.get(at).copied(), left.get(at).copied())).chain(equal).collect()
}

/// Whether a schema holds words.
pub(super) fn speaks(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    members.iter().any(|(key, value)| match KEYWORDS.iter().find(|(known, _)| known == key) {
        None => !NAMING.contains(&key.as_str()),
        Some((_, shape)) => holds_words(*shape, value),
    })
}

/// Whether there are words in the schemas of a keyword.
pub(super) fn holds_words(shape: Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Schema, schema) => speaks(schema),
        (Shape::Named | Shape::Mixed, Value::Object(named)) => named.values().any(speaks),
        (Shape::List, Value::Array(listed)) => listed.iter().any(speaks),
        _ => false,
    }
}
