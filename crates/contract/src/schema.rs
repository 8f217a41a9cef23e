//! JSON Schema 2020-12, bounded: a schema comes from an upstream and must not cost more than it is worth.
//!
//! Source: MCP 2026-07-28, basic/index#json-schema-usage: no `$ref` is fetched, an unresolved one is refused, depth and
//! number of subschemas are bounded, an unsupported dialect is named.

mod build;
mod cost;
mod patterns;
pub(crate) mod reference;
#[cfg(test)]
mod tests;

use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use build::Build;
use cost::Costs;
pub(crate) use cost::extent;
pub(crate) use patterns::{all as patterns, is_hard, weight};

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
    /// Too deep.
    #[error("it is nested more than {DEEPEST} deep")]
    Deep,
    /// A dialect other than 2020-12, of the whole or of a part.
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
    /// Compiling its patterns could take too long.
    #[error("its patterns are too large, or repeat classes such as `\\p{{L}}` too often, to be compiled")]
    Patterns,
    /// A pattern that the engine does not take.
    #[error("its pattern `{found}` is no regular expression, or too large to be compiled beside its others")]
    Pattern {
        /// The pattern.
        found: String,
    },
    /// Not a schema.
    #[error("it is not a valid JSON Schema: {0}")]
    Invalid(String),
}

/// A compiled schema.
pub struct Validator {
    compiled: jsonschema::Validator,
    /// At each depth of a value, how many schemas one place of it may be checked against.
    by_depth: Vec<u64>,
}

impl Validator {
    /// Compiles a schema within the bounds.
    ///
    /// # Errors
    /// A schema that is no JSON Schema 2020-12, refers to what it does not hold, or could cost too much.
    pub fn compile(raw: &RawValue) -> Result<Self, SchemaFault> {
        let found = raw.get().len();
        if found > MAX_BYTES {
            return Err(SchemaFault::Long { found });
        }
        Self::bounded(&serde_json::from_str(raw.get())?)
    }

    /// Compiles a schema that was read before, within the same bounds.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn of(schema: &Value) -> Result<Self, SchemaFault> {
        if extent(schema).1 > DEEPEST {
            return Err(SchemaFault::Deep);
        }
        let found = serde_json::to_string(schema)?.len();
        if found > MAX_BYTES {
            return Err(SchemaFault::Long { found });
        }
        Self::bounded(schema)
    }

    fn bounded(schema: &Value) -> Result<Self, SchemaFault> {
        if let Some(dialect) = schema.get("$schema") {
            let named = dialect.as_str().unwrap_or_default();
            if !DIALECTS.contains(&named) {
                let found = dialect.as_str().map_or_else(|| dialect.to_string(), str::to_owned);
                return Err(SchemaFault::Dialect { found: found.chars().take(200).collect() });
            }
        }
        let build = Build::of(schema)?;
        let by_depth = Costs::new(schema)?.by_depth()?;
        let compiled = build.compile(schema, None)?;
        Ok(Self { compiled, by_depth })
    }

    /// Checks a value; the error names the first place that does not fit. It holds nothing of the value, because it is
    /// kept as evidence, and a result that does not fit is not passed on.
    ///
    /// # Errors
    /// Where the value does not fit, and which rule says so.
    pub fn check(&self, value: &Value) -> Result<(), String> {
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

    /// Whether checking a value takes more than is done for a value that nobody waits for.
    pub(crate) fn is_dear(&self, value: &Value) -> bool {
        self.work(value) > MAX_TOLD
    }

    /// Whether a value fits; one that is dear to check does not.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        !self.is_dear(value) && self.compiled.is_valid(value)
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
