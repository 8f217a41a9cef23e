//! `aldgate tools`: contracts as the gateway serves them.

use std::process::ExitCode;

use aldgate_agent::{Connection, ToolSummary};
use aldgate_authority::{Hints, implied};
use serde_json::{Value, json};

use super::approvals::segment;
use super::call::endpoint;
use crate::admin::Admin;
use crate::cli::{AgentTarget, ToolsCommand};
use crate::coded::WithCode as _;
use crate::fault::{CommandFault, quoted};
use crate::out;
use crate::signed_in::Account;

pub(super) async fn run(what: ToolsCommand) -> miette::Result<ExitCode> {
    match what {
        ToolsCommand::List { target } => list(&target).await?,
        ToolsCommand::Show { name, target, admin } => show(&name, &target, &admin).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn live(target: &AgentTarget) -> miette::Result<Vec<ToolSummary>> {
    let connection = Connection::open(&endpoint(target, "aldgate tools").await?).await.coded()?;
    let tools = connection.tools().await;
    connection.close().await;
    tools.coded()
}

async fn list(target: &AgentTarget) -> miette::Result<()> {
    let tools = live(target).await?;
    if target.json {
        return out::json(&tools);
    }
    let rows: Vec<_> = tools
        .iter()
        .map(|tool| {
            let host = tool
                .contract
                .as_ref()
                .and_then(|mark| mark.authority.clone())
                .unwrap_or_else(|| "-".to_owned());
            vec![out::plain(&tool.name), host, out::plain(tool.title.as_deref().unwrap_or_default())]
        })
        .collect();
    if rows.is_empty() {
        return out::line("no tools for this principal");
    }
    out::table(&["tool", "host says", "title"], &rows)
}

/// One contract, from whoever shows it.
struct Contract {
    tool: ToolSummary,
    boundaries: Vec<String>,
    registry: Option<String>,
    /// Why calls are refused now, where the principal may see that.
    refused: Option<String>,
}

async fn find(name: &str, target: &AgentTarget, admin: &str) -> miette::Result<Contract> {
    let tools = live(target).await?;
    let listed = quoted(tools.iter().map(|tool| tool.name.as_str()));
    if let Some(tool) = tools.into_iter().find(|tool| tool.name == name) {
        let registry = tool.contract.as_ref().and_then(|mark| mark.authority.clone());
        let boundaries = tool.contract.as_ref().map(|mark| mark.boundaries.clone()).unwrap_or_default();
        return Ok(Contract { tool, boundaries, registry, refused: None });
    }
    // What is prohibited is in nobody's list; an operator can look at it all the same.
    let token = match &target.token {
        Some(token) => Some(token.clone()),
        None => Account::admin(admin)?.token().await?,
    };
    let asked = Admin::at(admin, token).get(&format!("/v1/tools/{}", segment(name)?)).await;
    let definition =
        asked.map_err(|source| CommandFault::NoTool { name: name.to_owned(), listed, source })?;
    let tool = ToolSummary::from_definition(&definition)
        .ok_or_else(|| CommandFault::Definition { name: name.to_owned() })?;
    let registry = tool.contract.as_ref().and_then(|mark| mark.authority.clone());
    let boundaries = tool.contract.as_ref().map(|mark| mark.boundaries.clone()).unwrap_or_default();
    let refused = definition.pointer("/_meta/io.github.aldgate~1contract/refused");
    let refused = refused.and_then(Value::as_str).map(str::to_owned);
    Ok(Contract { tool, boundaries, registry, refused })
}

async fn show(name: &str, target: &AgentTarget, admin: &str) -> miette::Result<()> {
    let Contract { tool, boundaries, registry, refused } = find(name, target, admin).await?;
    let hints = Hints {
        read_only: tool.hints.read_only,
        destructive: tool.hints.destructive,
        idempotent: tool.hints.idempotent,
        open_world: tool.hints.open_world,
    };
    let implied = implied(&hints).as_str();
    let disagrees = registry.as_deref().is_some_and(|registry| registry != implied);
    if target.json {
        return out::json(&json!({
            "tool": tool, "implied": implied, "registry": registry, "host_disagrees": disagrees, "boundaries": boundaries,
            "refused_now": refused,
        }));
    }
    out::line(format!(
        "{} — {}",
        out::plain(&tool.name),
        out::plain(tool.title.as_deref().unwrap_or("no title"))
    ))?;
    out::line(format!("\n{}\n", out::plain_lines(tool.description.as_deref().unwrap_or("no description"))))?;
    for (hint, value, default) in [
        ("readOnlyHint", hints.read_only, false),
        ("destructiveHint", hints.destructive, true),
        ("idempotentHint", hints.idempotent, false),
        ("openWorldHint", hints.open_world, true),
    ] {
        let said = if value.is_some() { "(set)" } else { "(default)" };
        out::line(format!("{hint:<16} {:<6} {said}", value.unwrap_or(default)))?;
    }
    out::line(
        "\nHints are what the server says of itself. Nothing makes it keep to them, so nothing here is decided by them.\n",
    )?;
    out::line(format!("annotations alone would imply   {implied}"))?;
    out::line(format!(
        "the host's registry says        {}",
        registry.as_deref().map_or_else(|| "nothing (no gateway in between)".to_owned(), out::plain)
    ))?;
    if disagrees {
        out::line("host disagrees with the server: the registry is what counts")?;
    }
    schema("input schema", Some(&tool.input_schema))?;
    schema("output schema", tool.output_schema.as_ref())?;
    if !boundaries.is_empty() {
        out::line("\ndeclared boundaries")?;
        for boundary in &boundaries {
            out::line(format!("  - {}", out::plain(boundary)))?;
        }
    }
    if let Some(digest) = tool.contract.as_ref().and_then(|mark| mark.digest.as_ref()) {
        out::line(format!("\npinned contract {}", out::plain(digest)))?;
    }
    if let Some(refused) = refused {
        out::line(format!("refused now     AG-CONTRACT-CHANGED: {}", out::plain(&refused)))?;
        out::line("                `aldgate contracts verify` shows what the server serves instead")?;
    }
    Ok(())
}

fn schema(heading: &str, schema: Option<&Value>) -> miette::Result<()> {
    let Some(schema) = schema else { return Ok(()) };
    out::line(format!("\n{heading}"))?;
    out::json(schema)
}
