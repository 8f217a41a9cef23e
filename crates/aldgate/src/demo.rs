//! `aldgate demo`: one service ticket from symptom to order and note, through the gateway.

mod asker;
mod browser;
mod events;
mod ledger;
mod people;
mod probe;
mod program;
mod stage;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use aldgate_agent::{Connection, Endpoint, RunLimits, Scripted, run as run_agent};

use crate::cli::DemoArguments;
use crate::coded::WithCode as _;
use crate::signal;
use asker::{Decider, Mode};
use events::Screen;
use ledger::{Facts, newest_row};
use stage::Stage;

/// Runs the demonstration.
pub(crate) async fn run(arguments: DemoArguments) -> miette::Result<ExitCode> {
    let screen = Screen::new(arguments.json);
    let stage = Stage::set(&arguments, &screen).await?;
    // Listened to from here on: a signal between two waits is not lost.
    let mut stop = std::pin::pin!(signal::stop());
    let worked = tokio::select! {
        biased;
        () = &mut stop => {
            // The line of a question ends here.
            note!("");
            stage.clear().await;
            return Ok(ExitCode::from(130));
        }
        worked = work(&arguments, &stage, &screen), if !arguments.no_run => worked,
        () = std::future::ready(()), if arguments.no_run => Ok(()),
    };
    if let Err(fault) = worked {
        stage.clear().await;
        return Err(fault);
    }
    if !arguments.once {
        screen.serving(&stage).await?;
        stop.await;
    }
    stage.clear().await;
    Ok(ExitCode::SUCCESS)
}

async fn work(arguments: &DemoArguments, stage: &Stage, screen: &Screen) -> miette::Result<()> {
    let mode = match (arguments.approve, arguments.deny) {
        (true, _) => Mode::Approve,
        (_, true) => Mode::Deny,
        _ if std::io::stdin().is_terminal() && !arguments.json => Mode::Ask,
        _ => Mode::Nobody,
    };
    let refused_without_secret = probe::refused_without_secret(stage).await;
    let endpoint = Endpoint {
        url: stage.url(),
        token: Some(stage.agent_token().to_owned()),
        renewal: None,
        client_name: "aldgate demo".to_owned(),
    };
    let connection = Connection::open(&endpoint).await.coded()?.observed_by(stage.agent_telemetry());
    let task = format!(
        "Work service ticket {}: find the fault, the part and the procedure, order the part, leave a note.",
        arguments.ticket
    );
    let decider = Decider::new(mode, stage, screen).await?;
    let start = newest_row(stage).await?;
    let report = run_agent(
        &connection,
        &mut Scripted,
        &task,
        &decider,
        |event| screen.agent(&event),
        RunLimits::default(),
    )
    .await;
    connection.close().await;
    let report = report.coded()?;
    let facts = Facts::gather(stage, start, &report, refused_without_secret, screen.search_backend()).await?;
    screen.finish(&facts)?;
    screen.trace(&stage.trace(&report.trace))?;
    screen.fault()
}
