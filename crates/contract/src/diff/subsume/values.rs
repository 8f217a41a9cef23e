#[cfg(test)]
mod tests;

use std::collections::HashMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Registry, Validator};
use serde_json::{Map, Value, json};

use super::case::Known;
use super::mask::Mask;
use super::numbers::{End, Num};
use super::{Id, Prover};
use crate::schema::{Build, is_hard, patterns};

/// Schemas that are compiled to look at single values.
const MAX_COMPILED: usize = 256;
/// The longest text that is looked at, in bytes.
const MAX_TEXT: usize = 4096;
/// The longest range of whole numbers that is looked at number by number.
const MAX_RANGE: i128 = 64;
/// Steps that looking at one value is worth.
const STEPS: usize = 10;
/// Steps that compiling a schema or a pattern is worth, its size aside.
const COMPILED: usize = 100;
/// How often matching one text may go back.
const MAX_BACK: usize = 1000;

const NULL: &Value = &Value::Null;
const NAMES: [&str; 2] = ["urn:aldgate:inner", "urn:aldgate:outer"];

/// Asks the validator itself about single values: the same engine, by the same rules. A text that takes it long is not
/// decided.
pub(super) struct Judge<'a> {
    roots: [&'a Value; 2],
    build: Option<Build>,
    registries: [Option<Option<Registry<'static>>>; 2],
    compiled: HashMap<Id, Option<Look>>,
    patterns: HashMap<&'a str, Option<Look>>,
}

/// A compiled schema, and what its patterns take.
struct Look {
    validator: Validator,
    /// How many patterns one value may be matched with.
    patterns: usize,
    /// Whether one of them takes longer with the text.
    is_hard: bool,
}

impl Look {
    fn of(validator: Validator, schema: &Value) -> Option<Self> {
        let patterns = patterns(schema);
        let is_hard = patterns.iter().any(|pattern| is_hard(pattern));
        Some(Self { validator, patterns: patterns.len(), is_hard })
    }

    /// What looking at a text of so many bytes takes.
    fn steps(&self, length: usize) -> usize {
        STEPS + self.patterns.saturating_mul(if self.is_hard { length.max(1) } else { 1 })
    }

    fn at(&self, value: &Value) -> Option<bool> {
        let Err(fault) = self.validator.validate(value) else { return Some(true) };
        let unknown = matches!(
            fault.kind(),
            ValidationErrorKind::BacktrackLimitExceeded { .. }
                | ValidationErrorKind::RegexEngineFailure { .. }
        );
        (!unknown).then_some(false)
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(inner: &'a Value, outer: &'a Value) -> Self {
        let build = Build::of(inner).ok().zip(Build::of(outer).ok());
        Self {
            roots: [inner, outer],
            build: build.map(|(inner, outer)| inner.or(outer).glancing(MAX_BACK)),
            registries: [None, None],
            compiled: HashMap::new(),
            patterns: HashMap::new(),
        }
    }

    fn compile(&mut self, schema: &Value, fragment: &str, outer: bool) -> Option<Look> {
        let build = self.build.as_ref()?;
        if size(schema).is_some() {
            return Look::of(build.compile(schema, None).ok()?, schema);
        }
        let side = usize::from(outer);
        let (registry, root, name) =
            (self.registries.get_mut(side)?, *self.roots.get(side)?, *NAMES.get(side)?);
        let registry = registry
            .get_or_insert_with(|| Registry::new().add(name, root.clone()).ok()?.prepare().ok())
            .as_ref()?;
        let reference = Value::String(format!("{name}{fragment}"));
        let schema = Value::Object(Map::from_iter([("$ref".to_owned(), reference)]));
        Look::of(build.compile(&schema, Some(registry)).ok()?, root)
    }

    /// Whether a property has no name that a pattern matches.
    fn pattern(&self, pattern: &str) -> Option<Look> {
        let schema = json!({ "patternProperties": { pattern: false } });
        Look::of(self.build.as_ref()?.compile(&schema, None).ok()?, &schema)
    }
}

/// How many values a schema holds; `None` where it refers to others.
fn size(schema: &Value) -> Option<usize> {
    let (mut waiting, mut count) = (vec![schema], 0);
    while let Some(value) = waiting.pop() {
        count += 1;
        match value {
            Value::Object(members) if members.contains_key("$ref") || members.contains_key("$dynamicRef") => {
                return None;
            }
            Value::Object(members) => waiting.extend(members.values()),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    Some(count)
}

/// Whether looking at this value costs little: it has no parts.
fn plain(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= MAX_TEXT,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    }
}

impl<'a> Prover<'a> {
    /// Whether a value fits a schema; `None` where that is not decided.
    pub(super) fn fits(&mut self, schema: Id, value: &Value) -> Option<bool> {
        if let Value::Bool(fits) = self.value(schema) {
            return Some(*fits);
        }
        if let (Some(Value::String(only)), Value::String(text)) = (self.value(schema).get("const"), value)
            && only != text
        {
            return Some(false);
        }
        self.step(STEPS);
        if !plain(value) || self.spent() {
            return None;
        }
        if !self.judge.compiled.contains_key(&schema) {
            if self.judge.compiled.len() >= MAX_COMPILED {
                return None;
            }
            let (source, outer) = (self.value(schema), self.is_outer(schema));
            let size = size(source).unwrap_or_else(|| self.document(schema).size());
            self.step(COMPILED + size);
            if self.spent() {
                return None;
            }
            let fragment = self.document(schema).fragment(source);
            let compiled = self.judge.compile(source, &fragment, outer);
            self.judge.compiled.insert(schema, compiled);
        }
        self.step(self.judge.compiled.get(&schema)?.as_ref()?.steps(value.as_str().map_or(1, str::len)));
        if self.spent() {
            return None;
        }
        self.judge.compiled.get(&schema)?.as_ref()?.at(value)
    }

    /// Whether a name or text matches a pattern; `None` where that is not decided.
    pub(super) fn matches(&mut self, pattern: &'a str, text: &str) -> Option<bool> {
        if text.len() > MAX_TEXT || self.spent() {
            return None;
        }
        if !self.judge.patterns.contains_key(pattern) {
            if self.judge.patterns.len() >= MAX_COMPILED {
                return None;
            }
            self.step(COMPILED);
            self.judge.patterns.insert(pattern, self.judge.pattern(pattern));
        }
        let look = self.judge.patterns.get(pattern)?.as_ref()?;
        let free = look.at(&json!({ text: null }));
        self.step(look.steps(text.len()));
        free.map(|free| !free)
    }

    /// All values, where they are few; some may be none.
    pub(super) fn finite(&mut self, known: &Known<'a>) -> Option<Vec<Value>> {
        if let Some(listed) = known.listed {
            self.step(listed.len());
            return Some(
                listed.iter().filter(|value| known.mask.any(Mask::of_value(value))).cloned().collect(),
            );
        }
        let few = Mask::NULL.or(Mask::BOOLEAN).or(Mask::WHOLE);
        if !known.mask.without(few).is_none() {
            return None;
        }
        let mut values = Vec::new();
        if known.mask.any(Mask::NULL) {
            values.push(NULL.clone());
        }
        if known.mask.any(Mask::BOOLEAN) {
            values.extend([Value::Bool(false), Value::Bool(true)]);
        }
        if known.mask.any(Mask::WHOLE) {
            let low = self.end(known, End::Low, true)?.at;
            let high = self.end(known, End::High, true)?.at;
            let (Num::Whole(low), Num::Whole(high)) = (low, high) else { return None };
            if high.saturating_sub(low) >= MAX_RANGE {
                return None;
            }
            for number in low..=high {
                values.push(i64::try_from(number).ok().map(Value::from)?);
            }
        }
        Some(values)
    }

    /// Whether each of these values fits.
    pub(super) fn all_fit(&mut self, values: &[Value], schema: Id) -> bool {
        values.iter().all(|value| self.fits(schema, value) == Some(true))
    }
}
