use serde::Serialize;
use serde_json::Value;

/// A pinned contract, as far as authority needs it.
#[derive(Clone, Copy, Debug)]
pub struct ToolContract<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The contract's `inputSchema`.
    pub input_schema: &'a Value,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The policy can fail, and so refuse calls.
    Error,
    /// The policy has no effect, or another one than it seems.
    Warning,
}

/// What `aldgate policy check` found in a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyFinding {
    /// How bad it is.
    pub severity: Severity,
    /// The policy's id.
    pub policy: String,
    /// Its file.
    pub file: String,
    /// Line of the finding, from 1.
    pub line: usize,
    /// Column of the finding, from 1.
    pub column: usize,
    /// The tool whose contract shows it; absent where it is about the gateway or all tools.
    pub tool: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}
