//! Two schemas of one tool: what was valid, and the words in them.

use serde_json::Value;
use serde_json::value::RawValue;

use super::document::Document;
use super::subsume::{self, Proof, Reason, Side};
use super::walk::Walk;
use super::{Change, Severity, change, show};
use crate::canonical::same_value;
use crate::schema::Validator;

/// Compares the schemas under one member of two definitions.
pub(super) fn compare(side: Side, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    let member = match side {
        Side::Input => "/inputSchema",
        Side::Output => "/outputSchema",
    };
    let mut whole = |severity, what: &str| {
        changes.push(change(severity, member, what, before.pointer(member), after.pointer(member)));
    };
    let (old, new) = match (side, before.pointer(member), after.pointer(member)) {
        (_, None, None) => return,
        (Side::Input, None, Some(_)) => {
            return whole(Severity::Breaking, "arguments had no schema and have one now");
        }
        (Side::Input, Some(_), None) => {
            return whole(Severity::Breaking, "arguments no longer have a schema");
        }
        (Side::Output, Some(_), None) => return whole(Severity::Breaking, "results no longer have a schema"),
        (Side::Output, None, Some(new)) => {
            return match unusable(new) {
                Some(fault) => whole(Severity::Breaking, &format!("the new schema cannot be used: {fault}")),
                None => whole(Severity::Compatible, "results had no schema and have one now"),
            };
        }
        (_, Some(old), Some(new)) => (old, new),
    };
    if same_value(old, new) {
        return;
    }
    for (schema, which) in [(old, "before"), (new, "now")] {
        if let Some(fault) = unusable(schema) {
            return whole(
                Severity::Breaking,
                &format!("the schema {which} cannot be used, and it changed: {fault}"),
            );
        }
    }
    let (old, new) = (Document::new(old, member), Document::new(new, member));
    if old.doubtful() || new.doubtful() {
        return whole(Severity::Breaking, "a schema gives one name to two parts, so it cannot be compared");
    }
    let alike = subsume::alike(&old, &new);
    let (inner, outer) = if side == Side::Input { (&old, &new) } else { (&new, &old) };
    let mut proof = Proof::new(inner, outer, side);
    let reasons = if alike { Vec::new() } else { proof.reasons() };
    let proof = if reasons.is_empty() { None } else { Some(proof) };
    let from = changes.len();
    for Reason { path, what } in reasons {
        changes.push(change(Severity::Breaking, &path, &what, before.pointer(&path), after.pointer(&path)));
    }
    Walk::new(side, &old, &new, proof, from, changes).run();
    if !alike && changes.len() == from {
        let what = "the schema is written in another way; whatever was valid stays valid";
        changes.push(change(Severity::Compatible, member, what, None, None));
    }
}

/// Why the gateway would not use a schema.
fn unusable(schema: &Value) -> Option<String> {
    let fault = match RawValue::from_string(schema.to_string()) {
        Ok(raw) => Validator::compile(&raw).err()?.to_string(),
        Err(fault) => fault.to_string(),
    };
    Some(show::line(&fault))
}
