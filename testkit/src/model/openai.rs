//! What chat completions refuse.

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use serde_json::Value;

use super::{MODEL_KEY, Wrong, header, is_name, known, list, text};

pub(super) fn check(headers: &HeaderMap, body: &Value, open: bool) -> Result<(), Wrong> {
    let shown = header(headers, "authorization");
    if shown != format!("Bearer {MODEL_KEY}") && !(open && shown.is_empty()) {
        let message = format!("Incorrect API key provided: {}.", shown.trim_start_matches("Bearer "));
        return Err(Wrong { status: 401, kind: "invalid_request_error", message });
    }
    if !header(headers, "content-type").starts_with("application/json") {
        return Err(Wrong::invalid("expected the media type application/json"));
    }
    let members =
        ["model", "stream", "stream_options", "messages", "tools", "max_tokens", "max_completion_tokens"];
    known(body, &members)?;
    if text(body, "model") == "no-such-model" {
        let message = "The model `no-such-model` does not exist or you do not have access to it.".to_owned();
        return Err(Wrong { status: 404, kind: "invalid_request_error", message });
    }
    if text(body, "model").is_empty() {
        return Err(Wrong::invalid("you must provide a model parameter"));
    }
    let bounds = ["max_tokens", "max_completion_tokens"].map(|name| body.get(name).and_then(Value::as_u64));
    if bounds.iter().flatten().count() != 1 {
        return Err(Wrong::invalid("expected one of max_tokens and max_completion_tokens"));
    }
    let usage = body.pointer("/stream_options/include_usage");
    if body.get("stream") != Some(&Value::Bool(true)) || usage != Some(&Value::Bool(true)) {
        return Err(Wrong::invalid("this fake speaks streams with their usage alone"));
    }
    tools(body)?;
    messages(list(body, "messages"))
}

fn tools(body: &Value) -> Result<(), Wrong> {
    let tools = list(body, "tools");
    if body.get("tools").is_some() && tools.is_empty() {
        return Err(Wrong::invalid("Invalid 'tools': empty array. Expected an array with minimum length 1"));
    }
    if tools.len() > 128 {
        return Err(Wrong::invalid(
            "Invalid 'tools': array too long. Expected an array with maximum length 128",
        ));
    }
    let mut names = BTreeSet::new();
    for (n, tool) in tools.iter().enumerate() {
        known(tool, &["type", "function"])?;
        let function = tool.get("function").unwrap_or(&Value::Null);
        known(function, &["name", "description", "parameters"])?;
        let name = text(function, "name");
        if !is_name(name) {
            let message = format!(
                "Invalid 'tools[{n}].function.name': string does not match pattern. Expected a string that matches the \
                 pattern '^[a-zA-Z0-9_-]+$'."
            );
            return Err(Wrong::invalid(message));
        }
        if !names.insert(name) {
            return Err(Wrong::invalid("Invalid 'tools': names must be unique"));
        }
        if text(function, "description").chars().count() > 1024 {
            let message = format!("Invalid 'tools[{n}].function.description': string too long");
            return Err(Wrong::invalid(message));
        }
        let schema = function.get("parameters").and_then(Value::as_object);
        let fault = |what: &str| Err(Wrong::invalid(format!("Invalid schema for function '{name}': {what}")));
        let Some(schema) = schema else { return fault("parameters are missing") };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return fault("schema must be a JSON Schema of 'type: \"object\"'");
        }
        if ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|keyword| schema.contains_key(*keyword)) {
            return fault("schema must not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level");
        }
        match schema.get("properties").and_then(Value::as_object) {
            None => return fault("object schema missing properties"),
            Some(properties) if properties.values().any(|schema| !schema.is_object()) => {
                return fault("a schema of a property is no object");
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn messages(messages: &[Value]) -> Result<(), Wrong> {
    let mut open: Vec<&str> = Vec::new();
    let mut roles = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if role == "tool" {
            known(message, &["role", "tool_call_id", "content"])?;
            if text(message, "content").is_empty() {
                return Err(Wrong::invalid(format!("messages[{n}].content: expected a string")));
            }
            // Not the service but this test's host promises the order.
            if open.first() != Some(&text(message, "tool_call_id")) {
                return Err(Wrong::invalid(
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                ));
            }
            open.remove(0);
            continue;
        }
        if !open.is_empty() {
            return Err(Wrong::invalid(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                open.join(", ")
            )));
        }
        roles.push(role);
        if role == "assistant" {
            open = calls(n, message)?;
        } else if text(message, "content").is_empty() {
            return Err(Wrong::invalid(format!("messages[{n}].content: expected a string")));
        }
    }
    if !open.is_empty() {
        return Err(Wrong::invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages",
        ));
    }
    match roles.as_slice() {
        ["system", "user", rest @ ..] if rest.iter().all(|role| *role == "assistant") => Ok(()),
        _ => Err(Wrong::invalid(format!("unexpected roles {roles:?}"))),
    }
}

/// The ids of the calls in a message of the model.
fn calls(n: usize, message: &Value) -> Result<Vec<&str>, Wrong> {
    known(message, &["role", "content", "tool_calls"])?;
    let calls = list(message, "tool_calls");
    if calls.is_empty() && text(message, "content").is_empty() {
        return Err(Wrong::invalid(format!("messages[{n}].content: expected a string, got null")));
    }
    for call in calls {
        let function = call.get("function").unwrap_or(&Value::Null);
        if text(call, "type") != "function" || text(call, "id").is_empty() || !is_name(text(function, "name"))
        {
            return Err(Wrong::invalid(format!(
                "Invalid 'messages[{n}].tool_calls[0].function.name': string does not match pattern"
            )));
        }
        let arguments = text(function, "arguments");
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
            return Err(Wrong::invalid(format!("messages[{n}].tool_calls: arguments are no JSON object")));
        }
    }
    Ok(calls.iter().map(|call| text(call, "id")).collect())
}
