use super::case::{Case, Known};
use super::mask::Mask;
use super::obligation::{Obligation, Part};
use super::{Id, Prover};

/// Alternatives that a case is split by, at most.
const MAX_CASES: usize = 64;

impl<'a> Prover<'a> {
    /// What is checked on the value itself: references and combinations.
    pub(super) fn in_place(&mut self, case: &Case<'a>, outer: Id, key: &str, todo: &mut Vec<Obligation<'a>>) {
        let within =
            |case: &Case<'a>, schema| Obligation::Within { case: case.clone(), schema, part: Part::Whole };
        match key {
            "$ref" | "$dynamicRef" => {
                let target = self.document(outer).target(self.value(outer), key);
                let is_outer = self.is_outer(outer);
                match target {
                    Some(target) => todo.push(within(case, self.id(target, is_outer))),
                    None => todo.push(Obligation::unmet("$ref", "a value")),
                }
            }
            "allOf" => todo.extend(self.parts(outer, key).into_iter().map(|part| within(case, part))),
            "anyOf" => {
                let options = self.parts(outer, key);
                todo.push(Obligation::OneOf { case: case.clone(), key: "anyOf", options, alone: false });
            }
            "oneOf" => {
                let options = self.parts(outer, key);
                todo.push(Obligation::OneOf { case: case.clone(), key: "oneOf", options, alone: true });
            }
            "not" => {
                if let Some(part) = self.part(outer, key) {
                    todo.push(Obligation::Empty { case: case.with(part), key: "not" });
                }
            }
            _ => {
                let Some(condition) = self.part(outer, "if") else { return };
                if let Some(then) = self.part(outer, "then") {
                    todo.push(within(&case.with(condition), then));
                }
                if let Some(other) = self.part(outer, "else") {
                    todo.push(within(&case.without(condition), other));
                }
            }
        }
    }

    /// Narrower cases that together hold every value of this one; `None` where there is nothing to split by.
    pub(super) fn split(&mut self, known: &Known<'a>, case: &Case<'a>, outer: Id) -> Option<Vec<Case<'a>>> {
        for id in &known.schemas {
            for key in ["anyOf", "oneOf"] {
                let Some(keyword) = self.part(*id, key) else { continue };
                if case.is_split_by(keyword) {
                    continue;
                }
                let options = self.parts(*id, key);
                if options.len() > MAX_CASES {
                    continue;
                }
                let split = case.split_by(keyword);
                return Some(options.iter().map(|option| split.with(*option)).collect());
            }
        }
        for id in &known.schemas {
            let Some(condition) = self.part(*id, "if") else { continue };
            let schema = self.value(*id);
            if case.is_split_by(condition) || (schema.get("then").is_none() && schema.get("else").is_none()) {
                continue;
            }
            let split = case.split_by(condition);
            return Some(vec![split.with(condition), split.without(condition)]);
        }
        let outer = self.value(outer);
        if !["anyOf", "oneOf", "not", "if", "$ref", "enum"].iter().any(|key| outer.get(key).is_some()) {
            return None;
        }
        let masks: Vec<Mask> = Mask::EACH.into_iter().filter(|mask| known.mask.any(*mask)).collect();
        (masks.len() > 1).then(|| masks.into_iter().map(|mask| case.of_mask(mask)).collect())
    }

    /// Whether the case is shown to lie within one of the schemas; `alone`: and outside of all others.
    pub(super) fn within_one(&mut self, case: &Case<'a>, options: &[Id], alone: bool) -> bool {
        match self.candidates(case, options).as_slice() {
            [only] => self.proves(case, *only),
            many => !alone && many.iter().any(|option| self.proves(case, *option)),
        }
    }

    /// Of alternatives, those that may hold a value of the case.
    pub(super) fn candidates(&mut self, case: &Case<'a>, options: &[Id]) -> Vec<Id> {
        let mut found = options.to_vec();
        found.retain(|option| !self.is_empty(&case.with(*option)));
        found
    }
}
