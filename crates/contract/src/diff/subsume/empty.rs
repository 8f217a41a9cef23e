use serde_json::Value;

use super::case::{Case, Known};
use super::mask::Mask;
use super::{NOTHING, Prover};

impl<'a> Prover<'a> {
    /// Whether it is shown that there is no value of this case.
    pub(super) fn is_empty(&mut self, case: &Case<'a>) -> bool {
        self.step(case.size().max(1));
        if let Some(found) = self.empty.get(case) {
            return *found;
        }
        if self.spent() || self.is_too_deep() {
            return false;
        }
        // What is met again is not shown.
        self.empty.insert(case.clone(), false);
        let above = std::mem::replace(&mut self.rest, NOTHING);
        self.depth += 1;
        let found = self.has_none(case);
        self.depth -= 1;
        let rest = std::mem::replace(&mut self.rest, above);
        if !found || rest == NOTHING {
            self.empty.insert(case.clone(), found);
        } else {
            self.rest = above.and(rest);
            self.empty.remove(case);
        }
        found
    }

    fn has_none(&mut self, case: &Case<'a>) -> bool {
        let mut known = self.known(case);
        if known.mask.is_none() {
            return true;
        }
        if let Some(values) = self.finite(&known) {
            return values.iter().all(|value| self.refuted(&known, value));
        }
        if known.mask.any(Mask::OBJECT) && self.no_object(&known) {
            known.mask = known.mask.without(Mask::OBJECT);
        }
        if known.mask.any(Mask::ARRAY) && self.no_array(&known) {
            known.mask = known.mask.without(Mask::ARRAY);
        }
        if known.mask.is_none() {
            return true;
        }
        let narrowed = case.of_mask(known.mask);
        if known.not.iter().any(|not| self.proves(&narrowed, *not)) {
            return true;
        }
        for id in &known.schemas {
            for key in ["anyOf", "oneOf"] {
                let Some(keyword) = self.part(*id, key) else { continue };
                if case.is_split_by(keyword) {
                    continue;
                }
                let split = narrowed.split_by(keyword);
                if self.parts(*id, key).into_iter().all(|option| self.is_empty(&split.with(option))) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the validator itself says that the value is not of the case.
    fn refuted(&mut self, known: &Known<'a>, value: &Value) -> bool {
        known.schemas.iter().any(|schema| self.fits(*schema, value) == Some(false))
            || known.not.iter().any(|schema| self.fits(*schema, value) == Some(true))
    }

    /// A property that has to be there can have no value.
    fn no_object(&mut self, known: &Known<'a>) -> bool {
        self.level += 1;
        let found = known.required.iter().any(|name| {
            let property = self.property(known, name);
            self.is_empty(&property)
        });
        self.level -= 1;
        found
    }

    /// There have to be more items than there can be, or the first can have no value.
    fn no_array(&mut self, known: &Known<'a>) -> bool {
        let least = self.least(known, "minItems");
        if least > self.longest(known).unwrap_or(u64::MAX) {
            return true;
        }
        self.level += 1;
        let found = least > 0 && {
            let first = self.item(known, 0);
            self.is_empty(&first)
        };
        self.level -= 1;
        found
    }
}
