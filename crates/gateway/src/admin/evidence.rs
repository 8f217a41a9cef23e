//! Evidence: rows of the caller's own tenant.

use std::sync::Arc;

use aldgate_authority::Action;
use aldgate_store::{EvidenceFilter, StoredRow};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;

/// Rows in one answer.
const MOST: u32 = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    tool: Option<String>,
    kind: Option<String>,
    before: Option<i64>,
    limit: Option<u32>,
}

/// The newest rows that match, in the order in which they were written.
pub(super) async fn list(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Audit)?;
    let Query(query) = query.map_err(|fault| AdminFault::bad(fault.body_text()))?;
    let filter = EvidenceFilter {
        tenant: caller.0.tenant.clone(),
        call: None,
        tool: query.tool,
        kind: query.kind,
        before: query.before,
        limit: query.limit.unwrap_or(100).min(MOST),
    };
    rows(&gate, &filter).await
}

/// All rows of one call.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(call): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Audit)?;
    let filter = EvidenceFilter {
        tenant: caller.0.tenant.clone(),
        call: Some(call.clone()),
        limit: MOST,
        ..EvidenceFilter::default()
    };
    let found = rows(&gate, &filter).await?;
    if found.0.get("rows").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let shown: String = call.chars().filter(|letter| !letter.is_control()).take(64).collect();
        let message =
            format!("there is no evidence of a call `{shown}`; `aldgate audit list` shows what there is");
        return Err(AdminFault::new(404, "AG-ADMIN-CALL", message));
    }
    Ok(found)
}

async fn rows(gate: &Gate, filter: &EvidenceFilter) -> Result<Json<Value>, AdminFault> {
    let stored = gate.store.evidence(filter).await.map_err(AdminFault::store)?;
    let rows = stored.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok(Json(json!({ "rows": rows })))
}

fn row(stored: &StoredRow) -> Result<Value, AdminFault> {
    let mut row: Value = serde_json::from_str(&stored.body).map_err(|_| {
        AdminFault::new(500, "AG-STORE", format!("row {} of the evidence cannot be read", stored.seq))
    })?;
    if let Value::Object(members) = &mut row {
        members.insert("seq".to_owned(), stored.seq.into());
    }
    Ok(row)
}
