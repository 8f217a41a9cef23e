//! The Cedar schema of one item, in Cedar's JSON format.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::action::{Action, Kind};
use crate::entity;
use crate::policy::Policy;
use crate::shape::Shape;
use crate::slice::GATEWAY_ACTIONS;

/// The schema of the requests about an item with these arguments.
pub(super) fn of_item(kind: Kind, policies: &[&Policy], arguments: &Shape) -> Value {
    let base = |arguments: &Shape| {
        record([
            ("args", arguments.cedar_type().filter(is_record).unwrap_or_else(|| record([]))),
            ("client", text()),
            ("contract", text()),
            ("null_paths", texts()),
            ("unmapped", texts()),
        ])
    };
    let located = |context: Value| match kind {
        Kind::Resource => with(context, "uri", text()),
        Kind::Tool | Kind::Prompt => context,
    };
    let used = located(with(base(arguments), "responses", responses(policies)));
    let argument = record([("name", text()), ("value", text())]);
    let caller = record([
        ("tenant", text()),
        ("issuer", text()),
        ("subject", text()),
        ("kind", text()),
        ("client", text()),
        ("roles", texts()),
    ]);
    let decision = record([("caller", caller), ("client", text()), ("contract", text())]);
    let resource = match kind {
        Kind::Tool => entity::TOOL,
        Kind::Resource => entity::RESOURCE,
        Kind::Prompt => entity::PROMPT,
    };
    of(|action| {
        let context = match action {
            Action::CallUnattended => used.clone(),
            Action::Decide => decision.clone(),
            Action::Complete => with(base(&arguments.partial()), "argument", argument.clone()),
            Action::Listen => located(base(arguments)),
            _ => used.clone(),
        };
        let asked =
            kind.actions().contains(&action) || matches!(action, Action::CallUnattended | Action::Decide);
        asked.then_some((resource, context))
    })
}

/// The schema of the requests about the gateway itself.
pub(super) fn of_gateway() -> Value {
    of(|action| GATEWAY_ACTIONS.contains(&action).then(|| (entity::GATEWAY, record([("client", text())]))))
}

/// A schema with all actions, of which those without a resource type never happen.
fn of(request: impl Fn(Action) -> Option<(&'static str, Value)>) -> Value {
    let principal = json!({
        "memberOfTypes": ["Role", "Tenant"],
        "shape": record([("tenant", text()), ("issuer", text()), ("subject", text())]),
    });
    let item = json!({
        "memberOfTypes": ["Upstream"],
        "shape": record([
            ("upstream", text()),
            ("name", text()),
            ("authority", text()),
            ("read_only", json!({"type": "Boolean"})),
            ("idempotent", json!({"type": "Boolean"})),
            ("labels", texts()),
        ]),
    });
    let applies = |action: Action| match request(action) {
        Some((resource, context)) => json!({"appliesTo": {
            "principalTypes": ["Person", "Service"], "resourceTypes": [resource], "context": context,
        }}),
        None => json!({"appliesTo": {"principalTypes": [], "resourceTypes": []}}),
    };
    let actions: Map<String, Value> =
        Action::ALL.into_iter().map(|action| (action.as_str().to_owned(), applies(action))).collect();
    json!({"": {
        "entityTypes": {
            "Person": principal, "Service": principal, "Role": {}, "Tenant": {},
            "Tool": item, "Resource": item, "Prompt": item, "Upstream": {}, "Gateway": {},
        },
        "actions": actions,
    }})
}

/// The client's answers: what a policy asks for by key has at most the `action` of an elicitation.
fn responses(policies: &[&Policy]) -> Value {
    let keys: BTreeSet<&String> = policies
        .iter()
        .flat_map(|policy| &policy.reads)
        .filter(|path| path.first().is_some_and(|name| name == "responses"))
        .filter_map(|path| path.get(1))
        .collect();
    let mut answer_action = text();
    let mut answer = record([]);
    optional(&mut answer_action);
    if let Some(attributes) = answer.get_mut("attributes").and_then(Value::as_object_mut) {
        attributes.insert("action".to_owned(), answer_action);
    }
    optional(&mut answer);
    let attributes: Map<String, Value> = keys.into_iter().map(|key| (key.clone(), answer.clone())).collect();
    json!({"type": "Record", "attributes": attributes})
}

fn optional(kind: &mut Value) {
    if let Some(kind) = kind.as_object_mut() {
        kind.insert("required".to_owned(), Value::Bool(false));
    }
}

fn record<const N: usize>(members: [(&str, Value); N]) -> Value {
    let attributes: Map<String, Value> =
        members.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
    json!({"type": "Record", "attributes": attributes})
}

/// The record with one more member.
fn with(mut record: Value, name: &str, kind: Value) -> Value {
    if let Some(attributes) = record.get_mut("attributes").and_then(Value::as_object_mut) {
        attributes.insert(name.to_owned(), kind);
    }
    record
}

fn is_record(kind: &Value) -> bool {
    kind.get("type").is_some_and(|kind| kind == "Record")
}

fn text() -> Value {
    json!({"type": "String"})
}

fn texts() -> Value {
    json!({"type": "Set", "element": text()})
}
