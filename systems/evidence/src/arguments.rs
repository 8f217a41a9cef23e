//! Arguments, once they fit the input schema.

use aldgate_contract::repair::Mode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::tools::{Tool, Tools};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneTool {
    pub(crate) tool: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drift {
    pub(crate) tool: String,
    /// An integer however it is spelled: `20.0` is one in JSON Schema.
    #[serde(default = "twenty")]
    pub(crate) limit: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Audit {
    pub(crate) id: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repair {
    pub(crate) tool: String,
    pub(crate) args: Map<String, Value>,
    #[serde(default)]
    pub(crate) mode: Mode,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Coverage {
    pub(crate) tools: Vec<String>,
}

/// The default of `limit`.
fn twenty() -> f64 {
    20.0
}

/// What a call asks.
#[derive(Debug)]
pub(crate) enum Asked {
    Contract(OneTool),
    Drift(Drift),
    Audit(Audit),
    Repair(Repair),
    Coverage(Coverage),
}

/// Reads the arguments of a call; absent ones are an empty object.
///
/// # Errors
/// A tool that there is not, and arguments that its input schema does not allow.
pub(crate) fn read(tools: &Tools, name: &str, arguments: Option<&RawValue>) -> Result<Asked, Fault> {
    let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.name() == name) else {
        let shown = name.chars().filter(|letter| !letter.is_control()).take(128).collect();
        return Err(Fault::UnknownTool(shown));
    };
    let refused = |place: String| Fault::Arguments { tool: tool.name(), place };
    let arguments: Value = serde_json::from_str(arguments.map_or("{}", RawValue::get))
        .map_err(|_| refused("the whole: it cannot be read".to_owned()))?;
    tools.check_input(tool, &arguments).map_err(refused)?;
    Ok(match tool {
        Tool::LookupContract => Asked::Contract(typed(tool, arguments)?),
        Tool::QueryDrift => Asked::Drift(typed(tool, arguments)?),
        Tool::FetchAudit => Asked::Audit(typed(tool, arguments)?),
        Tool::SimulateRepair => Asked::Repair(typed(tool, arguments)?),
        Tool::CoverageReport => Asked::Coverage(typed(tool, arguments)?),
    })
}

/// The schema has said all that can be wrong; should they ever differ, the arguments are refused.
fn typed<T: DeserializeOwned>(tool: Tool, arguments: Value) -> Result<T, Fault> {
    serde_json::from_value(arguments)
        .map_err(|fault| Fault::Arguments { tool: tool.name(), place: fault.to_string() })
}

impl Asked {
    pub(crate) const fn tool(&self) -> Tool {
        match self {
            Self::Contract(_) => Tool::LookupContract,
            Self::Drift(_) => Tool::QueryDrift,
            Self::Audit(_) => Tool::FetchAudit,
            Self::Repair(_) => Tool::SimulateRepair,
            Self::Coverage(_) => Tool::CoverageReport,
        }
    }
}
