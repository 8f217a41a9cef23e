//! The one answer that the gateway gives by itself: to a tool's own confirmation, under a redeemed approval.

use aldgate_authority::Substitutes;
use aldgate_wire::elicitation::{self, InputKind};
use aldgate_wire::response::ResultView;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};

use super::dispatch::Fault;
use crate::permit::Spent;

/// The answer to what the upstream asks, where the registry has one for it: only under an approval that was redeemed for
/// this very call, and only to the one form that the registry pins, alone.
pub(super) fn own_answer(spent: &Spent, view: &ResultView) -> Option<Result<Box<RawValue>, Fault>> {
    let decision = spent.decision.as_ref()?;
    let answer = spent.offer().entry.answer.as_ref()?;
    let asked = elicitation::requests(view.input_requests.as_deref()?).ok()?;
    let [(key, request)] = asked.as_slice() else { return None };
    let InputKind::ElicitForm { requested_schema, .. } = &request.kind else { return None };
    if *key != answer.key
        || schema_digest(requested_schema).as_deref() != Some(answer.requested_schema.as_str())
    {
        return None;
    }
    let content = answer.content(Substitutes {
        approver_name: &decision.by.name,
        approval_note: &decision.note,
        approval_id: spent.approval.as_deref().unwrap_or_default(),
    });
    let responses = json!({ key.as_str(): { "action": "accept", "content": content } });
    Some(to_raw_value(&responses).map_err(Fault::Own))
}

/// SHA-256 of a schema's RFC 8785 form, `sha256:<hex>`.
fn schema_digest(schema: &RawValue) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(schema.get()).ok()?;
    let canonical = serde_json_canonicalizer::to_vec(&value).ok()?;
    Some(format!("sha256:{}", hex::encode(Sha256::digest(canonical))))
}
