use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::ask::{Asker, InputAsk};
use crate::call::CallEvent;
use crate::connection::Connection;
use crate::endpoint::{ConnectionFault, ServerIdentity};
use crate::outcome::{CallFault, CallOutcome, Refusal, UNKNOWN_CODE, UPSTREAM_ERROR_CODE};
use crate::planner::{Finding, FromTool, Observation, PlanFault, Planner, RunState, Step};

/// The bounds on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// How many calls the planner may make.
    pub max_steps: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { max_steps: 32 }
    }
}

/// What happens in a run, as it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run starts on this endpoint.
    Connected {
        /// How the server names itself.
        server: ServerIdentity,
    },
    /// The tools that the planner may use.
    Listed {
        /// Their names.
        tools: Vec<String>,
    },
    /// The planner chose a call.
    Planned {
        /// The step's number, from 1.
        step: usize,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: Value,
        /// Why, in one sentence.
        why: String,
    },
    /// The tool answered.
    Result {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// Whether it says that it failed.
        is_error: bool,
        /// Its structured result.
        structured: Option<Value>,
        /// Its text.
        text: String,
    },
    /// The gateway did not let the call run.
    Refusal {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// The refusal.
        #[serde(flatten)]
        refusal: Refusal,
    },
    /// The server asked the host's user.
    Asked {
        /// The step's number.
        step: usize,
        /// The question.
        #[serde(flatten)]
        ask: InputAsk,
        /// `accept`, `decline` or `cancel`.
        reply: &'static str,
    },
    /// A read-only call was sent again.
    Retried {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// The number of this attempt, from 2.
        attempt: usize,
        /// What failed.
        cause: String,
    },
    /// The call is repeated because its approval is pending.
    Waited {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// How often the call was sent so far.
        attempt: usize,
        /// The gateway's id of the call that waits.
        call: Option<String>,
    },
    /// The asker stopped waiting; the approval stays pending.
    Waiting {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// The refusal that names the pending approval.
        refusal: Option<Refusal>,
    },
    /// The call has no outcome.
    Failed {
        /// The step's number.
        step: usize,
        /// The tool.
        tool: String,
        /// Why.
        text: String,
        /// Whether it may have had effects.
        may_have_run: bool,
    },
    /// The planner is done.
    Finished {
        /// What came of the task.
        summary: String,
        /// How many calls were made.
        steps: usize,
    },
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// What came of the task, in the planner's words.
    pub summary: String,
    /// Every call, in order.
    pub observations: Vec<Observation>,
}

impl RunReport {
    /// The refusals, in order.
    pub fn refusals(&self) -> impl Iterator<Item = (&str, &Refusal)> {
        self.observations.iter().filter_map(|seen| match &seen.finding {
            Finding::Refused(refusal) => Some((seen.tool.as_str(), refusal)),
            _ => None,
        })
    }
}

/// Why a run did not come to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunFault {
    /// The tools could not be listed.
    #[error("the run could not start")]
    Connection(#[from] ConnectionFault),
    /// The planner cannot go on.
    #[error("the run stopped at step {step}")]
    Plan {
        /// The step's number.
        step: usize,
        /// Why.
        #[source]
        source: PlanFault,
    },
    /// The credentials stopped being accepted.
    #[error("the run stopped at step {step}")]
    Call {
        /// The step's number.
        step: usize,
        /// Why.
        #[source]
        source: CallFault,
    },
    /// The planner wanted more calls than allowed.
    #[error("the run made {limit} calls without an end; raise the limit or give a smaller task")]
    Steps {
        /// The bound.
        limit: usize,
    },
}

impl RunFault {
    /// The stable code, that of the cause where there is one.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Connection(fault) => fault.code(),
            Self::Plan { source, .. } => source.code(),
            Self::Call { source, .. } => source.code(),
            Self::Steps { .. } => "AG-AGENT-STEPS",
        }
    }
}

/// Works `task` to its end: lists the tools, then lets the planner choose call after call. A refusal, an error result
/// and a lost answer go to the planner; lost credentials end the run.
///
/// Dropping the future cancels the call that is under way.
///
/// # Errors
///
/// See [`RunFault`].
pub async fn run(
    connection: &Connection,
    planner: &mut dyn Planner,
    task: &str,
    asker: &dyn Asker,
    observer: impl Fn(RunEvent) + Send + Sync,
    limits: RunLimits,
) -> Result<RunReport, RunFault> {
    observer(RunEvent::Connected { server: connection.identity().clone() });
    let tools = connection.tools().await?;
    observer(RunEvent::Listed { tools: tools.iter().map(|tool| tool.name.clone()).collect() });
    let mut state = RunState { task: task.to_owned(), tools, observations: Vec::new() };
    for step in 1..=limits.max_steps.saturating_add(1) {
        let planned = planner.next(&state).await.map_err(|source| RunFault::Plan { step, source })?;
        let (tool, arguments, why) = match planned {
            Step::Call { tool, arguments, why } => (tool, arguments, why),
            Step::Finish { summary } => {
                let steps = state.observations.len();
                observer(RunEvent::Finished { summary: summary.clone(), steps });
                return Ok(RunReport { summary, observations: state.observations });
            }
        };
        if step > limits.max_steps {
            break;
        }
        observer(RunEvent::Planned { step, tool: tool.clone(), arguments: arguments.clone(), why });
        let told = |event| observer(RunEvent::of_call(step, event));
        let outcome = connection.call_observed(&tool, arguments.clone(), asker, &told).await;
        let finding = finding(outcome).map_err(|source| RunFault::Call { step, source })?;
        observer(RunEvent::of_finding(step, &tool, &finding));
        state.observations.push(Observation { step, tool, arguments, finding });
    }
    Err(RunFault::Steps { limit: limits.max_steps })
}

fn finding(outcome: Result<CallOutcome, CallFault>) -> Result<Finding, CallFault> {
    match outcome {
        Ok(CallOutcome::Complete(complete)) => Ok(match complete.refusal() {
            Some(refusal) => Finding::Refused(refusal),
            None => Finding::Answer(FromTool::new(complete)),
        }),
        Ok(CallOutcome::Waiting { refusal, .. }) => Ok(Finding::Waiting(refusal)),
        Err(CallFault::Rpc { ag: Some(code), message, call, .. })
            if code != UNKNOWN_CODE && code != UPSTREAM_ERROR_CODE =>
        {
            Ok(Finding::Refused(Refusal { code, rule: None, call, approval: None, text: message }))
        }
        Err(fault @ CallFault::Unauthorized { .. }) => Err(fault),
        Err(fault) => {
            Ok(Finding::Failed { text: crate::exchange::chain(&fault), may_have_run: fault.may_have_run() })
        }
    }
}

impl RunEvent {
    fn of_call(step: usize, event: CallEvent) -> Self {
        match event {
            CallEvent::Asked { ask, reply } => Self::Asked { step, ask, reply },
            CallEvent::Retried { tool, attempt, cause } => Self::Retried { step, tool, attempt, cause },
            CallEvent::Waited { tool, attempt, call } => Self::Waited { step, tool, attempt, call },
        }
    }

    fn of_finding(step: usize, tool: &str, finding: &Finding) -> Self {
        let tool = tool.to_owned();
        match finding {
            Finding::Answer(answer) => {
                let answer = answer.as_data();
                Self::Result {
                    step,
                    tool,
                    is_error: answer.is_error,
                    structured: answer.structured.clone(),
                    text: answer.text.clone(),
                }
            }
            Finding::Refused(refusal) => Self::Refusal { step, tool, refusal: refusal.clone() },
            Finding::Waiting(refusal) => Self::Waiting { step, tool, refusal: refusal.clone() },
            Finding::Failed { text, may_have_run } => {
                Self::Failed { step, tool, text: text.clone(), may_have_run: *may_have_run }
            }
        }
    }
}
