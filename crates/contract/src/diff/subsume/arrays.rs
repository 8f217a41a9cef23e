use serde_json::Value;

use super::case::{Case, Known, count};
use super::obligation::{Obligation, Part, Unmet};
use super::{Id, Prover};

impl<'a> Prover<'a> {
    pub(super) fn array(&mut self, known: &Known<'a>, outer: Id, key: &str, todo: &mut Vec<Obligation<'a>>) {
        let Some(value) = self.value(outer).get(key) else { return };
        match key {
            "minItems" => {
                if count(value).is_none_or(|wanted| self.least(known, key) < wanted) {
                    todo.push(Obligation::unmet("minItems", format!("an array of fewer than {value} items")));
                }
            }
            "maxItems" => {
                let has = self.longest(known);
                if has.zip(count(value)).is_none_or(|(has, wanted)| has > wanted) {
                    todo.push(Obligation::unmet("maxItems", format!("an array of more than {value} items")));
                }
            }
            "uniqueItems" => {
                let unique =
                    known.schemas.iter().any(|id| self.value(*id).get(key) == Some(&Value::Bool(true)));
                if *value == Value::Bool(true) && !unique && self.longest(known).is_none_or(|most| most > 1) {
                    todo.push(Obligation::unmet("uniqueItems", "an array that holds an item twice"));
                }
            }
            "prefixItems" => {
                for (index, schema) in self.parts(outer, key).into_iter().enumerate() {
                    self.item_within(known, index, schema, todo);
                }
            }
            "items" => {
                let Some(schema) = self.part(outer, key) else { return };
                let from = self.parts(outer, "prefixItems").len();
                self.items_within(known, from, schema, todo);
            }
            "unevaluatedItems" => {
                let Some(schema) = self.part(outer, key) else { return };
                match self.evaluated_items(outer) {
                    Some(items) if items.all => {}
                    Some(items) => self.items_within(known, items.first, schema, todo),
                    None if self.is_true(schema) => {}
                    None => todo.push(Obligation::Unmet { key: "unevaluatedItems", what: Unmet::Undecided }),
                }
            }
            _ => self.contains(known, outer, todo),
        }
    }

    /// How many items there can be.
    pub(super) fn longest(&mut self, known: &Known<'a>) -> Option<u64> {
        let mut most = self.most(known, "maxItems");
        for id in &known.schemas {
            if self.value(*id).get("items") == Some(&Value::Bool(false)) {
                let closed = self.parts(*id, "prefixItems").len() as u64;
                most = Some(most.map_or(closed, |most| most.min(closed)));
            }
        }
        most
    }

    /// What is known of the item at a place, should it be there.
    pub(super) fn item(&mut self, known: &Known<'a>, index: usize) -> Case<'a> {
        let mut fits = Vec::new();
        for id in &known.schemas {
            self.step(1);
            let first = self.parts(*id, "prefixItems");
            if let Some(schema) = first.get(index) {
                fits.push(*schema);
            } else if let Some(schema) = self.part(*id, "items") {
                fits.push(schema);
            } else if let Some(schema) = self.part(*id, "unevaluatedItems")
                && let Some(items) = self.evaluated_items(*id)
                && !items.all
                && index >= items.first
            {
                fits.push(schema);
            }
        }
        Case::of(fits)
    }

    fn item_within(&mut self, known: &Known<'a>, index: usize, schema: Id, todo: &mut Vec<Obligation<'a>>) {
        if self.longest(known).is_none_or(|most| most > index as u64) {
            todo.push(Obligation::Within { case: self.item(known, index), schema, part: Part::Items });
        }
    }

    /// All items from a place on.
    fn items_within(&mut self, known: &Known<'a>, from: usize, schema: Id, todo: &mut Vec<Obligation<'a>>) {
        let beyond = self.beyond(known).max(from);
        for index in from..=beyond {
            if self.spent() {
                todo.push(Obligation::Unmet { key: "items", what: Unmet::Undecided });
                return;
            }
            self.item_within(known, index, schema, todo);
        }
    }

    /// From where on all items are known alike.
    fn beyond(&mut self, known: &Known<'a>) -> usize {
        let mut beyond = 0;
        for id in &known.schemas {
            beyond = beyond.max(self.parts(*id, "prefixItems").len());
            if self.value(*id).get("unevaluatedItems").is_some() {
                beyond = beyond.max(self.evaluated_items(*id).map_or(0, |items| items.first));
            }
        }
        beyond
    }

    fn contains(&mut self, known: &Known<'a>, outer: Id, todo: &mut Vec<Obligation<'a>>) {
        let Some(schema) = self.part(outer, "contains") else { return };
        let times = |value: &Value, key: &str| value.get(key).map_or(Some(1), count);
        let wanted = times(self.value(outer), "minContains");
        let fewest = self.least(known, "minItems");
        let enough = wanted == Some(0)
            || known.schemas.iter().any(|id| {
                let at_least = times(self.value(*id), "minContains");
                at_least.zip(wanted).is_some_and(|(has, wanted)| has >= wanted)
                    && self.part(*id, "contains").is_some_and(|has| self.proves_of_part(has, schema))
            })
            || (wanted.is_some_and(|wanted| fewest >= wanted) && self.all_items(known, schema));
        if !enough {
            todo.push(Obligation::unmet("contains", "an array without such an item"));
        }
        let Some(limit) = self.value(outer).get("maxContains") else { return };
        let few = self.longest(known).zip(count(limit)).is_some_and(|(most, limit)| most <= limit)
            || known.schemas.iter().any(|id| {
                let at_most = self.value(*id).get("maxContains").and_then(count);
                at_most.zip(count(limit)).is_some_and(|(has, wanted)| has <= wanted)
                    && self.part(*id, "contains").is_some_and(|has| self.proves_of_part(schema, has))
            });
        if !few {
            todo.push(Obligation::unmet(
                "maxContains",
                format!("an array with more than {limit} such items"),
            ));
        }
    }

    fn proves_of_part(&mut self, fits: Id, schema: Id) -> bool {
        self.level += 1;
        let found = self.proves(&Case::of([fits]), schema);
        self.level -= 1;
        found
    }

    fn all_items(&mut self, known: &Known<'a>, schema: Id) -> bool {
        let mut todo = Vec::new();
        self.items_within(known, 0, schema, &mut todo);
        todo.iter().all(|obligation| self.meets(obligation))
    }
}
