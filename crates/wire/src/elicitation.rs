//! What an `input_required` result asks, and what a client answers (basic/patterns/mrtr, client/elicitation).

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::json::{Members, Repeated, has_prefix, kind, string};
use crate::quote::{Quoted, shortened};
use crate::{OWN_META_PREFIX, PROTOCOL_META_PREFIX};

/// One question of an upstream.
#[derive(Debug, Clone)]
pub struct InputRequest {
    /// What is asked.
    pub kind: InputKind,
    /// The whole request, as it came.
    pub raw: Box<RawValue>,
}

/// The kinds of question.
#[derive(Debug, Clone)]
pub enum InputKind {
    /// A form to fill in.
    ElicitForm {
        /// What the user reads.
        message: String,
        /// A flat object schema.
        requested_schema: Box<RawValue>,
    },
    /// A page to open.
    ElicitUrl {
        /// What the user reads.
        message: String,
        /// The page.
        url: String,
    },
    /// A completion by the client's model.
    Sampling,
    /// The client's roots.
    Roots,
}

/// One answer of a client.
#[derive(Debug, Clone)]
pub struct InputResponse {
    /// What the user did; `None` for answers that are not to an elicitation.
    pub action: Option<Action>,
    /// The filled form.
    pub content: Option<Box<RawValue>>,
    /// The whole answer, as it came.
    pub raw: Box<RawValue>,
}

/// What the user did with an elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Answered, or agreed to open the page.
    Accept,
    /// Said no.
    Decline,
    /// Dismissed it.
    Cancel,
}

/// A question or an answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputFault {
    /// The whole is no object.
    #[error("`{member}` must be an object")]
    NotObject {
        /// `inputRequests` or `inputResponses`.
        member: &'static str,
    },
    /// A key is no Unicode text, so that no answer can name it.
    #[error("a key of `{member}` holds half of a surrogate pair")]
    NotText {
        /// `inputRequests` or `inputResponses`.
        member: &'static str,
    },
    /// A key occurs twice.
    #[error("the key {} occurs twice", Quoted(.key))]
    Repeated {
        /// The key.
        key: String,
    },
    /// A member of one entry is missing or has the wrong type.
    #[error("`{member}` under {} must be {expected}, found {found}", Quoted(.key))]
    Wrong {
        /// The entry.
        key: String,
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// An entry holds a member or key that it may not.
    #[error("the entry {} may not hold {}", Quoted(.key), Quoted(.member))]
    Forbidden {
        /// The entry.
        key: String,
        /// The member or `_meta` key.
        member: String,
    },
}

impl From<Repeated> for InputFault {
    fn from(Repeated(key): Repeated) -> Self {
        Self::Repeated { key }
    }
}

/// Reads `inputRequests`, in order.
///
/// # Errors
/// The first entry that is not one of the specification's requests.
pub fn requests(raw: &RawValue) -> Result<Vec<(String, InputRequest)>, InputFault> {
    entries("inputRequests", raw, |key, raw| {
        let request =
            Members::read(raw.get()).ok_or_else(|| wrong(key, "the request", "an object", Some(raw)))?;
        for member in ["id", "jsonrpc"] {
            if request.get(member)?.is_some() {
                return Err(InputFault::Forbidden { key: key.to_owned(), member: member.to_owned() });
            }
        }
        let method = request.get("method")?;
        let method = method.and_then(string).ok_or_else(|| wrong(key, "method", "a string", method))?;
        let found = request.get("params")?;
        let params =
            found.map(|raw| Members::read(raw.get()).ok_or_else(|| wrong(key, "params", "an object", found)));
        let params = params.transpose()?;
        if let Some(params) = &params {
            check_meta(key, params)?;
        }
        let kind = match (method.as_str(), params) {
            ("roots/list", _) => InputKind::Roots,
            ("sampling/createMessage", Some(_)) => InputKind::Sampling,
            ("elicitation/create", Some(params)) => elicitation(key, &params)?,
            ("sampling/createMessage" | "elicitation/create", None) => {
                return Err(wrong(key, "params", "an object", found));
            }
            _ => {
                return Err(InputFault::Wrong {
                    key: key.to_owned(),
                    member: "method",
                    expected: "`elicitation/create`, `sampling/createMessage` or `roots/list`",
                    found: Quoted(&method).to_string(),
                });
            }
        };
        Ok(InputRequest { kind, raw: raw.to_owned() })
    })
}

fn elicitation(key: &str, params: &Members<'_>) -> Result<InputKind, InputFault> {
    let text = |member: &'static str| {
        let raw = params.get(member)?;
        raw.and_then(string).ok_or_else(|| wrong(key, member, "a string", raw))
    };
    let mode = if params.get("mode")?.is_some() { text("mode")? } else { "form".to_owned() };
    match mode.as_str() {
        "form" => {
            let schema = params.get("requestedSchema")?;
            let requested_schema = schema
                .filter(|raw| Members::read(raw.get()).is_some())
                .ok_or_else(|| wrong(key, "requestedSchema", "an object", schema))?;
            Ok(InputKind::ElicitForm {
                message: text("message")?,
                requested_schema: requested_schema.to_owned(),
            })
        }
        "url" => Ok(InputKind::ElicitUrl { message: text("message")?, url: text("url")? }),
        _ => Err(InputFault::Wrong {
            key: key.to_owned(),
            member: "mode",
            expected: "`form` or `url`",
            found: Quoted(&mode).to_string(),
        }),
    }
}

/// A question carries no protocol keys, and ours are never an upstream's.
fn check_meta(key: &str, params: &Members<'_>) -> Result<(), InputFault> {
    let Some(raw) = params.get("_meta")? else { return Ok(()) };
    let meta = Members::read(raw.get()).ok_or_else(|| wrong(key, "params._meta", "an object", Some(raw)))?;
    let reserved = |name: &str| has_prefix(name, OWN_META_PREFIX) || has_prefix(name, PROTOCOL_META_PREFIX);
    match meta.iter().find(|(name, _)| reserved(name)) {
        Some((name, _)) => Err(InputFault::Forbidden { key: key.to_owned(), member: shortened(&name) }),
        None => Ok(()),
    }
}

/// Reads `inputResponses`, in order.
///
/// # Errors
/// The first entry that is no object, or whose `action` is unknown.
pub fn responses(raw: &RawValue) -> Result<Vec<(String, InputResponse)>, InputFault> {
    entries("inputResponses", raw, |key, raw| {
        let response =
            Members::read(raw.get()).ok_or_else(|| wrong(key, "the answer", "an object", Some(raw)))?;
        let action = response.get("action")?.map(|raw| action(key, raw)).transpose()?;
        let content = response.get("content")?.map(ToOwned::to_owned);
        Ok(InputResponse { action, content, raw: raw.to_owned() })
    })
}

fn action(key: &str, raw: &RawValue) -> Result<Action, InputFault> {
    let name = string(raw).ok_or_else(|| wrong(key, "action", "a string", Some(raw)))?;
    match name.as_str() {
        "accept" => Ok(Action::Accept),
        "decline" => Ok(Action::Decline),
        "cancel" => Ok(Action::Cancel),
        _ => Err(InputFault::Wrong {
            key: key.to_owned(),
            member: "action",
            expected: "`accept`, `decline` or `cancel`",
            found: Quoted(&name).to_string(),
        }),
    }
}

fn entries<T>(
    member: &'static str,
    raw: &RawValue,
    read: impl Fn(&str, &RawValue) -> Result<T, InputFault>,
) -> Result<Vec<(String, T)>, InputFault> {
    let members = Members::read(raw.get()).ok_or(InputFault::NotObject { member })?;
    if !members.are_named_in_text() {
        return Err(InputFault::NotText { member });
    }
    let mut seen = std::collections::HashSet::new();
    members
        .iter()
        .map(|(key, raw)| {
            if !seen.insert(key.clone().into_owned()) {
                return Err(InputFault::Repeated { key: shortened(&key) });
            }
            let entry = read(&key, raw)?;
            Ok((key.into_owned(), entry))
        })
        .collect()
}

fn wrong(key: &str, member: &'static str, expected: &'static str, found: Option<&RawValue>) -> InputFault {
    InputFault::Wrong {
        key: shortened(key),
        member,
        expected,
        found: found.map_or("nothing", |raw| kind(raw).described()).to_owned(),
    }
}
