//! `aldgate call`.

use std::process::ExitCode;

use aldgate_agent::{CallOutcome, Connection, Endpoint};
use miette::{IntoDiagnostic as _, WrapErr as _, miette};
use serde_json::{Value, json};

use super::asker::TerminalAsker;
use crate::cli::{AgentTarget, CallArguments};
use crate::coded::WithCode as _;
use crate::out;

/// The endpoint that a command talks to.
pub(super) fn endpoint(target: &AgentTarget, client: &str) -> Endpoint {
    Endpoint { url: target.url.clone(), token: target.token.clone(), client_name: client.to_owned() }
}

pub(super) async fn run(arguments: CallArguments) -> miette::Result<ExitCode> {
    let target = arguments.target;
    let given: Value = serde_json::from_str(&arguments.args)
        .into_diagnostic()
        .wrap_err("the arguments must be one JSON object, such as `{\"ticket_id\": \"SR-20031\"}`")?;
    if !given.is_object() {
        return Err(miette!(
            "the arguments must be one JSON object, such as `{{\"ticket_id\": \"SR-20031\"}}`"
        ));
    }
    let connection = Connection::open(&endpoint(&target, "aldgate call")).await.coded()?;
    // Knowing which tools only read, the connection may repeat those when an answer is lost.
    connection.tools().await.coded()?;
    let outcome = connection.call(&arguments.tool, given, &TerminalAsker).await;
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
                    None => out::line(out::plain(&complete.text))?,
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
                out::line(out::plain(text))?;
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
