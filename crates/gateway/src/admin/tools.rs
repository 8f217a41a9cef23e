//! Contracts for operators, those included that no agent's list holds.

use std::sync::Arc;

use aldgate_authority::Action;
use axum::Json;
use axum::extract::{Path, State};
use serde_json::Value;

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;

/// The pinned definition of one tool, with what the host says of it in `_meta`, there also why its calls are refused
/// where the live contract is another one.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.may(&gate, Action::Operate)?;
    let shown: String = name.chars().filter(|letter| !letter.is_control()).take(64).collect();
    let snapshot = gate.snapshot();
    let tool = snapshot.catalog.tool(&caller.0.tenant, &name).ok_or_else(|| {
        AdminFault::new(
            404,
            "AG-ADMIN-TOOL",
            format!("there is no tool `{shown}`; `/v1/status` says what is held back"),
        )
    })?;
    let mut definition: Value = serde_json::from_str(tool.listing.get()).map_err(|_| {
        AdminFault::new(500, "AG-INTERNAL", format!("the definition of `{shown}` cannot be read"))
    })?;
    if let Some(change) = tool.offer.change()
        && let Some(Value::Object(mark)) = definition.pointer_mut("/_meta/io.github.aldgate~1contract")
    {
        mark.insert("refused".to_owned(), change.into());
    }
    Ok(Json(definition))
}
