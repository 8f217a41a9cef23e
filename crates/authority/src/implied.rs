use serde::{Deserialize, Serialize};

use crate::registry::Authority;

#[cfg(test)]
mod tests;

/// The four behavioural hints of a tool's annotations; `None` where the server did not set one.
///
/// Source: MCP 2026-07-28, `ToolAnnotations`. Hints are claims of the server and bind nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// `readOnlyHint`; false when absent.
    #[serde(rename = "readOnlyHint")]
    pub read_only: Option<bool>,
    /// `destructiveHint`; true when absent, and without meaning on a read-only tool.
    #[serde(rename = "destructiveHint")]
    pub destructive: Option<bool>,
    /// `idempotentHint`; false when absent, and without meaning on a read-only tool.
    #[serde(rename = "idempotentHint")]
    pub idempotent: Option<bool>,
    /// `openWorldHint`; true when absent.
    #[serde(rename = "openWorldHint")]
    pub open_world: Option<bool>,
}

/// The authority that the annotations alone would give, with MCP's pessimistic defaults.
///
/// It is shown beside the registry's authority and never used to rule a call.
#[must_use]
pub fn implied(hints: &Hints) -> Authority {
    let read_only = hints.read_only.unwrap_or(false);
    let destructive = !read_only && hints.destructive.unwrap_or(true);
    let open_world = hints.open_world.unwrap_or(true);
    match (read_only, destructive, open_world) {
        (true, _, false) => Authority::Automatic,
        (false, true, true) => Authority::Prohibited,
        _ => Authority::RequiresApproval,
    }
}
