//! The tool contracts, exactly as the servers serve them.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::arguments::Arguments;

#[cfg(test)]
mod tests;

/// The contract file: for each server its name, title and tools. Members that begin with `_` are remarks for the
/// host and are not served; an empty `annotations` means that the served tool has none.
pub const CONTRACTS: &str = include_str!("../contracts.json");

/// What one server serves.
#[derive(Debug)]
pub(crate) struct ServerContract {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) tools: Vec<ToolContract>,
}

/// One tool with the check of its arguments.
#[derive(Debug)]
pub(crate) struct ToolContract {
    pub(crate) tool: Arc<Tool>,
    pub(crate) arguments: Arguments,
}

/// A contract that cannot be served.
#[derive(Debug, Error)]
pub enum ContractFault {
    /// The file is not what the servers expect.
    #[error("the contract file has no {what}; rebuild from an unmodified source tree")]
    Shape {
        /// What was looked for.
        what: String,
    },
    /// The file is not JSON, or a definition is not a tool.
    #[error("the contract file cannot be read; rebuild from an unmodified source tree")]
    Json(#[from] serde_json::Error),
    /// An input schema does not compile.
    #[error("the input schema of `{tool}` is not a valid schema: {reason}")]
    Schema {
        /// The tool.
        tool: String,
        /// What the validator says.
        reason: String,
    },
}

/// The contract of the server whose name ends in `suffix`.
pub(crate) fn server(suffix: &str) -> Result<ServerContract, ContractFault> {
    let file: Value = serde_json::from_str(CONTRACTS)?;
    let missing = |what: &str| ContractFault::Shape { what: what.to_owned() };
    let servers = file.get("servers").and_then(Value::as_array).ok_or_else(|| missing("`servers`"))?;
    let server = servers
        .iter()
        .find(|server| text(server, "server").is_some_and(|name| name.ends_with(suffix)))
        .ok_or_else(|| missing(suffix))?;
    let tools = server.get("tools").and_then(Value::as_array).ok_or_else(|| missing("`tools`"))?;
    Ok(ServerContract {
        name: text(server, "server").ok_or_else(|| missing("`server`"))?.to_owned(),
        title: text(server, "title").ok_or_else(|| missing("`title`"))?.to_owned(),
        tools: tools.iter().map(tool).collect::<Result<_, _>>()?,
    })
}

/// A definition as it is served: without remarks, and without empty annotations.
pub(crate) fn on_the_wire(definition: &Value) -> Map<String, Value> {
    let members = definition.as_object().into_iter().flatten();
    members
        .filter(|(name, value)| {
            let empty = name.as_str() == "annotations" && value.as_object().is_some_and(Map::is_empty);
            !name.starts_with('_') && !empty
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn tool(definition: &Value) -> Result<ToolContract, ContractFault> {
    let served = Value::Object(on_the_wire(definition));
    let tool: Tool = serde_json::from_value(served)?;
    let arguments = Arguments::new(&tool)?;
    Ok(ToolContract { tool: Arc::new(tool), arguments })
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}
