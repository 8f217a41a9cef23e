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
    #[error("its references and combinations are chained more than {MAX_CHAIN} deep")]
    Chain,
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
pub(crate) struct Validator(jsonschema::Validator);

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
        Expansion { root: &schema, anchors: anchors(&schema), known: HashMap::new() }.check()?;
        let compiled = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&schema)
            .map_err(|fault| SchemaFault::Invalid(fault.to_string()))?;
        Ok(Self(compiled))
    }

    /// Checks a value; the error names the first place that does not fit. It holds nothing of the value, because it is
    /// kept as evidence, and a result that does not fit is not passed on.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        // The first fault only: collecting them all can take far more memory than the value itself.
        let Err(fault) = self.0.validate(value) else { return Ok(()) };
        let place: String = fault.instance_path().to_string().chars().take(200).collect();
        let place = if place.is_empty() { "the whole".to_owned() } else { format!("`{place}`") };
        let text: String = fault.masked_with("the value").to_string().chars().take(300).collect();
        Err(format!("{place}: {text}"))
    }
}

/// Counts, for each schema, how many schemas one value is checked against in place, and how deep they are chained.
struct Expansion<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    known: HashMap<*const Value, Cost>,
}

#[derive(Clone, Copy)]
struct Cost {
    schemas: u64,
    chain: usize,
}

const ONE: Cost = Cost { schemas: 1, chain: 1 };
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 5] = ["not", "if", "then", "else", "unevaluatedProperties"];

impl<'a> Expansion<'a> {
    fn check(&mut self) -> Result<(), SchemaFault> {
        let mut waiting = vec![self.root];
        while let Some(schema) = waiting.pop() {
            self.of(schema, 0)?;
            match schema {
                Value::Object(members) => waiting.extend(members.values()),
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        Ok(())
    }

    /// The cost of a schema. `above` counts the calls of this function that wait for it.
    fn of(&mut self, schema: &'a Value, above: usize) -> Result<Cost, SchemaFault> {
        let Value::Object(members) = schema else { return Ok(ONE) };
        let identity = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&identity) {
            return Ok(*known);
        }
        if above > MAX_CHAIN {
            return Err(SchemaFault::Chain);
        }
        // A loop of references ends here; the library finds it at run time.
        self.known.insert(identity, ONE);
        let mut parts = Vec::new();
        for key in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = members.get(key) {
                parts.push(self.target(reference)?);
            }
        }
        parts.extend(IN_PLACE_LISTS.iter().filter_map(|key| members.get(*key)?.as_array()).flatten());
        parts.extend(IN_PLACE.iter().filter_map(|key| members.get(*key)));
        parts.extend(
            members
                .get("dependentSchemas")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|map| map.values()),
        );
        let mut cost = ONE;
        for part in parts {
            let of_part = self.of(part, above + 1)?;
            cost.schemas = cost.schemas.saturating_add(of_part.schemas);
            cost.chain = cost.chain.max(of_part.chain + 1);
        }
        if cost.schemas > MAX_EXPANSION {
            return Err(SchemaFault::Expansion);
        }
        if cost.chain > MAX_CHAIN {
            return Err(SchemaFault::Chain);
        }
        self.known.insert(identity, cost);
        Ok(cost)
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
    let choices = |field: &Value, key: &str| -> Option<Value> {
        let all = field.get(key)?.as_array()?;
        Some(all.iter().filter_map(|choice| choice.get("const").cloned()).collect())
    };
    let mut fields = serde_json::Map::new();
    for (name, field) in schema.get("properties")?.as_object()? {
        let mut kept = plain(field);
        match field.get("type").and_then(Value::as_str)? {
            "string" | "number" | "integer" | "boolean" => {
                if let Some(titled) = choices(field, "oneOf") {
                    kept.insert("enum".to_owned(), titled);
                }
            }
            "array" => {
                let items = field.get("items")?;
                let mut item = plain(items);
                if let Some(titled) = choices(items, "anyOf") {
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
    Some(serde_json::json!({"type": "object", "properties": fields, "required": required}))
}
