//! What a schema says of a value beside its name: type, bounds, members, words.

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::Value;

/// The most members of an enumeration that are looked at.
const MAX_MEMBERS: usize = 256;

/// The most types of a list that are read: there are seven.
const MAX_TYPES: usize = 16;

/// Types of JSON Schema, as bits; `null` is none of them.
pub(crate) type Types = u8;
pub(crate) const STRING: Types = 1;
pub(crate) const INTEGER: Types = 2;
/// Whole numbers have this bit alone where a schema says `integer`.
pub(crate) const NUMBER: Types = 4;
pub(crate) const BOOLEAN: Types = 8;
pub(crate) const ARRAY: Types = 16;
pub(crate) const OBJECT: Types = 32;

const BOUNDS: [&str; 8] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// What the schemas of one place say, all taken together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facets<'a> {
    /// Empty where nothing is said.
    pub(crate) types: Types,
    /// Of an array, its items.
    pub(crate) items: Types,
    pub(crate) members: Vec<&'a Value>,
    pub(crate) pattern: Option<&'a str>,
    pub(crate) format: Option<&'a str>,
    pub(crate) default: Option<&'a Value>,
    pub(crate) description: Option<&'a str>,
    bounds: [Option<f64>; 8],
    spellings: OnceCell<HashSet<String>>,
}

impl<'a> Facets<'a> {
    pub(crate) fn of(views: &[&'a Value]) -> Self {
        let mut facets = Self::default();
        for view in views {
            facets.types |= types(view.get("type"));
            facets.items |= types(view.get("items").and_then(|items| items.get("type")));
            if let Some(Value::Array(members)) = view.get("enum") {
                let room = MAX_MEMBERS.saturating_sub(facets.members.len());
                facets.members.extend(members.iter().filter(|member| !member.is_null()).take(room));
            }
            if facets.members.len() < MAX_MEMBERS {
                facets.members.extend(view.get("const").filter(|member| !member.is_null()));
            }
            let text = |key: &str| view.get(key).and_then(Value::as_str);
            facets.pattern = facets.pattern.or(text("pattern"));
            facets.format = facets.format.or(text("format"));
            facets.description = facets.description.or(text("description")).filter(|text| !text.is_empty());
            facets.default = facets.default.or(view.get("default")).filter(|value| !value.is_null());
            for (bound, key) in facets.bounds.iter_mut().zip(BOUNDS) {
                *bound = bound.or(view.get(key).and_then(Value::as_f64));
            }
        }
        if facets.types == 0 {
            facets.types = facets.members.iter().fold(0, |types, member| types | type_of(member));
        }
        facets
    }

    /// How well values of one fit the other, by type alone: from 0 to 1.
    pub(crate) fn same_types(&self, other: &Self) -> f64 {
        let (a, b) = (self.types, other.types);
        let numbers = INTEGER | NUMBER;
        let scalar_of = |one: &Self, many: &Self| {
            many.types == ARRAY && one.types & ARRAY == 0 && (many.items == 0 || one.types & many.items != 0)
        };
        if a == 0 || b == 0 {
            0.93
        } else if a == b && a == ARRAY && self.items & other.items == 0 && self.items != 0 && other.items != 0
        {
            0.5
        } else if a == b {
            1.0
        } else if a & b != 0 || (a & numbers != 0 && b & numbers != 0) {
            0.96
        } else if scalar_of(self, other) || scalar_of(other, self) {
            0.87
        } else if (a | b) & !(STRING | numbers) == 0 {
            0.78
        } else {
            0.2
        }
    }

    /// How alike the constraints are: `None` where neither says anything.
    pub(crate) fn same_constraints(&self, other: &Self) -> Option<f64> {
        let mut marks = Vec::new();
        let mut mark = |a: bool, b: bool, same: bool| match (a, b) {
            (false, false) => {}
            (true, true) => marks.push(if same { 1.0 } else { 0.0 }),
            _ => marks.push(0.5),
        };
        mark(self.pattern.is_some(), other.pattern.is_some(), self.pattern == other.pattern);
        mark(self.format.is_some(), other.format.is_some(), self.format == other.format);
        let scalar = |value: Option<&Value>| value.filter(|value| is_scalar(value)).cloned();
        let (a, b) = (scalar(self.default), scalar(other.default));
        mark(a.is_some(), b.is_some(), a == b);
        for (a, b) in self.bounds.iter().zip(&other.bounds) {
            mark(a.is_some(), b.is_some(), a == b);
        }
        if !(self.members.is_empty() && other.members.is_empty()) {
            marks.push(self.same_members(other).unwrap_or(0.5));
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        (!marks.is_empty()).then(|| marks.iter().sum::<f64>() / marks.len() as f64)
    }

    fn spellings(&self) -> &HashSet<String> {
        self.spellings.get_or_init(|| {
            let scalars = self.members.iter().filter(|member| is_scalar(member));
            scalars.map(|member| spelling(member)).collect()
        })
    }

    /// How many members of the enumerations are shared; `None` where one has none.
    pub(crate) fn same_members(&self, other: &Self) -> Option<f64> {
        if self.members.is_empty() || other.members.is_empty() {
            return None;
        }
        let (a, b) = (self.spellings(), other.spellings());
        let most = a.len().max(b.len());
        #[expect(clippy::cast_precision_loss, reason = "at most 256")]
        (most > 0).then(|| a.intersection(b).count() as f64 / most as f64)
    }

    /// How much equal constraints say about being the same property: those that few properties share.
    pub(crate) fn telling(&self, other: &Self) -> f64 {
        let long_pattern =
            self.pattern.is_some_and(|pattern| pattern.len() > 5) && self.pattern == other.pattern;
        let members = self.same_members(other).filter(|_| self.members.len() > 2).unwrap_or(0.0);
        let bounds = self.bounds.iter().zip(&other.bounds).filter(|(a, b)| a.is_some() && a == b).count();
        let formats = self.format.is_some() && self.format == other.format;
        let mut told: f64 = 0.0;
        if long_pattern {
            told = told.max(0.6);
        }
        told = told.max(0.6 * members);
        if bounds >= 2 {
            told = told.max(0.35);
        }
        if formats {
            told = told.max(0.2);
        }
        told
    }

    /// Whether what a value means cannot be the same.
    pub(crate) fn clash(&self, other: &Self) -> bool {
        let formats = self.format.is_some() && other.format.is_some() && self.format != other.format;
        let members = self.same_members(other).is_some_and(|share| share == 0.0);
        // From a share to a percentage, or the like.
        let most = |facets: &Self| facets.bounds.get(1).copied().flatten();
        let scales = match (most(self), most(other)) {
            (Some(a), Some(b)) if self.types == NUMBER => (a <= 1.0) != (b <= 1.0),
            _ => false,
        };
        formats || members || scales
    }
}

/// The types that a `type` names.
pub(crate) fn types(named: Option<&Value>) -> Types {
    match named {
        Some(Value::String(name)) => bit(name),
        Some(Value::Array(names)) => {
            names.iter().take(MAX_TYPES).filter_map(Value::as_str).fold(0, |types, name| types | bit(name))
        }
        _ => 0,
    }
}

fn bit(name: &str) -> Types {
    match name {
        "string" => STRING,
        "integer" => INTEGER,
        "number" => NUMBER,
        "boolean" => BOOLEAN,
        "array" => ARRAY,
        "object" => OBJECT,
        _ => 0,
    }
}

/// The type of a value; none for null.
pub(crate) fn type_of(value: &Value) -> Types {
    match value {
        Value::Null => 0,
        Value::Bool(_) => BOOLEAN,
        Value::Number(number) if number.is_f64() => NUMBER,
        Value::Number(_) => INTEGER,
        Value::String(_) => STRING,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// A member of an enumeration without its case and separators.
fn spelling(member: &Value) -> String {
    let text = member.as_str().map_or_else(|| member.to_string(), str::to_lowercase);
    text.replace(['_', '-', ' '], "")
}
