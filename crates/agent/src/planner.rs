use std::fmt;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::model::{ModelEvent, ModelFault};
use crate::outcome::{Complete, Refusal};
use crate::tool::ToolSummary;

/// Decides what an agent does next: a fixed procedure or a model.
#[async_trait]
pub trait Planner: Send {
    /// The next step, from everything that happened so far. A planner that asks a model tells `observer` of it.
    ///
    /// # Errors
    ///
    /// A [`PlanFault`] ends the run.
    async fn next(
        &mut self,
        state: &RunState,
        observer: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault>;

    /// Whose API is asked, as OpenTelemetry names it (`gen_ai.provider.name`): `anthropic` or `openai`. `None` where no
    /// model is.
    fn provider(&self) -> Option<&'static str> {
        None
    }

    /// The model that is asked for; `None` where there is none.
    fn model(&self) -> Option<&str> {
        None
    }
}

/// What a planner decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Call these tools, at once. There is at least one.
    Calls {
        /// In the planner's order, which is the order of the observations.
        calls: Vec<PlannedCall>,
    },
    /// The task is done, or cannot be done.
    Finish {
        /// What came of it, for people.
        summary: String,
    },
}

/// One call that a planner chose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedCall {
    /// The model's own id of the call (`gen_ai.tool.call.id`), where a model chose it.
    pub id: Option<String>,
    /// The tool's listed name.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
    /// Why, for people; may be empty where a model says nothing of it.
    pub why: String,
    /// Why the call cannot be made, where that is so: it is not sent, and the planner observes this instead.
    pub unusable: Option<String>,
}

impl PlannedCall {
    /// A call that no model chose.
    #[must_use]
    pub fn new(tool: &str, arguments: Value, why: String) -> Self {
        Self { id: None, tool: tool.to_owned(), arguments, why, unusable: None }
    }
}

impl Step {
    /// One call alone.
    #[must_use]
    pub fn call(tool: &str, arguments: Value, why: String) -> Self {
        Self::Calls { calls: vec![PlannedCall::new(tool, arguments, why)] }
    }
}

/// What a planner sees.
#[derive(Debug, Clone)]
pub struct RunState {
    /// The task, in the words of the host's user: the only instructions there are.
    pub task: String,
    /// The tools that the endpoint lists for this client.
    pub tools: Vec<ToolSummary>,
    /// Every call so far, in order.
    pub observations: Vec<Observation>,
}

/// One call and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The step's number, from 1.
    pub step: usize,
    /// The model's own id of the call, where a model chose it.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments that were sent.
    pub arguments: Value,
    /// What came of it.
    pub finding: Finding,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The tool gave a result, or said that it failed (`is_error`).
    Answer(FromTool<Complete>),
    /// The gateway did not let the call run.
    Refused(Refusal),
    /// The call still waits for a person.
    Waiting(Option<Refusal>),
    /// There is no outcome; the text says why and whether the call may have run.
    Failed {
        /// For people and models.
        text: String,
        /// Whether it may have had effects.
        may_have_run: bool,
    },
}

/// A value that a tool wrote: data, whatever words it holds. It is no part of the task, and a planner that puts it
/// before a model must mark it as quoted data.
#[derive(Clone, PartialEq)]
pub struct FromTool<T>(T);

impl<T> FromTool<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, to be read as data.
    pub fn as_data(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for FromTool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FromTool").field(&self.0).finish()
    }
}

/// Why a planner cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanFault {
    /// The task is not one that this planner can work.
    #[error("the task `{task}` cannot be worked by this planner: expected {expected}")]
    Task {
        /// The task.
        task: String,
        /// What it should have held.
        expected: &'static str,
    },
    /// The endpoint does not list a tool that the plan needs.
    #[error("the endpoint lists no tool `{tool}`, which this plan needs; it lists {listed}")]
    MissingTool {
        /// The tool.
        tool: String,
        /// What is listed.
        listed: String,
    },
    /// The model or its service failed, or did not do what can be used.
    #[error(transparent)]
    Model(#[from] ModelFault),
    /// Something else that the planner depends on failed.
    #[error("the planner failed: {0}")]
    Other(String),
}

impl PlanFault {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Task { .. } => "AG-AGENT-TASK",
            Self::MissingTool { .. } => "AG-AGENT-MISSING-TOOL",
            Self::Model(fault) => fault.code(),
            Self::Other(_) => "AG-AGENT-PLANNER",
        }
    }
}
