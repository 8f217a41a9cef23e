use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const KNOWN: [&str; 3] = ["approver.name", "approval.note", "approval.id"];

/// How the gateway answers a tool that asks for its own confirmation, so that a person is asked once.
///
/// It is used only under a redeemed approval, once, and only if the tool asks under this key, by a form, with
/// exactly this schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The key of the tool's input request.
    pub key: String,
    /// `sha256:<hex>` of the RFC 8785 form of the request's `requestedSchema`.
    pub requested_schema: String,
    /// The members of the answer. A text may hold `${approver.name}`, `${approval.note}` and `${approval.id}`.
    pub fill: BTreeMap<String, Value>,
}

/// What an approval puts in the place of an answer's `${…}`.
#[derive(Clone, Copy, Debug)]
pub struct Substitutes<'a> {
    /// `${approver.name}`: the name of the person who decided.
    pub approver_name: &'a str,
    /// `${approval.note}`: what the person wrote, may be empty.
    pub approval_note: &'a str,
    /// `${approval.id}`: the approval's id.
    pub approval_id: &'a str,
}

impl Answer {
    /// The content of the answer. What is put in is never expanded again.
    #[must_use]
    pub fn content(&self, with: Substitutes<'_>) -> Map<String, Value> {
        self.fill.iter().map(|(name, value)| (name.clone(), filled(value, with))).collect()
    }

    /// The first `${…}` that [`Answer::content`] could not fill in.
    pub(super) fn unknown_placeholder(&self) -> Option<String> {
        self.fill.values().find_map(unknown)
    }
}

fn filled(value: &Value, with: Substitutes<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(expanded(text, with)),
        Value::Array(items) => items.iter().map(|item| filled(item, with)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value, with))).collect())
        }
        plain => plain.clone(),
    }
}

fn expanded(text: &str, with: Substitutes<'_>) -> String {
    pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Placeholder("approver.name") => with.approver_name,
            Piece::Placeholder("approval.note") => with.approval_note,
            Piece::Placeholder("approval.id") => with.approval_id,
            Piece::Placeholder(_) => "",
        })
        .collect()
}

fn unknown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => pieces(text).find_map(|piece| match piece {
            Piece::Placeholder(name) if !KNOWN.contains(&name) => Some(format!("${{{name}}}")),
            _ => None,
        }),
        Value::Array(items) => items.iter().find_map(unknown),
        Value::Object(members) => members.values().find_map(unknown),
        _ => None,
    }
}

enum Piece<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

/// Cuts a text at its `${…}`. A `${` that is never closed is a placeholder up to the end, and so unknown.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(opened) = rest.strip_prefix("${") {
            let (name, after) = opened.split_once('}').unwrap_or((opened, ""));
            rest = after;
            return Some(Piece::Placeholder(name));
        }
        let (text, after) = rest.split_at(rest.find("${").unwrap_or(rest.len()));
        rest = after;
        Some(Piece::Text(text))
    })
}
