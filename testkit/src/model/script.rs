use serde_json::{Value, json};

use super::{ModelAnswer, ModelApi};

/// What a model says in one answer, to be written as either API streams it.
#[derive(Clone, Debug, Default)]
pub struct Script {
    text: String,
    calls: Vec<(String, String, String)>,
    stop: Option<String>,
    usage: Option<(u64, u64)>,
}

impl Script {
    /// An answer that says this.
    #[must_use]
    pub fn says(text: &str) -> Self {
        Self { text: text.to_owned(), usage: Some((100, 20)), ..Self::default() }
    }

    /// It also calls a tool. The arguments are what the model writes, JSON or not.
    #[must_use]
    pub fn calls(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.calls.push((id.to_owned(), name.to_owned(), arguments.to_owned()));
        self
    }

    /// It ends with this word of the API instead of the usual one.
    #[must_use]
    pub fn stops(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    /// It reports these tokens, in and out; with `None` it reports none.
    #[must_use]
    pub fn takes(mut self, usage: Option<(u64, u64)>) -> Self {
        self.usage = usage;
        self
    }

    /// The events, as they go over the wire.
    #[must_use]
    pub fn events(&self, api: ModelApi) -> String {
        match api {
            ModelApi::Anthropic => self.messages(),
            ModelApi::OpenAi => self.chunks(),
        }
    }

    /// The events as an answer.
    #[must_use]
    pub fn answer(&self, api: ModelApi) -> ModelAnswer {
        ModelAnswer::Stream(self.events(api))
    }

    fn messages(&self) -> String {
        let usual = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let stop = self.stop.as_deref().unwrap_or(usual);
        let mut start = json!({"type": "message_start", "message": {
            "id": "msg_test", "type": "message", "role": "assistant", "model": "model-that-answered", "content": [],
            "stop_reason": null, "stop_sequence": null}});
        let mut delta =
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}});
        if let Some((input, output)) = self.usage {
            put(&mut start, "/message", "usage", json!({"input_tokens": input, "output_tokens": 1}));
            put(&mut delta, "", "usage", json!({"output_tokens": output}));
        }
        let mut events = vec![start, json!({"type": "ping"})];
        let mut index = 0;
        if !self.text.is_empty() {
            let block = json!({"type": "text", "text": ""});
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            for part in parts(&self.text) {
                let delta = json!({"type": "text_delta", "text": part});
                events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            events.push(json!({"type": "content_block_stop", "index": index}));
            index += 1;
        }
        for (id, name, arguments) in &self.calls {
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            for part in std::iter::once(String::new()).chain(parts(arguments)) {
                let delta = json!({"type": "input_json_delta", "partial_json": part});
                events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            events.push(json!({"type": "content_block_stop", "index": index}));
            index += 1;
        }
        events.extend([delta, json!({"type": "message_stop"})]);
        let line = |event: &Value| {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            format!("event: {kind}\ndata: {event}\n\n")
        };
        events.iter().map(line).collect()
    }

    fn chunks(&self) -> String {
        let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let stop = self.stop.as_deref().unwrap_or(usual);
        let chunk = |choices: Value, usage: Value| {
            json!({"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1_764_000_000,
                "model": "model-that-answered", "choices": choices, "usage": usage})
        };
        let delta =
            |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null);
        let mut events = vec![delta(json!({"role": "assistant", "content": null, "refusal": null}))];
        events.extend(parts(&self.text).map(|part| delta(json!({"content": part}))));
        for (index, (id, name, arguments)) in self.calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": ""});
            let call = json!({"index": index, "id": id, "type": "function", "function": function});
            events.push(delta(json!({"tool_calls": [call]})));
            for part in parts(arguments) {
                let call = json!({"index": index, "function": {"arguments": part}});
                events.push(delta(json!({"tool_calls": [call]})));
            }
        }
        events.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": stop}]), Value::Null));
        if let Some((input, output)) = self.usage {
            let usage =
                json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output});
            events.push(chunk(json!([]), usage));
        }
        let lines = events.iter().map(|event| format!("data: {event}\n\n"));
        lines.chain(std::iter::once("data: [DONE]\n\n".to_owned())).collect()
    }
}

/// A text in pieces of a few characters.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let parts: Vec<String> = letters.chunks(7).map(|part| part.iter().collect()).collect();
    parts.into_iter()
}

fn put(event: &mut Value, at: &str, member: &str, value: Value) {
    if let Some(Value::Object(members)) = event.pointer_mut(at) {
        members.insert(member.to_owned(), value);
    }
}
