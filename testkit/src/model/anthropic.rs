//! What the Messages API refuses.

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use serde_json::Value;

use super::{MODEL_KEY, Wrong, header, is_name, known, list, text};

pub(super) fn check(headers: &HeaderMap, body: &Value) -> Result<(), Wrong> {
    if header(headers, "x-api-key") != MODEL_KEY {
        let message = "invalid x-api-key".to_owned();
        return Err(Wrong { status: 401, kind: "authentication_error", message });
    }
    if header(headers, "anthropic-version") != "2023-06-01" {
        return Err(Wrong::invalid("anthropic-version: header is required"));
    }
    if !header(headers, "content-type").starts_with("application/json") {
        return Err(Wrong::invalid("content-type: expected application/json"));
    }
    known(body, &["model", "max_tokens", "stream", "system", "messages", "tools"])?;
    if text(body, "model") == "no-such-model" {
        let message = "model: no-such-model".to_owned();
        return Err(Wrong { status: 404, kind: "not_found_error", message });
    }
    if text(body, "model").is_empty() {
        return Err(Wrong::invalid("model: Field required"));
    }
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|tokens| tokens == 0) {
        return Err(Wrong::invalid("max_tokens: Field required"));
    }
    if body.get("stream") != Some(&Value::Bool(true)) {
        return Err(Wrong::invalid("stream: this fake speaks streams alone"));
    }
    if text(body, "system").trim().is_empty() {
        return Err(Wrong::invalid("system: text content blocks must be non-empty"));
    }
    tools(body)?;
    messages(list(body, "messages"))
}

fn tools(body: &Value) -> Result<(), Wrong> {
    let mut names = BTreeSet::new();
    for (n, tool) in list(body, "tools").iter().enumerate() {
        known(tool, &["name", "description", "input_schema"])?;
        let name = text(tool, "name");
        if !is_name(name) {
            let message =
                format!("tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'");
            return Err(Wrong::invalid(message));
        }
        if !names.insert(name) {
            return Err(Wrong::invalid("tools: Tool names must be unique."));
        }
        let at = format!("tools.{n}.custom.input_schema");
        let schema = tool.get("input_schema").and_then(Value::as_object);
        let Some(schema) = schema else { return Err(Wrong::invalid(format!("{at}: Field required"))) };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(Wrong::invalid(format!("{at}.type: Input should be 'object'")));
        }
        if ["oneOf", "allOf", "anyOf"].iter().any(|keyword| schema.contains_key(*keyword)) {
            let message =
                format!("{at}: input_schema does not support oneOf, allOf, or anyOf at the top level");
            return Err(Wrong::invalid(message));
        }
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let good = |name: &str| {
            (1..=64).contains(&name.len())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        };
        if properties.map(|(name, _)| name).any(|name| !good(name)) {
            let message =
                format!("{at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'");
            return Err(Wrong::invalid(message));
        }
    }
    Ok(())
}

fn messages(messages: &[Value]) -> Result<(), Wrong> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        if text(message, "role") != role {
            return Err(Wrong::invalid(format!("messages.{n}: roles must alternate, expected `{role}`")));
        }
        let blocks = list(message, "content");
        if blocks.is_empty() {
            return Err(Wrong::invalid(format!("messages.{n}: all messages must have non-empty content")));
        }
        let results = blocks.iter().filter(|block| text(block, "type") == "tool_result");
        let answered: Vec<&str> = results.map(|block| text(block, "tool_use_id")).collect();
        if answered != open {
            return Err(Wrong::invalid(format!(
                "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
                open.join(", ")
            )));
        }
        open = Vec::new();
        for block in blocks {
            open.extend(block_of(n, role, block)?);
        }
    }
    match messages.last() {
        None => Err(Wrong::invalid("messages: at least one message is required")),
        Some(_) if !open.is_empty() => Err(Wrong::invalid("messages: the last calls are not answered")),
        // The last message of the model may be gone on with, where it does not end with white space.
        Some(last)
            if list(last, "content")
                .last()
                .is_some_and(|block| text(block, "text").ends_with([' ', '\n'])) =>
        {
            Err(Wrong::invalid("messages: final assistant content cannot end with trailing whitespace"))
        }
        Some(_) => Ok(()),
    }
}

/// The id of a call, where the block is one.
fn block_of<'a>(n: usize, role: &str, block: &'a Value) -> Result<Option<&'a str>, Wrong> {
    let empty = || Err(Wrong::invalid(format!("messages.{n}: text content blocks must be non-empty")));
    match (role, text(block, "type")) {
        (_, "text") if text(block, "text").trim().is_empty() => empty(),
        (_, "text") => Ok(None),
        ("assistant", "tool_use") => {
            known(block, &["type", "id", "name", "input"])?;
            let good = is_name(text(block, "name")) && is_name(text(block, "id"));
            match block.get("input") {
                Some(Value::Object(_)) if good => Ok(Some(text(block, "id"))),
                Some(Value::Object(_)) => {
                    Err(Wrong::invalid(format!("messages.{n}.tool_use: String should match pattern")))
                }
                _ => Err(Wrong::invalid(format!(
                    "messages.{n}.tool_use.input: Input should be a valid dictionary"
                ))),
            }
        }
        ("user", "tool_result") => {
            known(block, &["type", "tool_use_id", "content", "is_error"])?;
            if list(block, "content").iter().any(|part| text(part, "text").trim().is_empty()) {
                return empty();
            }
            Ok(None)
        }
        (_, kind) => Err(Wrong::invalid(format!("messages.{n}: unexpected block `{kind}` of the {role}"))),
    }
}
