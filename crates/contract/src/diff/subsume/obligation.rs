use serde_json::Value;

use super::case::{Case, Known};
use super::mask::Mask;
use super::{Id, Prover};

/// What is to be shown so that a case lies within a schema.
pub(super) enum Obligation<'a> {
    /// What is known of the case does not give it.
    Unmet { key: &'static str, what: Unmet },
    /// A part of the value, or the value in a narrower case, lies within a schema.
    Within { case: Case<'a>, schema: Id, part: Part },
    /// Within one of several schemas; `alone`: and in no other.
    OneOf { case: Case<'a>, key: &'static str, options: Vec<Id>, alone: bool },
    /// No value is of this case.
    Empty { case: Case<'a>, key: &'static str },
}

/// A value, as a phrase, that the case may hold and the schema may not.
pub(super) enum Unmet {
    /// Such as "a number above 25".
    Phrase(String),
    /// A property that is required.
    Required(String),
    /// Nothing of this keyword can be decided.
    Undecided,
}

/// Which part of a value, for a sentence.
pub(super) enum Part {
    Whole,
    Property(String),
    OtherProperties,
    Items,
    Names,
}

/// Keywords with those that they say something together with. Where a schema that the value fits says the same, nothing
/// is left to show.
const GROUPS: &[(&str, &[&str])] = &[
    ("enum", &["enum"]),
    ("const", &["const"]),
    ("patternProperties", &["patternProperties"]),
    ("additionalProperties", &["properties", "patternProperties", "additionalProperties"]),
    ("oneOf", &["oneOf"]),
    ("not", &["not"]),
    ("if", &["if", "then", "else"]),
    ("contains", &["contains", "minContains", "maxContains"]),
    ("propertyNames", &["propertyNames"]),
    ("dependentSchemas", &["dependentSchemas"]),
    ("dependencies", &["dependencies"]),
    ("additionalItems", &["additionalItems", "items", "prefixItems"]),
    ("unevaluatedProperties", &EVALUATING),
    ("unevaluatedItems", &EVALUATING),
];

/// All that looks at parts of a value.
const EVALUATING: [&str; 20] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "prefixItems",
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
];

impl<'a> Prover<'a> {
    /// All that is to be shown, in the order of the schema.
    pub(super) fn obligations(
        &mut self,
        known: &Known<'a>,
        case: &Case<'a>,
        outer: Id,
    ) -> Vec<Obligation<'a>> {
        let Value::Object(members) = self.value(outer) else { return Vec::new() };
        let mut todo = Vec::new();
        self.step(members.len());
        self.step(members.len().saturating_mul(known.schemas.len()));
        for (key, value) in members {
            let together = GROUPS.iter().find(|(first, _)| first == key).map_or(&[][..], |(_, keys)| keys);
            if !together.is_empty() && self.says_alike(&known.schemas, outer, together) {
                continue;
            }
            match key.as_str() {
                "type" => {
                    let lost = known.mask.without(Mask::of_type(value));
                    if !lost.is_none() {
                        todo.push(Obligation::unmet("type", format!("a value that is {}", lost.words())));
                    }
                }
                "enum" | "const" => self.listed(known, outer, key == "const", &mut todo),
                "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf"
                    if known.mask.any(Mask::NUMBER) =>
                {
                    self.number(known, outer, key, &mut todo);
                }
                "minLength" | "maxLength" | "pattern" if known.mask.any(Mask::STRING) => {
                    self.string(known, value, key, &mut todo);
                }
                "$ref" | "$dynamicRef" | "allOf" | "anyOf" | "oneOf" | "not" | "if" => {
                    self.in_place(case, outer, key, &mut todo);
                }
                "required"
                | "minProperties"
                | "maxProperties"
                | "properties"
                | "patternProperties"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "dependentRequired"
                | "dependentSchemas"
                | "dependencies"
                    if known.mask.any(Mask::OBJECT) =>
                {
                    self.object(known, case, outer, key, &mut todo);
                }
                "minItems" | "maxItems" | "uniqueItems" | "prefixItems" | "items" | "unevaluatedItems"
                | "contains"
                    if known.mask.any(Mask::ARRAY) =>
                {
                    self.array(known, outer, key, &mut todo);
                }
                "additionalItems" => {
                    todo.push(Obligation::Unmet { key: "additionalItems", what: Unmet::Undecided })
                }
                // `then` and `else` with `if`, `minContains` and `maxContains` with `contains`; the rest says nothing
                // about values.
                _ => {}
            }
        }
        todo
    }
}

impl Obligation<'_> {
    pub(super) fn unmet(key: &'static str, phrase: impl Into<String>) -> Self {
        Self::Unmet { key, what: Unmet::Phrase(phrase.into()) }
    }
}
