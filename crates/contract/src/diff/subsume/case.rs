#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

use super::mask::Mask;
use super::numbers::{Bound, End, Num};
use super::{Id, Prover};

/// What is known of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Case<'a> {
    /// Schemas that it fits, in order.
    fits: Vec<Id>,
    /// Schemas that it does not fit, in order.
    not: Vec<Id>,
    /// Properties that it has, should it be an object.
    present: Vec<&'a str>,
    /// The keywords by which this case was split off.
    split: Vec<Id>,
    mask: Mask,
}

/// What follows from a case.
pub(super) struct Known<'a> {
    /// All schemas that the value fits.
    pub(super) schemas: Vec<Id>,
    pub(super) not: Vec<Id>,
    /// None where there is no such value.
    pub(super) mask: Mask,
    /// The properties that it has, should it be an object.
    pub(super) required: BTreeSet<&'a str>,
    /// Where its values are listed; more may be listed than there are.
    pub(super) listed: Option<&'a [Value]>,
}

impl<'a> Case<'a> {
    pub(super) fn of(fits: impl IntoIterator<Item = Id>) -> Self {
        let mut case = Self {
            fits: fits.into_iter().collect(),
            not: Vec::new(),
            present: Vec::new(),
            split: Vec::new(),
            mask: Mask::ALL,
        };
        case.fits.sort_unstable();
        case.fits.dedup();
        case
    }

    pub(super) fn never() -> Self {
        Self { mask: Mask::NONE, ..Self::of([]) }
    }

    pub(super) fn with(&self, schema: Id) -> Self {
        let mut case = self.clone();
        add(&mut case.fits, schema);
        case
    }

    pub(super) fn without(&self, schema: Id) -> Self {
        let mut case = self.clone();
        add(&mut case.not, schema);
        case
    }

    pub(super) fn with_property(&self, name: &'a str) -> Self {
        let mut case = self.clone();
        add(&mut case.present, name);
        case.mask = case.mask.and(Mask::OBJECT);
        case
    }

    pub(super) fn of_mask(&self, mask: Mask) -> Self {
        Self { mask: self.mask.and(mask), ..self.clone() }
    }

    pub(super) fn split_by(&self, keyword: Id) -> Self {
        let mut case = self.clone();
        add(&mut case.split, keyword);
        case
    }

    pub(super) fn is_split_by(&self, keyword: Id) -> bool {
        self.split.binary_search(&keyword).is_ok()
    }

    /// Whether nothing is known.
    pub(super) fn is_anything(&self) -> bool {
        *self == Self::of([])
    }

    pub(super) fn size(&self) -> usize {
        self.fits.len() + self.not.len()
    }
}

fn add<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(place) = list.binary_search(&item) {
        list.insert(place, item);
    }
}

/// How often what is required may lead to more.
const ROUNDS: usize = 16;

impl<'a> Prover<'a> {
    /// Follows what is in place unconditionally: references, `allOf`, and what the case decides.
    pub(super) fn known(&mut self, case: &Case<'a>) -> Known<'a> {
        let mut known = Known {
            schemas: Vec::new(),
            not: case.not.clone(),
            mask: case.mask,
            required: case.present.iter().copied().collect(),
            listed: None,
        };
        let mut seen = BTreeSet::new();
        let mut waiting = case.fits.clone();
        for _ in 0..ROUNDS {
            while let Some(id) = waiting.pop() {
                if !seen.insert(id) {
                    continue;
                }
                self.step(1);
                self.take(id, case, &mut known, &mut waiting);
            }
            if !self.depends(&mut known, &mut waiting) {
                break;
            }
        }
        for id in &known.not.clone() {
            known.mask = known.mask.without(self.only_type(*id));
        }
        self.impossible(&mut known);
        known
    }

    fn take(&mut self, id: Id, case: &Case<'a>, known: &mut Known<'a>, waiting: &mut Vec<Id>) {
        known.schemas.push(id);
        let (schema, document, outer) = (self.value(id), self.document(id), self.is_outer(id));
        known.mask = known.mask.and(self.mask_of(id));
        for key in ["$ref", "$dynamicRef"] {
            if let Some(target) = document.target(schema, key) {
                waiting.push(self.id(target, outer));
            }
        }
        waiting.extend(self.parts(id, "allOf"));
        known.not.extend(self.part(id, "not"));
        if let Some(condition) = self.part(id, "if") {
            if case.fits.iter().any(|fits| self.alike(*fits, condition)) {
                waiting.extend(self.part(id, "then"));
            } else if case.not.iter().any(|not| self.alike(*not, condition)) {
                waiting.extend(self.part(id, "else"));
            }
        }
        if let Some(Value::Array(names)) = schema.get("required") {
            self.step(names.len());
            known.required.extend(names.iter().filter_map(Value::as_str));
        }
        let listed = match (schema.get("enum"), schema.get("const")) {
            (_, Some(value)) => Some(std::slice::from_ref(value)),
            (Some(Value::Array(values)), None) => Some(values.as_slice()),
            _ => None,
        };
        known.listed = known.listed.into_iter().chain(listed).min_by_key(|values| values.len());
    }

    /// What the properties that the value has bring with them; whether that is new. Schemas count only where it is an
    /// object for sure.
    fn depends(&mut self, known: &mut Known<'a>, waiting: &mut Vec<Id>) -> bool {
        let had = known.required.len();
        let object = known.mask.without(Mask::OBJECT).is_none();
        for id in known.schemas.clone() {
            for key in ["dependentRequired", "dependentSchemas", "dependencies"] {
                let Some(Value::Object(members)) = self.value(id).get(key) else { continue };
                self.step(members.len());
                let outer = self.is_outer(id);
                for (name, value) in members {
                    if !known.required.contains(name.as_str()) {
                        continue;
                    }
                    match value {
                        Value::Array(names) => known.required.extend(names.iter().filter_map(Value::as_str)),
                        schema if object => waiting.push(self.id(schema, outer)),
                        _ => {}
                    }
                }
            }
        }
        let seen = |id: &Id| known.schemas.contains(id);
        waiting.retain(|id| !seen(id));
        known.required.len() != had || !waiting.is_empty()
    }

    /// The types that a schema leaves, as far as they are plain to see. What is chained in place ends: it is usable.
    pub(super) fn mask_of(&mut self, id: Id) -> Mask {
        self.step(1);
        if let Some(found) = self.masks.get(&id) {
            return *found;
        }
        let found = self.plain_mask(id);
        self.masks.insert(id, found);
        found
    }

    fn plain_mask(&mut self, id: Id) -> Mask {
        let schema = match self.value(id) {
            Value::Bool(false) => return Mask::NONE,
            Value::Object(members) => members,
            _ => return Mask::ALL,
        };
        let mut mask = schema.get("type").map_or(Mask::ALL, Mask::of_type);
        let of_all = |values: &[Value]| values.iter().fold(Mask::NONE, |all, v| all.or(Mask::of_value(v)));
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.step(values.len());
            mask = mask.and(of_all(values));
        }
        if let Some(value) = schema.get("const") {
            mask = mask.and(Mask::of_value(value));
        }
        if let Some(number) = schema.get("multipleOf")
            && matches!(Num::of_value(number), Some(Num::Whole(_)))
        {
            mask = mask.without(Mask::FRACTION);
        }
        for key in ["anyOf", "oneOf"] {
            if schema.contains_key(key) {
                let options = self.parts(id, key);
                mask = mask.and(options.into_iter().fold(Mask::NONE, |m, option| m.or(self.mask_of(option))));
            }
        }
        for part in self.parts(id, "allOf") {
            mask = mask.and(self.mask_of(part));
        }
        if let Some(target) = self.document(id).target(self.value(id), "$ref") {
            let target = self.id(target, self.is_outer(id));
            mask = mask.and(self.mask_of(target));
        }
        mask
    }

    /// The types that a schema is all about: it holds every value of them, and no other.
    fn only_type(&self, id: Id) -> Mask {
        let Value::Object(members) = self.value(id) else { return Mask::NONE };
        let asserts = |key: &&String| super::same::KEYWORDS.iter().any(|(known, _)| *known == key.as_str());
        let mut asserting = members.keys().filter(asserts);
        match (asserting.next().map(String::as_str), asserting.next(), members.get("type")) {
            (Some("type"), None, Some(types)) => Mask::of_type(types),
            _ => Mask::NONE,
        }
    }

    /// Takes away the types of which ranges leave no value.
    fn impossible(&mut self, known: &mut Known<'a>) {
        if let (Some(low), Some(high)) = (self.end(known, End::Low, false), self.end(known, End::High, false))
            && low.above(high)
        {
            known.mask = known.mask.without(Mask::NUMBER);
        }
        if let (Some(low), Some(high)) = (self.end(known, End::Low, true), self.end(known, End::High, true))
            && low.above(high)
        {
            known.mask = known.mask.without(Mask::WHOLE);
        }
        for (low, high, mask) in [
            ("minLength", "maxLength", Mask::STRING),
            ("minItems", "maxItems", Mask::ARRAY),
            ("minProperties", "maxProperties", Mask::OBJECT),
        ] {
            if self.least(known, low) > self.most(known, high).unwrap_or(u64::MAX) {
                known.mask = known.mask.without(mask);
            }
        }
    }

    /// The tightest end of the range of numbers.
    pub(super) fn end(&self, known: &Known<'a>, end: End, whole: bool) -> Option<Bound> {
        let bounds = known.schemas.iter().filter_map(|id| Bound::of(self.value(*id), end));
        let tight = |bound: Bound| if whole { bound.of_whole(end) } else { bound };
        bounds.map(tight).reduce(|a, b| if a.within(b, end) { a } else { b })
    }

    /// The greatest of these lower limits of a count; 0 where there is none.
    pub(super) fn least(&self, known: &Known<'a>, key: &str) -> u64 {
        known.schemas.iter().filter_map(|id| count(self.value(*id).get(key)?)).max().unwrap_or(0)
    }

    /// The smallest of these upper limits of a count.
    pub(super) fn most(&self, known: &Known<'a>, key: &str) -> Option<u64> {
        known.schemas.iter().filter_map(|id| count(self.value(*id).get(key)?)).min()
    }
}

/// A length or number of parts; `None` beyond 64 bits.
pub(super) fn count(value: &Value) -> Option<u64> {
    match Num::of_value(value)? {
        Num::Whole(count) => u64::try_from(count).ok(),
        Num::Real(_) => None,
    }
}
