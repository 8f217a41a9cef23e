//! `aldgate config`.

use std::process::ExitCode;

use serde_json::json;

use super::configuration;
use crate::cli::ConfigCommand;
use crate::config::{markdown, reviewed, schema};
use crate::out;

pub(super) fn run(what: ConfigCommand) -> miette::Result<ExitCode> {
    match what {
        ConfigCommand::Schema => out::json(&schema())?,
        ConfigCommand::Docs => out::line(markdown().trim_end())?,
        ConfigCommand::Check { file, json } => {
            let loaded = configuration(&file)?;
            let reviewed = reviewed(&loaded)?;
            let held = reviewed.held_back.iter();
            if json {
                let held: Vec<_> = held.map(|(tool, why)| json!({"tool": tool, "why": why})).collect();
                out::json(&json!({
                    "upstreams": loaded.config.upstreams.len(),
                    "tools": reviewed.tools.len(),
                    "principals": loaded.config.principals.len(),
                    "held_back": held,
                }))?;
            } else {
                for (tool, why) in held {
                    out::line(format!("held back: {}: {}", out::plain(tool), out::plain(why)))?;
                }
                out::line(format!(
                    "the configuration is good: {} upstreams, {} tools, {} principals",
                    loaded.config.upstreams.len(),
                    reviewed.tools.len(),
                    loaded.config.principals.len(),
                ))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
