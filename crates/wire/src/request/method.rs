/// The request methods of revision 2026-07-28 and of the Tasks extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `server/discover`
    Discover,
    /// `tools/list`
    ListTools,
    /// `tools/call`
    CallTool,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListTemplates,
    /// `resources/read`
    ReadResource,
    /// `prompts/list`
    ListPrompts,
    /// `prompts/get`
    GetPrompt,
    /// `completion/complete`
    Complete,
    /// `subscriptions/listen`
    Listen,
    /// `tasks/get`
    GetTask,
    /// `tasks/update`
    UpdateTask,
    /// `tasks/cancel`
    CancelTask,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 13] = [
        Self::Discover,
        Self::ListTools,
        Self::CallTool,
        Self::ListResources,
        Self::ListTemplates,
        Self::ReadResource,
        Self::ListPrompts,
        Self::GetPrompt,
        Self::Complete,
        Self::Listen,
        Self::GetTask,
        Self::UpdateTask,
        Self::CancelTask,
    ];

    /// The method as the wire names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "server/discover",
            Self::ListTools => "tools/list",
            Self::CallTool => "tools/call",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::ReadResource => "resources/read",
            Self::ListPrompts => "prompts/list",
            Self::GetPrompt => "prompts/get",
            Self::Complete => "completion/complete",
            Self::Listen => "subscriptions/listen",
            Self::GetTask => "tasks/get",
            Self::UpdateTask => "tasks/update",
            Self::CancelTask => "tasks/cancel",
        }
    }

    /// The method that the wire names so; letters keep their case.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// The member of `params` that `Mcp-Name` mirrors (basic/transports/streamable-http, and the Tasks extension).
    pub const fn name_member(self) -> Option<&'static str> {
        match self {
            Self::CallTool | Self::GetPrompt => Some("name"),
            Self::ReadResource => Some("uri"),
            Self::GetTask | Self::UpdateTask | Self::CancelTask => Some("taskId"),
            Self::Discover
            | Self::ListTools
            | Self::ListResources
            | Self::ListTemplates
            | Self::ListPrompts
            | Self::Complete
            | Self::Listen => None,
        }
    }

    /// Whether the answer may be `input_required` (basic/patterns/mrtr).
    pub const fn may_ask(self) -> bool {
        matches!(self, Self::CallTool | Self::GetPrompt | Self::ReadResource)
    }
}
