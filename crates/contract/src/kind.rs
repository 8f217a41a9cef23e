use std::fmt;

use serde::{Deserialize, Serialize};

/// What a contract is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A tool, by its `name`.
    Tool,
    /// A resource template, by its `uriTemplate`.
    ResourceTemplate,
    /// A prompt, by its `name`.
    Prompt,
}

/// One contract of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// What its upstream calls it: see [`Kind::key`].
    pub name: String,
}

impl Kind {
    /// Every kind, in the order in which a lock holds them.
    pub const ALL: [Self; 3] = [Self::Tool, Self::ResourceTemplate, Self::Prompt];

    /// The member of a definition that names it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::ResourceTemplate => "uriTemplate",
        }
    }

    /// The member of a lock that holds the pins.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::ResourceTemplate => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }

    /// The member of a lock that holds the past of what the upstream no longer has.
    pub(crate) const fn retired_member(self) -> &'static str {
        match self {
            Self::Tool => "retired",
            Self::ResourceTemplate => "retiredResourceTemplates",
            Self::Prompt => "retiredPrompts",
        }
    }

    /// The item of this kind with this name.
    #[must_use]
    pub fn item(self, name: &str) -> Item {
        Item { kind: self, name: name.to_owned() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::ResourceTemplate => "resource template",
            Self::Prompt => "prompt",
        })
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}
