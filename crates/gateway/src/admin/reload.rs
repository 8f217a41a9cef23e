//! Having the configuration read again.

use std::sync::Arc;

use aldgate_authority::Action;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;

/// Reads the configuration, locks and policies again. What cannot be used changes nothing.
pub(super) async fn reload(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    gate.reload()
        .await
        .map_err(|why| AdminFault::new(409, "AG-RELOAD", format!("nothing was changed: {why}")))?;
    let snapshot = gate.snapshot();
    let (catalog, tenant) = (&snapshot.catalog, &caller.0.tenant);
    Ok(Json(json!({
        "tools": catalog.tools_of(tenant).count(),
        "upstreams": catalog.sources_of(tenant).count(),
    })))
}
