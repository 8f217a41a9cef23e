//! The Messages API of Anthropic: <https://docs.anthropic.com/en/api/messages>, and its streams:
//! <https://docs.anthropic.com/en/docs/build-with-claude/streaming>.

use serde_json::{Map, Value, json};

use super::fault::ModelFault;
use super::talk::{LONGER, Message, Piece, Request, Spoken, Stop};

#[cfg(test)]
mod tests;

/// The version of the API that is spoken (`anthropic-version`).
pub(super) const VERSION: &str = "2023-06-01";

/// The body of a request.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.max_answer_tokens,
        "stream": true,
        "system": request.system,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
    });
    if let (Some(members), false) = (body.as_object_mut(), request.tools.is_empty()) {
        let tool = |tool: &super::talk::Definition| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
        members.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::Task(text) => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Message::Model(spoken) => {
            let block = |spoken: &Spoken| match spoken {
                Spoken::Text(text) => json!({"type": "text", "text": text}),
                Spoken::Call { id, name, arguments } => {
                    json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
                }
            };
            json!({"role": "assistant", "content": spoken.iter().map(block).collect::<Vec<_>>()})
        }
        Message::Results(results) => {
            let block = |result: &super::talk::CallResult| {
                json!({
                    "type": "tool_result",
                    "tool_use_id": result.id,
                    "is_error": result.is_error,
                    "content": [{"type": "text", "text": result.content}],
                })
            };
            json!({"role": "user", "content": results.iter().map(block).collect::<Vec<_>>()})
        }
    }
}

/// What the data of one event says. Events and blocks of kinds that are not known are passed over, as the API's
/// documentation asks.
pub(super) fn pieces(event: &Value) -> Result<Vec<Piece>, ModelFault> {
    let text =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let index = || {
        let index = event.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        index.ok_or_else(|| ModelFault::stream("found an event of a block without its `index`"))
    };
    let of_type = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Ok(match of_type("/type") {
        "message_start" => {
            let mut pieces =
                vec![Piece::Began { id: text(event, "/message/id"), model: text(event, "/message/model") }];
            pieces.extend(usage(event.pointer("/message/usage")));
            pieces
        }
        "content_block_start" => match of_type("/content_block/type") {
            "text" => text(event, "/content_block/text").map(Piece::Text).into_iter().collect(),
            "tool_use" => {
                let (id, name) = (text(event, "/content_block/id"), text(event, "/content_block/name"));
                let (Some(id), Some(name), index) = (id, name, index()?) else {
                    return Err(ModelFault::stream("found a `tool_use` without an `id` or a `name`"));
                };
                let mut pieces = vec![Piece::Call { index, id, name }];
                // It begins empty and is written by deltas; some services give the whole at once.
                let whole = event.pointer("/content_block/input").and_then(Value::as_object);
                if let Some(input) = whole.filter(|input| !input.is_empty()) {
                    pieces.push(Piece::Arguments { index, text: Value::Object(input.clone()).to_string() });
                }
                pieces
            }
            _ => Vec::new(),
        },
        "content_block_delta" => match of_type("/delta/type") {
            "text_delta" => text(event, "/delta/text").map(Piece::Text).into_iter().collect(),
            "input_json_delta" => {
                let index = index()?;
                let more = text(event, "/delta/partial_json").map(|text| Piece::Arguments { index, text });
                more.into_iter().collect()
            }
            _ => Vec::new(),
        },
        "message_delta" => {
            let mut pieces: Vec<Piece> = usage(event.get("usage")).into_iter().collect();
            pieces.extend(text(event, "/delta/stop_reason").map(Piece::Stopped));
            pieces
        }
        "message_stop" => vec![Piece::Ended],
        "error" => {
            let (kind, said) = (of_type("/error/type"), of_type("/error/message"));
            return Err(ModelFault::stream(format!(
                "the service broke it off with `{}`: {}; try again later",
                super::service::cut(kind, 80),
                super::service::cut(said, 400)
            )));
        }
        _ => Vec::new(),
    })
}

/// Tokens that went in are told in three parts: what was read from a cache, written to it, and the rest.
fn usage(usage: Option<&Value>) -> Option<Piece> {
    let usage: &Map<String, Value> = usage?.as_object()?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached =
        ["cache_creation_input_tokens", "cache_read_input_tokens"].map(|name| count(name).unwrap_or(0));
    let input = count("input_tokens").map(|input| cached.into_iter().fold(input, u64::saturating_add));
    Some(Piece::Usage { input, output: count("output_tokens") })
}

/// What a `stop_reason` means.
pub(super) fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => Stop::Done,
        "max_tokens" => Stop::Cut(LONGER),
        "model_context_window_exceeded" => Stop::Cut(
            "the conversation is as long as this model takes; give a smaller task or choose another model",
        ),
        "refusal" => Stop::Declined,
        "pause_turn" => Stop::Paused,
        _ => Stop::Unknown,
    }
}
