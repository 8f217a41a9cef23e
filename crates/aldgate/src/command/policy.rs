//! `aldgate policy`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use aldgate_authority::{
    Action, Authority, Column, Concern, Explanation, Item, PolicyFinding, PolicyRef, Principal,
    PrincipalKind, Question, Severity, Surveyed, ToolContract, implied,
};
use aldgate_gateway::Reviewed;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::object;
use super::configuration;
use crate::cli::PolicyCommand;
use crate::config::{Loaded, reviewed};
use crate::fault::{CommandFault, counted, quoted};
use crate::out;

pub(super) fn run(what: PolicyCommand) -> miette::Result<ExitCode> {
    match what {
        PolicyCommand::Check { file, json } => check(&configuration(&file)?, json),
        PolicyCommand::Matrix { file, json } => matrix(&configuration(&file)?, json),
        PolicyCommand::Explain { tool, principal, args, file, json } => {
            explain(&configuration(&file)?, &tool, &principal, &args, json)
        }
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
    reviewed.authorizer.check(&contracts, &[])
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
        finding.concern.as_ref().map_or("everything", Concern::key),
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
            let tools = counted(reviewed.tools.len(), "tool");
            out::line(format!("the policies fit the contracts: {tools}"))?;
        }
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn matrix(loaded: &Loaded, json: bool) -> miette::Result<ExitCode> {
    let reviewed = reviewed(loaded)?;
    let tools: Vec<_> =
        reviewed.tools.iter().map(|tool| Surveyed::tool(&tool.upstream, &tool.tool, tool.hints)).collect();
    let known: BTreeSet<_> = loaded
        .config
        .principals
        .iter()
        .flat_map(|principal| {
            principal.roles.iter().map(|role| (role.clone(), principal.kind, principal.tenant.clone()))
        })
        .collect();
    let roles: Vec<_> = known.into_iter().map(|(role, kind, tenant)| Column { role, kind, tenant }).collect();
    let rows = reviewed.authorizer.matrix(&tools, &roles);
    if json {
        out::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<_> = roles.iter().map(|column| heading(column, &roles)).collect();
    let mut headings = vec!["tool", "annotations imply", "registry"];
    headings.extend(names.iter().map(String::as_str));
    let cells = rows.iter().map(|row| {
        let mut cells = vec![
            format!("{}/{}", row.upstream, row.name.key()),
            row.implied.map_or("", Authority::as_str).to_owned(),
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

fn explain(loaded: &Loaded, tool: &str, name: &str, args: &str, json: bool) -> miette::Result<ExitCode> {
    let reviewed = reviewed(loaded)?;
    let found =
        reviewed.tools.iter().find(|known| known.visible == tool || known.key == tool).ok_or_else(|| {
            CommandFault::Unknown {
                kind: "tool",
                name: tool.to_owned(),
                known: quoted(reviewed.tools.iter().map(|tool| tool.visible.as_str())),
                help: Some("a tool that is in no lock, or not in the registry, is prohibited"),
            }
        })?;
    let configured = loaded.config.principals.iter().find(|known| known.name == name).ok_or_else(|| {
        CommandFault::Unknown {
            kind: "principal",
            name: name.to_owned(),
            known: quoted(loaded.config.principals.iter().map(|known| known.name.as_str())),
            help: None,
        }
    })?;
    let arguments: Box<RawValue> = object(args)?;
    let principal = Principal {
        issuer: "config".to_owned(),
        subject: configured.name.clone(),
        tenant: configured.tenant.clone(),
        kind: configured.kind,
        roles: configured.roles.clone(),
        name: configured.name.clone(),
        client: configured.name.clone(),
    };
    let ruling = reviewed
        .authorizer
        .rule(&Question {
            principal: &principal,
            action: Action::Call,
            target: Item::tool(&found.upstream, &found.tool, &found.contract).into(),
            uri: None,
            arguments: Some(&arguments),
            argument: None,
            input_responses: None,
            client: &principal.client,
        })
        .with_implied(implied(&found.hints));
    let unfit = unfit(&found.input_schema, &arguments)?;
    if json {
        let mut explained = serde_json::to_value(ruling.explanation()).unwrap_or_default();
        if let Value::Object(members) = &mut explained {
            members.insert("arguments_unfit".to_owned(), unfit.into());
        }
        out::json(&explained)?;
    } else {
        told(ruling.explanation())?;
        for place in unfit {
            out::line(format!("  unfit     {}", out::plain(&place)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the arguments do not fit the pinned input schema: the gateway refuses such a call before it is ruled. The
/// schema was found to be within the gateway's bounds when the configuration was reviewed.
fn unfit(schema: &Value, arguments: &RawValue) -> miette::Result<Vec<String>> {
    let broken = |what: String| CommandFault::usage(format!("the arguments cannot be compared: {what}"));
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(schema)
        .map_err(|fault| broken(fault.to_string()))?;
    let arguments: Value =
        serde_json::from_str(arguments.get()).map_err(|fault| broken(fault.to_string()))?;
    let told = |fault: jsonschema::ValidationError<'_>| {
        let place = fault.instance_path().to_string();
        let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
        format!("{place}: {fault}; the gateway refuses this call with AG-ARGUMENTS before it is ruled")
    };
    Ok(validator.iter_errors(&arguments).map(told).collect())
}

fn told(explanation: &Explanation) -> miette::Result<()> {
    let verdict = serde_json::to_value(explanation.verdict).ok();
    let verdict = verdict.as_ref().and_then(Value::as_str).unwrap_or_default();
    out::line(format!("{}: {verdict}, by {}", explanation.concern.key(), explanation.rule))?;
    for reason in &explanation.reasons {
        out::line(format!("  because   {} ({})", reason.message, reason.rule))?;
    }
    if let Some(entry) = &explanation.registry {
        out::line(format!("  registry  {} ({})", entry.authority.as_str(), entry.digest))?;
    }
    if let Some(implied) = explanation.implied {
        out::line(format!("  implied   {} by the annotations alone; shown, never used", implied.as_str()))?;
    }
    // A policy speaks for each action that it was asked about; it is one policy all the same.
    let mut policies: Vec<(&PolicyRef, Vec<&str>)> = Vec::new();
    for policy in &explanation.policies {
        match policies.iter_mut().find(|(known, _)| (&known.id, &known.file) == (&policy.id, &policy.file)) {
            Some((_, actions)) => actions.push(policy.action),
            None => policies.push((policy, vec![policy.action])),
        }
    }
    for (policy, mut actions) in policies {
        actions.dedup();
        let (id, effect, actions) = (&policy.id, policy.effect, actions.join(", "));
        out::line(format!("  policy    {id} ({effect} {actions}) in {}:{}", policy.file, policy.line))?;
    }
    for path in &explanation.unmapped {
        out::line(format!("  unseen    {path} cannot be seen by policies"))?;
    }
    out::line(format!("  contract  {}", explanation.contract))
}
