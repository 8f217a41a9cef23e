//! `aldgate prompts`: prompts as the gateway serves them.

use std::process::ExitCode;

use aldgate_agent::ListOf;
use serde_json::{Map, Value};

use super::resources::{connected, host_says, text, title};
use crate::cli::{AgentTarget, PromptsCommand};
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::out;

pub(super) async fn run(what: PromptsCommand) -> miette::Result<ExitCode> {
    match what {
        PromptsCommand::List { target } => list(&target).await?,
        PromptsCommand::Get { name, arguments, target } => get(&name, &arguments, &target).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(target: &AgentTarget) -> miette::Result<()> {
    let connection = connected(target, "aldgate prompts").await?;
    let prompts = connection.list(ListOf::Prompts).await;
    connection.close().await;
    let prompts = prompts.coded()?;
    if target.json {
        return out::json(&prompts);
    }
    if prompts.is_empty() {
        return out::line("no prompts for this principal");
    }
    let rows: Vec<_> = prompts
        .iter()
        .map(|prompt| vec![text(prompt, "name"), host_says(prompt), arguments(prompt), title(prompt)])
        .collect();
    out::table(&["prompt", "host says", "arguments", "title"], &rows)
}

/// The names of the arguments; one that may be left out in brackets.
fn arguments(prompt: &Value) -> String {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let names = arguments.map(|argument| {
        let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
        let name = text(argument, "name");
        if required { name } else { format!("[{name}]") }
    });
    names.collect::<Vec<_>>().join(" ")
}

async fn get(name: &str, given: &[String], target: &AgentTarget) -> miette::Result<()> {
    let given = given.iter().map(|pair| named(pair)).collect::<Result<Map<String, Value>, _>>()?;
    let connection = connected(target, "aldgate prompts").await?;
    let result = connection.prompt(name, given).await;
    connection.close().await;
    let result = result.coded()?;
    if target.json {
        return out::json(&result);
    }
    for message in result.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let role = text(message, "role");
        match message.pointer("/content/text").and_then(Value::as_str) {
            Some(text) => out::line(format!("{role}: {}", out::plain_lines(text)))?,
            None => out::line(format!("{role}: no text; `--json` prints it"))?,
        }
    }
    Ok(())
}

fn named(pair: &str) -> Result<(String, Value), CommandFault> {
    let (name, value) = argument(pair)?;
    Ok((name.to_owned(), value.into()))
}

/// A name and what is after the first `=`.
pub(super) fn argument(pair: &str) -> Result<(&str, &str), CommandFault> {
    pair.split_once('=')
        .ok_or_else(|| CommandFault::usage(format!("expected NAME=VALUE, found `{}`", out::plain(pair))))
}
