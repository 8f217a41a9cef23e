use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::principal::Principal;

/// What a principal wants to do. Each is a Cedar action of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Call a tool.
    Call,
    /// Read a resource.
    Read,
    /// Get a prompt.
    GetPrompt,
    /// Ask for completions of an argument.
    Complete,
    /// Listen to changes.
    Listen,
    /// Call a tool, read a resource or get a prompt without a person who decides.
    CallUnattended,
    /// Decide an approval.
    Decide,
    /// Read the evidence of the principal's tenant.
    Audit,
    /// Operate the gateway: status, contracts, quarantine.
    Operate,
}

/// What an upstream offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A tool, by its name.
    Tool,
    /// A resource, by the URI or template under which the registry holds it.
    Resource,
    /// A prompt, by its name.
    Prompt,
}

/// One thing that an upstream offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// What it is.
    pub kind: Kind,
    /// What the upstream calls it: a name, or a resource's URI or template as the registry writes it.
    pub name: &'a str,
    /// The digest of the pinned contract.
    pub contract: &'a str,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// The gateway itself: [`Action::Listen`] to changes of its lists.
    Gateway,
    /// What an upstream offers.
    Item(Item<'a>),
}

/// The argument that is to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// Its name.
    pub name: &'a str,
    /// What of it is typed already.
    pub value: &'a str,
}

/// One request to be ruled.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Who asks.
    pub principal: &'a Principal,
    /// What they want to do.
    pub action: Action,
    /// With what.
    pub target: Target<'a>,
    /// The URI, for [`Action::Read`] and for [`Action::Listen`] to a resource. The arguments are then the values that
    /// its template's variables have in it.
    pub uri: Option<&'a str>,
    /// The arguments, a JSON object, for the other actions; absent counts as an empty one. For [`Action::Complete`] those
    /// that the client chose before.
    pub arguments: Option<&'a RawValue>,
    /// What is to be completed, for [`Action::Complete`].
    pub argument: Option<Argument<'a>>,
    /// The client's `inputResponses`, a JSON object; absent counts as an empty one.
    pub input_responses: Option<&'a RawValue>,
    /// The authenticated client of this request.
    pub client: &'a str,
}

/// What a ruling or a finding is about, under its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// A tool.
    Tool(String),
    /// A resource or resource template.
    Resource(String),
    /// A prompt.
    Prompt(String),
    /// The gateway itself.
    Gateway(String),
}

impl<'a> Item<'a> {
    /// A tool with the digest of its contract.
    #[must_use]
    pub fn tool(upstream: &'a str, name: &'a str, contract: &'a str) -> Self {
        Self { upstream, kind: Kind::Tool, name, contract }
    }

    /// A resource, by its URI or template, with the digest of its contract.
    #[must_use]
    pub fn resource(upstream: &'a str, template: &'a str, contract: &'a str) -> Self {
        Self { upstream, kind: Kind::Resource, name: template, contract }
    }

    /// A prompt with the digest of its contract.
    #[must_use]
    pub fn prompt(upstream: &'a str, name: &'a str, contract: &'a str) -> Self {
        Self { upstream, kind: Kind::Prompt, name, contract }
    }
}

impl<'a> From<Item<'a>> for Target<'a> {
    fn from(item: Item<'a>) -> Self {
        Self::Item(item)
    }
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Tool, Self::Resource, Self::Prompt];

    /// The word in messages, rows and rulings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }

    /// What it is there for: without this action it is not listed.
    #[must_use]
    pub fn use_action(self) -> Action {
        match self {
            Self::Tool => Action::Call,
            Self::Resource => Action::Read,
            Self::Prompt => Action::GetPrompt,
        }
    }

    /// The actions that requests have on it.
    pub(crate) fn actions(self) -> &'static [Action] {
        match self {
            Self::Tool => &[Action::Call],
            Self::Resource => &[Action::Read, Action::Complete, Action::Listen],
            Self::Prompt => &[Action::GetPrompt, Action::Complete],
        }
    }

    pub(crate) fn concern(self, key: &str) -> Concern {
        match self {
            Self::Tool => Concern::Tool(key.to_owned()),
            Self::Resource => Concern::Resource(key.to_owned()),
            Self::Prompt => Concern::Prompt(key.to_owned()),
        }
    }
}

impl Concern {
    /// Something of this kind, by its key `upstream/name`.
    #[must_use]
    pub fn of(kind: Kind, key: &str) -> Self {
        kind.concern(key)
    }

    /// What [`Concern`]'s `Display` wrote. The name of an upstream holds no `:`, so a tool's key is never taken for
    /// something else.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (before, rest) = text.split_once(':').unwrap_or_default();
        match before {
            "resource" => Self::Resource(rest.to_owned()),
            "prompt" => Self::Prompt(rest.to_owned()),
            "gateway" => Self::Gateway(rest.to_owned()),
            _ => Self::Tool(text.to_owned()),
        }
    }

    /// What it is of an upstream, with that upstream's name and its own.
    #[must_use]
    pub fn item<'a>(&'a self, contract: &'a str) -> Option<Item<'a>> {
        let (upstream, name) = self.key().split_once('/')?;
        match self {
            Self::Tool(_) => Some(Item::tool(upstream, name, contract)),
            Self::Resource(_) => Some(Item::resource(upstream, name, contract)),
            Self::Prompt(_) => Some(Item::prompt(upstream, name, contract)),
            Self::Gateway(_) => None,
        }
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Tool(key) | Self::Resource(key) | Self::Prompt(key) | Self::Gateway(key) => key,
        }
    }
}

/// A tool's key alone, and `resource:`, `prompt:` or `gateway:` before the other keys.
impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(key) => f.write_str(key),
            Self::Resource(key) => write!(f, "resource:{key}"),
            Self::Prompt(key) => write!(f, "prompt:{key}"),
            Self::Gateway(key) => write!(f, "gateway:{key}"),
        }
    }
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 9] = [
        Self::Call,
        Self::Read,
        Self::GetPrompt,
        Self::Complete,
        Self::Listen,
        Self::CallUnattended,
        Self::Decide,
        Self::Audit,
        Self::Operate,
    ];

    /// The id of the Cedar action: `call` for `Action::"call"`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Read => "read",
            Self::GetPrompt => "get_prompt",
            Self::Complete => "complete",
            Self::Listen => "listen",
            Self::CallUnattended => "call_unattended",
            Self::Decide => "decide",
            Self::Audit => "audit",
            Self::Operate => "operate",
        }
    }

    /// The action with this id.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == id)
    }

    /// Whether a person may be asked before it is done, so that [`Action::CallUnattended`] is a question of its own.
    ///
    /// The protocol lets only these requests wait: whoever completes or listens gets an answer at once or none.
    pub(crate) fn may_wait(self) -> bool {
        matches!(self, Self::Call | Self::Read | Self::GetPrompt)
    }
}
