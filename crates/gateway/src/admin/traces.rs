//! The last traces, and the metrics.

use std::sync::Arc;

use aldgate_authority::Action;
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
const MOST: usize = 200;
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
    let traces = gate.telemetry.ring().map(|ring| ring.traces(&caller.0.tenant, most)).unwrap_or_default();
    Ok(Json(json!({"traces": traces, "sample_ratio": gate.telemetry.sample_ratio()})))
}

/// The spans of one trace, in the order in which they began.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let spans = gate.telemetry.ring().map(|ring| ring.trace(&id, &caller.0.tenant)).unwrap_or_default();
    if spans.is_empty() {
        let shown: String = id.chars().filter(|letter| !letter.is_control()).take(64).collect();
        let message = format!(
            "no spans of trace `{shown}` are kept; the oldest make room for new ones, and not every trace is kept"
        );
        return Err(AdminFault::new(404, "AG-ADMIN-NO-TRACE", message));
    }
    Ok(Json(json!({"trace_id": id, "spans": spans})))
}

/// All metrics.
pub(super) async fn metrics(State(gate): State<Arc<Gate>>, caller: Caller) -> Result<Response, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let text = gate.telemetry.prometheus().map_err(|fault| {
        tracing::error!(error = fault, "the metrics could not be written");
        AdminFault::new(500, "AG-INTERNAL", "the metrics could not be written; see the gateway's log")
    })?;
    Ok(([(CONTENT_TYPE, TEXT)], text).into_response())
}
