//! `aldgate agent run`.

mod planner;
mod progress;

use std::process::ExitCode;

use aldgate_agent::{Connection, Finding, RunEvent, RunLimits, run as run_agent};

use super::call::endpoint;
use crate::cli::AgentCommand;
use crate::coded::WithCode as _;
use crate::command::asker::TerminalAsker;
use crate::{observing, out, signal};
use progress::Progress;

pub(super) async fn run(what: AgentCommand) -> miette::Result<ExitCode> {
    let AgentCommand::Run(arguments) = what;
    // What is wrong with the model is said before anything is asked of the gateway.
    let mut planner = planner::of(&arguments)?;
    let limits = RunLimits {
        max_steps: arguments.max_steps,
        max_tokens: arguments.max_tokens,
        ..RunLimits::default()
    };
    let asker = TerminalAsker::default();
    let telemetry = observing::start("aldgate-agent", false, None)?;
    let connection = Connection::open(&endpoint(&arguments.target, "aldgate agent").await?)
        .await
        .coded()?
        .observed_by(telemetry.clone());
    let progress = Progress::new(arguments.target.json, planner.model().is_some());
    let tell = |event: RunEvent| progress.tell(&event);
    let run = run_agent(&connection, planner.as_mut(), &arguments.task, &asker, tell, limits);
    let done = tokio::select! {
        done = run => Some(done),
        () = signal::stop() => None,
    };
    connection.close().await;
    observing::finish(telemetry).await;
    progress.end()?;
    let Some(done) = done else {
        note!(
            "interrupted: a call that was under way may have run, `aldgate audit list` says so; an approval that it waited \
             for stays pending"
        );
        return Ok(ExitCode::from(130));
    };
    let report = done.coded()?;
    // A model may have nothing to call for a task; the rules of the scripted planner always do.
    let worked = planner.model().is_some() || !report.observations.is_empty();
    let waits = report.observations.iter().any(|seen| matches!(seen.finding, Finding::Waiting(_)));
    Ok(if worked && !waits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line of what may be long.
pub(crate) fn short(text: &str) -> String {
    let line = out::plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(220) {
        Some((at, _)) => format!("{} …", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
