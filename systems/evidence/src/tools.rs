//! The five definitions: as they are listed, signed, and as arguments and results are checked.

#[cfg(test)]
mod tests;

use aldgate_contract::signature::{SigningKey, Statement};
use aldgate_contract::{CanonicalFault, Kind, SchemaFault, Validator, fingerprint};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::SERVER_NAME;

/// The definitions as this version serves them, but for the signatures.
const DEFINITIONS: &str = include_str!("../tools.json");
/// Counts the versions of the definitions; every change of one is a new version.
const VERSION: u32 = 1;
/// The `_meta` key of digest and signature.
const CONTRACT_KEY: &str = "io.github.aldgate/contract";

/// Which of the five.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    LookupContract,
    QueryDrift,
    FetchAudit,
    SimulateRepair,
    CoverageReport,
}

impl Tool {
    pub(crate) const ALL: [Self; 5] = [
        Self::LookupContract,
        Self::QueryDrift,
        Self::FetchAudit,
        Self::SimulateRepair,
        Self::CoverageReport,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LookupContract => "lookup_contract",
            Self::QueryDrift => "query_drift",
            Self::FetchAudit => "fetch_audit",
            Self::SimulateRepair => "simulate_repair",
            Self::CoverageReport => "coverage_report",
        }
    }
}

/// The definitions that are built into the program cannot be used: a defect of the program.
#[derive(Debug, thiserror::Error)]
pub enum ToolsFault {
    /// They are not JSON.
    #[error("the definitions of the evidence tools are not JSON")]
    Json(#[from] serde_json::Error),
    /// One has no canonical form.
    #[error("a definition of the evidence tools has no canonical form")]
    Form(#[from] CanonicalFault),
    /// One is missing, or has no schemas.
    #[error("the definition of `{0}` is missing or has no schemas")]
    Missing(&'static str),
    /// A schema cannot be used.
    #[error("a schema of `{tool}` cannot be used")]
    Schema {
        /// The tool.
        tool: &'static str,
        /// Why.
        #[source]
        source: SchemaFault,
    },
}

/// What one definition demands.
struct Checks {
    tool: Tool,
    input: Validator,
    output: Validator,
}

/// The definitions, ready to be listed and to be checked against.
pub(crate) struct Tools {
    /// The array that `tools/list` holds.
    pub(crate) listed: Box<RawValue>,
    checks: Vec<Checks>,
}

impl Tools {
    /// Reads the definitions and signs each with the host's key.
    pub(crate) fn new(key: Option<&SigningKey>) -> Result<Self, ToolsFault> {
        let definitions: Vec<Map<String, Value>> = serde_json::from_str(DEFINITIONS)?;
        let mut listed = Vec::with_capacity(Tool::ALL.len());
        let mut checks = Vec::with_capacity(Tool::ALL.len());
        for tool in Tool::ALL {
            let missing = ToolsFault::Missing(tool.name());
            let named = definitions.iter().find(|one| one.get("name") == Some(&json!(tool.name())));
            let definition = named.ok_or(missing)?;
            let compile = |member| {
                let schema = definition.get(member).ok_or(ToolsFault::Missing(tool.name()))?;
                Validator::compile(&to_raw_value(schema)?)
                    .map_err(|source| ToolsFault::Schema { tool: tool.name(), source })
            };
            checks.push(Checks { tool, input: compile("inputSchema")?, output: compile("outputSchema")? });
            listed.push(signed(tool, definition, key)?);
        }
        Ok(Self { listed: to_raw_value(&listed)?, checks })
    }

    /// Whether arguments are what the tool takes; the error names the first place that is not.
    pub(crate) fn check_input(&self, tool: Tool, arguments: &Value) -> Result<(), String> {
        self.of(tool)?.input.check(arguments)
    }

    /// Whether a structured result is what the tool promises; the error names the first place that is not.
    pub(crate) fn check_output(&self, tool: Tool, structured: &Value) -> Result<(), String> {
        self.of(tool)?.output.check(structured)
    }

    fn of(&self, tool: Tool) -> Result<&Checks, String> {
        self.checks.iter().find(|checks| checks.tool == tool).ok_or_else(|| "no schema".to_owned())
    }
}

/// The definition with its digest, version and, where there is a key, signature. The digest is of the definition without
/// the `_meta` that is added here.
fn signed(
    tool: Tool,
    definition: &Map<String, Value>,
    key: Option<&SigningKey>,
) -> Result<Map<String, Value>, ToolsFault> {
    let digest = fingerprint(&serde_json::to_string(definition)?)?.jcs;
    let statement =
        Statement { upstream: SERVER_NAME, kind: Kind::Tool, name: tool.name(), version: VERSION, digest };
    let mut contract = json!({ "digest": digest, "version": VERSION });
    if let (Some(key), Value::Object(members)) = (key, &mut contract) {
        members.insert("signature".to_owned(), key.sign(&statement).into());
    }
    let mut whole = definition.clone();
    whole.insert("_meta".to_owned(), json!({ CONTRACT_KEY: contract }));
    Ok(whole)
}
