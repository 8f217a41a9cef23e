//! `aldgate policy`.

mod explain;

use std::collections::BTreeSet;
use std::process::ExitCode;

use aldgate_authority::{
    Authority, Cell, Column, Concern, PolicyFinding, PrincipalKind, PromptContract, Severity, Surveyed,
    ToolContract,
};
use aldgate_gateway::Reviewed;
use serde_json::Value;

use super::configuration;
use crate::cli::PolicyCommand;
use crate::config::{Loaded, reviewed};
use crate::fault::counted;
use crate::out;

pub(super) fn run(what: PolicyCommand) -> miette::Result<ExitCode> {
    match what {
        PolicyCommand::Check { file, json } => check(&configuration(&file)?, json),
        PolicyCommand::Matrix { file, json } => matrix(&configuration(&file)?, json),
        PolicyCommand::Explain(arguments) => explain::run(&arguments),
    }
}

/// What the policies say that does not fit the pinned contracts.
pub(super) fn findings(reviewed: &Reviewed) -> Vec<PolicyFinding> {
    let contracts: Vec<_> = reviewed
        .tools
        .iter()
        .map(|tool| ToolContract {
            upstream: &tool.upstream,
            tool: &tool.tool,
            input_schema: &tool.input_schema,
        })
        .collect();
    let prompts: Vec<_> = reviewed
        .prompts
        .iter()
        .map(|prompt| PromptContract {
            upstream: &prompt.upstream,
            prompt: &prompt.prompt,
            arguments: &prompt.arguments,
        })
        .collect();
    reviewed.authorizer.check(&contracts, &prompts)
}

/// How much a configuration offers, such as `2 tools, 1 prompt`. What is not a tool is told where there is some.
pub(super) fn offered(tools: usize, resources: usize, prompts: usize) -> String {
    let others = [(resources, "resource"), (prompts, "prompt")].into_iter().filter(|(number, _)| *number > 0);
    let told = [(tools, "tool")].into_iter().chain(others).map(|(number, thing)| counted(number, thing));
    told.collect::<Vec<_>>().join(", ")
}

/// One finding in one line.
pub(super) fn told_finding(finding: &PolicyFinding) -> String {
    format!(
        "{}:{}:{}: {}: policy `{}` on `{}`: {}",
        finding.file,
        finding.line,
        finding.column,
        if finding.severity == Severity::Error { "error" } else { "warning" },
        finding.policy,
        finding.concern.as_ref().map_or_else(|| "everything".to_owned(), Concern::to_string),
        finding.message,
    )
}

fn check(loaded: &Loaded, json: bool) -> miette::Result<ExitCode> {
    let reviewed = reviewed(loaded)?;
    let findings = findings(&reviewed);
    if json {
        out::json(&findings)?;
    } else {
        findings.iter().try_for_each(|finding| out::line(told_finding(finding)))?;
        if findings.is_empty() {
            let Reviewed { tools, resources, prompts, .. } = &reviewed;
            let offered = offered(tools.len(), resources.len(), prompts.len());
            out::line(format!("the policies fit the contracts: {offered}"))?;
        }
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn matrix(loaded: &Loaded, json: bool) -> miette::Result<ExitCode> {
    let reviewed = reviewed(loaded)?;
    let Reviewed { tools, resources, prompts, .. } = &reviewed;
    let tools = tools.iter().map(|tool| Surveyed::tool(&tool.upstream, &tool.tool, tool.hints));
    let resources = resources.iter().map(|one| Surveyed::resource(&one.upstream, &one.template));
    let prompts = prompts.iter().map(|one| Surveyed::prompt(&one.upstream, &one.prompt));
    let all: Vec<_> = tools.chain(resources).chain(prompts).collect();
    let known: BTreeSet<_> = loaded
        .config
        .principals
        .iter()
        .flat_map(|principal| {
            principal.roles.iter().map(|role| (role.clone(), principal.kind, principal.tenant.clone()))
        })
        .collect();
    let roles: Vec<_> = known.into_iter().map(|(role, kind, tenant)| Column { role, kind, tenant }).collect();
    let mut rows = reviewed.authorizer.matrix(&all, &roles);
    for row in &mut rows {
        for one in row.roles.iter_mut().filter(|one| !loaded.config.serves(&row.upstream, &one.tenant)) {
            one.ruling = Cell::Prohibited;
        }
    }
    if json {
        out::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<_> = roles.iter().map(|column| heading(column, &roles)).collect();
    let mut headings = vec!["what", "annotations imply", "registry"];
    headings.extend(names.iter().map(String::as_str));
    let cells = rows.iter().map(|row| {
        let mut cells = vec![
            Concern::of(row.kind, &format!("{}/{}", row.upstream, row.name.key())).to_string(),
            row.implied.map_or("-", Authority::as_str).to_owned(),
            row.registry.as_str().to_owned(),
        ];
        cells.extend(row.roles.iter().map(|one| {
            let ruling = serde_json::to_value(one.ruling).ok();
            ruling.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
        }));
        cells
    });
    out::table(&headings, &cells.collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}

/// The role, with kind and tenant where another column has the same role.
fn heading(column: &Column, all: &[Column]) -> String {
    if all.iter().filter(|other| other.role == column.role).count() < 2 {
        return column.role.clone();
    }
    let kind = match column.kind {
        PrincipalKind::Person => "person",
        PrincipalKind::Service => "service",
    };
    format!("{} ({kind}, {})", column.role, column.tenant)
}
