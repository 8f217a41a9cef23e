//! `aldgate config`.

use std::process::ExitCode;

use aldgate_authority::{Concern, Kind, Severity};
use serde_json::{Value, json};
use tracing::subscriber::NoSubscriber;

use super::configuration;
use super::policy::{findings, offered, told_finding};
use crate::cli::{ConfigCommand, ConfigFile};
use crate::config::{markdown, reviewed, schema, undecided, warnings};
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
    // What is held back is told below, so it is not logged as well.
    let reviewed = tracing::subscriber::with_default(NoSubscriber::new(), || reviewed(&loaded))?;
    let mut warnings = warnings(&loaded);
    warnings.extend(undecided(&loaded, &reviewed));
    let registry = reviewed.authorizer.registry();
    let none_offered =
        reviewed.tools.is_empty() && reviewed.resources.is_empty() && reviewed.prompts.is_empty();
    let nothing = none_offered && Kind::ALL.into_iter().any(|kind| registry.entries(kind).next().is_some());
    if nothing {
        warnings.push("nothing is offered: all that the registry names is held back".to_owned());
    }
    let findings = findings(&reviewed);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let held = reviewed.held_back.iter();
    if json {
        let held: Vec<_> = held.map(|(what, why)| told_held(what, why)).collect();
        out::json(&json!({
            "upstreams": loaded.config.upstreams.len(),
            "tools": reviewed.tools.len(),
            "resources": reviewed.resources.len(),
            "prompts": reviewed.prompts.len(),
            "principals": loaded.config.principals.len(),
            "held_back": held,
            "warnings": warnings,
            "policy_findings": findings,
        }))?;
    } else {
        for (what, why) in held {
            out::line(format!("held back: {}: {}", out::plain(&what.to_string()), out::plain(why)))?;
        }
        warnings.iter().try_for_each(|warning| out::line(format!("warning: {}", out::plain(warning))))?;
        findings.iter().try_for_each(|finding| out::line(told_finding(finding)))?;
        if errors > 0 {
            let found = counted(errors, "error");
            out::line(format!(
                "the policies have {found}; a policy with an error refuses the calls that it concerns"
            ))?;
        } else {
            let how = if nothing { "fits together, and nothing is offered" } else { "is good" };
            out::line(format!(
                "the configuration {how}: {}, {}, {}",
                counted(loaded.config.upstreams.len(), "upstream"),
                offered(reviewed.tools.len(), reviewed.resources.len(), reviewed.prompts.len()),
                counted(loaded.config.principals.len(), "principal"),
            ))?;
        }
    }
    Ok(if errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Its key under the word for what it is, such as `"tool": "tickets/get_ticket"`, and why.
fn told_held(what: &Concern, why: &str) -> Value {
    let mut told = serde_json::to_value(what).unwrap_or_default();
    if let Value::Object(members) = &mut told {
        members.insert("why".to_owned(), why.into());
    }
    told
}
