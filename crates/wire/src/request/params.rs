use serde_json::value::RawValue;

use super::{Method, Rejection};
use crate::code;
use crate::json::{Kind, Members, kind, string};
use crate::quote::Quoted;

/// The members of `params` that the method has. Others are dropped, and so is a known one that belongs to another
/// method: what goes to an upstream is made from these alone.
#[derive(Debug, Clone, Default)]
pub struct Params {
    /// The tool or prompt.
    pub name: Option<String>,
    /// The arguments of a tool or prompt, an object.
    pub arguments: Option<Box<RawValue>>,
    /// Answers to an earlier `input_required`, an object.
    pub input_responses: Option<Box<RawValue>>,
    /// The state of an earlier `input_required`; hostile until verified.
    pub request_state: Option<String>,
    /// Where to go on in a list; `""` is a cursor too.
    pub cursor: Option<String>,
    /// The resource.
    pub uri: Option<String>,
    /// The task.
    pub task_id: Option<String>,
    /// `ref` of a completion, an object.
    pub reference: Option<Box<RawValue>>,
    /// `argument` of a completion, an object.
    pub argument: Option<Box<RawValue>>,
    /// `context` of a completion, an object.
    pub context: Option<Box<RawValue>>,
    /// The notifications to listen for, an object.
    pub notifications: Option<Box<RawValue>>,
}

const KNOWN: &[&str] = &[
    "_meta",
    "name",
    "arguments",
    "inputResponses",
    "requestState",
    "cursor",
    "uri",
    "taskId",
    "ref",
    "argument",
    "context",
    "notifications",
];

impl Params {
    /// What `Mcp-Name` mirrors for a method.
    pub fn target(&self, method: Method) -> Option<&str> {
        match method.name_member()? {
            "name" => self.name.as_deref(),
            "uri" => self.uri.as_deref(),
            _ => self.task_id.as_deref(),
        }
    }

    pub(super) fn read(method: Method, members: &Members<'_>) -> Result<Self, Rejection> {
        if let Some((found, meant)) = members.miscased(KNOWN) {
            return Err(Rejection::new(
                200,
                code::INVALID_PARAMS,
                code::KEY_CASE,
                format!("the member {} of `params` differs from `{meant}` only by case", Quoted(&found)),
            ));
        }
        let read = Reader { method, members };
        let mut params = Self::default();
        match method {
            Method::Discover => {}
            Method::ListTools | Method::ListResources | Method::ListTemplates | Method::ListPrompts => {
                params.cursor = read.text("cursor")?;
            }
            Method::CallTool | Method::GetPrompt => {
                params.name = Some(read.required("name", read.text("name")?)?);
                params.arguments = read.object("arguments")?;
                if method == Method::GetPrompt {
                    read.only_strings("arguments", params.arguments.as_deref())?;
                }
            }
            Method::ReadResource => params.uri = Some(read.required("uri", read.text("uri")?)?),
            Method::Complete => {
                params.reference = Some(read.required("ref", read.object("ref")?)?);
                params.argument = Some(read.required("argument", read.object("argument")?)?);
                params.context = read.object("context")?;
            }
            Method::Listen => {
                params.notifications = Some(read.required("notifications", read.object("notifications")?)?);
            }
            Method::GetTask | Method::CancelTask => {
                params.task_id = Some(read.required("taskId", read.text("taskId")?)?);
            }
            Method::UpdateTask => {
                params.task_id = Some(read.required("taskId", read.text("taskId")?)?);
                let responses = read.object("inputResponses")?;
                params.input_responses = Some(read.required("inputResponses", responses)?);
            }
        }
        if method.may_ask() {
            params.input_responses = read.object("inputResponses")?;
            params.request_state = read.text("requestState")?;
        }
        Ok(params)
    }
}

struct Reader<'m, 'a> {
    method: Method,
    members: &'m Members<'a>,
}

impl Reader<'_, '_> {
    fn get(&self, key: &str) -> Option<&RawValue> {
        // The guard found no repeated key.
        self.members.get(key).ok().flatten()
    }

    fn text(&self, key: &str) -> Result<Option<String>, Rejection> {
        self.get(key).map(|raw| string(raw).ok_or_else(|| self.wrong(key, "a string", raw))).transpose()
    }

    fn object(&self, key: &str) -> Result<Option<Box<RawValue>>, Rejection> {
        self.get(key)
            .map(|raw| match kind(raw) {
                Kind::Object => Ok(raw.to_owned()),
                _ => Err(self.wrong(key, "an object", raw)),
            })
            .transpose()
    }

    fn only_strings(&self, key: &str, object: Option<&RawValue>) -> Result<(), Rejection> {
        let Some(members) = object.and_then(|raw| Members::read(raw.get())) else { return Ok(()) };
        match members.iter().find(|(_, value)| kind(value) != Kind::String) {
            Some((name, value)) => Err(Rejection::params(format!(
                "the value of {} in `{key}` of `{}` must be a string, found {}",
                Quoted(&name),
                self.method.as_str(),
                kind(value).described()
            ))),
            None => Ok(()),
        }
    }

    fn required<T>(&self, key: &str, found: Option<T>) -> Result<T, Rejection> {
        found.ok_or_else(|| {
            Rejection::params(format!("`params` of `{}` lacks `{key}`; send it", self.method.as_str()))
        })
    }

    fn wrong(&self, key: &str, expected: &str, found: &RawValue) -> Rejection {
        Rejection::params(format!(
            "`{key}` in `params` of `{}` must be {expected}, found {}",
            self.method.as_str(),
            kind(found).described()
        ))
    }
}
