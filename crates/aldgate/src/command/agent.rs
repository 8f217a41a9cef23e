//! `aldgate agent run`.

use std::process::ExitCode;

use aldgate_agent::{Connection, RunEvent, RunLimits, Scripted, run as run_agent};
use miette::{IntoDiagnostic as _, miette};

use super::call::endpoint;
use crate::cli::AgentCommand;
use crate::coded::WithCode as _;
use crate::command::asker::TerminalAsker;
use crate::out;

pub(super) async fn run(what: AgentCommand) -> miette::Result<ExitCode> {
    let AgentCommand::Run { task, planner: _, target } = what;
    let connection = Connection::open(&endpoint(&target, "aldgate agent")).await.coded()?;
    let json = target.json;
    let broken = std::sync::Mutex::new(None);
    let tell = |event: RunEvent| {
        let told = if json {
            serde_json::to_string(&event).into_diagnostic().and_then(out::line)
        } else {
            told(&event)
        };
        if let (Err(fault), Ok(mut broken)) = (told, broken.lock()) {
            broken.get_or_insert(fault);
        }
    };
    let done = run_agent(&connection, &mut Scripted, &task, &TerminalAsker, tell, RunLimits::default()).await;
    connection.close().await;
    if let Some(fault) = broken.into_inner().map_err(|_| miette!("the output broke"))? {
        return Err(fault);
    }
    let report = done.coded()?;
    Ok(if report.observations.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn told(event: &RunEvent) -> miette::Result<()> {
    match event {
        RunEvent::Connected { server } => out::line(format!(
            "connected to {} {}, MCP {}",
            out::plain(&server.name),
            out::plain(&server.version),
            server.protocol
        )),
        RunEvent::Listed { tools } => out::line(format!("{} tools: {}", tools.len(), tools.join(", "))),
        RunEvent::Planned { step, tool, arguments, why } => {
            out::line(format!("{step:>2}. {tool} {arguments}"))?;
            out::line(format!("    {}", out::plain(why)))
        }
        RunEvent::Result { is_error, text, .. } => {
            let word = if *is_error { "the tool says no" } else { "result" };
            out::line(format!("    {word}: {}", short(text)))
        }
        RunEvent::Refusal { refusal, .. } => {
            out::line(format!("    refused by the host ({}): {}", refusal.code, short(&refusal.text)))
        }
        RunEvent::Failed { text, .. } => out::line(format!("    failed: {}", short(text))),
        RunEvent::Retried { attempt, cause, .. } => {
            out::line(format!("    attempt {attempt}: {}", short(cause)))
        }
        RunEvent::Waited { attempt, .. } => out::line(format!("    still waiting for a person ({attempt})")),
        RunEvent::Waiting { .. } => out::line("    nobody decided; going on without it"),
        RunEvent::Finished { summary, .. } => out::line(out::plain(summary)),
        _ => Ok(()),
    }
}

/// One line of what may be long.
pub(crate) fn short(text: &str) -> String {
    let line = out::plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(220) {
        Some((at, _)) => format!("{} …", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
