use rmcp::model::Tool;
use serde::Serialize;
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// The `_meta` key under which the gateway describes a contract that it serves.
const CONTRACT_KEY: &str = "io.github.aldgate/contract";

/// One tool as the endpoint lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSummary {
    /// The name to call it by.
    pub name: String,
    /// The title for people.
    pub title: Option<String>,
    /// The description for models.
    pub description: Option<String>,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The JSON Schema of the structured result.
    pub output_schema: Option<Value>,
    /// The server's hints: claims, never enforced by anybody.
    pub hints: Hints,
    /// What the gateway says about the contract; absent when no gateway stands before the server.
    pub contract: Option<ContractMark>,
}

/// The four annotations of a tool; `None` where the server did not set one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Hints {
    /// `readOnlyHint`, by default false.
    pub read_only: Option<bool>,
    /// `destructiveHint`, by default true.
    pub destructive: Option<bool>,
    /// `idempotentHint`, by default false.
    pub idempotent: Option<bool>,
    /// `openWorldHint`, by default true.
    pub open_world: Option<bool>,
}

/// The gateway's word about a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContractMark {
    /// The digest of the reviewed contract, `sha256:…`.
    pub digest: Option<String>,
    /// The registry's authority: `automatic` or `requires_approval`.
    pub authority: Option<String>,
    /// Whether the host says that the tool only reads.
    pub read_only: bool,
    /// What the host's registry promises of the tool, in words for people.
    pub boundaries: Vec<String>,
}

impl ToolSummary {
    /// Whether the *host* says that the tool only reads. The server's own `readOnlyHint` does not count.
    #[must_use]
    pub fn host_says_read_only(&self) -> bool {
        self.contract.as_ref().is_some_and(|mark| mark.read_only)
    }

    /// Reads a whole tool definition; `None` where it is none.
    #[must_use]
    pub fn from_definition(definition: &Value) -> Option<Self> {
        serde_json::from_value::<Tool>(definition.clone()).ok().map(|tool| Self::from_wire(&tool))
    }

    pub(crate) fn from_wire(tool: &Tool) -> Self {
        let hints = tool.annotations.as_ref().map_or_else(Hints::default, |found| Hints {
            read_only: found.read_only_hint,
            destructive: found.destructive_hint,
            idempotent: found.idempotent_hint,
            open_world: found.open_world_hint,
        });
        Self {
            name: tool.name.to_string(),
            title: tool.title.clone().or_else(|| tool.annotations.as_ref().and_then(|a| a.title.clone())),
            description: tool.description.as_ref().map(ToString::to_string),
            input_schema: Value::Object((*tool.input_schema).clone()),
            output_schema: tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone())),
            hints,
            contract: tool.meta.as_ref().and_then(|meta| ContractMark::from_meta(&meta.0)),
        }
    }
}

impl ContractMark {
    fn from_meta(meta: &Map<String, Value>) -> Option<Self> {
        let mark = meta.get(CONTRACT_KEY)?.as_object()?;
        let text = |name: &str| mark.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            digest: text("digest"),
            authority: text("authority"),
            read_only: mark.get("readOnly").and_then(Value::as_bool).unwrap_or(false),
            boundaries: mark
                .get("boundaries")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|boundary| boundary.as_str().map(str::to_owned))
                .collect(),
        })
    }
}
