//! What a server says about itself: name, icon and capabilities.

use rmcp::model::{Implementation, ProtocolVersion, ServerCapabilities, ServerConfig};
use serde_json::{Map, Value, json};

use crate::desk::Desk;

/// What a server says about itself.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) config: ServerConfig,
    /// The `serverInfo` as JSON.
    pub(crate) server_info: Value,
}

impl Identity {
    pub(crate) fn of(desk: &dyn Desk) -> Result<Identity, serde_json::Error> {
        let contract = desk.contract();
        let features = desk.features();
        let server_info = json!({
            "name": contract.name,
            "title": contract.title,
            "version": env!("CARGO_PKG_VERSION"),
            "icons": [desk.icon()],
        });
        let mut capabilities = Map::new();
        capabilities.insert("tools".to_owned(), json!({ "listChanged": true }));
        if features.resources {
            capabilities.insert("resources".to_owned(), json!({ "subscribe": true, "listChanged": true }));
            capabilities.insert("completions".to_owned(), json!({}));
        }
        if features.prompts {
            capabilities.insert("prompts".to_owned(), json!({ "listChanged": true }));
        }
        let capabilities: ServerCapabilities = serde_json::from_value(Value::Object(capabilities))?;
        let implementation: Implementation = serde_json::from_value(server_info.clone())?;
        let config = ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(desk.instructions())
            .with_protocol_version(ProtocolVersion::V_2026_07_28);
        Ok(Identity { config, server_info })
    }
}
