//! `aldgate agent run`.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use aldgate_agent::{Connection, RunEvent, RunLimits, Scripted, run as run_agent};

use super::call::endpoint;
use crate::cli::AgentCommand;
use crate::coded::WithCode as _;
use crate::command::asker::TerminalAsker;
use crate::out;

pub(super) async fn run(what: AgentCommand) -> miette::Result<ExitCode> {
    let AgentCommand::Run { task, planner: _, target } = what;
    let connection = Connection::open(&endpoint(&target, "aldgate agent")).await.coded()?;
    let json = target.json;
    let broken = Mutex::new(None);
    let tell = |event: RunEvent| {
        let told = if json { out::json_line(&event) } else { told(&event) };
        if let (Err(fault), Ok(mut broken)) = (told, broken.lock()) {
            broken.get_or_insert(fault);
        }
    };
    let done =
        run_agent(&connection, &mut Scripted, &task, &TerminalAsker::default(), tell, RunLimits::default())
            .await;
    connection.close().await;
    if let Some(fault) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
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
            out::plain(&server.protocol)
        )),
        RunEvent::Listed { tools } => {
            let names = tools.iter().map(|name| out::plain(name)).collect::<Vec<_>>().join(", ");
            out::line(format!("{} tools: {names}", tools.len()))
        }
        RunEvent::Planned { step, tool, arguments, why } => {
            out::line(format!("{step:>2}. {} {}", out::plain(tool), out::plain(&arguments.to_string())))?;
            out::line(format!("    {}", out::plain(why)))
        }
        RunEvent::Result { is_error, text, .. } => {
            let word = if *is_error { "the tool says no" } else { "result" };
            out::line(format!("    {word}: {}", short(text)))
        }
        RunEvent::Refusal { refusal, .. } => {
            let code = out::plain(&refusal.code);
            out::line(format!("    refused by the host ({code}): {}", short(&refusal.text)))
        }
        RunEvent::Failed { text, .. } => out::line(format!("    failed: {}", short(text))),
        RunEvent::Retried { attempt, cause, .. } => {
            out::line(format!("    attempt {attempt}: {}", short(cause)))
        }
        RunEvent::Waited { attempt, .. } => out::line(format!("    still waiting for a person ({attempt})")),
        RunEvent::Waiting { .. } => out::line("    nobody decided; going on without it"),
        RunEvent::Finished { summary, .. } => out::line(out::plain_lines(summary)),
        _ => Ok(()),
    }
}

/// One line of what may be long.
pub(crate) fn short(text: &str) -> String {
    let line = out::plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(220) {
        Some((at, _)) => format!("{} …", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
