//! Values at the borders of what two schemas allow. Knows nothing of how schemas are compared.

use std::collections::HashMap;

use jsonschema::Validator;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::dice::{Dice, number};

/// How deep a schema is followed.
const DEPTH: usize = 6;

/// Makes values for a pair of schemas.
pub(crate) struct Sampler<'a> {
    pair: [&'a Value; 2],
    dice: Dice,
    constants: Vec<Value>,
    numbers: Vec<f64>,
    names: Vec<String>,
    texts: HashMap<String, Vec<String>>,
}

/// A value that fits `from` and not `to`, if one is found among `tries`.
pub(crate) fn witness(from: &Value, to: &Value, seed: u64, tries: usize) -> Option<Value> {
    let (holds, broken) = (compiled(from)?, compiled(to)?);
    let mut sampler = Sampler::new([from, to], seed);
    (0..tries).map(|_| sampler.value()).find(|value| holds.is_valid(value) && !broken.is_valid(value))
}

/// The schema as the library reads it.
pub(crate) fn compiled(schema: &Value) -> Option<Validator> {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(schema).ok()
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(pair: [&'a Value; 2], seed: u64) -> Self {
        let mut made = Self {
            pair,
            dice: Dice::new(seed),
            constants: vec![json!(null), json!(true), json!(1), json!("a"), json!([]), json!({}), json!(1.5)],
            numbers: vec![0.0, 1.0],
            names: vec!["a".to_owned(), "zz".to_owned()],
            texts: HashMap::new(),
        };
        for schema in pair {
            made.hear(schema);
        }
        made
    }

    /// Gathers what a schema mentions.
    fn hear(&mut self, schema: &Value) {
        match schema {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("const", value) => self.constants.push(value.clone()),
                        ("enum", Value::Array(values)) => self.constants.extend(values.iter().cloned()),
                        ("pattern", Value::String(pattern)) => self.exemplify(pattern),
                        (_, Value::Number(bound)) => self.numbers.extend(bound.as_f64()),
                        ("properties" | "dependentRequired" | "dependentSchemas", Value::Object(named)) => {
                            self.names.extend(named.keys().cloned());
                        }
                        ("patternProperties", Value::Object(named)) => {
                            for pattern in named.keys() {
                                self.exemplify(pattern);
                                let some = self.texts.get(pattern).cloned().unwrap_or_default();
                                self.names.extend(some.into_iter().take(3));
                            }
                        }
                        (_, Value::Array(names)) if key != "enum" && names.iter().all(Value::is_string) => {
                            self.names.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                        }
                        _ => {}
                    }
                    self.hear(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.hear(item)),
            _ => {}
        }
    }

    /// Keeps some texts that fit the pattern.
    fn exemplify(&mut self, pattern: &str) {
        let plain = pattern.trim_start_matches('^').trim_end_matches('$');
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.dice.next().to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let Ok(strategy) = string_regex(plain) else { return };
        let some = (0..8).filter_map(|_| Some(strategy.new_tree(&mut runner).ok()?.current())).collect();
        self.texts.insert(pattern.to_owned(), some);
    }

    /// A value shaped by one of the two, or by both.
    pub(crate) fn value(&mut self) -> Value {
        let [one, other] = self.pair;
        let (first, second) = if self.dice.percent(50) { (one, other) } else { (other, one) };
        let value = self.shaped(first, first, 0);
        match self.dice.below(10) {
            0..5 => value,
            5..8 => {
                let beside = self.shaped(second, second, 0);
                self.crossed(value, beside)
            }
            _ => self.bent(value, 0),
        }
    }

    fn any(&mut self, depth: usize) -> Value {
        match self.dice.below(8) {
            0 if depth < DEPTH => json!([self.any(depth + 1)]),
            1 if depth < DEPTH => {
                let name = self.dice.pick(&self.names).clone();
                json!({name: self.any(depth + 1)})
            }
            2 => self.near_number(false),
            3 => Value::from("é".repeat(self.dice.below(4))),
            _ => self.dice.pick(&self.constants).clone(),
        }
    }

    fn near_number(&mut self, whole: bool) -> Value {
        let steps: &[f64] = if whole { &[0.0, 1.0, -1.0, 2.0] } else { &[0.0, 1.0, -1.0, 0.5, -0.5, 0.25] };
        let times = *self.dice.pick(&[1.0, 1.0, 1.0, 2.0, 3.0, -1.0]);
        number(*self.dice.pick(&self.numbers) * times + *self.dice.pick(steps))
    }

    /// A value that probably fits the schema.
    fn shaped(&mut self, schema: &Value, root: &Value, depth: usize) -> Value {
        let Value::Object(members) = schema else { return self.any(depth) };
        if depth > DEPTH || self.dice.percent(3) {
            return self.any(depth);
        }
        if let Some(value) = members.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            return self.dice.pick(values).clone();
        }
        let mut value = self.own(members, root, depth);
        for part in self.parts(members, root) {
            let other = self.shaped(part, root, depth + 1);
            value = Some(match value {
                Some(value) => self.blended(value, other),
                None => other,
            });
        }
        value.unwrap_or_else(|| self.any(depth))
    }

    /// What is checked on the same value: all of what must hold, one of the alternatives.
    fn parts<'s>(&mut self, members: &'s Map<String, Value>, root: &'s Value) -> Vec<&'s Value> {
        let mut parts = Vec::new();
        for key in ["$ref", "$dynamicRef"] {
            parts.extend(members.get(key).and_then(Value::as_str).and_then(|to| target(to, root)));
        }
        if let Some(Value::Array(all)) = members.get("allOf") {
            parts.extend(all);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(some)) = members.get(key) {
                parts.push(self.dice.pick(some));
            }
        }
        for (key, chance) in [("if", 50), ("then", 50), ("else", 50), ("not", 30)] {
            parts.extend(members.get(key).filter(|_| self.dice.percent(chance)));
        }
        if let Some(Value::Object(some)) = members.get("dependentSchemas") {
            parts.extend(some.values().filter(|_| self.dice.percent(50)));
        }
        parts
    }

    fn blended(&mut self, one: Value, other: Value) -> Value {
        match (one, other) {
            (Value::Object(mut one), Value::Object(other)) => {
                one.extend(other);
                Value::from(one)
            }
            (one, other) => self.dice.pick(&[one, other]).clone(),
        }
    }

    /// What the schema's own keywords shape; nothing where they shape nothing.
    fn own(&mut self, members: &Map<String, Value>, root: &Value, depth: usize) -> Option<Value> {
        let kind = match members.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => self.dice.pick(kinds).as_str()?.to_owned(),
            _ => {
                let told = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
                let mut kinds = Vec::new();
                let object = [
                    "properties",
                    "required",
                    "additionalProperties",
                    "patternProperties",
                    "dependentRequired",
                    "minProperties",
                    "propertyNames",
                    "unevaluatedProperties",
                ];
                kinds.extend(told(&object).then_some("object"));
                kinds.extend(told(&["items", "prefixItems", "contains", "minItems"]).then_some("array"));
                kinds.extend(told(&["minLength", "maxLength", "pattern"]).then_some("string"));
                kinds.extend(
                    told(&["minimum", "maximum", "exclusiveMinimum", "multipleOf"]).then_some("number"),
                );
                if kinds.is_empty() {
                    return None;
                }
                (*self.dice.pick(&kinds)).to_owned()
            }
        };
        Some(match kind.as_str() {
            "object" => self.object(members, root, depth),
            "array" => self.array(members, root, depth),
            "string" => self.text(members),
            "integer" => self.near_number(true),
            "number" => self.near_number(false),
            "boolean" => Value::from(self.dice.percent(50)),
            _ => Value::Null,
        })
    }

    fn text(&mut self, members: &Map<String, Value>) -> Value {
        let fitting = members.get("pattern").and_then(Value::as_str).and_then(|of| self.texts.get(of));
        if let Some(some) = fitting.filter(|some| !some.is_empty()).cloned()
            && self.dice.percent(70)
        {
            return Value::from(self.dice.pick(&some).clone());
        }
        let of_others: Vec<String> = self.texts.values().flatten().cloned().collect();
        if !of_others.is_empty() && self.dice.percent(40) {
            let tail = self.dice.word(&["", "", "c", "0"]);
            return Value::from(self.dice.pick(&of_others).clone() + &tail);
        }
        let mut length = self.dice.below(3);
        for key in ["minLength", "maxLength"] {
            if let Some(bound) = members.get(key).and_then(Value::as_u64).filter(|_| self.dice.percent(60)) {
                length = (usize::try_from(bound).unwrap_or(0) + self.dice.below(3)).saturating_sub(1);
            }
        }
        Value::from(self.dice.word(&["a", "b", "A", "é", "7"]).repeat(length.min(300)))
    }

    fn array(&mut self, members: &Map<String, Value>, root: &Value, depth: usize) -> Value {
        let first = members.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut length = if first.is_empty() { self.dice.below(3) } else { first.len() + self.dice.below(2) };
        for key in ["minItems", "maxItems", "minContains", "maxContains"] {
            if let Some(bound) = members.get(key).and_then(Value::as_u64).filter(|_| self.dice.percent(50)) {
                length = (usize::try_from(bound).unwrap_or(0) + self.dice.below(3)).saturating_sub(1);
            }
        }
        let rest = members.get("items").unwrap_or(&Value::Bool(true));
        let mut made = Vec::new();
        for place in 0..length.min(8) {
            let of = match members.get("contains") {
                Some(of) if self.dice.percent(40) => of,
                _ => first.get(place).unwrap_or(rest),
            };
            let again = made.last().cloned().filter(|_| self.dice.percent(20));
            made.push(again.unwrap_or_else(|| self.shaped(of, root, depth + 1)));
        }
        Value::from(made)
    }

    fn object(&mut self, members: &Map<String, Value>, root: &Value, depth: usize) -> Value {
        let empty = Map::new();
        let known = members.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = members
            .get("required")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
        let mut made = Map::new();
        for (name, schema) in known {
            let chance = if required.contains(&name.as_str()) { 96 } else { 55 };
            if self.dice.percent(chance) {
                made.insert(name.clone(), self.shaped(schema, root, depth + 1));
            }
        }
        for name in required {
            if !made.contains_key(name) && self.dice.percent(90) {
                made.insert(name.to_owned(), self.any(depth + 1));
            }
        }
        let patterns = members.get("patternProperties").and_then(Value::as_object).unwrap_or(&empty);
        for (pattern, schema) in patterns {
            if let Some(names) = self.texts.get(pattern).filter(|names| !names.is_empty()).cloned()
                && self.dice.percent(50)
            {
                made.insert(self.dice.pick(&names).clone(), self.shaped(schema, root, depth + 1));
            }
        }
        let dependent = members.get("dependentRequired").and_then(Value::as_object).unwrap_or(&empty);
        for name in dependent.values().flat_map(|names| names.as_array().into_iter().flatten()) {
            if let Some(name) = name.as_str().filter(|_| self.dice.percent(60)) {
                made.insert(name.to_owned(), self.any(depth + 1));
            }
        }
        let rest = members.get("additionalProperties").unwrap_or(&Value::Bool(true));
        while rest != &Value::Bool(false) && self.dice.percent(30) {
            let name = match members.get("propertyNames") {
                Some(Value::Object(names)) if self.dice.percent(60) => {
                    self.text(names).as_str().unwrap_or_default().to_owned()
                }
                _ => self.dice.pick(&self.names).clone(),
            };
            let value = self.shaped(rest, root, depth + 1);
            made.entry(name).or_insert(value);
        }
        Value::from(made)
    }

    /// Parts of one and parts of the other.
    fn crossed(&mut self, one: Value, other: Value) -> Value {
        match (one, other) {
            (Value::Object(one), Value::Object(mut other)) => {
                let mut made = Map::new();
                for (name, value) in one {
                    let beside = other.remove(&name);
                    if self.dice.percent(75) {
                        let value = match beside {
                            Some(beside) => self.crossed(value, beside),
                            None => value,
                        };
                        made.insert(name, value);
                    }
                }
                made.extend(other.into_iter().filter(|_| self.dice.percent(50)));
                Value::from(made)
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                Value::from(one.into_iter().zip(other).map(|(a, b)| self.crossed(a, b)).collect::<Vec<_>>())
            }
            (one, other) => self.dice.pick(&[one, other]).clone(),
        }
    }

    /// The same value with one place changed.
    fn bent(&mut self, value: Value, depth: usize) -> Value {
        match value {
            Value::Object(mut members) if !members.is_empty() && self.dice.percent(85) => {
                let names: Vec<String> = members.keys().cloned().collect();
                let name = self.dice.pick(&names).clone();
                if let Some(inner) = members.remove(&name).filter(|_| self.dice.percent(70)) {
                    members.insert(name, self.bent(inner, depth + 1));
                }
                Value::from(members)
            }
            Value::Array(mut items) if !items.is_empty() && self.dice.percent(85) => {
                let place = self.dice.below(items.len());
                let inner = items.swap_remove(place);
                items.push(self.bent(inner, depth + 1));
                Value::from(items)
            }
            _ => self.any(depth),
        }
    }
}

/// The schema that a reference within the document leads to.
fn target<'s>(reference: &str, root: &'s Value) -> Option<&'s Value> {
    let fragment = reference.strip_prefix('#')?.replace("%20", " ");
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&fragment);
    }
    let anchored = |schema: &&Value| {
        ["$anchor", "$dynamicAnchor"]
            .iter()
            .any(|key| schema.get(key).and_then(Value::as_str) == Some(&fragment))
    };
    root.get("$defs")?.as_object()?.values().find(anchored)
}
