//! What checking a value against a schema may cost, computed before it is compiled.

use std::collections::HashMap;

use serde_json::Value;

use super::reference::References;
use super::{DEEPEST, DIALECTS, MAX_CHAIN, MAX_EXPANSION, MAX_WORK, SchemaFault};

/// What checking a value may cost: for each schema, which others are checked in place, and which on a child of the value.
pub(super) struct Costs<'a> {
    references: References<'a>,
    schemas: Vec<&'a Value>,
    numbers: HashMap<*const Value, usize>,
    parts: Vec<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Checked on the same value.
    in_place: Vec<usize>,
    /// Checked on a child; of each group, one schema at most on the same child.
    groups: Vec<Vec<usize>>,
    /// Whether what is in place is looked at again, to know what is unevaluated.
    again: bool,
}

const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];
/// `dependencies` is of an older draft, and the library knows it all the same.
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

impl<'a> Costs<'a> {
    /// Finds every object of the schema, each of which may be a schema.
    pub(super) fn new(root: &'a Value) -> Result<Self, SchemaFault> {
        let (mut schemas, mut numbers) = (Vec::new(), HashMap::new());
        let mut waiting = vec![root];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(members) => {
                    let below = |key| members.get(key).filter(|_| !std::ptr::eq(value, root));
                    if let Some(Value::String(name)) = below("$id") {
                        return Err(SchemaFault::Named { found: name.chars().take(200).collect() });
                    }
                    // The library reads what is below it by that dialect's rules.
                    if let Some(Value::String(dialect)) = below("$schema")
                        && !DIALECTS.contains(&dialect.as_str())
                    {
                        return Err(SchemaFault::Dialect { found: dialect.chars().take(200).collect() });
                    }
                    numbers.insert(std::ptr::from_ref(value), schemas.len());
                    schemas.push(value);
                    waiting.extend(members.values());
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        let mut costs = Self { references: References::new(root), schemas, numbers, parts: Vec::new() };
        costs.parts = costs.schemas.iter().map(|schema| costs.parts_of(schema)).collect::<Result<_, _>>()?;
        Ok(costs)
    }

    fn parts_of(&self, schema: &'a Value) -> Result<Parts, SchemaFault> {
        let mut parts = Parts::default();
        for key in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = schema.get(key) {
                parts.in_place.extend(self.number(self.target(reference)?));
            }
        }
        let all = |keys: &[&str]| -> Vec<usize> {
            let below = |value: &'a Value| match value {
                Value::Array(items) => items.iter().filter_map(|item| self.number(item)).collect(),
                Value::Object(members) => members.values().filter_map(|item| self.number(item)).collect(),
                _ => Vec::new(),
            };
            keys.iter().filter_map(|key| schema.get(*key)).flat_map(below).collect()
        };
        let each = |keys: &[&str]| -> Vec<usize> {
            keys.iter().filter_map(|key| self.number(schema.get(*key)?)).collect()
        };
        parts.in_place.extend(all(&IN_PLACE_LISTS));
        parts.in_place.extend(each(&IN_PLACE));
        parts.in_place.extend(all(&IN_PLACE_MAPS));
        parts.groups.push([all(&["properties"]), each(&["additionalProperties"])].concat());
        // `items` may be a list in older drafts.
        let lists =
            schema.get("items").filter(|items| items.is_array()).map_or_else(Vec::new, |_| all(&["items"]));
        parts.groups.push([all(&["prefixItems"]), lists, each(&["items", "additionalItems"])].concat());
        let alone = [all(&["patternProperties"]), each(&UNEVALUATED), each(&["contains", "propertyNames"])];
        parts.groups.extend(alone.into_iter().flatten().map(|schema| vec![schema]));
        parts.groups.retain(|group| !group.is_empty());
        parts.again = UNEVALUATED.iter().any(|key| schema.get(*key).is_some());
        Ok(parts)
    }

    /// The number of a schema; none for `true`, `false` and what is no schema.
    fn number(&self, schema: &Value) -> Option<usize> {
        self.numbers.get(&std::ptr::from_ref(schema)).copied()
    }

    /// At each depth of a value, how many schemas one place of it may be checked against: the first is for a value
    /// without children. The list ends where the number is the same for all that is deeper, or beyond all bounds.
    pub(super) fn by_depth(&self) -> Result<Vec<u64>, SchemaFault> {
        let order = self.order()?;
        let mut found = Vec::new();
        let mut shallower: Option<Vec<u64>> = None;
        while found.len() <= DEEPEST {
            let mut now = vec![0_u64; self.parts.len()];
            let of = |costs: &[u64], number: &usize| costs.get(*number).copied().unwrap_or(u64::MAX);
            for number in &order {
                let Some(parts) = self.parts.get(*number) else { continue };
                let sum = |total: u64, cost: u64| total.saturating_add(cost);
                let in_place = parts.in_place.iter().map(|part| of(&now, part)).fold(0, sum);
                let below = shallower.as_ref().map_or(0, |costs| {
                    let dearest =
                        |group: &Vec<usize>| group.iter().map(|part| of(costs, part)).max().unwrap_or(0);
                    parts.groups.iter().map(dearest).fold(0, sum)
                });
                let times = if parts.again { 3 } else { 1 };
                let cost = in_place.saturating_mul(times).saturating_add(below).saturating_add(1);
                if shallower.is_none() && cost > MAX_EXPANSION {
                    return Err(SchemaFault::Expansion);
                }
                if let Some(place) = now.get_mut(*number) {
                    *place = cost;
                }
            }
            if shallower.as_ref() == Some(&now) {
                break;
            }
            let whole = now.first().copied().unwrap_or(1);
            found.push(whole);
            if whole > MAX_WORK {
                break;
            }
            shallower = Some(now);
        }
        Ok(found)
    }

    /// All schemas, each after those that it checks in place.
    fn order(&self) -> Result<Vec<usize>, SchemaFault> {
        let mut chains = vec![Chain::Unknown; self.parts.len()];
        let mut order = Vec::with_capacity(self.parts.len());
        for number in 0..self.parts.len() {
            self.chain(number, 0, &mut chains, &mut order)?;
        }
        Ok(order)
    }

    /// How many schemas are chained in place from this one on. `above` counts the calls that wait for it.
    fn chain(
        &self,
        number: usize,
        above: usize,
        chains: &mut [Chain],
        order: &mut Vec<usize>,
    ) -> Result<usize, SchemaFault> {
        match chains.get(number) {
            Some(Chain::Long(known)) => return Ok(*known),
            Some(Chain::Unknown) if above <= MAX_CHAIN => {}
            _ => return Err(SchemaFault::Chain),
        }
        let mark = |chains: &mut [Chain], chain| chains.get_mut(number).map(|place| *place = chain);
        mark(chains, Chain::Open);
        let mut longest = 0;
        for part in self.parts.get(number).map_or(&[][..], |parts| &parts.in_place) {
            longest = longest.max(self.chain(*part, above + 1, chains, order)?);
        }
        let long = longest + 1;
        if long > MAX_CHAIN {
            return Err(SchemaFault::Chain);
        }
        mark(chains, Chain::Long(long));
        order.push(number);
        Ok(long)
    }

    /// The schema that a reference leads to. One that is not followed here is not compiled: it could hide the cost.
    fn target(&self, reference: &str) -> Result<&'a Value, SchemaFault> {
        self.references
            .target(reference)
            .ok_or_else(|| SchemaFault::Reference { found: reference.chars().take(200).collect() })
    }
}

#[derive(Clone, Copy)]
enum Chain {
    Unknown,
    /// Being followed: who meets it again goes in a circle.
    Open,
    Long(usize),
}

/// How many places a value has, and how deep they are nested.
pub(crate) fn extent(value: &Value) -> (u64, usize) {
    let (mut places, mut deepest) = (0_u64, 0);
    let mut waiting = vec![(value, 0)];
    while let Some((value, depth)) = waiting.pop() {
        places += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Object(members) => waiting.extend(members.values().map(|value| (value, depth + 1))),
            Value::Array(items) => waiting.extend(items.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    (places, deepest)
}
