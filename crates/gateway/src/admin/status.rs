//! How the gateway and its upstreams stand.

use std::sync::Arc;

use aldgate_authority::{Action, Concern};
use aldgate_contract::{Item, Kind};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::catalog::{HeldBack, Source};
use crate::clock;
use crate::gate::Gate;

/// Upstreams with what differs from their locks, what is held back, and what was counted.
pub(super) async fn status(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let snapshot = gate.snapshot();
    let catalog = &snapshot.catalog;
    let [unauthenticated, panics, unrecorded] = gate.counters.read();
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "revision": "2026-07-28",
        "tools": catalog.tools.len(),
        "prompts": catalog.prompts.len(),
        "resources": catalog.resources.len(),
        "listening": gate.listeners.len(),
        "in_flight": gate.settings.bounds.in_flight.saturating_sub(gate.in_flight.available_permits()),
        "upstreams": catalog.sources.iter().map(|source| upstream(source)).collect::<Vec<_>>(),
        "held_back": catalog.held_back.iter().map(held).collect::<Vec<_>>(),
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
    let standing = source.standing.load();
    json!({
        "name": source.upstream.name(),
        "endpoint": source.upstream.endpoint(),
        "pinned": source.lock.tools.len(),
        "pinned_resource_templates": source.lock.resource_templates.len(),
        "pinned_prompts": source.lock.prompts.len(),
        "resources": standing.resources.len(),
        "compared_at": standing.compared_at.map(clock::rfc3339),
        "changed": standing
            .changed
            .iter()
            .map(|(item, change)| (spelled(item), json!(change.detail)))
            .collect::<serde_json::Map<_, _>>(),
        "quarantined": standing.stranger.as_ref().map(|change| &change.detail),
        "resources_unlisted": standing.resources_unlisted,
        "unreachable": standing.unreachable,
    })
}

/// A tool by its name alone, as it always was; other contracts with what they are.
fn spelled(item: &Item) -> String {
    match item.kind {
        Kind::Tool => item.name.clone(),
        Kind::ResourceTemplate | Kind::Prompt => item.to_string(),
    }
}
