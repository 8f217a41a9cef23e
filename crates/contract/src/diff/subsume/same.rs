#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Id, Prover};
use crate::canonical::same_value;
use crate::diff::document::Document;

/// What a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diff) enum Shape {
    Schema,
    /// Schemas by name.
    Named,
    /// Schemas in order.
    List,
    /// Names in any order.
    Names,
    /// Data.
    Data,
    /// Data or schemas by name.
    Mixed,
    /// A reference to a schema.
    Reference,
}

/// The keywords that say which values fit (JSON Schema 2020-12, core and validation). `dependencies` and
/// `additionalItems` are of older drafts, but the validator knows them.
pub(in crate::diff) const KEYWORDS: &[(&str, Shape)] = &[
    ("$ref", Shape::Reference),
    ("$dynamicRef", Shape::Reference),
    ("type", Shape::Names),
    ("enum", Shape::Data),
    ("const", Shape::Data),
    ("multipleOf", Shape::Data),
    ("maximum", Shape::Data),
    ("exclusiveMaximum", Shape::Data),
    ("minimum", Shape::Data),
    ("exclusiveMinimum", Shape::Data),
    ("maxLength", Shape::Data),
    ("minLength", Shape::Data),
    ("pattern", Shape::Data),
    ("maxItems", Shape::Data),
    ("minItems", Shape::Data),
    ("uniqueItems", Shape::Data),
    ("maxContains", Shape::Data),
    ("minContains", Shape::Data),
    ("maxProperties", Shape::Data),
    ("minProperties", Shape::Data),
    ("required", Shape::Names),
    ("dependentRequired", Shape::Data),
    ("properties", Shape::Named),
    ("patternProperties", Shape::Named),
    ("additionalProperties", Shape::Schema),
    ("propertyNames", Shape::Schema),
    ("dependentSchemas", Shape::Named),
    ("dependencies", Shape::Mixed),
    ("items", Shape::Schema),
    ("prefixItems", Shape::List),
    ("contains", Shape::Schema),
    ("additionalItems", Shape::Schema),
    ("unevaluatedItems", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
    ("allOf", Shape::List),
    ("anyOf", Shape::List),
    ("oneOf", Shape::List),
    ("not", Shape::Schema),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
    ("else", Shape::Schema),
];

/// Looks at pairs of one comparison.
const MAX_PAIRS: usize = 20_000;
/// How deep comparisons may be nested.
const MAX_DEPTH: usize = 200;

/// Whether two schemas are written alike, references followed and annotations left aside. Pairs that are met again are
/// taken as alike: the trees that references unfold to differ somewhere, or nowhere.
pub(super) struct Comparison<'a> {
    documents: [&'a Document<'a>; 2],
    met: HashSet<(*const Value, *const Value)>,
    left: usize,
    depth: usize,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(a: &'a Document<'a>, b: &'a Document<'a>) -> Self {
        Self { documents: [a, b], met: HashSet::new(), left: MAX_PAIRS, depth: 0 }
    }

    pub(super) fn looks(&self) -> usize {
        MAX_PAIRS - self.left
    }

    pub(super) fn alike(&mut self, a: &'a Value, b: &'a Value) -> bool {
        let [in_a, in_b] = self.documents;
        let (a, b) = (followed(a, in_a), followed(b, in_b));
        if !self.met.insert((std::ptr::from_ref(a), std::ptr::from_ref(b))) {
            return true;
        }
        if self.left == 0 || self.depth >= MAX_DEPTH {
            return false;
        }
        self.left -= 1;
        self.depth += 1;
        let found = match (a, b) {
            (Value::Object(_), Value::Object(_)) => {
                KEYWORDS.iter().all(|(key, shape)| self.keyword(key, *shape, a, b))
            }
            (Value::Bool(true), Value::Object(members)) | (Value::Object(members), Value::Bool(true)) => {
                !KEYWORDS.iter().any(|(key, _)| members.contains_key(*key))
            }
            _ => a == b,
        };
        self.depth -= 1;
        found
    }

    fn keyword(&mut self, key: &str, shape: Shape, in_a: &'a Value, in_b: &'a Value) -> bool {
        let (a, b) = match (in_a.get(key), in_b.get(key)) {
            (None, None) => return true,
            (Some(a), Some(b)) => (a, b),
            _ => return false,
        };
        match (shape, a, b) {
            (Shape::Schema, ..) => self.alike(a, b),
            (Shape::Named | Shape::Mixed, Value::Object(a), Value::Object(b)) => self.named(a, b),
            (Shape::List, Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.alike(a, b))
            }
            (Shape::Names, Value::Array(a), Value::Array(b)) => {
                let set = |names: &'a [Value]| names.iter().filter_map(Value::as_str).collect::<HashSet<_>>();
                set(a) == set(b)
            }
            (Shape::Reference, ..) => {
                let [of_a, of_b] = self.documents;
                match (of_a.target(in_a, key), of_b.target(in_b, key)) {
                    (Some(a), Some(b)) => self.alike(a, b),
                    _ => false,
                }
            }
            _ => same_value(a, b),
        }
    }

    fn named(&mut self, a: &'a Map<String, Value>, b: &'a Map<String, Value>) -> bool {
        a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| self.alike(a, b)))
    }
}

/// The schema behind references that say nothing else.
pub(super) fn followed<'a>(schema: &'a Value, document: &'a Document<'a>) -> &'a Value {
    let mut now = schema;
    for _ in 0..32 {
        let Value::Object(members) = now else { break };
        let mut keys = KEYWORDS.iter().filter(|(key, _)| members.contains_key(*key));
        let (Some((key, Shape::Reference)), None) = (keys.next(), keys.next()) else { break };
        let Some(target) = document.target(now, key) else { break };
        now = target;
    }
    now
}

impl Prover<'_> {
    /// Whether one of the schemas says the same by these keywords, which say it together.
    pub(super) fn says_alike(&mut self, schemas: &[Id], outer: Id, keys: &[&str]) -> bool {
        schemas.iter().any(|schema| {
            let mut comparison = Comparison::new(self.document(*schema), self.document(outer));
            let (a, b) = (self.value(*schema), self.value(outer));
            let mut keywords = KEYWORDS.iter().filter(|(key, _)| keys.contains(key));
            let found = keywords.all(|(key, shape)| comparison.keyword(key, *shape, a, b));
            let looks = comparison.looks();
            self.step(looks.max(1));
            found
        })
    }

    /// Whether two schemas, of either document, are written alike.
    pub(super) fn alike(&mut self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(known) = self.same.get(&pair) {
            return *known;
        }
        let mut comparison = Comparison::new(self.document(a), self.document(b));
        let found = comparison.alike(self.value(a), self.value(b));
        let looks = comparison.looks();
        self.step(looks);
        self.same.insert(pair, found);
        found
    }
}
