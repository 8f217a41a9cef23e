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
    /// A reference that leads out of the schema.
    #[error("it refers to `{found}`, but references out of the schema are never fetched")]
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
        Expansion { root: &schema, known: HashMap::new() }.check()?;
        let compiled = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&schema)
            .map_err(|fault| SchemaFault::Invalid(fault.to_string()))?;
        Ok(Self(compiled))
    }

    /// Checks a value; the error names up to three places that do not fit. It holds nothing of the value, because it is
    /// kept as evidence, and a result that does not fit is not passed on.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let mut faults = self.0.iter_errors(value);
        let Some(first) = faults.next() else { return Ok(()) };
        let described: Vec<_> = std::iter::once(first)
            .chain(faults.by_ref().take(2))
            .map(|fault| {
                let place = fault.instance_path().to_string();
                let place = if place.is_empty() { "the whole".to_owned() } else { format!("`{place}`") };
                let text: String = fault.masked_with("the value").to_string().chars().take(200).collect();
                format!("{place}: {text}")
            })
            .collect();
        Err(described.join("; "))
    }
}

/// Counts, for each schema, how many schemas one value is checked against in place.
struct Expansion<'a> {
    root: &'a Value,
    known: HashMap<*const Value, u64>,
}

const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE: [&str; 5] = ["not", "if", "then", "else", "unevaluatedProperties"];

impl<'a> Expansion<'a> {
    fn check(&mut self) -> Result<(), SchemaFault> {
        let mut waiting = vec![self.root];
        while let Some(schema) = waiting.pop() {
            if self.of(schema)? > MAX_EXPANSION {
                return Err(SchemaFault::Expansion);
            }
            match schema {
                Value::Object(members) => waiting.extend(members.values()),
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        Ok(())
    }

    fn of(&mut self, schema: &'a Value) -> Result<u64, SchemaFault> {
        let Value::Object(members) = schema else { return Ok(1) };
        let identity = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&identity) {
            return Ok(*known);
        }
        // A loop of references ends here; the library finds it at run time.
        self.known.insert(identity, 1);
        let mut total: u64 = 1;
        for key in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = members.get(key) {
                let target = self.target(reference)?;
                total = total.saturating_add(target.map_or(Ok(1), |target| self.of(target))?);
            }
        }
        let lists = IN_PLACE_LISTS.iter().filter_map(|key| members.get(*key)?.as_array()).flatten();
        let single = IN_PLACE.iter().filter_map(|key| members.get(*key));
        let dependent = members
            .get("dependentSchemas")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.values());
        for part in lists.chain(single).chain(dependent) {
            total = total.saturating_add(self.of(part)?);
        }
        self.known.insert(identity, total);
        Ok(total)
    }

    /// The schema that a reference within the document leads to; `None` where only the library can tell.
    fn target(&self, reference: &str) -> Result<Option<&'a Value>, SchemaFault> {
        let Some(fragment) = reference.strip_prefix('#') else {
            let inside = !reference.contains("://") && !reference.starts_with("//");
            return if inside {
                Ok(None)
            } else {
                Err(SchemaFault::Reference { found: reference.to_owned() })
            };
        };
        if fragment.is_empty() {
            return Ok(Some(self.root));
        }
        Ok(self.root.pointer(fragment))
    }
}
