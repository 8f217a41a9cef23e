//! Approvals: what waits, what it would do, and the decision.

use std::sync::Arc;

use aldgate_approval::{RecordState, Verdict};
use aldgate_identity::{Door, scopes};
use aldgate_store::ApprovalFilter;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::clock;
use crate::decide::{self, DecisionFault, Seen};
use crate::gate::Gate;

/// Approvals that are read for one answer.
const PAGE: u32 = 200;
/// The scopes that reading takes one of: callers look at what they asked for themselves.
const READERS: &[&str] = &[scopes::APPROVALS_DECIDE, scopes::ADMIN, scopes::TOOLS_READ, scopes::TOOLS_WRITE];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    state: Option<RecordState>,
    before: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionBody {
    decision: Verdict,
    #[serde(default)]
    note: String,
}

/// Approvals that the caller may decide, and those that it asked for itself, oldest first. Where there are older ones,
/// `next` is what to ask with as `before`.
pub(super) async fn list(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Value>, AdminFault> {
    caller.covered(&gate, Door::Decisions, READERS)?;
    let Query(query) = query.map_err(|fault| AdminFault::bad(fault.body_text()))?;
    let tenant = caller.0.tenant.clone();
    let filter = ApprovalFilter { tenant, state: query.state, before: query.before, limit: PAGE };
    let (found, next) = decide::list(&gate, &caller.0, filter).await.map_err(AdminFault::decision)?;
    let shown: Vec<_> = found.iter().map(view).collect();
    Ok(Json(json!({ "approvals": shown, "next": next })))
}

/// One approval with its arguments.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.covered(&gate, Door::Decisions, READERS)?;
    let seen = decide::one(&gate, &caller.0, &id).await.map_err(AdminFault::decision)?;
    let before = decide::earlier(&gate, &seen.record).await.map_err(AdminFault::decision)?;
    let before: Vec<_> = before
        .iter()
        .map(|one| {
            json!({"approval": one.approval, "call": one.call, "asked_at": one.asked_at, "outcome": one.outcome})
        })
        .collect();
    let mut shown = view(&seen);
    if let Value::Object(members) = &mut shown {
        members.insert("earlier".to_owned(), before.into());
    }
    Ok(Json(shown))
}

/// Takes a person's decision. One that is refused leaves a row too.
pub(super) async fn decide(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<DecisionBody>, JsonRejection>,
) -> Result<Json<Value>, AdminFault> {
    let Json(body) = match body {
        Ok(body) => body,
        Err(fault) => {
            let covered = caller.covered(&gate, Door::Decisions, &[scopes::APPROVALS_DECIDE]);
            let fault = covered.err().unwrap_or_else(|| AdminFault::bad(fault.body_text()));
            decide::refused(&gate, caller.0.clone(), &id, fault.code(), fault.message()).await;
            return Err(fault);
        }
    };
    let decided = decide::decide(&gate, &caller.0, &caller.1, &id, body.decision, body.note).await;
    let seen = decided.map_err(|fault| match fault {
        DecisionFault::Scope { has } => {
            let of = gate.protected(&gate.snapshot(), Door::Decisions);
            AdminFault::scope(scopes::APPROVALS_DECIDE, &has, of.as_ref())
        }
        fault => AdminFault::decision(fault),
    })?;
    Ok(Json(view(&seen)))
}

fn view(seen: &Seen) -> Value {
    let Seen { record, .. } = seen;
    let binding = &record.binding;
    let arguments = seen
        .arguments
        .as_deref()
        .map(|text| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!({})));
    let decision = record.decision.as_ref().map(|decision| {
        json!({
            "decision": decision.verdict,
            "by": decision.by.name,
            "principal": decision.by.id(),
            "note": decision.note,
            "at": clock::rfc3339(decision.at),
        })
    });
    json!({
        "id": record.id,
        "state": seen.state,
        "tool": binding.tool,
        "title": seen.title,
        "boundaries": seen.entry.as_ref().map(|entry| &entry.boundaries),
        "upstream": binding.upstream,
        "caller": {"principal": binding.caller.id(), "name": binding.caller.name, "kind": binding.caller.kind},
        "arguments": arguments,
        "contract": binding.contract,
        "created_at": clock::rfc3339(record.created_at),
        "expires_at": clock::rfc3339(record.expires_at),
        "decision": decision,
        "asked_by": record.asked_by,
        "redeemed_by": record.redeemed_by,
    })
}
