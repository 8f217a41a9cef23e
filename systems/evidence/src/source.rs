//! Where the tools read evidence from.

use aldgate_contract::diff::Severity;
use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

/// Evidence that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The store does not answer: HTTP 503 for everybody.
    #[error("the store of evidence is not available")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is stored for this tenant cannot be read, or is not what it must be.
    #[error("the tenant's evidence is invalid: {0}")]
    Invalid(String),
}

/// What was observed of one version of a tool's contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// The version of the contract.
    pub version: String,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Results that did not fit the contract's output schema; they are failures too.
    pub violations: u64,
    /// Half of the calls took at most so many milliseconds.
    pub median_ms: u64,
    /// 95 % of the calls took at most so many milliseconds.
    #[serde(rename = "p95Ms")]
    pub p95_ms: u64,
    /// The longest, in milliseconds.
    pub longest_ms: u64,
}

/// One time that a live definition was found to differ from the pinned one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftEvent {
    /// The version of the pinned contract.
    pub version: String,
    /// The event's id, which [`Source::artefact`] takes.
    pub id: String,
    /// `upstream/tool`.
    pub tool: String,
    /// When it was found, in milliseconds since the Unix epoch.
    pub at: i64,
    /// What became of the contract, such as `quarantined`.
    pub kind: String,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How grave the gravest change is; `None` where it was not classified.
    pub severity: Option<Severity>,
    /// Digest of the pinned definition.
    pub before: Option<String>,
    /// Digest of the live definition; `None` where there is none.
    pub after: Option<String>,
    /// The changes.
    pub diff: Value,
}

/// What an artefact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtefactKind {
    /// One call, over all its rounds.
    Call,
    /// One drift event.
    Drift,
}

/// Everything that was recorded under one id.
#[derive(Debug, Clone, PartialEq)]
pub struct Artefact {
    /// What it is about.
    pub kind: ArtefactKind,
    /// `upstream/tool`, where there is one.
    pub tool: Option<String>,
    /// The rows in the order in which they were written, at least one.
    pub record: Vec<Value>,
    /// Whether these are all rows.
    pub whole: bool,
}

/// Reads the evidence of one tenant; nothing of another tenant is ever in an answer.
#[async_trait]
pub trait Source: Send + Sync {
    /// What was observed of a tool, `upstream/tool`, by version, the newest first; empty where nothing was.
    ///
    /// # Errors
    /// Where it cannot be read, or must not be relied on.
    async fn observations(&self, tenant: &str, tool: &str) -> Result<Vec<Observed>, Unavailable>;

    /// The newest drift events of a tool, `upstream/tool`, the newest first, at most `limit`.
    ///
    /// # Errors
    /// As [`Source::observations`].
    async fn drift_events(
        &self,
        tenant: &str,
        tool: &str,
        limit: u32,
    ) -> Result<Vec<DriftEvent>, Unavailable>;

    /// What was recorded under an id; `None` where this tenant has nothing under it.
    ///
    /// # Errors
    /// As [`Source::observations`].
    async fn artefact(&self, tenant: &str, id: &str) -> Result<Option<Artefact>, Unavailable>;
}
