//! A view of one tool definition: the members that the gateway looks at.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::json::{Kind, Members, Repeated, kind, string};
use crate::quote::Quoted;

/// One tool, as its definition describes it. Nothing of this grants anything: the definition is the upstream's word.
#[derive(Debug, Clone)]
pub struct ToolView {
    /// The name to call it by.
    pub name: String,
    /// The name to show.
    pub title: Option<String>,
    /// What the model reads.
    pub description: Option<String>,
    /// The schema of its arguments, an object schema with root type `object`.
    pub input_schema: Box<RawValue>,
    /// The schema of its structured content.
    pub output_schema: Option<Box<RawValue>>,
    /// What it says about its effects.
    pub hints: Hints,
}

/// The hints in `annotations`; `None` where a hint is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

/// A definition that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolFault {
    /// The definition is no object.
    #[error("a tool definition must be an object")]
    NotObject,
    /// A member that we read occurs twice.
    #[error("the definition repeats the member {}", Quoted(.member))]
    Repeated {
        /// The member.
        member: String,
    },
    /// A member is missing or has the wrong type.
    #[error("`{member}` of a tool must be {expected}, found {found}")]
    Wrong {
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
}

impl From<Repeated> for ToolFault {
    fn from(Repeated(member): Repeated) -> Self {
        Self::Repeated { member }
    }
}

/// Reads one definition.
///
/// # Errors
/// The first member that is missing, repeated, or of the wrong type. A hint that is not a boolean is one, `null`
/// included: a hint that cannot be understood must not be taken as its default.
pub fn view(definition: &RawValue) -> Result<ToolView, ToolFault> {
    let members = Members::read(definition.get()).ok_or(ToolFault::NotObject)?;
    let name = members.get("name")?;
    let name = name.and_then(string).ok_or_else(|| wrong("name", "a string", name))?;
    let input_schema = members.get("inputSchema")?;
    let root = input_schema
        .and_then(|raw| Members::read(raw.get()))
        .ok_or_else(|| wrong("inputSchema", "an object", input_schema))?;
    let root_type = root.get("type")?;
    if root_type.and_then(string).as_deref() != Some("object") {
        return Err(wrong("inputSchema.type", "the string `object`", root_type));
    }
    let output_schema = members.get("outputSchema")?;
    if let Some(raw) = output_schema
        && kind(raw) != Kind::Object
    {
        return Err(wrong("outputSchema", "an object", output_schema));
    }
    let hints = match members.get("annotations")? {
        None => Hints::default(),
        Some(raw) => {
            let annotations =
                Members::read(raw.get()).ok_or_else(|| wrong("annotations", "an object", Some(raw)))?;
            Hints {
                read_only: hint(&annotations, "readOnlyHint")?,
                destructive: hint(&annotations, "destructiveHint")?,
                idempotent: hint(&annotations, "idempotentHint")?,
                open_world: hint(&annotations, "openWorldHint")?,
            }
        }
    };
    Ok(ToolView {
        name,
        title: text(&members, "title")?,
        description: text(&members, "description")?,
        input_schema: input_schema.map(ToOwned::to_owned).ok_or(ToolFault::NotObject)?,
        output_schema: output_schema.map(ToOwned::to_owned),
        hints,
    })
}

fn hint(annotations: &Members<'_>, member: &'static str) -> Result<Option<bool>, ToolFault> {
    match annotations.get(member)? {
        None => Ok(None),
        Some(raw) => match raw.get() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(wrong(member, "a boolean", Some(raw))),
        },
    }
}

fn text(members: &Members<'_>, member: &'static str) -> Result<Option<String>, ToolFault> {
    let raw = members.get(member)?;
    raw.map(|raw| string(raw).ok_or_else(|| wrong(member, "a string", Some(raw)))).transpose()
}

fn wrong(member: &'static str, expected: &'static str, found: Option<&RawValue>) -> ToolFault {
    ToolFault::Wrong { member, expected, found: found.map_or("nothing", |raw| kind(raw).described()) }
}
