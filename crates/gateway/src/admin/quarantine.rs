//! Lifting a quarantine.

use std::sync::Arc;

use aldgate_authority::Action;
use aldgate_contract::Kind;
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Released {
    upstream: String,
    kind: Kind,
    name: String,
}

/// Lets something be served again under its present pin, and has it compared anew: what still differs is quarantined again.
/// `released` is whether it was quarantined.
pub(super) async fn release(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    body: Result<Json<Released>, JsonRejection>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let Json(Released { upstream, kind, name }) = body.map_err(|fault| AdminFault::bad(fault.body_text()))?;
    let item = kind.item(&name);
    let snapshot = gate.snapshot();
    let source =
        snapshot.catalog.sources_of(&caller.0.tenant).find(|source| source.upstream.name() == upstream);
    let source = source.filter(|source| source.lock.pins(kind).contains_key(&name)).ok_or_else(|| {
        let shown: String =
            format!("{upstream}/{name}").chars().filter(|letter| !letter.is_control()).take(200).collect();
        let message =
            format!("no lock holds the {kind} `{shown}`; `aldgate status` shows what is quarantined");
        AdminFault::new(404, "AG-ADMIN-QUARANTINE", message)
    })?;
    let released = source.release(&item, &caller.0).await.map_err(|fault| {
        tracing::error!(error = &fault as &dyn std::error::Error, "a quarantine was not lifted");
        AdminFault::new(500, "AG-STORE", "the store failed, nothing was released; see the gateway's log")
    })?;
    Ok(Json(json!({"released": released})))
}
