//! `aldgate config`.

use std::process::ExitCode;

use aldgate_authority::Severity;
use serde_json::json;

use super::configuration;
use super::policy::{findings, told_finding};
use crate::cli::{ConfigCommand, ConfigFile};
use crate::config::{markdown, reviewed, schema, warnings};
use crate::fault::counted;
use crate::out;

pub(super) fn run(what: ConfigCommand) -> miette::Result<ExitCode> {
    match what {
        ConfigCommand::Schema => out::json(&schema())?,
        ConfigCommand::Docs => out::line(markdown().trim_end())?,
        ConfigCommand::Check { file, json } => return check(&file, json),
    }
    Ok(ExitCode::SUCCESS)
}

fn check(file: &ConfigFile, json: bool) -> miette::Result<ExitCode> {
    let loaded = configuration(file)?;
    let reviewed = reviewed(&loaded)?;
    let warnings = warnings(&loaded);
    let findings = findings(&reviewed);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let held = reviewed.held_back.iter();
    if json {
        let held: Vec<_> = held.map(|(tool, why)| json!({"tool": tool, "why": why})).collect();
        out::json(&json!({
            "upstreams": loaded.config.upstreams.len(),
            "tools": reviewed.tools.len(),
            "principals": loaded.config.principals.len(),
            "held_back": held,
            "warnings": warnings,
            "policy_findings": findings,
        }))?;
    } else {
        for (tool, why) in held {
            out::line(format!("held back: {}: {}", out::plain(tool), out::plain(why)))?;
        }
        warnings.iter().try_for_each(|warning| out::line(format!("warning: {}", out::plain(warning))))?;
        findings.iter().try_for_each(|finding| out::line(told_finding(finding)))?;
        if errors > 0 {
            let found = counted(errors, "error");
            out::line(format!(
                "the policies have {found}; a policy with an error refuses the calls that it concerns"
            ))?;
        } else {
            out::line(format!(
                "the configuration is good: {}, {}, {}",
                counted(loaded.config.upstreams.len(), "upstream"),
                counted(reviewed.tools.len(), "tool"),
                counted(loaded.config.principals.len(), "principal"),
            ))?;
        }
    }
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
