//! The shape of each method's parameters. What is malformed is refused here with -32602; `rmcp` would take it for a
//! method that it does not know.

use serde_json::{Map, Value};

use super::envelope::Envelope;
use super::reply::{self, Refusal};

/// A kind of value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
    /// An object whose values are texts.
    Texts,
    Flag,
    /// A list of texts.
    TextList,
}

const REQUIRED: bool = true;
const OPTIONAL: bool = false;

pub(super) fn check(envelope: &Envelope) -> Result<(), Refusal> {
    let params = &envelope.params;
    let refuse = |message: String| Err(Refusal::rpc(envelope.id.clone(), reply::INVALID_PARAMS, message));
    let wanted: &[(&str, Kind, bool)] = match envelope.method.as_str() {
        "tools/call" => &[
            ("name", Kind::Text, REQUIRED),
            ("arguments", Kind::Object, OPTIONAL),
            ("inputResponses", Kind::Object, OPTIONAL),
            ("requestState", Kind::Text, OPTIONAL),
        ],
        "prompts/get" => &[
            ("name", Kind::Text, REQUIRED),
            ("arguments", Kind::Texts, OPTIONAL),
            ("inputResponses", Kind::Object, OPTIONAL),
            ("requestState", Kind::Text, OPTIONAL),
        ],
        "resources/read" => &[
            ("uri", Kind::Text, REQUIRED),
            ("inputResponses", Kind::Object, OPTIONAL),
            ("requestState", Kind::Text, OPTIONAL),
        ],
        "completion/complete" => &[
            ("ref", Kind::Object, REQUIRED),
            ("argument", Kind::Texts, REQUIRED),
            ("context", Kind::Object, OPTIONAL),
        ],
        "subscriptions/listen" => &[("notifications", Kind::Object, REQUIRED)],
        "server/discover" => &[],
        _ => &[("cursor", Kind::Text, OPTIONAL)],
    };
    if let Err(message) = members(params, "params", wanted) {
        return refuse(message);
    }
    let inner = match envelope.method.as_str() {
        "completion/complete" => completion(params),
        "subscriptions/listen" => notifications(params),
        _ => Ok(()),
    };
    inner.or_else(refuse)
}

fn completion(params: &Map<String, Value>) -> Result<(), String> {
    let object = |name: &str| params.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
    members(
        &object("argument"),
        "argument",
        &[("name", Kind::Text, REQUIRED), ("value", Kind::Text, REQUIRED)],
    )?;
    members(&object("context"), "context", &[("arguments", Kind::Texts, OPTIONAL)])?;
    let reference = object("ref");
    match reference.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => members(&reference, "ref", &[("name", Kind::Text, REQUIRED)]),
        Some("ref/resource") => members(&reference, "ref", &[("uri", Kind::Text, REQUIRED)]),
        _ => Err("`ref.type` must be ref/prompt or ref/resource".to_owned()),
    }
}

fn notifications(params: &Map<String, Value>) -> Result<(), String> {
    let wanted = params.get("notifications").and_then(Value::as_object).cloned().unwrap_or_default();
    members(
        &wanted,
        "notifications",
        &[
            ("toolsListChanged", Kind::Flag, OPTIONAL),
            ("promptsListChanged", Kind::Flag, OPTIONAL),
            ("resourcesListChanged", Kind::Flag, OPTIONAL),
            ("resourceSubscriptions", Kind::TextList, OPTIONAL),
        ],
    )
}

fn members(object: &Map<String, Value>, of: &str, wanted: &[(&str, Kind, bool)]) -> Result<(), String> {
    for (name, kind, required) in wanted {
        match object.get(*name) {
            None if *required => return Err(format!("`{of}.{name}` is missing, expected {}", kind.word())),
            None => {}
            Some(value) if kind.holds(value) => {}
            Some(_) => return Err(format!("`{of}.{name}` has a wrong type, expected {}", kind.word())),
        }
    }
    Ok(())
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Object => "an object",
            Kind::Texts => "an object of texts",
            Kind::Flag => "true or false",
            Kind::TextList => "a list of texts",
        }
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Object => value.is_object(),
            Kind::Texts => value.as_object().is_some_and(|object| object.values().all(Value::is_string)),
            Kind::Flag => value.is_boolean(),
            Kind::TextList => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        }
    }
}
