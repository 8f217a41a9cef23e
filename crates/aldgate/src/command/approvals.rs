//! `aldgate approvals`: a client of the admin API, with the approver's own token.

use std::process::ExitCode;

use aldgate_identity::{Scopes, scopes};
use serde_json::{Value, json};

use crate::admin::Admin;
use crate::cli::{ApprovalsCommand, DecisionArguments};
use crate::fault::{CommandFault, quoted};
use crate::out;
use crate::signed_in::{Account, How};

const STATES: [&str; 6] = ["pending", "approved", "denied", "expired", "redeemed", "all"];

pub(super) async fn run(what: ApprovalsCommand) -> miette::Result<ExitCode> {
    match what {
        ApprovalsCommand::List { state, target } => {
            if !STATES.contains(&state.as_str()) {
                let known = quoted(STATES.into_iter());
                let what = format!("there is no state `{state}`; expected one of {known}");
                return Err(CommandFault::usage(what).into());
            }
            let found = all(&Admin::of(&target).await?, &state).await?;
            if target.json { out::json(&json!({ "approvals": found }))? } else { list(&found, &state)? }
        }
        ApprovalsCommand::Show { id, target } => {
            let found = Admin::of(&target).await?.get(&format!("/v1/approvals/{}", segment(&id)?)).await?;
            if target.json { out::json(&found)? } else { show(&found)? }
        }
        ApprovalsCommand::Approve(arguments) => decide("approve", &arguments).await?,
        ApprovalsCommand::Deny(arguments) => decide("deny", &arguments).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every approval in this state that the caller may see, oldest first.
async fn all(admin: &Admin, state: &str) -> miette::Result<Vec<Value>> {
    let mut query = if state == "all" { "?".to_owned() } else { format!("?state={state}&") };
    let mut pages = Vec::new();
    loop {
        let mut found = admin.get(&format!("/v1/approvals{}", query.trim_end_matches(['?', '&']))).await?;
        let page = found.get_mut("approvals").and_then(Value::as_array_mut).map(std::mem::take);
        pages.push(page.ok_or_else(|| admin.no_answer())?);
        let Some(next) = found.get("next").and_then(Value::as_str) else { break };
        let kept = query.split_once("before=").map_or(query.as_str(), |(kept, _)| kept);
        query = format!("{kept}before={}", segment(next)?);
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

async fn decide(decision: &str, arguments: &DecisionArguments) -> miette::Result<()> {
    let path = format!("/v1/approvals/{}/decision", segment(&arguments.id)?);
    let body = json!({"decision": decision, "note": arguments.note});
    let target = &arguments.target;
    let token = match &target.token {
        Some(token) => token.clone(),
        // Nothing that is kept may decide: the person signs in for this decision.
        None => decider(&target.admin).await?,
    };
    let found = Admin::at(&target.admin, Some(token)).post(&path, &body).await?;
    if arguments.target.json { out::json(&found) } else { show(&found) }
}

/// A token of a person who signs in now, for decisions alone.
async fn decider(admin: &str) -> miette::Result<String> {
    let scopes = Scopes::of([scopes::APPROVALS_DECIDE]).ok();
    let how = How { scopes, browser: true, ..How::default() };
    let login = Account::decisions(admin)?.sign_in(&how, false).await?;
    let token = login.token.bearer().map(str::to_owned);
    Ok(token.ok_or_else(|| CommandFault::usage("the token is bound to a key, and cannot be used here"))?)
}

/// An id that can stand in a path.
pub(crate) fn segment(id: &str) -> miette::Result<&str> {
    let fits =
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if fits {
        return Ok(id);
    }
    let what = format!("`{}` is not an id; ids are letters, digits, `_` and `-`", out::plain(id));
    Err(CommandFault::usage(what).into())
}

fn text(value: &Value, pointer: &str) -> String {
    out::plain(value.pointer(pointer).and_then(Value::as_str).unwrap_or("-"))
}

fn list(approvals: &[Value], state: &str) -> miette::Result<()> {
    if approvals.is_empty() {
        return out::line(if state == "all" {
            "no approvals".to_owned()
        } else {
            format!("no {state} approvals")
        });
    }
    let rows: Vec<_> = approvals
        .iter()
        .map(|one| {
            vec![
                text(one, "/id"),
                text(one, "/state"),
                text(one, "/tool"),
                text(one, "/caller/name"),
                text(one, "/created_at"),
                text(one, "/expires_at"),
            ]
        })
        .collect();
    out::table(&["approval", "state", "tool", "caller", "asked", "until"], &rows)
}

fn show(one: &Value) -> miette::Result<()> {
    out::line(format!("approval   {} ({})", text(one, "/id"), text(one, "/state")))?;
    out::line(format!("tool       {} ({})", text(one, "/tool"), text(one, "/title")))?;
    out::line(format!("upstream   {}", text(one, "/upstream")))?;
    out::line(format!("caller     {} ({})", text(one, "/caller/name"), text(one, "/caller/principal")))?;
    for boundary in one.get("boundaries").and_then(Value::as_array).into_iter().flatten() {
        out::line(format!("boundary   {}", out::plain(boundary.as_str().unwrap_or_default())))?;
    }
    out::line("arguments")?;
    let arguments = one.get("arguments").cloned().unwrap_or_default();
    let shown = serde_json::to_string_pretty(&arguments).unwrap_or_default();
    for line in shown.lines() {
        out::line(format!("    {}", out::plain(line)))?;
    }
    out::line(format!("contract   {}", text(one, "/contract")))?;
    out::line(format!("asked      {}, until {}", text(one, "/created_at"), text(one, "/expires_at")))?;
    for past in one.get("earlier").and_then(Value::as_array).into_iter().flatten() {
        let (call, at, outcome) = (text(past, "/call"), text(past, "/asked_at"), text(past, "/outcome"));
        let why = match outcome.as_str() {
            "unknown" => "it may have been executed",
            "open" => "it may be under way",
            _ => "the same caller made the same call",
        };
        out::line(format!("earlier    {call}, asked for at {at}, {outcome}: {why}"))?;
    }
    if one.get("decision").is_some_and(|decision| !decision.is_null()) {
        let said = text(one, "/decision/decision");
        let note = text(one, "/decision/note");
        out::line(format!(
            "decided    {said} by {} at {}: {note}",
            text(one, "/decision/by"),
            text(one, "/decision/at")
        ))?;
    }
    Ok(())
}
