//! The last traces, and the metrics.

use std::sync::Arc;

use aldgate_authority::Action;
use aldgate_telemetry::Ring;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;

/// Traces of one answer.
const MOST: usize = 2000;
/// Prometheus' text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    limit: Option<usize>,
}

/// The newest traces with spans of the caller's tenant.
pub(super) async fn list(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let Query(query) = query.map_err(|fault| AdminFault::bad(fault.body_text()))?;
    let most = query.limit.unwrap_or(20).min(MOST);
    let traces = looked(&gate, move |ring| ring.traces(&caller.0.tenant, most)).await;
    Ok(Json(json!({"traces": traces, "sample_ratio": gate.telemetry.sample_ratio()})))
}

/// The spans of one trace, in the order in which they began.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let wanted = id.clone();
    let spans = looked(&gate, move |ring| ring.trace(&wanted, &caller.0.tenant)).await;
    if spans.is_empty() {
        let shown: String = id.chars().filter(|letter| !letter.is_control()).take(64).collect();
        let message = format!(
            "no spans of trace `{shown}` are kept; the oldest make room for new ones, and not every trace is kept"
        );
        return Err(AdminFault::new(404, "AG-ADMIN-NO-TRACE", message));
    }
    Ok(Json(json!({"trace_id": id, "spans": spans})))
}

/// What the ring holds, looked at on a thread on which no request waits.
async fn looked<T: Send + 'static>(
    gate: &Gate,
    look: impl FnOnce(&Ring) -> Vec<T> + Send + 'static,
) -> Vec<T> {
    let Some(ring) = gate.telemetry.ring().cloned() else { return Vec::new() };
    tokio::task::spawn_blocking(move || look(&ring)).await.unwrap_or_default()
}

/// All metrics.
pub(super) async fn metrics(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Response, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let telemetry = gate.telemetry.clone();
    let text = tokio::task::spawn_blocking(move || telemetry.prometheus()).await;
    let text = text.unwrap_or_else(|fault| Err(fault.to_string())).map_err(|fault| {
        tracing::error!(error = fault, "the metrics could not be written");
        AdminFault::new(500, "AG-INTERNAL", "the metrics could not be written; see the gateway's log")
    })?;
    Ok(([(CONTENT_TYPE, TEXT)], text).into_response())
}
