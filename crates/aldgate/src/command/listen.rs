//! `aldgate listen`: what a subscription tells, one line for each change.

use std::process::ExitCode;

use aldgate_agent::{CallFault, Change, Connection, Hearing};

use super::call::endpoint;
use crate::cli::ListenArguments;
use crate::coded::WithCode as _;
use crate::fault::quoted;
use crate::{out, signal};

pub(super) async fn run(arguments: ListenArguments) -> miette::Result<ExitCode> {
    let ListenArguments { uris, most, target } = arguments;
    let connection = Connection::open(&endpoint(&target, "aldgate listen")).await.coded()?;
    let mut hearing = connection.listen(&uris).await.coded()?;
    let left_out: Vec<&str> =
        uris.iter().filter(|uri| !hearing.honoured().contains(uri)).map(String::as_str).collect();
    if !left_out.is_empty() {
        note!("nothing will be told of {}", quoted(left_out.into_iter()));
    }
    note!("listening");
    let ended = tokio::select! {
        told = tell(&mut hearing, most, target.json) => told?,
        () = signal::stop() => Ok(()),
    };
    connection.close().await;
    ended.coded()?;
    Ok(ExitCode::SUCCESS)
}

/// Tells of changes until there were as many as wanted, or the endpoint ends the subscription.
async fn tell(hearing: &mut Hearing, most: Option<u64>, json: bool) -> miette::Result<Result<(), CallFault>> {
    let mut told = 0;
    while most.is_none_or(|most| told < most) {
        let change = match hearing.next().await {
            Ok(Some(change)) => change,
            Ok(None) => {
                note!("the endpoint ended the subscription");
                break;
            }
            Err(fault) => return Ok(Err(fault)),
        };
        told += 1;
        if json {
            out::json_line(&change)?;
            continue;
        }
        match change {
            Change::Tools => out::line("the list of tools has changed")?,
            Change::Prompts => out::line("the list of prompts has changed")?,
            Change::Resources => out::line("the list of resources has changed")?,
            Change::Resource { uri } => out::line(format!("{} has changed", out::plain(&uri)))?,
        }
    }
    Ok(Ok(()))
}
