//! `aldgate resources`: resources as the gateway serves them.

use std::process::ExitCode;

use aldgate_agent::{CallLimits, ClientProfile, Connection, ListOf};
use serde_json::{Value, json};

use super::call::endpoint;
use crate::cli::{AgentTarget, ResourcesCommand};
use crate::coded::WithCode as _;
use crate::out;

pub(super) async fn run(what: ResourcesCommand) -> miette::Result<ExitCode> {
    match what {
        ResourcesCommand::List { target } => list(&target).await?,
        ResourcesCommand::Read { uri, target } => read(&uri, &target).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A connection that answers no questions: an approval that is pending is told, and the command is given again later.
pub(super) async fn connected(target: &AgentTarget, client: &str) -> miette::Result<Connection> {
    let profile = ClientProfile { declare_form: false, declare_url: false };
    Connection::open_with(&endpoint(target, client).await?, profile, CallLimits::default()).await.coded()
}

async fn list(target: &AgentTarget) -> miette::Result<()> {
    let connection = connected(target, "aldgate resources").await?;
    let resources = connection.list(ListOf::Resources).await;
    let templates = connection.list(ListOf::Templates).await;
    connection.close().await;
    let (resources, templates) = (resources.coded()?, templates.coded()?);
    if target.json {
        return out::json(&json!({"resources": resources, "templates": templates}));
    }
    if resources.is_empty() && templates.is_empty() {
        return out::line("no resources for this principal");
    }
    let rows = |all: &[Value], key: &str| -> Vec<Vec<String>> {
        all.iter().map(|one| vec![text(one, key), host_says(one), title(one)]).collect()
    };
    let rows = [rows(&templates, "uriTemplate"), rows(&resources, "uri")].concat();
    out::table(&["template or resource", "host says", "title"], &rows)
}

async fn read(uri: &str, target: &AgentTarget) -> miette::Result<()> {
    let connection = connected(target, "aldgate resources").await?;
    let result = connection.read(uri).await;
    connection.close().await;
    let result = result.coded()?;
    if target.json {
        return out::json(&result);
    }
    for content in result.get("contents").and_then(Value::as_array).into_iter().flatten() {
        match content.get("text").and_then(Value::as_str) {
            Some(text) => out::line(out::plain_lines(text))?,
            None => out::line(format!(
                "{}: {}, no text; `--json` prints it",
                text(content, "uri"),
                text(content, "mimeType")
            ))?,
        }
    }
    Ok(())
}

/// A member for a table.
pub(super) fn text(element: &Value, key: &str) -> String {
    element.get(key).and_then(Value::as_str).map_or_else(|| "-".to_owned(), out::plain)
}

/// What the registry says of a contract; what a server lists as its data has none.
pub(super) fn host_says(element: &Value) -> String {
    let mark = element.pointer("/_meta/io.github.aldgate~1contract/authority");
    mark.and_then(Value::as_str).map_or_else(|| "-".to_owned(), out::plain)
}

/// The title for people, else the name.
pub(super) fn title(element: &Value) -> String {
    if element.get("title").is_some_and(Value::is_string) {
        return text(element, "title");
    }
    text(element, "name")
}
