//! `aldgate call`.

use std::process::ExitCode;

use aldgate_agent::{CallOutcome, Connection, Endpoint};
use aldgate_wire::guard::{self, Limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::asker::TerminalAsker;
use crate::cli::{AgentTarget, CallArguments};
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::out;
use crate::signed_in::Account;

/// The endpoint that a command talks to.
pub(super) async fn endpoint(target: &AgentTarget, client: &str) -> miette::Result<Endpoint> {
    let token = match &target.token {
        Some(token) => Some(token.clone()),
        None => Account::at(&target.url)?.token().await?,
    };
    Ok(Endpoint { url: target.url.clone(), token, client_name: client.to_owned() })
}

/// The arguments of a tool as the command line gives them, read as one JSON object.
pub(super) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, CommandFault> {
    let fault = |found: String| CommandFault::Arguments { found };
    // What the gateway would refuse is refused here, where it was written.
    guard::check(text.as_bytes(), &Limits::default()).map_err(|error| fault(format!("this: {error}")))?;
    let value: Value = serde_json::from_str(text).map_err(|error| fault(error.to_string()))?;
    if !value.is_object() {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) | Value::Object(_) => "an array",
        };
        return Err(fault(found.to_owned()));
    }
    serde_json::from_str(text).map_err(|error| fault(error.to_string()))
}

pub(super) async fn run(arguments: CallArguments) -> miette::Result<ExitCode> {
    let target = arguments.target;
    let given: Value = object(&arguments.args)?;
    let connection = Connection::open(&endpoint(&target, "aldgate call").await?).await.coded()?;
    // Knowing which tools only read, the connection may repeat those when an answer is lost.
    connection.tools().await.coded()?;
    let outcome = connection.call(&arguments.tool, given, &TerminalAsker::default()).await;
    connection.close().await;
    match outcome.coded()? {
        CallOutcome::Complete(complete) => {
            let refusal = complete.refusal();
            if target.json {
                out::json(&json!({
                    "isError": complete.is_error,
                    "structuredContent": complete.structured,
                    "text": complete.text,
                    "refusal": refusal,
                    "call": complete.meta.get("io.github.aldgate/call"),
                }))?;
            } else {
                match &complete.structured {
                    Some(value) => out::json(value)?,
                    None => out::line(out::plain_lines(&complete.text))?,
                }
            }
            Ok(if complete.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        CallOutcome::Waiting { refusal, .. } => {
            let text =
                refusal.as_ref().map_or("a person has not decided yet", |refusal| refusal.text.as_str());
            if target.json {
                out::json(&json!({"waiting": true, "refusal": refusal}))?;
            } else {
                out::line(out::plain_lines(text))?;
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
