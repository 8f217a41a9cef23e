//! `aldgate listen`: what a subscription tells, one line for each change.

use std::process::ExitCode;

use aldgate_agent::{Change, Connection, Ended, Endpoint, Hearing};
use serde_json::json;

use super::call::endpoint;
use crate::cli::ListenArguments;
use crate::coded::WithCode as _;
use crate::fault::quoted;
use crate::{out, signal};

pub(super) async fn run(arguments: ListenArguments) -> miette::Result<ExitCode> {
    let endpoint = endpoint(&arguments.target, "aldgate listen").await?;
    let connection = Connection::open(&endpoint).await.coded()?;
    // A signal ends it wherever it is, while it listens anew as well.
    let ended = tokio::select! {
        ended = hear(&connection, &endpoint, &arguments) => ended?,
        () = signal::stop() => None,
    };
    connection.close().await;
    let Some(ended) = ended else { return Ok(ExitCode::SUCCESS) };
    note!("{}", words(&ended));
    if arguments.target.json {
        out::json_line(&json!({"ended": word(&ended)}))?;
    }
    Ok(ExitCode::FAILURE)
}

/// Tells of changes, and listens anew where the token alone has ended. Returns why there is nothing more to hear, or `None` where
/// there was as much as wanted.
async fn hear(
    connection: &Connection,
    endpoint: &Endpoint,
    arguments: &ListenArguments,
) -> miette::Result<Option<Ended>> {
    let ListenArguments { uris, most, target } = arguments;
    let mut told = 0;
    loop {
        let mut hearing = connection.listen(uris).await.coded()?;
        let left_out: Vec<&str> =
            uris.iter().filter(|uri| !hearing.honoured().contains(uri)).map(String::as_str).collect();
        if !left_out.is_empty() {
            note!("nothing will be told of {}", quoted(left_out.into_iter()));
        }
        note!("listening");
        tell(&mut hearing, *most, &mut told, target.json).await?;
        let ended = hearing.ended();
        // The subscription ends with the token that it was made with; whoever has signed in has another one.
        if endpoint.renewal.is_none() || ended.as_ref().map(word) != Some("expired") {
            return Ok(ended);
        }
        note!("the token was renewed; what changed in that moment is not told");
    }
}

/// Tells of changes until there were as many as wanted, or the subscription has ended.
async fn tell(hearing: &mut Hearing, most: Option<u64>, told: &mut u64, json: bool) -> miette::Result<()> {
    while most.is_none_or(|most| *told < most) {
        let Some(change) = hearing.next().await.coded()? else { break };
        *told += 1;
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
    Ok(())
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
