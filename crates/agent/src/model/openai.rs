//! Chat completions with tools: <https://platform.openai.com/docs/api-reference/chat>, as OpenAI and many others serve them.

use serde_json::{Value, json};

use super::fault::ModelFault;
use super::talk::{Definition, LONGER, Message, Piece, Request, Spoken, Stop};

#[cfg(test)]
mod tests;

/// How many characters a tool's description may have.
const MAX_DESCRIPTION: usize = 1024;

/// The body of a request. `newer` is for the service of OpenAI itself, where `max_completion_tokens` stands for
/// `max_tokens`; many others know only the latter.
pub(super) fn body(request: &Request<'_>, newer: bool) -> Value {
    let bound = if newer { "max_completion_tokens" } else { "max_tokens" };
    let (tools, system) = tools(request);
    let system = json!({"role": "system", "content": system});
    let messages: Vec<Value> =
        std::iter::once(system).chain(request.messages.iter().flat_map(messages)).collect();
    let mut body = json!({
        "model": request.model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages,
    });
    if let Some(members) = body.as_object_mut() {
        members.insert(bound.to_owned(), request.max_answer_tokens.into());
        if !tools.is_empty() {
            members.insert("tools".to_owned(), Value::Array(tools));
        }
    }
    body
}

/// The tools, and the system message. A description that is too long for its place is there in part, and whole in the
/// system message.
fn tools(request: &Request<'_>) -> (Vec<Value>, String) {
    let mut system = request.system.to_owned();
    let mut tool = |tool: &Definition| {
        let mut description = tool.description.clone();
        if description.chars().count() > MAX_DESCRIPTION {
            system
                .push_str(&format!("\n\nThe whole description of the tool `{}`:\n{description}", tool.name));
            description = description.chars().take(MAX_DESCRIPTION - 60).collect();
            description.push_str(" … (goes on in the system message)");
        }
        json!({
            "type": "function",
            "function": {"name": tool.name, "description": description, "parameters": tool.schema},
        })
    };
    (request.tools.iter().map(&mut tool).collect(), system)
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::Task(text) => vec![json!({"role": "user", "content": text})],
        Message::Model(spoken) => {
            let texts = spoken.iter().filter_map(|spoken| match spoken {
                Spoken::Text(text) => Some(text.as_str()),
                Spoken::Call { .. } => None,
            });
            let text = texts.collect::<Vec<_>>().join("\n");
            let calls = spoken.iter().filter_map(|spoken| match spoken {
                Spoken::Text(_) => None,
                Spoken::Call { id, name, arguments } => Some(json!({
                    "id": id,
                    "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()},
                })),
            });
            let calls: Vec<Value> = calls.collect();
            let content = if text.is_empty() { Value::Null } else { Value::from(text) };
            let mut message = json!({"role": "assistant", "content": content});
            if let (Some(members), false) = (message.as_object_mut(), calls.is_empty()) {
                members.insert("tool_calls".to_owned(), Value::Array(calls));
            }
            vec![message]
        }
        Message::Results(results) => {
            let one = |result: &super::talk::CallResult| json!({"role": "tool", "tool_call_id": result.id, "content": result.content});
            results.iter().map(one).collect()
        }
    }
}

/// What one chunk says. `calls` is how many calls were begun before it, for services that give no index.
pub(super) fn pieces(chunk: &Value, calls: usize) -> Result<Vec<Piece>, ModelFault> {
    let text = |value: &Value, pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
        let said = error.get("message").and_then(Value::as_str).or(error.as_str()).unwrap_or("no message");
        let said = super::service::cut(said, 400);
        return Err(ModelFault::stream(format!("the service broke it off: {said}; try again later")));
    }
    let mut pieces = Vec::new();
    let (id, model) = (text(chunk, "/id"), text(chunk, "/model"));
    if id.is_some() || model.is_some() {
        pieces.push(Piece::Began { id, model });
    }
    if let Some(choice) = chunk.pointer("/choices/0") {
        pieces.extend(text(choice, "/delta/content").map(Piece::Text));
        pieces.extend(text(choice, "/delta/refusal").map(Piece::Refusal));
        let mut begun = calls;
        for call in choice.pointer("/delta/tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let name = text(call, "/function/name");
            let id = text(call, "/id");
            let told =
                call.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
            let begins = name.is_some() && told.is_none_or(|index| index >= begun);
            let index = told.unwrap_or(if begins { begun } else { begun.saturating_sub(1) });
            if let (Some(name), true) = (name, begins) {
                // Some services give no id; one is needed to answer.
                let id = id.unwrap_or_else(|| format!("call_{}", rand::random::<u64>()));
                pieces.push(Piece::Call { index, id, name });
                begun += 1;
            }
            pieces.extend(text(call, "/function/arguments").map(|text| Piece::Arguments { index, text }));
        }
        pieces.extend(text(choice, "/finish_reason").map(Piece::Stopped));
    }
    if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        pieces.push(Piece::Usage { input: count("prompt_tokens"), output: count("completion_tokens") });
    }
    Ok(pieces)
}

/// What a `finish_reason` means.
pub(super) fn stop(reason: &str) -> Stop {
    match reason {
        "stop" | "tool_calls" => Stop::Done,
        "length" => Stop::Cut(LONGER),
        "content_filter" => Stop::Declined,
        _ => Stop::Unknown,
    }
}
