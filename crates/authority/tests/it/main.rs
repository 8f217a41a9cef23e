//! The crate from outside: the demonstration's registry and policies, and the documentation.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod demonstration;
mod documentation;

use std::path::PathBuf;

use serde_json::Value;

/// A file of the repository.
fn file(path: &str) -> String {
    let full: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", path].iter().collect();
    std::fs::read_to_string(&full).map_err(|error| format!("{}: {error}", full.display())).unwrap()
}

/// The tools of the field-service contracts: upstream, definition.
fn contracts() -> Vec<(String, Value)> {
    let all: Value = serde_json::from_str(&file("systems/field-service/contracts.json")).unwrap();
    let servers = all["servers"].as_array().unwrap();
    let tools = servers.iter().flat_map(|server| {
        let upstream = server["server"].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
        server["tools"].as_array().unwrap().iter().map(move |tool| (upstream.clone(), tool.clone()))
    });
    tools.collect()
}
