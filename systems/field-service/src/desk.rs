//! What one server offers, apart from protocol and transport. The three desks share one protocol handler.

mod icons;
mod manuals;
mod parts;
mod tickets;

use std::collections::BTreeMap;

use async_trait::async_trait;
use rmcp::model::InputRequiredResult;
use serde_json::{Map, Value};
use thiserror::Error;

pub(crate) use icons::icon;
pub(crate) use manuals::Manuals;
pub(crate) use parts::Parts;
pub(crate) use tickets::Tickets;

use crate::contracts::ServerContract;
use crate::hub::Hub;
use crate::store::StoreFault;

/// A tool call whose arguments are valid under the tool's input schema.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) input_responses: Option<BTreeMap<String, Value>>,
    pub(crate) request_state: Option<String>,
    pub(crate) caller: Caller,
}

/// Who calls and what that client can do, both from this one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// A digest of the credential of the request; `local` where there is none.
    pub(crate) principal: String,
    /// Whether the client declared that it can show a form.
    pub(crate) shows_forms: bool,
}

/// The answer to a tool call.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It is done; the value is the structured content.
    Done(Value),
    /// It was not done, for a reason that the model should read.
    Refused { reason: String, details: Option<Value> },
    /// A person has to be asked first.
    Ask(InputRequiredResult),
}

/// A request that is answered by a protocol error.
#[derive(Debug, Error)]
pub(crate) enum DeskFault {
    #[error("{message}")]
    Params { message: String, data: Option<Value> },
    #[error("the client did not declare that it can show a form")]
    NoForms,
    #[error(transparent)]
    Store(#[from] StoreFault),
    #[error("a value could not be written as JSON")]
    Json(#[from] serde_json::Error),
}

impl DeskFault {
    pub(crate) fn params(message: impl Into<String>) -> DeskFault {
        DeskFault::Params { message: message.into(), data: None }
    }

    pub(crate) fn no_resource(uri: &str) -> DeskFault {
        DeskFault::Params {
            message: format!("unknown resource `{uri}`, see resources/templates/list for what can be read"),
            data: Some(serde_json::json!({ "uri": uri })),
        }
    }

    pub(crate) fn no_prompt(name: &str) -> DeskFault {
        DeskFault::params(format!("unknown prompt `{name}`, see prompts/list"))
    }
}

/// Which features beside tools a desk has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
}

/// What a completion is asked for.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The name of a prompt or the template of a resource.
    pub(crate) of: CompletionOf,
    pub(crate) argument: String,
    pub(crate) value: String,
}

/// Where the argument to complete belongs.
#[derive(Debug)]
pub(crate) enum CompletionOf {
    Prompt(String),
    Template(String),
}

/// What one server offers. Values are the JSON of the protocol's own types.
#[async_trait]
pub(crate) trait Desk: Send + Sync + 'static {
    fn contract(&self) -> &ServerContract;
    fn features(&self) -> Features;
    fn instructions(&self) -> &'static str;
    /// A tiny SVG icon.
    fn icon(&self) -> Value;
    fn hub(&self) -> &Hub;

    async fn call(&self, call: Call) -> Result<Answer, DeskFault>;

    /// Entries of `resources/list`.
    async fn resources(&self) -> Result<Vec<Value>, DeskFault> {
        Ok(Vec::new())
    }

    /// Entries of `resources/templates/list`.
    fn templates(&self) -> Vec<Value> {
        Vec::new()
    }

    /// The contents of one resource.
    async fn read(&self, uri: &str) -> Result<Vec<Value>, DeskFault> {
        Err(DeskFault::no_resource(uri))
    }

    /// Whether updates of this resource can be listened to.
    fn can_watch(&self, _uri: &str) -> bool {
        false
    }

    /// Entries of `prompts/list`.
    fn prompts(&self) -> Vec<Value> {
        Vec::new()
    }

    /// A prompt with its arguments filled in.
    fn prompt(&self, name: &str, _arguments: &Map<String, Value>) -> Result<Value, DeskFault> {
        Err(DeskFault::no_prompt(name))
    }

    /// Possible values of an argument, in order, all of them.
    fn complete(&self, wanted: &Completion) -> Result<Vec<String>, DeskFault> {
        let (CompletionOf::Prompt(of) | CompletionOf::Template(of)) = &wanted.of;
        Err(DeskFault::params(format!("nothing to complete for `{of}`")))
    }
}

/// A text argument.
fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// An integer argument. JSON Schema counts `5.0` as an integer too.
fn integer(arguments: &Map<String, Value>, name: &str) -> Option<i64> {
    let value = arguments.get(name)?;
    value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
}

fn flag(arguments: &Map<String, Value>, name: &str) -> bool {
    arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn refused(reason: impl Into<String>) -> Answer {
    Answer::Refused { reason: reason.into(), details: None }
}

/// Keeps what begins with what was typed, whatever its case.
fn beginning_with(values: Vec<String>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    values.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect()
}
