//! How the gateway and its upstreams stand.

use std::sync::Arc;

use aldgate_authority::{Action, Concern};
use aldgate_contract::Item;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::catalog::{Drift, DriftState, HeldBack, Source, Standing, Why, concern, quoted, spelled};
use crate::clock;
use crate::gate::Gate;

/// The upstreams of the caller's tenant with what differs from their locks, what of them is held back, and what was counted.
pub(super) async fn status(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let snapshot = gate.snapshot();
    let (catalog, tenant) = (&snapshot.catalog, caller.0.tenant.as_str());
    let [unauthenticated, panics, unrecorded] = gate.counters.read();
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "revision": "2026-07-28",
        "tools": catalog.tools_of(tenant).count(),
        "prompts": catalog.prompts().filter(|one| one.offer.source.serves(tenant)).count(),
        "resources": catalog.resources().filter(|one| one.offer.source.serves(tenant)).count(),
        "listening": gate.listeners.len(),
        "in_flight": gate.settings.bounds.in_flight.saturating_sub(gate.in_flight.available_permits()),
        "upstreams": catalog.sources_of(tenant).map(|source| upstream(source)).collect::<Vec<_>>(),
        "held_back": catalog.held_back_of(tenant).map(held).collect::<Vec<_>>(),
        "counted": {"unauthenticated": unauthenticated, "panics": panics, "unrecorded_refusals": unrecorded},
    })))
}

/// Its key under the word for what it is, such as `"tool": "tickets/get_ticket"`, and why.
fn held(held: &HeldBack) -> Value {
    let mut told = serde_json::to_value(Concern::parse(&held.tool)).unwrap_or_default();
    if let Value::Object(members) = &mut told {
        members.insert("why".to_owned(), held.why.clone().into());
    }
    told
}

fn upstream(source: &Source) -> Value {
    let standing = source.standing();
    json!({
        "name": source.upstream.name(),
        "endpoint": source.upstream.endpoint(),
        "pinned": source.lock.tools.len(),
        "pinned_resource_templates": source.lock.resource_templates.len(),
        "pinned_prompts": source.lock.prompts.len(),
        "resources": standing.resources.len(),
        "compared_at": standing.compared_at.map(clock::rfc3339),
        "on_drift": source.on_drift,
        "quarantined": drifted(source, &standing, DriftState::Quarantined),
        "drift": drifted(source, &standing, DriftState::Noted),
        "stranger": standing.stranger.as_ref().map(|drift| json!({
            "since": clock::rfc3339(drift.since),
            "why": drift.detail,
            "command": format!("aldgate contracts diff {}", quoted(source.upstream.name())),
        })),
        "resources_unlisted": standing.resources_unlisted,
        "unreachable": standing.unreachable,
    })
}

/// The contracts in this state: since when, why, and the command that ends it.
fn drifted(source: &Source, standing: &Standing, state: DriftState) -> Vec<Value> {
    let drifts = standing.drifts.iter().filter(|(_, drift)| drift.state == state);
    let told = drifts.map(|(item, drift)| {
        json!({
            "item": concern(source.upstream.name(), item).to_string(),
            "kind": item.kind,
            "name": item.name,
            "since": clock::rfc3339(drift.since),
            "reason": drift.why,
            "severity": drift.severity,
            "why": drift.detail,
            "renames": drift.renames,
            "command": command(source, item, drift),
        })
    });
    told.collect()
}

/// The command that ends it.
fn command(source: &Source, item: &Item, drift: &Drift) -> String {
    let upstream = source.upstream.name();
    if !source.reviewed {
        return "end `aldgate dev` and start it again: it pins what is served then".to_owned();
    }
    let what = spelled(upstream, item);
    let exactly = drift.after.as_ref().map(|digest| format!(" --digest {digest}")).unwrap_or_default();
    let renamed = drift.renames.first().and_then(|rename| rename.get("to")?.as_str());
    match (drift.why, drift.known, renamed) {
        (Why::Downgraded, Some(known), _) => {
            format!("aldgate contracts accept {what} --version {}", known.saturating_add(1))
        }
        (Why::Missing, _, Some(to)) => {
            let renamed = item.kind.item(to);
            let rename = quoted(&format!("{}={to}", item.name));
            format!("aldgate contracts accept {} --rename {rename}", spelled(upstream, &renamed))
        }
        (Why::Missing, ..) => format!("aldgate contracts accept {what}"),
        // What is served is the pin; there is nothing to accept.
        (Why::Violations, ..) => format!("aldgate contracts release {what}"),
        _ if drift.form.is_none() => format!("aldgate contracts release {what}"),
        _ => format!("aldgate contracts accept {what}{exactly}"),
    }
}
