use serde::Serialize;
use serde_json::Value;

use crate::ask::InputAsk;
use crate::call::CallEvent;
use crate::endpoint::ServerIdentity;
use crate::model::ModelEvent;
use crate::outcome::Refusal;
use crate::planner::Finding;
use crate::run::Tokens;

/// What happens in a run, as it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run starts on this endpoint.
    Connected {
        /// How the server names itself.
        server: ServerIdentity,
        /// The trace of the run, 32 hexadecimal digits.
        trace: String,
        /// The id of the run, which each request carries.
        conversation: String,
    },
    /// The tools that the planner may use.
    Listed {
        /// Their names.
        tools: Vec<String>,
    },
    /// A model is asked, says something, or has answered.
    Model(ModelEvent),
    /// The planner chose a call. All calls of a turn are told of before the first of them is made.
    Planned {
        /// The step's number, from 1.
        step: usize,
        /// The number of the planner's turn, from 1.
        turn: usize,
        /// The model's own id of the call, where a model chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: Value,
        /// Why, for people; may be empty.
        why: String,
    },
    /// The tool answered.
    Result {
        /// The step's number.
        step: usize,
        /// The model's own id of the call, where a model chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
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
        /// The model's own id of the call, where a model chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
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
        /// The model's own id of the call, where a model chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The tool.
        tool: String,
        /// The refusal that names the pending approval.
        refusal: Option<Refusal>,
    },
    /// The call has no outcome.
    Failed {
        /// The step's number.
        step: usize,
        /// The model's own id of the call, where a model chose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
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
        /// What a model took; nothing where none was asked.
        tokens: Tokens,
    },
}

impl RunEvent {
    pub(crate) fn of_call(step: usize, event: CallEvent) -> Self {
        match event {
            CallEvent::Asked { ask, reply } => Self::Asked { step, ask, reply },
            CallEvent::Retried { tool, attempt, cause } => Self::Retried { step, tool, attempt, cause },
            CallEvent::Waited { tool, attempt, call } => Self::Waited { step, tool, attempt, call },
        }
    }

    pub(crate) fn of_finding(step: usize, id: Option<String>, tool: &str, finding: &Finding) -> Self {
        let tool = tool.to_owned();
        match finding {
            Finding::Answer(answer) => {
                let answer = answer.as_data();
                Self::Result {
                    step,
                    id,
                    tool,
                    is_error: answer.is_error,
                    structured: answer.structured.clone(),
                    text: answer.text.clone(),
                }
            }
            Finding::Refused(refusal) => Self::Refusal { step, id, tool, refusal: refusal.clone() },
            Finding::Waiting(refusal) => Self::Waiting { step, id, tool, refusal: refusal.clone() },
            Finding::Failed { text, may_have_run } => {
                Self::Failed { step, id, tool, text: text.clone(), may_have_run: *may_have_run }
            }
        }
    }
}
