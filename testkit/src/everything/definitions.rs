//! What the server lists.

use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};
use serde::Deserialize;

use super::EverythingFault;

/// The four lists.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Definitions {
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) resources: Vec<Resource>,
    pub(super) resource_templates: Vec<ResourceTemplate>,
}

impl Definitions {
    pub(super) fn load() -> Result<Definitions, EverythingFault> {
        serde_json::from_str(include_str!("definitions.json")).map_err(EverythingFault::Definitions)
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
