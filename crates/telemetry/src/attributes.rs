//! The attributes of requests and of what decides about them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use opentelemetry::{Array, KeyValue, Value};

use crate::names;

/// The method of a request that is not served, whatever it says: no peer names spans or makes up values.
pub const OTHER_METHOD: &str = "_OTHER";
/// Bytes of a peer's id that are taken over.
const ID_BYTES: usize = 256;

/// How a request travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Streamable HTTP.
    Http,
    /// Inside the process.
    Inproc,
    /// Standard input and output.
    Stdio,
}

impl Way {
    /// The value of `atlas.mcp.transport`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Inproc => "inproc",
            Self::Stdio => "stdio",
        }
    }

    /// The value of `network.transport`; nothing inside the process.
    #[must_use]
    pub fn network(self) -> Option<&'static str> {
        match self {
            Self::Http => Some("tcp"),
            Self::Stdio => Some("pipe"),
            Self::Inproc => None,
        }
    }

    fn attributes(self, into: &mut Vec<KeyValue>) {
        into.push(KeyValue::new(names::MCP_TRANSPORT, self.as_str()));
        into.extend(self.network().map(|transport| KeyValue::new(names::TRANSPORT, transport)));
        if self == Self::Http {
            into.push(KeyValue::new(names::PROTOCOL, "http"));
            into.push(KeyValue::new(names::HTTP_VERSION, "1.1"));
        }
    }
}

/// An MCP request, on either side.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: &'static str,
    /// Its id, as JSON: a number, or a string with its quotes; `None` where none could be read.
    pub id: Option<&'a str>,
    /// The revision of the protocol.
    pub version: &'static str,
    /// How it travels.
    pub way: Way,
    /// The agent run that it belongs to.
    pub conversation: Option<&'a str>,
}

impl Request<'_> {
    /// The attributes that are known when the request is.
    #[must_use]
    pub fn attributes(&self) -> Vec<KeyValue> {
        let mut attributes = Vec::with_capacity(16);
        attributes.push(KeyValue::new(names::METHOD, self.method));
        attributes.push(KeyValue::new(names::PROTOCOL_VERSION, self.version));
        if let Some(id) = self.id.map(id_of) {
            attributes.push(KeyValue::new(names::REQUEST_ID, id.clone().into_owned()));
            attributes.push(KeyValue::new(names::MCP_REQUEST_ID, id.into_owned()));
        }
        self.way.attributes(&mut attributes);
        if let Some(conversation) = self.conversation {
            attributes.push(KeyValue::new(names::CONVERSATION, conversation.to_owned()));
        }
        attributes
    }
}

/// The text of a request's id, which is JSON; what is too long is cut.
fn id_of(json: &str) -> Cow<'_, str> {
    let text = match json.starts_with('"').then(|| serde_json::from_str::<String>(json)) {
        Some(Ok(text)) => Cow::Owned(text),
        Some(Err(_)) | None => Cow::Borrowed(json),
    };
    match text.get(..text.floor_char_boundary(ID_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => Cow::Owned(beginning.to_owned()),
        _ => text,
    }
}

/// An agent run's id as a peer wrote it, where it can be one: short, and without control characters.
#[must_use]
pub fn conversation(id: &str) -> Option<&str> {
    let fits = (1..=ID_BYTES).contains(&id.len()) && !id.chars().any(char::is_control);
    fits.then_some(id)
}

/// What a request is about, once that is known.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// A tool.
    Tool(&'a str),
    /// A prompt.
    Prompt(&'a str),
    /// A resource.
    Resource(&'a str),
}

impl About<'_> {
    /// The attributes.
    #[must_use]
    pub fn attributes(self) -> Vec<KeyValue> {
        match self {
            Self::Tool(name) => {
                vec![
                    KeyValue::new(names::OPERATION, "execute_tool"),
                    KeyValue::new(names::TOOL, name.to_owned()),
                ]
            }
            Self::Prompt(name) => vec![KeyValue::new(names::PROMPT, name.to_owned())],
            Self::Resource(uri) => vec![KeyValue::new(names::RESOURCE_URI, uri.to_owned())],
        }
    }

    /// The name of a span: the method, and the tool or prompt (MCP semantic conventions, span name).
    #[must_use]
    pub fn span_name(self, method: &str) -> String {
        match self {
            Self::Tool(name) | Self::Prompt(name) => format!("{method} {name}"),
            Self::Resource(_) => method.to_owned(),
        }
    }
}

/// A check, and what it decided: `allow`, `require_approval` or `block`.
#[must_use]
pub fn guardrail(name: &str, decision: &'static str) -> [KeyValue; 2] {
    [KeyValue::new(names::GUARDRAIL, name.to_owned()), KeyValue::new(names::GUARDRAIL_DECISION, decision)]
}

/// The provider of a model, under both of its names.
#[must_use]
pub fn provider(name: &str) -> [KeyValue; 2] {
    [KeyValue::new(names::PROVIDER, name.to_owned()), KeyValue::new(names::SYSTEM, name.to_owned())]
}

/// The skill that an agent works by, and whether a `model` or a `user` chose it.
#[must_use]
pub fn skill(name: &str, version: &str, source: &'static str) -> [KeyValue; 3] {
    [
        KeyValue::new(names::SKILL, name.to_owned()),
        KeyValue::new(names::SKILL_VERSION, version.to_owned()),
        KeyValue::new(names::SKILL_SOURCE, source),
    ]
}

/// Why a model stopped, in its service's words.
#[must_use]
pub fn finish_reasons(reasons: &[String]) -> KeyValue {
    let reasons = reasons.iter().map(|reason| reason.clone().into()).collect();
    KeyValue::new(names::FINISH_REASONS, Value::Array(Array::String(reasons)))
}
