use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;
use serde::Serialize;
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::ask::Asker;
use crate::connection::Connection;
use crate::endpoint::ConnectionFault;
use crate::event::RunEvent;
use crate::model::{Answered, ModelEvent};
use crate::outcome::{CallFault, CallOutcome, Refusal, UNKNOWN_CODE, UPSTREAM_ERROR_CODE};
use crate::planner::{Finding, FromTool, Observation, PlanFault, PlannedCall, Planner, RunState, Step};
use crate::tool::ToolSummary;
use crate::trace::RunTrace;

/// The agent's name in traces.
const AGENT: &str = "aldgate";

/// The bounds on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// How many calls the planner may make, those included that cannot be sent as it wrote them.
    pub max_steps: usize,
    /// How many of them may be under way at once.
    pub max_parallel: usize,
    /// How many tokens a model may take in and give out over the whole run. It is looked at
    /// before each turn and before the calls of a turn, so one answer may exceed it, or several where a service pauses within a turn.
    pub max_tokens: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { max_steps: 32, max_parallel: 4, max_tokens: 1_000_000 }
    }
}

/// Tokens of all answers of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// That went in, as far as they were reported.
    pub input: u64,
    /// That came out, as far as they were reported.
    pub output: u64,
    /// That count against the run's budget; see [`Answered::counted_tokens`].
    pub counted: u64,
}

impl Tokens {
    /// Adds those of one answer.
    pub fn add(&mut self, answered: &Answered) {
        self.input = self.input.saturating_add(answered.input_tokens.unwrap_or_default());
        self.output = self.output.saturating_add(answered.output_tokens.unwrap_or_default());
        self.counted = self.counted.saturating_add(answered.counted_tokens);
    }
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// What came of the task, in the planner's words.
    pub summary: String,
    /// Every call, in order.
    pub observations: Vec<Observation>,
    /// What a model took.
    pub tokens: Tokens,
    /// The trace of the run, 32 hexadecimal digits.
    pub trace: String,
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
    /// The planner wanted more calls than allowed. Of its last turn none was made.
    #[error("the run wanted more than {limit} calls; raise the limit or give a smaller task")]
    Steps {
        /// The bound.
        limit: usize,
    },
    /// The model took more tokens than allowed. Of the calls of its last turn none was made.
    #[error("the run took {used} tokens, more than {limit}; raise the limit or give a smaller task")]
    Tokens {
        /// What was counted.
        used: u64,
        /// The bound.
        limit: u64,
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
            Self::Tokens { .. } => "AG-AGENT-TOKENS",
        }
    }
}

/// Works `task` to its end: lists the tools, then lets the planner choose calls, turn after turn. A refusal, an error
/// result and a lost answer go to the planner; lost credentials end the run, once the other calls of the turn have ended.
///
/// Dropping the future cancels the calls that are under way.
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
    let trace = RunTrace::begin(connection.telemetry(), AGENT, planner);
    let ran = work(connection, planner, task, asker, observer, limits, &trace).await;
    trace.end(ran.as_ref().err().map(|fault| crate::exchange::chain(fault)).as_deref());
    ran
}

async fn work(
    connection: &Connection,
    planner: &mut dyn Planner,
    task: &str,
    asker: &dyn Asker,
    observer: impl Fn(RunEvent) + Send + Sync,
    limits: RunLimits,
    trace: &RunTrace,
) -> Result<RunReport, RunFault> {
    observer(RunEvent::Connected {
        server: connection.identity().clone(),
        trace: trace.id(),
        conversation: trace.within().conversation.clone(),
    });
    let tools = connection.tools_within(Some(trace.within())).await?;
    observer(RunEvent::Listed { tools: tools.iter().map(|tool| tool.name.clone()).collect() });
    let mut state = RunState { task: task.to_owned(), tools, observations: Vec::new() };
    let meter = Meter::default();
    let places = Semaphore::new(limits.max_parallel.max(1));
    let course = Course { connection, asker, observer: &observer, places, trace };
    for turn in 1_usize.. {
        let first = state.observations.len() + 1;
        let told = |event| {
            meter.read(&event);
            trace.model(&event, &state.tools);
            observer(RunEvent::Model(event));
        };
        let planning = trace.plan(planner, &state.tools);
        let planned = planner.next(&state, &told).await;
        trace.planned(planning, planned.as_ref().err());
        let calls = match planned.map_err(|source| RunFault::Plan { step: first, source })? {
            Step::Calls { calls } if !calls.is_empty() => calls,
            Step::Calls { .. } => {
                let source = PlanFault::Other("it chose no call and no end".to_owned());
                return Err(RunFault::Plan { step: first, source });
            }
            Step::Finish { summary } => {
                let (steps, tokens) = (state.observations.len(), meter.tokens());
                observer(RunEvent::Finished { summary: summary.clone(), steps, tokens });
                let (observations, trace) = (state.observations, trace.id());
                return Ok(RunReport { summary, observations, tokens, trace });
            }
        };
        if state.observations.len().saturating_add(calls.len()) > limits.max_steps {
            break;
        }
        let used = meter.tokens().counted;
        if used >= limits.max_tokens {
            return Err(RunFault::Tokens { used, limit: limits.max_tokens });
        }
        for (step, call) in (first..).zip(&calls) {
            let PlannedCall { id, tool, arguments, why, .. } = call.clone();
            observer(RunEvent::Planned { step, turn, id, tool, arguments, why });
        }
        let made =
            join_all((first..).zip(calls).map(|(step, call)| course.make(step, call, &state.tools))).await;
        state.observations.extend(made.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Err(RunFault::Steps { limit: limits.max_steps })
}

/// What all calls of a run share.
struct Course<'a, F> {
    connection: &'a Connection,
    asker: &'a dyn Asker,
    observer: &'a F,
    /// One for each call that may be under way.
    places: Semaphore,
    trace: &'a RunTrace,
}

impl<F: Fn(RunEvent) + Send + Sync> Course<'_, F> {
    async fn make(
        &self,
        step: usize,
        call: PlannedCall,
        tools: &[ToolSummary],
    ) -> Result<Observation, RunFault> {
        let (span, within) = self.trace.tool(step, &call, tools);
        let PlannedCall { id, tool, arguments, unusable, .. } = call;
        let finding = match unusable {
            Some(text) => Ok(Finding::Failed { text, may_have_run: false }),
            None => {
                // The semaphore is never closed.
                let _place = self.places.acquire().await;
                let told = |event| (self.observer)(RunEvent::of_call(step, event));
                let outcome = self
                    .connection
                    .call_observed(&tool, arguments.clone(), self.asker, &told, Some(&within))
                    .await;
                finding(outcome)
            }
        };
        self.trace.found(span, finding.as_ref());
        let finding = finding.map_err(|source| RunFault::Call { step, source })?;
        (self.observer)(RunEvent::of_finding(step, id.clone(), &tool, &finding));
        Ok(Observation { step, id, tool, arguments, finding })
    }
}

/// Adds up what a model reports.
#[derive(Default)]
struct Meter {
    input: AtomicU64,
    output: AtomicU64,
    counted: AtomicU64,
}

impl Meter {
    fn read(&self, event: &ModelEvent) {
        let ModelEvent::Answered(answered) = event else { return };
        let mut one = Tokens::default();
        one.add(answered);
        self.input.fetch_add(one.input, Ordering::Relaxed);
        self.output.fetch_add(one.output, Ordering::Relaxed);
        self.counted.fetch_add(one.counted, Ordering::Relaxed);
    }

    fn tokens(&self) -> Tokens {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Tokens { input: of(&self.input), output: of(&self.output), counted: of(&self.counted) }
    }
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
