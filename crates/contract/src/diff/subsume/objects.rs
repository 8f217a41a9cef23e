use std::collections::BTreeSet;

use serde_json::Value;

use super::case::{Case, Known, count};
use super::obligation::{Obligation, Part, Unmet};
use super::{Id, Prover};
use crate::diff::show::quoted;

/// Combinations of what may be known of one property; beyond them less is taken as known.
const MAX_COMBINATIONS: usize = 64;

impl<'a> Prover<'a> {
    pub(super) fn object(
        &mut self,
        known: &Known<'a>,
        case: &Case<'a>,
        outer: Id,
        key: &str,
        todo: &mut Vec<Obligation<'a>>,
    ) {
        let Some(value) = self.value(outer).get(key) else { return };
        match key {
            "required" => {
                for name in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !known.required.contains(name) {
                        todo.push(Obligation::Unmet {
                            key: "required",
                            what: Unmet::Required(name.to_owned()),
                        });
                    }
                }
            }
            "minProperties" => {
                let has = self.least(known, key).max(known.required.len() as u64);
                if count(value).is_none_or(|wanted| has < wanted) {
                    todo.push(Obligation::unmet(
                        "minProperties",
                        format!("an object with fewer than {value} properties"),
                    ));
                }
            }
            "maxProperties" => {
                let closed = self.closed(known);
                let has = [self.most(known, key), closed].into_iter().flatten().min();
                if has.zip(count(value)).is_none_or(|(has, wanted)| has > wanted) {
                    todo.push(Obligation::unmet(
                        "maxProperties",
                        format!("an object with more than {value} properties"),
                    ));
                }
            }
            "properties" => {
                for (name, schema) in self.named_parts(outer, key) {
                    let part = Part::Property(name.to_owned());
                    todo.push(Obligation::Within { case: self.property(known, name), schema, part });
                }
            }
            "patternProperties" => {
                for (pattern, schema) in self.named_parts(outer, key) {
                    self.matching(known, pattern, schema, todo);
                }
            }
            "additionalProperties" => {
                let Some(schema) = self.part(outer, key) else { return };
                let named = self.named_parts(outer, "properties").into_iter().map(|(name, _)| name).collect();
                let patterns: Vec<&str> =
                    self.named_parts(outer, "patternProperties").into_iter().map(|(name, _)| name).collect();
                self.other(known, &named, &patterns, schema, todo);
            }
            "unevaluatedProperties" => {
                let Some(schema) = self.part(outer, key) else { return };
                match self.evaluated_names(outer) {
                    Some(names) if names.all => {}
                    Some(names) => {
                        let named = names.named.iter().copied().collect();
                        self.other(known, &named, &names.patterns, schema, todo);
                    }
                    None if self.is_true(schema) => {}
                    None => {
                        todo.push(Obligation::Unmet { key: "unevaluatedProperties", what: Unmet::Undecided })
                    }
                }
            }
            "propertyNames" => self.names(known, outer, todo),
            _ => self.dependent(known, case, outer, key, todo),
        }
    }

    /// Whether it is plain that every value fits.
    pub(super) fn is_true(&self, schema: Id) -> bool {
        match self.value(schema) {
            Value::Bool(fits) => *fits,
            Value::Object(members) => members.is_empty(),
            _ => false,
        }
    }

    /// How many properties there can be, where all are named.
    fn closed(&mut self, known: &Known<'a>) -> Option<u64> {
        let mut fewest: Option<u64> = None;
        for id in &known.schemas {
            let schema = self.value(*id);
            if schema.get("additionalProperties") == Some(&Value::Bool(false))
                && schema.get("patternProperties").is_none()
            {
                let named = self.named_parts(*id, "properties").len() as u64;
                fewest = Some(fewest.map_or(named, |few| few.min(named)));
            }
        }
        fewest
    }

    /// What is known of one property, should it be there.
    pub(super) fn property(&mut self, known: &Known<'a>, name: &str) -> Case<'a> {
        if self.most(known, "maxProperties") == Some(0) {
            return Case::never();
        }
        let mut fits = Vec::new();
        for id in &known.schemas {
            self.step(1);
            let (mut looked_at, mut doubtful) = (false, false);
            if let Some(properties) = self.part(*id, "properties")
                && let Some(schema) = self.part(properties, name)
            {
                fits.push(schema);
                looked_at = true;
            }
            for (pattern, schema) in self.named_parts(*id, "patternProperties") {
                match self.matches(pattern, name) {
                    Some(true) => {
                        fits.push(schema);
                        looked_at = true;
                    }
                    Some(false) => {}
                    None => doubtful = true,
                }
            }
            if looked_at || doubtful {
                continue;
            }
            if let Some(schema) = self.part(*id, "additionalProperties") {
                fits.push(schema);
            } else if let Some(schema) = self.part(*id, "unevaluatedProperties")
                && let Some(names) = self.evaluated_names(*id)
                && !names.all
                && !names.named.contains(&name)
                && names.patterns.iter().all(|pattern| self.matches(pattern, name) == Some(false))
            {
                fits.push(schema);
            }
        }
        for id in &known.schemas {
            if let Some(names) = self.part(*id, "propertyNames")
                && self.fits(names, &Value::from(name)) == Some(false)
            {
                return Case::never();
            }
        }
        Case::of(fits)
    }

    /// What may be known of a property that none of the schemas names: each of these cases. It matches `pattern`, and
    /// none of `excluded`.
    fn unnamed(&mut self, known: &Known<'a>, pattern: Option<&str>, excluded: &[&str]) -> Vec<Case<'a>> {
        if self.most(known, "maxProperties") == Some(0) {
            return Vec::new();
        }
        let mut cases: Vec<Vec<Id>> = vec![Vec::new()];
        for id in &known.schemas {
            self.step(1);
            let patterns = self.named_parts(*id, "patternProperties");
            let mut options: Vec<Option<Id>> = Vec::new();
            if let Some((_, schema)) = patterns.iter().find(|(one, _)| Some(*one) == pattern) {
                options.push(Some(*schema));
            } else {
                let may = patterns.iter().filter(|(one, _)| !excluded.contains(one));
                options.extend(may.map(|(_, schema)| Some(*schema)));
                if let Some(schema) = self.part(*id, "additionalProperties") {
                    options.push(Some(schema));
                } else if let Some(schema) = self.part(*id, "unevaluatedProperties")
                    && let Some(names) = self.evaluated_names(*id)
                    && !names.all
                {
                    options.push(Some(schema));
                    if names.patterns.iter().any(|one| !excluded.contains(one)) {
                        options.push(None);
                    }
                } else {
                    options.push(None);
                }
            }
            if options.contains(&None) || cases.len().saturating_mul(options.len()) > MAX_COMBINATIONS {
                // A case in which nothing is known holds all others.
                continue;
            }
            cases = cases
                .iter()
                .flat_map(|case| options.iter().map(|option| case.iter().copied().chain(*option).collect()))
                .collect();
            self.step(cases.len());
        }
        cases.into_iter().map(Case::of).collect()
    }

    /// All properties that any of the schemas names.
    fn named(&mut self, known: &Known<'a>) -> BTreeSet<&'a str> {
        let mut named = BTreeSet::new();
        for id in &known.schemas {
            named.extend(self.named_parts(*id, "properties").into_iter().map(|(name, _)| name));
        }
        named
    }

    /// One of `patternProperties`.
    fn matching(&mut self, known: &Known<'a>, pattern: &'a str, schema: Id, todo: &mut Vec<Obligation<'a>>) {
        if self.spent() {
            todo.push(Obligation::Unmet { key: "patternProperties", what: Unmet::Undecided });
            return;
        }
        for name in self.named(known) {
            if self.matches(pattern, name) != Some(false) {
                let part = Part::Property(name.to_owned());
                todo.push(Obligation::Within { case: self.property(known, name), schema, part });
            }
        }
        for case in self.unnamed(known, Some(pattern), &[]) {
            todo.push(Obligation::Within { case, schema, part: Part::OtherProperties });
        }
    }

    /// All properties but those that are named or match.
    fn other(
        &mut self,
        known: &Known<'a>,
        named: &BTreeSet<&'a str>,
        patterns: &[&'a str],
        schema: Id,
        todo: &mut Vec<Obligation<'a>>,
    ) {
        for name in self.named(known) {
            let mut matched = false;
            for pattern in patterns {
                matched = matched || self.matches(pattern, name) == Some(true);
            }
            if !named.contains(name) && !matched {
                let part = Part::Property(name.to_owned());
                todo.push(Obligation::Within { case: self.property(known, name), schema, part });
            }
        }
        for case in self.unnamed(known, None, patterns) {
            todo.push(Obligation::Within { case, schema, part: Part::OtherProperties });
        }
    }

    /// `propertyNames`.
    fn names(&mut self, known: &Known<'a>, outer: Id, todo: &mut Vec<Obligation<'a>>) {
        let Some(schema) = self.part(outer, "propertyNames") else { return };
        if self.closed(known).is_some() {
            let named = self.named(known);
            let all = named.iter().all(|name| {
                self.fits(schema, &Value::from(*name)) == Some(true) || {
                    let case = self.property(known, name);
                    self.is_empty(&case)
                }
            });
            if all {
                return;
            }
        }
        let mut fits = Vec::new();
        for id in &known.schemas {
            fits.extend(self.part(*id, "propertyNames"));
        }
        let case = Case::of(fits).of_mask(super::mask::Mask::STRING);
        todo.push(Obligation::Within { case, schema, part: Part::Names });
    }

    /// `dependentRequired`, `dependentSchemas`, and `dependencies`, which may be either.
    fn dependent(
        &mut self,
        known: &Known<'a>,
        case: &Case<'a>,
        outer: Id,
        key: &str,
        todo: &mut Vec<Obligation<'a>>,
    ) {
        for (name, schema) in self.named_parts(outer, key) {
            if self.spent() {
                todo.push(Obligation::Unmet { key: "dependentRequired", what: Unmet::Undecided });
                return;
            }
            let property = self.property(known, name);
            if self.is_empty(&property) {
                continue;
            }
            let with = case.with_property(name);
            let Value::Array(wanted) = self.value(schema) else {
                todo.push(Obligation::Within { case: with, schema, part: Part::Whole });
                continue;
            };
            let has = self.known(&with).required;
            for missing in wanted.iter().filter_map(Value::as_str).filter(|wanted| !has.contains(wanted)) {
                let (name, missing) = (quoted(name), quoted(missing));
                let key = if key == "dependencies" { "dependencies" } else { "dependentRequired" };
                todo.push(Obligation::unmet(key, format!("an object with {name} and without {missing}")));
            }
        }
    }
}
