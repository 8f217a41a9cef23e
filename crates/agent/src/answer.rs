use rmcp::model::{ContentBlock, InputRequiredResult, ServerResult};
use serde_json::{Map, Value};

use crate::ask::AskKind;
use crate::outcome::Complete;

#[cfg(test)]
mod tests;

/// One answer to `tools/call`, read without losing what matters here.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Complete(Complete),
    InputRequired { questions: Vec<Question>, state: Option<String>, meta: Map<String, Value> },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) kind: AskKind,
}

/// Why an answer cannot be used.
#[derive(Debug, PartialEq)]
pub(crate) enum Unusable {
    /// A question that was not declared: key and method.
    Ask { key: String, method: String },
    /// Anything else: what was found.
    Shape(String),
}

/// Reads what the client library decoded. It cannot decode every valid result; those reach us as raw JSON.
pub(crate) fn read(result: ServerResult) -> Result<Answer, Unusable> {
    match result {
        ServerResult::CallToolResult(result) => Ok(Answer::Complete(Complete {
            is_error: result.is_error.unwrap_or(false),
            structured: result.structured_content,
            text: join(result.content.iter().filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })),
            meta: result.meta.map(|meta| meta.0).unwrap_or_default(),
        })),
        ServerResult::InputRequiredResult(result) => read_input_required(&result),
        ServerResult::CreateTaskResult(_) => {
            Err(Unusable::Shape("found a task, which this client did not declare".to_owned()))
        }
        ServerResult::CustomResult(raw) => read_raw(raw.0),
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
            Ok(Answer::Complete(Complete::default()))
        }
        _ => Err(Unusable::Shape("found the result of another method".to_owned())),
    }
}

fn read_input_required(result: &InputRequiredResult) -> Result<Answer, Unusable> {
    let raw = serde_json::to_value(result).map_err(|fault| Unusable::Shape(fault.to_string()))?;
    read_raw(raw)
}

fn read_raw(raw: Value) -> Result<Answer, Unusable> {
    let Value::Object(mut raw) = raw else {
        return Err(Unusable::Shape("found a result that is no object".to_owned()));
    };
    match raw.get("resultType") {
        None => complete(raw),
        Some(Value::String(kind)) if kind == "complete" => complete(raw),
        Some(Value::String(kind)) if kind == "input_required" => {
            let questions = match raw.remove("inputRequests") {
                None => Vec::new(),
                Some(Value::Object(asks)) => {
                    asks.into_iter().map(|(key, ask)| question(key, ask)).collect::<Result<_, _>>()?
                }
                Some(_) => return Err(Unusable::Shape("found `inputRequests` that is no object".to_owned())),
            };
            let state = match raw.remove("requestState") {
                None => None,
                Some(Value::String(state)) => Some(state),
                Some(_) => return Err(Unusable::Shape("found `requestState` that is no string".to_owned())),
            };
            if questions.is_empty() && state.is_none() {
                return Err(Unusable::Shape(
                    "found `input_required` without `inputRequests` and without `requestState`".to_owned(),
                ));
            }
            Ok(Answer::InputRequired { questions, state, meta: meta(&mut raw) })
        }
        Some(other) => Err(Unusable::Shape(format!(
            "found `resultType` {other}, expected \"complete\" or \"input_required\""
        ))),
    }
}

fn complete(mut raw: Map<String, Value>) -> Result<Answer, Unusable> {
    let is_error = match raw.get("isError") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_error)) => *is_error,
        Some(other) => return Err(Unusable::Shape(format!("found `isError` {other}, expected a boolean"))),
    };
    let text = match raw.get("content") {
        None => String::new(),
        Some(Value::Array(blocks)) => join(blocks.iter().filter_map(|block| {
            (block.get("type")?.as_str()? == "text").then(|| block.get("text")?.as_str()).flatten()
        })),
        Some(_) => return Err(Unusable::Shape("found `content` that is no array".to_owned())),
    };
    let meta = meta(&mut raw);
    Ok(Answer::Complete(Complete { is_error, structured: raw.remove("structuredContent"), text, meta }))
}

fn meta(raw: &mut Map<String, Value>) -> Map<String, Value> {
    match raw.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    }
}

fn question(key: String, ask: Value) -> Result<Question, Unusable> {
    let method = ask.get("method").and_then(Value::as_str).unwrap_or("nothing").to_owned();
    if method != "elicitation/create" {
        return Err(Unusable::Ask { key, method });
    }
    let params = ask.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let Some(message) = text("message") else {
        return Err(Unusable::Shape(format!("found no `message` in the question `{key}`")));
    };
    match (params.get("mode").map_or(Some("form"), Value::as_str), text("url"), params.get("requestedSchema"))
    {
        (Some("form"), _, Some(schema @ Value::Object(_))) => {
            Ok(Question { key, kind: AskKind::Form { message, requested_schema: schema.clone() } })
        }
        (Some("url"), Some(url), _) => Ok(Question { key, kind: AskKind::Url { message, url } }),
        (Some("form" | "url"), ..) => {
            Err(Unusable::Shape(format!("found no schema and no address in the question `{key}`")))
        }
        (mode, ..) => Err(Unusable::Ask {
            key,
            method: format!("{method} in mode {}", mode.unwrap_or("of another type")),
        }),
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}
