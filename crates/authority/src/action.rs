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
    /// Call a tool without a person who decides.
    CallUnattended,
    /// Decide an approval of a tool's call.
    Decide,
    /// Read the evidence of the principal's tenant.
    Audit,
    /// Operate the gateway: status, contracts, quarantine.
    Operate,
}

/// The tool that a question is about.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The tool's name as the upstream says it.
    pub tool: &'a str,
    /// The digest of the pinned contract.
    pub contract: &'a str,
}

/// One call to be ruled.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Who calls.
    pub principal: &'a Principal,
    /// What they want to do.
    pub action: Action,
    /// With which tool.
    pub target: Target<'a>,
    /// The arguments, a JSON object; absent counts as an empty one.
    pub arguments: Option<&'a RawValue>,
    /// The client's `inputResponses`, a JSON object; absent counts as an empty one.
    pub input_responses: Option<&'a RawValue>,
    /// The authenticated client of this request.
    pub client: &'a str,
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
}
