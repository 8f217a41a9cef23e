use std::collections::HashSet;

use serde_json::Value;

use super::case::{Known, count};
use super::mask::Mask;
use super::numbers::{Bound, End, Num};
use super::obligation::Obligation;
use super::{Id, Prover};
use crate::canonical::{same_value, whole};
use crate::diff::show::{self, quoted};

impl<'a> Prover<'a> {
    /// `enum` and `const`.
    pub(super) fn listed(
        &mut self,
        known: &Known<'a>,
        outer: Id,
        only: bool,
        todo: &mut Vec<Obligation<'a>>,
    ) {
        let key = if only { "const" } else { "enum" };
        let Some(values) = self.finite(known) else {
            let phrase =
                if only { "a value other than the only one listed" } else { "a value that is not listed" };
            todo.push(Obligation::unmet(key, phrase));
            return;
        };
        let listed = match self.value(outer).get(key) {
            Some(Value::Array(listed)) if !only => listed.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        let texts: HashSet<&str> = listed.iter().filter_map(Value::as_str).collect();
        let numbers: HashSet<i128> = listed.iter().filter_map(Value::as_number).filter_map(whole).collect();
        let mut missing = Vec::new();
        for value in &values {
            let found = match value {
                Value::String(text) => texts.contains(text.as_str()),
                Value::Number(number) if whole(number).is_some_and(|whole| numbers.contains(&whole)) => true,
                _ => {
                    self.step(listed.len());
                    !self.spent() && listed.iter().any(|other| same_value(other, value))
                }
            };
            if !found {
                missing.push(value.to_string());
            }
        }
        if !missing.is_empty() {
            todo.push(Obligation::unmet(key, format!("the value {}", show::listed(&missing))));
        }
    }

    /// Ranges and multiples.
    pub(super) fn number(&mut self, known: &Known<'a>, outer: Id, key: &str, todo: &mut Vec<Obligation<'a>>) {
        let whole = !known.mask.any(Mask::FRACTION);
        let Some(limit) = self.value(outer).get(key) else { return };
        if key == "multipleOf" {
            let wanted = Num::of_value(limit);
            let multiple = |id: &Id| {
                let has = self.value(*id).get("multipleOf").and_then(Num::of_value);
                has.zip(wanted).is_some_and(|(has, wanted)| has.multiple_of(wanted))
            };
            let any_whole = whole && wanted == Some(Num::Whole(1));
            if !any_whole && !known.schemas.iter().any(multiple) {
                todo.push(Obligation::unmet(
                    "multipleOf",
                    format!("a number that is no multiple of {limit}"),
                ));
            }
            return;
        }
        let (key, end, open, words) = match key {
            "minimum" => ("minimum", End::Low, false, "below"),
            "exclusiveMinimum" => ("exclusiveMinimum", End::Low, true, "not above"),
            "maximum" => ("maximum", End::High, false, "above"),
            _ => ("exclusiveMaximum", End::High, true, "not below"),
        };
        let wanted = Num::of_value(limit).map(|at| Bound { at, open });
        let wanted = wanted.map(|bound| if whole { bound.of_whole(end) } else { bound });
        let has = self.end(known, end, whole);
        if !has.zip(wanted).is_some_and(|(has, wanted)| has.within(wanted, end)) {
            todo.push(Obligation::unmet(key, format!("a number {words} {limit}")));
        }
    }

    /// Lengths and patterns of texts.
    pub(super) fn string(
        &mut self,
        known: &Known<'a>,
        value: &Value,
        key: &str,
        todo: &mut Vec<Obligation<'a>>,
    ) {
        match key {
            "minLength" => {
                if count(value).is_none_or(|wanted| self.least(known, "minLength") < wanted) {
                    todo.push(Obligation::unmet(
                        "minLength",
                        format!("a text shorter than {value} characters"),
                    ));
                }
            }
            "maxLength" => {
                let has = self.most(known, "maxLength");
                if has.zip(count(value)).is_none_or(|(has, wanted)| has > wanted) {
                    todo.push(Obligation::unmet(
                        "maxLength",
                        format!("a text longer than {value} characters"),
                    ));
                }
            }
            _ => {
                if !known.schemas.iter().any(|id| self.value(*id).get("pattern") == Some(value)) {
                    let pattern = quoted(value.as_str().unwrap_or_default());
                    todo.push(Obligation::unmet("pattern", format!("a text that does not match {pattern}")));
                }
            }
        }
    }
}
