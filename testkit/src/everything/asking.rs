//! One round of a request that may need answers from the caller: what it declared, what it answered, and the sealed state.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{InputResponses, RequestStateCodec, SealOptions};
use serde_json::{Map, Value, json};

/// How long a state is good for.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// What the caller has to be asked.
pub(super) enum Question {
    /// A form with one field.
    Form { message: &'static str, field: &'static str, kind: &'static str },
    /// A question to a model.
    Sample { text: &'static str },
    /// The roots.
    Roots,
}

/// What the caller did with a question.
pub(super) enum Answered {
    /// Nothing, or something that is no answer to it: it has to be asked again.
    Not,
    /// Would not say.
    Refused,
    /// The answer, as text.
    With(String),
}

/// One round of a request.
pub(super) struct Asking<'a> {
    /// What the state is bound to: a method and a name.
    pub(super) subject: String,
    pub(super) capabilities: Option<&'a Value>,
    pub(super) responses: Option<&'a InputResponses>,
    pub(super) state: Option<&'a str>,
    pub(super) codec: &'a RequestStateCodec,
}

impl Question {
    /// The capability that a client must declare to be asked.
    fn capability(&self) -> &'static str {
        match self {
            Question::Form { .. } => "elicitation",
            Question::Sample { .. } => "sampling",
            Question::Roots => "roots",
        }
    }

    fn request(&self) -> Value {
        match self {
            Question::Form { message, field, kind } => json!({
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": message,
                    "requestedSchema": {
                        "type": "object",
                        "properties": { *field: { "type": kind } },
                        "required": [field],
                    },
                },
            }),
            Question::Sample { text } => json!({
                "method": "sampling/createMessage",
                "params": {
                    "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
                    "maxTokens": 100,
                },
            }),
            Question::Roots => json!({ "method": "roots/list", "params": {} }),
        }
    }

    fn read(&self, response: &Value) -> Answered {
        let answer = match self {
            Question::Form { field, kind, .. } => match response.get("action").and_then(Value::as_str) {
                Some("accept") => {
                    response.get("content").and_then(|content| content.get(field)).filter(|value| match *kind
                    {
                        "boolean" => value.is_boolean(),
                        _ => value.is_string(),
                    })
                }
                Some("decline" | "cancel") => return Answered::Refused,
                _ => None,
            },
            Question::Sample { .. } => response
                .get("content")
                .and_then(|content| content.get("text"))
                .filter(|text| text.is_string()),
            Question::Roots => response.get("roots").filter(|roots| roots.is_array()),
        };
        match answer {
            Some(Value::String(text)) => Answered::With(text.clone()),
            Some(value) => Answered::With(value.to_string()),
            None => Answered::Not,
        }
    }
}

impl Asking<'_> {
    /// Whether the client declared that it can be asked this.
    pub(super) fn can_ask(&self, question: &Question) -> bool {
        self.declares(question.capability())
    }

    pub(super) fn declares(&self, capability: &str) -> bool {
        self.capabilities.and_then(|declared| declared.get(capability)).is_some_and(Value::is_object)
    }

    /// What the caller answered to the question under `key`.
    pub(super) fn answer(&self, key: &str, question: &Question) -> Answered {
        let response = self.responses.and_then(|responses| responses.get(key));
        response.map_or(Answered::Not, |response| question.read(response))
    }

    /// A result that asks.
    ///
    /// # Errors
    /// Where the client did not declare that it can be asked this.
    pub(super) fn ask(
        &self,
        questions: &[(&str, &Question)],
        state: Option<String>,
    ) -> Result<Value, ErrorData> {
        let lacking = questions.iter().find(|(_, question)| !self.can_ask(question));
        if let Some((_, question)) = lacking {
            return Err(missing(question.capability()));
        }
        let requests: Map<String, Value> =
            questions.iter().map(|(key, question)| ((*key).to_owned(), question.request())).collect();
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        if let (Some(state), Some(members)) = (state, result.as_object_mut()) {
            members.insert("requestState".to_owned(), Value::String(state));
        }
        Ok(result)
    }

    /// A state that only this server can make, for this request alone.
    pub(super) fn seal(&self, state: &Value) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(self.subject.as_bytes()).ttl(LIFETIME);
        self.codec
            .seal_json_with(state, &options)
            .map_err(|_| ErrorData::internal_error("the state cannot be sealed", None))
    }

    /// The state that came back; `None` where none came.
    ///
    /// # Errors
    /// Where it was altered, has expired, or was made for another request.
    pub(super) fn opened(&self) -> Result<Option<Value>, ErrorData> {
        let Some(sealed) = self.state else { return Ok(None) };
        let opened = self.codec.open_json_with(sealed, self.subject.as_bytes());
        opened.map(Some).map_err(|fault| {
            ErrorData::invalid_params(
                format!("`requestState` is not what this server gave out: {fault}; call again without it"),
                None,
            )
        })
    }
}

/// The error for a client that did not declare a capability.
pub(super) fn missing(capability: &str) -> ErrorData {
    match serde_json::from_value(json!({ capability: {} })) {
        Ok(required) => ErrorData::missing_required_client_capability(required),
        Err(_) => ErrorData::internal_error("the required capability cannot be named", None),
    }
}
