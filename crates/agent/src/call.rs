use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::{self, Answer, Question, Unusable};
use crate::ask::{AskKind, AskReply, Asker, InputAsk, PendingApproval, WaitReply};
use crate::connection::Connection;
use crate::exchange::{self, Lost};
use crate::outcome::{CallFault, CallOutcome, Refusal, TransportTrouble};
use crate::refused::Refused;
use crate::trace::Within;

/// What happens in the course of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallEvent {
    /// The server asked the host's user, who replied.
    Asked {
        /// The question.
        ask: InputAsk,
        /// `accept`, `decline` or `cancel`.
        reply: &'static str,
    },
    /// A read-only call was sent again after the transport failed.
    Retried {
        /// The tool.
        tool: String,
        /// The number of this attempt, from 2.
        attempt: usize,
        /// What failed.
        cause: String,
    },
    /// The call is repeated because its approval is pending elsewhere.
    Waited {
        /// The tool.
        tool: String,
        /// How often the call was sent so far.
        attempt: usize,
        /// The gateway's id of the call that waits.
        call: Option<String>,
    },
}

/// Drives one call to its end.
pub(crate) async fn drive(
    connection: &Connection,
    tool: &str,
    arguments: Value,
    asker: &dyn Asker,
    observer: &(dyn Fn(CallEvent) + Send + Sync),
    within: Option<&Within>,
) -> Result<CallOutcome, CallFault> {
    let limits = connection.limits();
    let original = original(tool, arguments)?;
    let params = original.clone();
    let mut course = Course { connection, tool, asker, observer, within, params, dismissed: false };
    let mut same = Sameness::default();
    for round in 1..=limits.max_rounds {
        let sent = Instant::now();
        let answer = course.exchange().await?;
        let took = sent.elapsed();
        match answer {
            Answer::Complete(complete) => {
                let Some(refusal) = complete.refusal().filter(|refusal| refusal.is_pending()) else {
                    return Ok(CallOutcome::Complete(complete));
                };
                let pending =
                    PendingApproval { tool: tool.to_owned(), attempt: round, refusal: refusal.clone() };
                // Whoever dismissed the notice has said already that they will not wait.
                if course.dismissed || asker.wait(pending).await == WaitReply::Stop {
                    return Ok(CallOutcome::Waiting { refusal: Some(refusal), rounds: round });
                }
                observer(CallEvent::Waited { tool: tool.to_owned(), attempt: round, call: refusal.call });
                // The same call anew: no state of an earlier round belongs to it.
                course.params = original.clone();
                limits.rest_before(round, took).await;
            }
            Answer::InputRequired { meta, questions, .. } if course.dismissed => {
                return Ok(CallOutcome::Waiting { refusal: notice(&meta, &questions), rounds: round });
            }
            Answer::InputRequired { questions, state, meta } => {
                if let Some(repetition) = same.count(&questions) {
                    limits.rest_before(repetition, took).await;
                }
                course.params.request_state = state;
                course.params.input_responses = course.ask(round, questions, &meta).await?;
            }
        }
    }
    Err(CallFault::Rounds { tool: tool.to_owned(), limit: limits.max_rounds })
}

struct Course<'a> {
    connection: &'a Connection,
    tool: &'a str,
    asker: &'a dyn Asker,
    observer: &'a (dyn Fn(CallEvent) + Send + Sync),
    within: Option<&'a Within>,
    params: CallToolRequestParams,
    /// The user declined or cancelled a question of this call.
    dismissed: bool,
}

impl Course<'_> {
    /// One round: sends the request and reads the answer, sending again only what the host marked read-only.
    async fn exchange(&self) -> Result<Answer, CallFault> {
        let limits = self.connection.limits();
        let read_only = self.connection.is_read_only(self.tool);
        let attempts = if read_only { limits.attempts.max(1) } else { 1 };
        let mut attempt = 1;
        loop {
            let hop = self.connection.hop(self.within);
            let sent = exchange::send(self.connection.peer(), self.request(), limits.timeout, hop);
            let cause = match sent.await {
                Ok(result) => return self.read(result, read_only),
                Err(Lost::NotSent(cause) | Lost::Broken(cause)) if attempt < attempts => cause,
                Err(Lost::Refused(refused)) if attempt < attempts && refused.status == Some(429) => {
                    refused.message
                }
                Err(lost) => return Err(fault(self.tool, lost, read_only, attempt, limits.timeout)),
            };
            limits.rest_before(attempt, Duration::ZERO).await;
            attempt += 1;
            (self.observer)(CallEvent::Retried { tool: self.tool.to_owned(), attempt, cause });
        }
    }

    fn request(&self) -> ClientRequest {
        ClientRequest::CallToolRequest(CallToolRequest::new(self.params.clone()))
    }

    fn read(&self, result: ServerResult, read_only: bool) -> Result<Answer, CallFault> {
        let tool = self.tool.to_owned();
        match answer::read(result) {
            Ok(answer) => Ok(answer),
            Err(Unusable::Ask { key, method }) => Err(CallFault::UnknownAsk { tool, key, method }),
            Err(Unusable::Shape(what)) if read_only => Err(CallFault::Malformed { tool, what }),
            Err(Unusable::Shape(what)) => Err(CallFault::Unsettled { tool, what }),
        }
    }

    /// Puts every question of a round to the user. `None` when the server asked nothing.
    async fn ask(
        &mut self,
        round: usize,
        questions: Vec<Question>,
        meta: &Map<String, Value>,
    ) -> Result<Option<BTreeMap<String, Value>>, CallFault> {
        if questions.is_empty() {
            return Ok(None);
        }
        let profile = self.connection.profile();
        let notice = notice(meta, &questions);
        let mut replies = BTreeMap::new();
        for Question { key, kind } in questions {
            let undeclared = match kind {
                AskKind::Form { .. } if !profile.declare_form => Some("elicitation/create in mode form"),
                AskKind::Url { .. } if !profile.declare_url => Some("elicitation/create in mode url"),
                AskKind::Form { .. } | AskKind::Url { .. } => None,
            };
            if let Some(method) = undeclared {
                return Err(CallFault::UnknownAsk {
                    tool: self.tool.to_owned(),
                    key,
                    method: method.to_owned(),
                });
            }
            let server = self.connection.identity().name.clone();
            let tool = self.tool.to_owned();
            let ask = InputAsk {
                server,
                tool,
                key: key.clone(),
                round,
                notice: notice.clone().map(Box::new),
                kind,
            };
            let reply = self.asker.answer(ask.clone()).await;
            (self.observer)(CallEvent::Asked { ask, reply: reply.action() });
            self.dismissed |= !matches!(reply, AskReply::Accept(_));
            replies.insert(key, reply.to_wire());
        }
        Ok(Some(replies))
    }
}

/// Why a request for `tool` brought no answer; another thing than a tool is named so too.
pub(crate) fn fault(tool: &str, lost: Lost, read_only: bool, attempts: usize, after: Duration) -> CallFault {
    let tool = tool.to_owned();
    match lost {
        Lost::Rpc(error) => {
            let said = |member: &str| error.data.as_ref()?.get(member)?.as_str().map(str::to_owned);
            CallFault::Rpc {
                tool,
                code: i64::from(error.code.0),
                message: error.message.to_string(),
                ag: said("code").filter(|code| code.starts_with("AG-")),
                call: said("call"),
            }
        }
        Lost::Refused(Refused { status: Some(401), code: None, .. }) => {
            CallFault::Unauthorized { tool, why: String::new(), challenge: None }
        }
        Lost::Refused(refused) => CallFault::Refused { tool, message: refused.message, ag: refused.code },
        Lost::Unauthorized { why, challenge } => CallFault::Unauthorized { tool, why, challenge },
        Lost::NotSent(cause) => CallFault::Unreachable { tool, attempts, source: TransportTrouble(cause) },
        Lost::Broken(cause) if read_only => {
            CallFault::Unreachable { tool, attempts, source: TransportTrouble(cause) }
        }
        Lost::TimedOut if read_only => CallFault::TimedOut { tool, after },
        Lost::Broken(cause) => CallFault::Unsettled { tool, what: cause },
        Lost::TimedOut => {
            CallFault::Unsettled { tool, what: format!("no answer within {} s", after.as_secs_f64()) }
        }
    }
}

/// The gateway's word, if it is the gateway that asks.
fn notice(meta: &Map<String, Value>, questions: &[Question]) -> Option<Refusal> {
    Refusal::from_meta(meta, questions.first().map_or("", |question| question.kind.message()))
}

/// Counts how often the same questions came in a row, so that an asker who accepts at once does not spin.
#[derive(Default)]
struct Sameness {
    last: Option<Vec<String>>,
    times: usize,
}

impl Sameness {
    /// The number of the repetition, or nothing for new questions. The texts may differ: they may tell the time.
    fn count(&mut self, questions: &[Question]) -> Option<usize> {
        let keys: Vec<String> = questions.iter().map(|question| question.key.clone()).collect();
        let same = self.last.as_ref() == Some(&keys);
        self.times = if same { self.times + 1 } else { 0 };
        self.last = Some(keys);
        same.then_some(self.times)
    }
}

fn original(tool: &str, arguments: Value) -> Result<CallToolRequestParams, CallFault> {
    let params = CallToolRequestParams::new(tool.to_owned());
    match arguments {
        Value::Object(arguments) => Ok(params.with_arguments(arguments)),
        Value::Null => Ok(params),
        other => Err(CallFault::Arguments { tool: tool.to_owned(), found: kind(&other) }),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
