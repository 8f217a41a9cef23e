//! Validation of tool arguments against the input schema of the contract.

use jsonschema::Validator;
use rmcp::model::Tool;
use serde_json::{Map, Value};

use crate::contracts::ContractFault;

#[cfg(test)]
mod tests;

/// The compiled input schema of one tool.
#[derive(Debug)]
pub(crate) struct Arguments {
    schema: Value,
    validator: Validator,
}

impl Arguments {
    pub(crate) fn new(tool: &Tool) -> Result<Arguments, ContractFault> {
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        let validator = jsonschema::validator_for(&schema).map_err(|fault| ContractFault::Schema {
            tool: tool.name.to_string(),
            reason: fault.to_string(),
        })?;
        Ok(Arguments { schema, validator })
    }

    /// Checks the arguments. The refusal says for each fault which argument it is, what was found and what was
    /// expected, so that a model can correct itself.
    pub(crate) fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let instance = Value::Object(arguments.clone());
        let faults: Vec<String> = self
            .validator
            .iter_errors(&instance)
            .map(|fault| self.describe(fault.instance_path().as_str(), &fault.to_string()))
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(format!("invalid arguments: {}", faults.join("; "))) }
    }

    fn describe(&self, path: &str, fault: &str) -> String {
        let name = path.trim_start_matches('/');
        let expected = self.schema.get("properties").and_then(|properties| properties.get(name));
        match expected {
            Some(expected) => format!("`{name}`: {fault}, expected {}", without_description(expected)),
            None => format!("{fault}, known arguments: {}", self.known()),
        }
    }

    fn known(&self) -> String {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(Map::keys).map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    }
}

fn without_description(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
    }
    schema
}
