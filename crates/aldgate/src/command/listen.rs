//! `aldgate listen`: what a subscription tells, one line for each change.

use std::process::ExitCode;

use aldgate_agent::{CallFault, Change, Connection, Ended, Hearing};
use serde_json::json;

use super::call::endpoint;
use crate::cli::ListenArguments;
use crate::coded::WithCode as _;
use crate::fault::quoted;
use crate::{out, signal};

pub(super) async fn run(arguments: ListenArguments) -> miette::Result<ExitCode> {
    let ListenArguments { uris, most, target } = arguments;
    let connection = Connection::open(&endpoint(&target, "aldgate listen").await?).await.coded()?;
    let mut hearing = connection.listen(&uris).await.coded()?;
    let left_out: Vec<&str> =
        uris.iter().filter(|uri| !hearing.honoured().contains(uri)).map(String::as_str).collect();
    if !left_out.is_empty() {
        note!("nothing will be told of {}", quoted(left_out.into_iter()));
    }
    note!("listening");
    let told = tokio::select! {
        told = tell(&mut hearing, most, target.json) => told?,
        () = signal::stop() => Ok(()),
    };
    let ended = hearing.ended();
    connection.close().await;
    told.coded()?;
    let Some(ended) = ended else { return Ok(ExitCode::SUCCESS) };
    note!("{}", words(&ended));
    if target.json {
        out::json_line(&json!({"ended": word(&ended)}))?;
    }
    Ok(ExitCode::FAILURE)
}

/// Tells of changes until there were as many as wanted, or the subscription has ended.
async fn tell(hearing: &mut Hearing, most: Option<u64>, json: bool) -> miette::Result<Result<(), CallFault>> {
    let mut told = 0;
    while most.is_none_or(|most| told < most) {
        let change = match hearing.next().await {
            Ok(Some(change)) => change,
            Ok(None) => break,
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

/// Why the subscription ended, in one word.
fn word(ended: &Ended) -> &str {
    match ended {
        Ended::Told { why } => why.as_deref().unwrap_or("told"),
        Ended::Abruptly => "abruptly",
        Ended::Overrun => "overrun",
    }
}

/// Why the subscription ended, for a person.
fn words(ended: &Ended) -> String {
    let why = match word(ended) {
        "stopping" => "the gateway is stopping; listen again when it runs",
        "expired" => "the token has expired; listen again with a new one",
        "not_authenticated" => "the token is not accepted any more",
        "not_permitted" => "a part of it is not permitted any more; listen again for what is left",
        "contract_changed" => "a template is not the pinned one any more; listen again for what is left",
        "not_taken_on" => "the server did not take a resource on again; listen again for what is left",
        "abruptly" => "the connection was lost",
        "overrun" => "more was told than could be printed",
        _ => "the endpoint does not say why",
    };
    format!("the subscription has ended: {why}")
}
