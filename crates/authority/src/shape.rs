//! What a contract's JSON Schema says of the types of its arguments, as far as Cedar can know it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

/// Schema nodes that are looked at; what lies beyond is of unknown type.
const BUDGET: usize = 10_000;
const MAX_DEPTH: usize = 32;

/// The Cedar type of a JSON value, where its schema fixes one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The schema allows several types or none that Cedar has: a policy that reads it cannot be validated.
    #[default]
    Unknown,
    /// `null` alone: never in the context.
    Null,
    /// `boolean`.
    Bool,
    /// `integer`.
    Long,
    /// `number`: always a decimal, whether it is written `5` or `5.0`.
    Decimal,
    /// `string`.
    Text,
    /// `array` of one type.
    Set(Box<Shape>),
    /// `object`.
    Record {
        /// The declared members.
        members: BTreeMap<String, Member>,
        /// Whether members that are not declared are allowed.
        open: bool,
    },
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) shape: Shape,
    /// Always there: required, and not allowed to be `null`, which counts as absent.
    pub(crate) required: bool,
}

/// What a contract says of the type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// It has one type.
    Typed,
    /// It is declared and may have several.
    AnyType,
    /// It is not declared, but allowed.
    Undeclared,
    /// It is never there.
    Absent,
}

impl Shape {
    /// The shape of the values that the schema allows.
    pub(crate) fn of(schema: &Value) -> Self {
        Reader { root: schema, budget: BUDGET }.read(schema, 0).0
    }

    /// The shape of the arguments of a prompt, of which `arguments` is the list in its contract. They are texts; what
    /// the list does not name may be sent all the same.
    pub(crate) fn of_prompt(arguments: &Value) -> Self {
        let argument = |argument: &Value| {
            let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
            let name = argument.get("name").and_then(Value::as_str)?.to_owned();
            Some((name, Member { shape: Self::Text, required }))
        };
        let members = arguments.as_array().into_iter().flatten().filter_map(argument).collect();
        Self::Record { members, open: true }
    }

    /// The shape of the variables of a template, all of which a matching URI has.
    pub(crate) fn of_variables<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let text = |name: &str| (name.to_owned(), Member { shape: Self::Text, required: true });
        Self::Record { members: names.map(text).collect(), open: false }
    }

    /// The shape of an object that may lack any of its members.
    pub(crate) fn partial(&self) -> Self {
        match self {
            Self::Record { members, open } => {
                let optional = |member: &Member| Member { shape: member.shape.clone(), required: false };
                let members = members.iter().map(|(name, member)| (name.clone(), optional(member))).collect();
                Self::Record { members, open: *open }
            }
            other => other.clone(),
        }
    }

    /// The shape of a member of an object of this shape.
    pub(crate) fn member(&self, name: &str) -> &Self {
        match self {
            Self::Record { members, .. } => members.get(name).map_or(&Self::Unknown, |member| &member.shape),
            _ => &Self::Unknown,
        }
    }

    /// The shape of an element of an array of this shape.
    pub(crate) fn element(&self) -> &Self {
        match self {
            Self::Set(element) => element,
            _ => &Self::Unknown,
        }
    }

    /// What the contract says of the type of a value below this one.
    pub(crate) fn certainty(&self, path: &[String]) -> Certainty {
        let Some((name, rest)) = path.split_first() else {
            return if matches!(self, Self::Unknown) { Certainty::AnyType } else { Certainty::Typed };
        };
        match self {
            Self::Record { members, open } => match members.get(name) {
                Some(member) => member.shape.certainty(rest),
                None if *open => Certainty::Undeclared,
                None => Certainty::Absent,
            },
            Self::Unknown => Certainty::AnyType,
            _ => Certainty::Typed,
        }
    }

    /// The type in Cedar's JSON schema format; `None` where it is unknown. Members of unknown type are left out.
    pub(crate) fn cedar_type(&self) -> Option<Value> {
        Some(match self {
            Self::Unknown | Self::Null => return None,
            Self::Bool => json!({"type": "Boolean"}),
            Self::Long => json!({"type": "Long"}),
            Self::Decimal => json!({"type": "Extension", "name": "decimal"}),
            Self::Text => json!({"type": "String"}),
            Self::Set(element) => json!({"type": "Set", "element": element.cedar_type()?}),
            Self::Record { members, .. } => {
                let attributes: Map<String, Value> = members
                    .iter()
                    .filter_map(|(name, member)| {
                        let mut kind = member.shape.cedar_type()?;
                        kind.as_object_mut()?.insert("required".to_owned(), member.required.into());
                        Some((name.clone(), kind))
                    })
                    .collect();
                json!({"type": "Record", "attributes": attributes})
            }
        })
    }
}

/// Reads schemas; the flag beside a shape says whether `null` is allowed.
struct Reader<'a> {
    root: &'a Value,
    budget: usize,
}

const UNKNOWN: (Shape, bool) = (Shape::Unknown, true);

impl Reader<'_> {
    fn read(&mut self, schema: &Value, depth: usize) -> (Shape, bool) {
        let (Some(schema), Some(budget)) = (schema.as_object(), self.budget.checked_sub(1)) else {
            return UNKNOWN;
        };
        self.budget = budget;
        if depth >= MAX_DEPTH {
            return UNKNOWN;
        }
        if let Some(reference) = schema.get("$ref") {
            let root = self.root;
            let target = reference.as_str().and_then(|r| r.strip_prefix('#')).and_then(|p| root.pointer(p));
            return target.map_or(UNKNOWN, |target| self.read(target, depth + 1));
        }
        match schema.get("type") {
            Some(Value::String(kind)) => (self.typed(kind, schema, depth), kind == "null"),
            Some(Value::Array(kinds)) => self.one_of_types(kinds, schema, depth),
            Some(_) => UNKNOWN,
            None => self.untyped(schema, depth),
        }
    }

    fn typed(&mut self, kind: &str, schema: &Map<String, Value>, depth: usize) -> Shape {
        match kind {
            "null" => Shape::Null,
            "boolean" => Shape::Bool,
            "integer" => Shape::Long,
            "number" => Shape::Decimal,
            "string" => Shape::Text,
            "array" if !schema.contains_key("prefixItems") => {
                match schema.get("items").map_or(Shape::Unknown, |items| self.read(items, depth + 1).0) {
                    Shape::Unknown => Shape::Unknown,
                    element => Shape::Set(Box::new(element)),
                }
            }
            "object" => Shape::Record {
                members: self.members(schema, depth),
                open: schema.get("additionalProperties") != Some(&Value::Bool(false))
                    || schema.contains_key("patternProperties"),
            },
            _ => Shape::Unknown,
        }
    }

    fn members(&mut self, schema: &Map<String, Value>, depth: usize) -> BTreeMap<String, Member> {
        let required = |name: &str| {
            let names = schema.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return BTreeMap::new();
        };
        properties
            .iter()
            .map(|(name, property)| {
                let (shape, nullable) = self.read(property, depth + 1);
                (name.clone(), Member { shape, required: required(name) && !nullable })
            })
            .collect()
    }

    fn one_of_types(&mut self, kinds: &[Value], schema: &Map<String, Value>, depth: usize) -> (Shape, bool) {
        let nullable = kinds.iter().any(|kind| kind == "null");
        let mut others: Vec<&str> =
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
        if others.contains(&"number") {
            others.retain(|kind| *kind != "integer");
        }
        match others.as_slice() {
            [kind] => (self.typed(kind, schema, depth), nullable),
            _ => UNKNOWN,
        }
    }

    fn untyped(&mut self, schema: &Map<String, Value>, depth: usize) -> (Shape, bool) {
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let candidates: Vec<(Shape, bool)> = if let Some(alternatives) = alternatives {
            alternatives.iter().map(|alternative| self.read(alternative, depth + 1)).collect()
        } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            values.iter().map(of_value).collect()
        } else if let Some(value) = schema.get("const") {
            vec![of_value(value)]
        } else {
            return UNKNOWN;
        };
        let nullable = candidates.iter().any(|(_, nullable)| *nullable);
        let mut shapes = candidates.iter().map(|(shape, _)| shape).filter(|shape| **shape != Shape::Null);
        match shapes.next() {
            Some(first) if shapes.all(|other| other == first) => (first.clone(), nullable),
            _ => UNKNOWN,
        }
    }
}

/// The shape of one value of an `enum` or `const`.
fn of_value(value: &Value) -> (Shape, bool) {
    match value {
        Value::Null => (Shape::Null, true),
        Value::Bool(_) => (Shape::Bool, false),
        Value::Number(number) if number.is_i64() => (Shape::Long, false),
        Value::Number(_) => (Shape::Decimal, false),
        Value::String(_) => (Shape::Text, false),
        Value::Array(_) | Value::Object(_) => (Shape::Unknown, false),
    }
}
