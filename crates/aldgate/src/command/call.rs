//! `aldgate call`.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use aldgate_agent::{CallFault, CallOutcome, Connection, Endpoint};
use aldgate_identity::client::{Challenge, StepUp};
use aldgate_wire::guard::{self, Limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::asker::TerminalAsker;
use crate::cli::{AgentTarget, CallArguments};
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::out;
use crate::signed_in::{Account, How};

/// The endpoint that a command talks to.
pub(super) async fn endpoint(target: &AgentTarget, client: &str) -> miette::Result<Endpoint> {
    let (token, renewal) = match &target.token {
        Some(token) => (Some(token.clone()), None),
        None => match Account::at(&target.url)?.renewing().await? {
            Some((token, renewal)) => (Some(token), Some(renewal)),
            None => (None, None),
        },
    };
    Ok(Endpoint { url: target.url.clone(), token, renewal, client_name: client.to_owned() })
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

/// Has the person at the terminal grant what a call was refused for want of (RFC 6750 §3.1). Whether it was granted.
async fn granted_more(url: &str, steps: &mut StepUp, fault: &CallFault) -> miette::Result<bool> {
    let CallFault::Unauthorized { tool, challenge: Some(challenge), .. } = fault else { return Ok(false) };
    let wanted = Challenge::of_oauth([challenge.as_str()]).and_then(|challenge| steps.next(&challenge).ok());
    let Some(scopes) = wanted.filter(|_| std::io::stdin().is_terminal()) else { return Ok(false) };
    note!("`{}` needs more than was granted: {scopes}", out::plain(tool));
    let how = How { scopes: Some(scopes.clone()), browser: true, ..How::default() };
    let login = Account::at(url)?.sign_in(&how, true).await?;
    // Who may not grant it is asked once.
    Ok(login.token.scopes.or(login.asked).is_some_and(|granted| granted.cover(&scopes)))
}

pub(super) async fn run(arguments: CallArguments) -> miette::Result<ExitCode> {
    let target = arguments.target;
    let given: Value = object(&arguments.args)?;
    let endpoint = endpoint(&target, "aldgate call").await?;
    let connection = Connection::open(&endpoint).await.coded()?;
    // Knowing which tools only read, the connection may repeat those when an answer is lost.
    connection.tools().await.coded()?;
    let mut steps = StepUp::default();
    let outcome = loop {
        let outcome = connection.call(&arguments.tool, given.clone(), &TerminalAsker::default()).await;
        match &outcome {
            Err(fault)
                if endpoint.renewal.is_some() && granted_more(&target.url, &mut steps, fault).await? => {}
            _ => break outcome,
        }
    };
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
