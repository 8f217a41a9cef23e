//! `aldgate contracts verify`

use std::process::ExitCode;

use aldgate_contract::{Finding, Lock, State};
use aldgate_gateway::settings::Settings;
use aldgate_gateway::{LiveContracts, fetch_live};
use serde_json::{Value, json};

use super::change::{self, changes};
use super::{ContractsFault, chosen, member, read_lock, shown_item};
use crate::cli::HostFile;
use crate::coded::WithCode as _;
use crate::command::host_configuration;
use crate::fault::CommandFault;
use crate::out;

pub(super) async fn run(only: Option<&str>, file: &HostFile, json: bool) -> miette::Result<ExitCode> {
    let loaded = host_configuration(file)?;
    let mut all = Vec::new();
    let mut differs = false;
    for (settings, path) in chosen(&loaded, only)? {
        let lock = read_lock(&path)?.ok_or_else(|| CommandFault::NoLock { path: path.clone() })?;
        let fetched = fetch_live(&settings, &Settings::default()).await;
        let live = fetched.map_err(|fault| ContractsFault::of(&settings.name, fault)).coded()?;
        let identity = live.identity();
        let mut findings: Vec<Value> = Vec::new();
        if lock.upstream.server.is_some() && lock.upstream.server != identity.server {
            differs = true;
            let found = identity.server.as_deref().unwrap_or("nothing");
            let what = format!("the server calls itself `{found}`: nothing of it is served");
            if !json {
                out::line(format!("{}: changed: {}", settings.name, out::plain(&what)))?;
            }
            findings.push(json!({"finding": "changed", "what": what}));
        }
        for finding in lock.verify(live.as_live()) {
            differs |= !matches!(finding.state, State::Same | State::RawOnly { .. } | State::New);
            if json {
                findings.push(described(&finding, &lock, &live));
            } else {
                shown(&settings.name, &finding, &lock, &live)?;
            }
        }
        for what in live.unreadable() {
            if !json {
                out::line(format!("{}: left out: {}", settings.name, out::plain(what)))?;
            }
            findings.push(json!({"finding": "unreadable", "what": what}));
        }
        all.push(json!({"upstream": settings.name, "findings": findings}));
    }
    if json {
        out::json(&all)?;
    } else if differs {
        out::line(
            "what differs is refused until it is pinned: review it, then `aldgate contracts pin` and `aldgate reload`",
        )?;
    }
    Ok(if differs { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What is pinned and what is live, where there are both.
fn sides<'a>(finding: &Finding, lock: &'a Lock, live: &'a LiveContracts) -> Option<(&'a str, &'a str)> {
    let (kind, name) = (finding.item.kind, &finding.item.name);
    let pinned = lock.pins(kind).get(name)?;
    Some((pinned.definition.get(), live.definition(kind, name)?))
}

fn shown(upstream: &str, finding: &Finding, lock: &Lock, live: &LiveContracts) -> miette::Result<()> {
    let how = match &finding.state {
        State::Same => "same".to_owned(),
        State::New => "new: not pinned, not offered".to_owned(),
        State::Missing => "missing: pinned, but not served any more".to_owned(),
        State::Unreadable { why } => format!("unreadable: {why}"),
        State::RawOnly { .. } => "same (other bytes, the same canonical form)".to_owned(),
        State::Changed { fields, .. } => format!("changed: {}", fields.join(", ")),
    };
    let item = shown_item(finding.item.kind, &finding.item.name);
    out::line(format!("{upstream}/{item}: {}", out::plain(&how)))?;
    if let (State::Changed { fields, .. }, Some((pinned, live))) =
        (&finding.state, sides(finding, lock, live))
    {
        for change in changes(pinned, live, fields) {
            change.lines().iter().try_for_each(|line| out::line(format!("    {}", out::plain(line))))?;
        }
    }
    Ok(())
}

fn described(finding: &Finding, lock: &Lock, live: &LiveContracts) -> Value {
    let mut told = match &finding.state {
        State::Same => json!({"finding": "same"}),
        State::New => json!({"finding": "new", "what": "not pinned, not offered"}),
        State::Missing => json!({"finding": "missing", "what": "not served any more"}),
        State::Unreadable { why } => json!({"finding": "unreadable", "what": why}),
        State::RawOnly { pinned, live } => json!({
            "finding": "same", "what": "(other bytes, the same canonical form)",
            "pinned": pinned.to_string(), "live": live.to_string(),
        }),
        State::Changed { pinned, live: now, fields } => json!({
            "finding": "changed", "what": fields.join(", "), "fields": fields,
            "pinned": pinned.to_string(), "live": now.to_string(),
            "changed": sides(finding, lock, live).map(|(pinned, live)| change::both(pinned, live, fields)),
        }),
    };
    if let Value::Object(members) = &mut told {
        members.insert(member(finding.item.kind).to_owned(), finding.item.name.clone().into());
    }
    told
}
