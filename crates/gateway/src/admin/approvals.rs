//! Approvals: what waits, what it would do, and the decision.

use std::sync::Arc;

use aldgate_approval::{ApprovalId, CallId, Decision, Record, RecordState, Verdict};
use aldgate_authority::{Concern, Decide, Principal};
use aldgate_evidence::{Digests, Kind, Row};
use aldgate_identity::{Door, scopes};
use aldgate_store::{ApprovalFilter, Durability, EvidenceFilter};
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Caller;
use super::fault::AdminFault;
use crate::gate::Gate;
use crate::{approve, clock};

/// Approvals that are read for one answer.
const PAGE: u32 = 200;
/// Earlier calls that are shown beside an approval.
const EARLIER: u32 = 5;
/// The scopes that reading takes one of: callers look at what they asked for themselves.
const READERS: &[&str] = &[scopes::APPROVALS_DECIDE, scopes::ADMIN, scopes::TOOLS_READ, scopes::TOOLS_WRITE];
/// The method of decisions in the evidence.
const DECIDE: &str = "approvals/decide";

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
    let found = gate.store.approvals(&filter, clock::now()).await.map_err(AdminFault::store)?;
    let shown: Vec<_> = found
        .iter()
        .filter(|(record, _)| may_see(&gate, &caller.0, record))
        .map(|(record, sealed)| view(&gate, record, sealed))
        .collect();
    let full = u32::try_from(found.len()).is_ok_and(|read| read == PAGE);
    let next = found.first().filter(|_| full).map(|(oldest, _)| oldest.id.as_str());
    Ok(Json(json!({ "approvals": shown, "next": next })))
}

/// One approval with its arguments.
pub(super) async fn show(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, AdminFault> {
    caller.covered(&gate, Door::Decisions, READERS)?;
    let (record, sealed) = visible(&gate, &caller.0, &id).await?;
    let mut shown = view(&gate, &record, &sealed);
    if let Value::Object(members) = &mut shown {
        members.insert("earlier".to_owned(), earlier(&gate, &record).await?);
    }
    Ok(Json(shown))
}

/// The calls that were made of the same action under other approvals, the newest first, with their outcomes: who decides
/// should know that it was done, or may have been. A call without an outcome is `open`.
async fn earlier(gate: &Gate, record: &Record) -> Result<Value, AdminFault> {
    let mut found = Vec::new();
    for past in gate.store.redeemed_before(record, EARLIER).await.map_err(AdminFault::store)? {
        let Some(call) = &past.redeemed_by else { continue };
        let filter = EvidenceFilter {
            tenant: record.binding.caller.tenant.clone(),
            call: Some(call.to_string()),
            kind: Some(Kind::Outcome.as_str().to_owned()),
            limit: 1,
            ..Default::default()
        };
        let rows = gate.store.evidence(&filter).await.map_err(AdminFault::store)?;
        let row = rows.last().and_then(|row| serde_json::from_str::<Value>(&row.body).ok());
        let outcome = row.and_then(|row| Some(row.get("outcome")?.as_str()?.to_owned()));
        found.push(json!({
            "approval": past.id, "call": call, "asked_at": clock::rfc3339(past.created_at),
            "outcome": outcome.as_deref().unwrap_or("open"),
        }));
    }
    Ok(found.into())
}

/// Takes a person's decision. One that is refused leaves a row too.
pub(super) async fn decide(
    State(gate): State<Arc<Gate>>,
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<DecisionBody>, JsonRejection>,
) -> Result<Json<Value>, AdminFault> {
    let decided = match caller.covered(&gate, Door::Decisions, &[scopes::APPROVALS_DECIDE]) {
        Ok(()) => take(&gate, &caller.0, &id, body).await,
        Err(fault) => Err(fault),
    };
    if let Err(fault) = &decided {
        refused(&gate, caller.0.clone(), &id, fault).await;
    }
    decided
}

async fn refused(gate: &Gate, caller: Arc<Principal>, id: &str, fault: &AdminFault) {
    let Ok(random) = clock::random() else { return gate.counters.count_unrecorded() };
    let call = CallId::from_random(random);
    let mut row = Row::new(Kind::Refusal, clock::now(), call, caller, DECIDE);
    row.approval = ApprovalId::parse(id).map(|id| id.to_string());
    row.code = Some(fault.code().to_owned().into());
    row.detail = Some(fault.message().chars().take(300).collect());
    if let Err(fault) = gate.recorder.record(&row, None, Durability::Group).await {
        tracing::error!(error = &fault as &dyn std::error::Error, "a refused decision was not recorded");
        gate.counters.count_unrecorded();
    }
}

async fn take(
    gate: &Gate,
    caller: &Principal,
    id: &str,
    body: Result<Json<DecisionBody>, JsonRejection>,
) -> Result<Json<Value>, AdminFault> {
    let Json(body) = body.map_err(|fault| AdminFault::bad(fault.body_text()))?;
    if body.note.chars().count() > 500
        || body.note.chars().any(|letter| letter.is_control() && letter != '\n')
    {
        return Err(AdminFault::bad("the note may have 500 characters at most, and no control characters"));
    }
    let (record, sealed) = visible(gate, caller, id).await?;
    if let Decide::Refused { reasons } = decider(gate, caller, &record) {
        // What a policy says stays here; what the gateway itself demands of an approver is told.
        let own = reasons.iter().find(|reason| reason.code.starts_with("AG-DECIDE-"));
        let why = own.map_or("no policy permits it", |reason| reason.message.as_str());
        let message = format!("`{}` may not decide approval `{id}`: {why}", caller.name);
        return Err(AdminFault::new(403, "AG-ADMIN-FORBIDDEN", message));
    }
    let decision = Decision { verdict: body.decision, by: caller.clone(), note: body.note, at: clock::now() };
    let random = |_| AdminFault::new(500, "AG-INTERNAL", "the system's random source does not work");
    let digests = Digests::new(clock::random().map_err(random)?);
    // The decision is part of the story of the call that asked for it.
    let mut row = Row::new(
        Kind::ApprovalDecided,
        decision.at,
        record.asked_by.clone(),
        Arc::new(caller.clone()),
        DECIDE,
    );
    row.tool = Some(record.binding.tool.as_str().into());
    row.contract = Some(record.binding.contract.as_str().into());
    row.approval = Some(record.id.to_string());
    row.outcome = Some(match decision.verdict {
        Verdict::Approve => "approve".into(),
        Verdict::Deny => "deny".into(),
    });
    row.detail = (!decision.note.is_empty()).then(|| decision.note.clone());
    let opened = approve::opened_arguments(gate, &sealed);
    let pending = record.state_at(decision.at) == RecordState::Pending;
    if opened.is_none() && pending && decision.verdict == Verdict::Approve {
        let message = "the arguments cannot be opened, the sealing key was changed; nobody can see what would be \
             approved. Deny it, or let it run out";
        return Err(AdminFault::new(409, "AG-ADMIN-BLIND", message));
    }
    let opened = opened.unwrap_or_default();
    row.arguments = Some(digests.of(opened.as_bytes()));
    let stored = row.to_stored(Some(digests.key())).map_err(|_| {
        AdminFault::new(500, "AG-EVIDENCE", "the evidence of the decision could not be written")
    })?;
    let within = u64::try_from(gate.settings.approvals.redeem_within.as_millis()).unwrap_or(u64::MAX);
    let state = match decision.verdict {
        Verdict::Approve => "approved",
        Verdict::Deny => "denied",
    };
    let decided = gate.store.decide(&record, decision, within, stored).await.map_err(AdminFault::store)?;
    gate.recorder.announce(&row);
    gate.telemetry.instruments().approval(state);
    gate.decided.notify_waiters();
    Ok(Json(view(gate, &decided, &sealed)))
}

async fn visible(gate: &Gate, caller: &Principal, id: &str) -> Result<(Record, Vec<u8>), AdminFault> {
    let found = gate.store.approval(&caller.tenant, id).await.map_err(AdminFault::store)?;
    if may_see(gate, caller, &found.0) {
        Ok(found)
    } else {
        // What somebody may not see does not exist for them.
        Err(AdminFault::store(aldgate_store::StoreFault::NoApproval { id: id.to_owned() }))
    }
}

fn may_see(gate: &Gate, caller: &Principal, record: &Record) -> bool {
    record.binding.caller.is_same(caller) || matches!(decider(gate, caller, record), Decide::Allowed { .. })
}

fn decider(gate: &Gate, approver: &Principal, record: &Record) -> Decide {
    let binding = &record.binding;
    let concern = Concern::parse(&binding.tool);
    // What no key names nobody decides.
    let Some(item) = concern.item(&binding.contract) else { return Decide::Refused { reasons: Vec::new() } };
    gate.snapshot().authorizer.may_decide(approver, &binding.caller, &item)
}

fn view(gate: &Gate, record: &Record, sealed: &[u8]) -> Value {
    let binding = &record.binding;
    let arguments = approve::opened_arguments(gate, sealed)
        .map(|text| serde_json::from_str::<Value>(&text).unwrap_or_else(|_| json!({})));
    let snapshot = gate.snapshot();
    let catalog = &snapshot.catalog;
    let tool = catalog.tools.values().find(|tool| tool.offer.key == binding.tool);
    let concern = Concern::parse(&binding.tool);
    let offer = concern.item("").and_then(|item| catalog.offer(item.kind, concern.key()));
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
        "state": record.state_at(clock::now()),
        "tool": binding.tool,
        "title": tool.and_then(|tool| tool.title.clone()),
        "boundaries": offer.map(|offer| &offer.entry.boundaries),
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
