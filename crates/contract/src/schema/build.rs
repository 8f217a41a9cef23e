//! How a schema is compiled: one way for all who ask what a value is.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternCache, PatternOptions, Registry, Validator};
use serde_json::Value;

use super::SchemaFault;
use super::patterns::Patterns;

/// What all patterns of a schema may weigh: about a microsecond each to compile.
const MAX_PATTERNS: u64 = 1 << 16;
/// Bytes of all automata of a schema together; each may have its share.
const MAX_AUTOMATA: usize = 8 << 20;
/// How often matching one text may go back; beyond, it is not known whether it matches, and the value does not fit.
const MAX_BACK: usize = 100_000;

/// Compiles schemas by the same rules with the same engine; what a pattern is, is compiled once.
#[derive(Clone)]
pub(crate) struct Build {
    automaton: usize,
    back: usize,
    compiled: PatternCache,
}

impl Build {
    /// For a schema and its parts.
    ///
    /// # Errors
    /// Patterns that could take too long to compile.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let patterns = Patterns::of(schema);
        if patterns.weight > MAX_PATTERNS {
            return Err(SchemaFault::Patterns);
        }
        let shares = usize::try_from(patterns.automata.max(1)).unwrap_or(usize::MAX);
        let compiled = PatternCache::new();
        Ok(Self { automaton: MAX_AUTOMATA / shares, back: MAX_BACK, compiled })
    }

    /// For the parts of two schemas: what either allows.
    pub(crate) fn or(self, other: Self) -> Self {
        if self.automaton < other.automaton { other } else { self }
    }

    /// The same, giving up earlier on a text that takes going back.
    pub(crate) fn glancing(self, back: usize) -> Self {
        Self { back, ..self }
    }

    /// Compiles a schema; a registry has what it refers to by a URI.
    pub(crate) fn compile(
        &self,
        schema: &Value,
        registry: Option<&Registry<'static>>,
    ) -> Result<Validator, SchemaFault> {
        let engine = PatternOptions::fancy_regex().size_limit(self.automaton).backtrack_limit(self.back);
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(engine)
            .with_pattern_cache(self.compiled.clone());
        let built = match registry {
            Some(registry) => options.with_registry(registry).build(schema),
            None => options.build(schema),
        };
        built.map_err(|fault| match fault.kind() {
            ValidationErrorKind::Format { format } if format == "regex" => {
                let pattern = fault.instance().as_str().unwrap_or_default();
                SchemaFault::Pattern { found: pattern.chars().take(80).collect() }
            }
            _ => SchemaFault::Invalid(fault.to_string()),
        })
    }
}
