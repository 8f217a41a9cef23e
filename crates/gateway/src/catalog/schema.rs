//! JSON Schema 2020-12, bounded: a schema comes from an upstream and must not cost more than it is worth.
//!
//! Source: MCP 2026-07-28, basic/index#json-schema-usage: no `$ref` is fetched, an unresolved one is refused, depth and
//! number of subschemas are bounded, an unsupported dialect is named.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// Bytes of one schema.
const MAX_BYTES: usize = 256 << 10;
/// Schemas that one value may have to be checked against; chained references multiply.
const MAX_EXPANSION: u64 = 4096;
/// How many schemas deep one value may be checked: a chain of references is a chain of calls.
const MAX_CHAIN: usize = 24;
/// Checks that one value may take: places of the value times schemas for one place.
const MAX_WORK: u64 = 1 << 24;
/// Those up to which it is said where a value does not fit.
const MAX_TOLD: u64 = 1 << 20;
/// How deep a value may be nested. The guard of bodies allows less.
const DEEPEST: usize = 128;
/// The dialects that are supported.
const DIALECTS: &[&str] =
    &["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#"];

/// Why a schema is not used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaFault {
    /// Not JSON.
    #[error("it is not JSON")]
    Json(#[from] serde_json::Error),
    /// Too long.
    #[error("it has {found} bytes, at most {MAX_BYTES} are compiled")]
    Long {
        /// Bytes found.
        found: usize,
    },
    /// A dialect other than 2020-12.
    #[error("its dialect `{found}` is not supported, only JSON Schema 2020-12 is")]
    Dialect {
        /// What `$schema` says.
        found: String,
    },
    /// Checking it could take exponential time.
    #[error("its references and combinations multiply to more than {MAX_EXPANSION} schemas for one value")]
    Expansion,
    /// Checking it could exhaust the stack.
    #[error("its references and combinations are chained more than {MAX_CHAIN} deep, or in a circle")]
    Chain,
    /// A schema within the schema that has a name of its own, from which references would be read.
    #[error("a schema in it has an `$id` of its own, `{found}`; only the whole may have one")]
    Named {
        /// The name.
        found: String,
    },
    /// A reference that leads out of the schema, or to nothing in it.
    #[error("it refers to `{found}`, which is nothing in it; references out of a schema are never fetched")]
    Reference {
        /// The reference.
        found: String,
    },
    /// Not a schema.
    #[error("it is not a valid JSON Schema: {0}")]
    Invalid(String),
}

/// A compiled schema.
pub(crate) struct Validator {
    compiled: jsonschema::Validator,
    /// At each depth of a value, how many schemas one place of it may be checked against.
    by_depth: Vec<u64>,
}

impl Validator {
    /// Compiles a schema within the bounds.
    pub(crate) fn compile(raw: &RawValue) -> Result<Self, SchemaFault> {
        let found = raw.get().len();
        if found > MAX_BYTES {
            return Err(SchemaFault::Long { found });
        }
        let schema: Value = serde_json::from_str(raw.get())?;
        if let Some(dialect) = schema.get("$schema") {
            let named = dialect.as_str().unwrap_or_default();
            if !DIALECTS.contains(&named) {
                return Err(SchemaFault::Dialect { found: dialect.to_string() });
            }
        }
        let by_depth = Costs::new(&schema)?.by_depth()?;
        let compiled = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&schema)
            .map_err(|fault| SchemaFault::Invalid(fault.to_string()))?;
        Ok(Self { compiled, by_depth })
    }

    /// Checks a value; the error names the first place that does not fit. It holds nothing of the value, because it is
    /// kept as evidence, and a result that does not fit is not passed on.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let work = self.work(value);
        if work > MAX_WORK {
            return Err(
                "the whole: with this schema, checking a value so large or so deep could take too long"
                    .to_owned(),
            );
        }
        if self.compiled.is_valid(value) {
            return Ok(());
        }
        // What is told of a fault takes memory for every alternative that was tried.
        if work > MAX_TOLD {
            return Err("the whole: the value does not fit; it is too large to say where".to_owned());
        }
        // The first fault only: collecting them all can take far more memory than the value itself.
        let Err(fault) = self.compiled.validate(value) else { return Ok(()) };
        let place: String = fault.instance_path().to_string().chars().take(200).collect();
        let place = if place.is_empty() { "the whole".to_owned() } else { format!("`{place}`") };
        let text: String = fault.masked_with("the value").to_string().chars().take(300).collect();
        Err(format!("{place}: {text}"))
    }

    /// The most checks that this value may take.
    fn work(&self, value: &Value) -> u64 {
        let (places, depth) = extent(value);
        if depth > DEEPEST {
            return u64::MAX;
        }
        self.by_depth
            .get(depth)
            .or(self.by_depth.last())
            .map_or(u64::MAX, |most| places.saturating_mul(*most))
    }
}

/// What checking a value may cost: for each schema, which others are checked in place, and which on a child of the value.
struct Costs<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
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
    fn new(root: &'a Value) -> Result<Self, SchemaFault> {
        let (mut schemas, mut numbers) = (Vec::new(), HashMap::new());
        let mut waiting = vec![root];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(name)) = members.get("$id")
                        && !std::ptr::eq(value, root)
                    {
                        return Err(SchemaFault::Named { found: name.chars().take(200).collect() });
                    }
                    numbers.insert(std::ptr::from_ref(value), schemas.len());
                    schemas.push(value);
                    waiting.extend(members.values());
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        let mut costs = Self { root, anchors: anchors(root), schemas, numbers, parts: Vec::new() };
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
    fn by_depth(&self) -> Result<Vec<u64>, SchemaFault> {
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
        let outside = || SchemaFault::Reference { found: reference.chars().take(200).collect() };
        let fragment = reference.strip_prefix('#').ok_or_else(outside)?;
        if fragment.is_empty() {
            return Ok(self.root);
        }
        let pointer = percent_decoded(fragment).ok_or_else(outside)?;
        let found = if pointer.starts_with('/') {
            self.root.pointer(&pointer)
        } else {
            self.anchors.get(pointer.as_str()).copied()
        };
        found.ok_or_else(outside)
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
fn extent(value: &Value) -> (u64, usize) {
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

/// Every schema that has a name of its own (JSON Schema 2020-12, core §8.2.2).
fn anchors(root: &Value) -> HashMap<&str, &Value> {
    let mut found = HashMap::new();
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(name)) = members.get(key) {
                        found.insert(name.as_str(), value);
                    }
                }
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}

/// The text behind percent-encoding (RFC 3986 §2.1); `None` where it is malformed.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The schema that an answer to a form is held to; `None` where the form is not the flat object of plain values that a
/// form has to be (MCP 2026-07-28, client/elicitation). Only keywords of plain values are in it, so that checking an
/// answer costs no more than reading it.
pub(crate) fn form(raw: &RawValue) -> Option<Value> {
    const PLAIN: [&str; 12] = [
        "type",
        "enum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "const",
        "uniqueItems",
    ];
    let schema: Value = serde_json::from_str(raw.get()).ok()?;
    let nesting =
        ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "$defs", "patternProperties"];
    if schema.get("type").and_then(Value::as_str) != Some("object")
        || nesting.iter().any(|key| schema.get(key).is_some())
    {
        return None;
    }
    let plain = |field: &Value| -> serde_json::Map<String, Value> {
        PLAIN.iter().filter_map(|key| Some(((*key).to_owned(), field.get(key)?.clone()))).collect()
    };
    // The titled choices under `key`, where there are any; `None` where they are not all constants.
    let choices = |field: &Value, key: &str| -> Option<Option<Value>> {
        let Some(all) = field.get(key) else { return Some(None) };
        let all = all.as_array().filter(|all| !all.is_empty())?;
        all.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Value>>().map(Some)
    };
    let mut fields = serde_json::Map::new();
    for (name, field) in schema.get("properties")?.as_object()? {
        let mut kept = plain(field);
        match field.get("type").and_then(Value::as_str)? {
            "string" | "number" | "integer" | "boolean" => {
                if let Some(titled) = choices(field, "oneOf")? {
                    kept.insert("enum".to_owned(), titled);
                }
            }
            "array" => {
                let items = field.get("items")?;
                let mut item = plain(items);
                if let Some(titled) = choices(items, "anyOf")? {
                    item.insert("enum".to_owned(), titled);
                }
                item.get("enum")?;
                kept.insert("items".to_owned(), item.into());
            }
            _ => return None,
        }
        fields.insert(name.clone(), kept.into());
    }
    let required = schema.get("required").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    // As in any schema, members that are not asked for are let through unless it says otherwise.
    let more = schema.get("additionalProperties").and_then(Value::as_bool).unwrap_or(true);
    let members = serde_json::json!({
        "type": "object", "properties": fields, "required": required, "additionalProperties": more,
    });
    Some(members)
}
