//! `aldgate login` and `aldgate logout`.

use std::process::ExitCode;

use aldgate_identity::Scopes;
use aldgate_identity::client::SignedOut;
use serde_json::json;
use time::OffsetDateTime;

use super::users::rfc3339;
use crate::cli::{DoorArguments, LoginArguments, LogoutArguments};
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::out::{self, plain};
use crate::signed_in::{Account, How, folder};

pub(super) async fn run(arguments: LoginArguments) -> miette::Result<ExitCode> {
    let account = account(&arguments.door)?;
    let scopes = arguments.scope.as_deref().map(Scopes::parse).transpose();
    let scopes = scopes.map_err(|fault| CommandFault::usage(format!("`--scope`: {fault}")))?;
    let how = How {
        scopes,
        issuer: arguments.issuer,
        client_id: arguments.client_id,
        browser: !arguments.no_browser,
    };
    let login = account.sign_in(&how, true).await?;
    let granted = login.token.scopes.or(login.asked).map(|scopes| scopes.to_string()).unwrap_or_default();
    let until = login.token.expires_at.map(rfc3339);
    if arguments.json {
        out::json(&json!({
            "resource": login.resource, "issuer": login.issuer, "scope": granted, "expires_at": until,
            "kept": login.kept,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    out::line(format!(
        "signed in at {} for {}: {}",
        plain(&login.issuer),
        plain(&login.resource),
        plain(&granted)
    ))?;
    if !login.kept {
        note!("the tokens are kept nowhere: they may decide approvals, or there is no folder for them");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn out(arguments: LogoutArguments) -> miette::Result<ExitCode> {
    let account = account(&arguments.door)?;
    let done = match folder().filter(|folder| folder.is_dir()) {
        Some(folder) => account.session(&folder)?.sign_out(OffsetDateTime::now_utc()).await.coded()?,
        None => SignedOut::Nobody,
    };
    let (word, told) = match done {
        SignedOut::Revoked => ("revoked", "signed out; the tokens are good no more"),
        SignedOut::Here => (
            "here",
            "signed out here; the authorization server could not be told, the access token is good there until it ends",
        ),
        SignedOut::Nobody => ("nobody", "nobody was signed in"),
    };
    if arguments.json {
        out::json(&json!({ "signed_out": word }))?;
    } else {
        out::line(told)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn account(door: &DoorArguments) -> miette::Result<Account> {
    if door.admin { Account::admin(&door.admin_url) } else { Account::at(&door.url) }
}
