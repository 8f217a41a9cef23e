use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;

use super::ElementFault;
use crate::json::{self, Kind, Members, Repeated, kind};

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
}

impl ListKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];

    /// The member of the result that holds the elements.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The member of an element that names it within the list.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    /// Checks the members that the schema of revision 2026-07-28 asks for, beside the key. A tool's are checked where
    /// its definition is read, [`crate::tool::view`].
    pub(super) fn check(self, members: &Members<'_>) -> Result<(), ElementFault> {
        if self == Self::Tools {
            return Ok(());
        }
        if self.key() != "name" {
            self.typed(members, "name", Kind::String, true)?;
        }
        for member in ["title", "description"] {
            self.typed(members, member, Kind::String, false)?;
        }
        if self == Self::Prompts {
            return self.arguments(members);
        }
        self.typed(members, "mimeType", Kind::String, false)?;
        self.typed(members, "annotations", Kind::Object, false)?;
        if self == Self::Resources {
            self.typed(members, "size", Kind::Number, false)?;
        }
        Ok(())
    }

    /// The arguments of a prompt: objects that have a name each, unlike the others.
    fn arguments(self, members: &Members<'_>) -> Result<(), ElementFault> {
        let Some(raw) = self.typed(members, "arguments", Kind::Array, false)? else { return Ok(()) };
        let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        let wrong = |member, expected, found| ElementFault::Wrong { of: self, member, expected, found };
        let mut names = HashSet::new();
        for element in elements {
            let argument = Members::read(element.get())
                .ok_or_else(|| wrong("arguments", "an array of objects", "another element"))?;
            let name = get(&argument, "name")?.and_then(json::string);
            let name =
                name.ok_or_else(|| wrong("arguments", "an array of objects with `name`", "one without"))?;
            if !names.insert(name) {
                return Err(wrong(
                    "arguments",
                    "an array of objects with different `name`s",
                    "two equal ones",
                ));
            }
            match get(&argument, "required")? {
                Some(required) if kind(required) != Kind::Boolean => {
                    return Err(wrong("arguments", "an array whose `required` are booleans", "another one"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The member, which must have this type.
    fn typed<'a>(
        self,
        members: &Members<'a>,
        member: &'static str,
        expected: Kind,
        required: bool,
    ) -> Result<Option<&'a RawValue>, ElementFault> {
        let found = match get(members, member)? {
            Some(raw) if kind(raw) == expected => return Ok(Some(raw)),
            Some(raw) => kind(raw).described(),
            None if !required => return Ok(None),
            None => "nothing",
        };
        Err(ElementFault::Wrong { of: self, member, expected: expected.described(), found })
    }
}

/// One element, as messages call it.
impl fmt::Display for ListKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tools => "tool",
            Self::Resources => "resource",
            Self::Templates => "resource template",
            Self::Prompts => "prompt",
        })
    }
}

fn get<'a>(members: &Members<'a>, key: &str) -> Result<Option<&'a RawValue>, ElementFault> {
    members.get(key).map_err(|Repeated(member)| ElementFault::Repeated { member })
}
