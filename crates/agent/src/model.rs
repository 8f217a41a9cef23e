//! The planner that asks a model: the conversation, alike for all APIs.
//!
//! `talk` has what is said, `anthropic` and `openai` each know the shapes of one API, `service` sends requests,
//! `stream` reads answers, `quoted` marks what tools wrote.

mod anthropic;
mod config;
mod event;
mod fault;
mod names;
mod openai;
mod prompt;
mod quoted;
mod reply;
mod schema;
mod service;
mod stream;
mod talk;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::time::Instant;

pub use config::{Api, Key, ModelConfig, ModelLimits};
pub use event::{Answered, ModelEvent};
pub use fault::ModelFault;

use crate::planner::{PlanFault, PlannedCall, Planner, RunState, Step};
use names::Names;
use quoted::Quote;
use reply::{Block, RawCall, Reply};
use service::{Service, Told};
use talk::{CallResult, Definition, Message, Request, Spoken, Stop};

/// How often in a row a service may ask to be asked again before an answer is complete.
const MAX_PAUSES: usize = 4;

/// A planner that asks a model what to do. It keeps the conversation of one run.
///
/// What tools wrote reaches the model as data between lines with a random mark of the run; what the host says of a call
/// stands outside of them.
pub struct ModelPlanner {
    service: Service,
    config: ModelConfig,
    quote: Quote,
    system: String,
    /// What is known since the first turn.
    tools: Option<(Names, Vec<Definition>)>,
    messages: Vec<Message>,
    /// How many observations are in the conversation.
    seen: usize,
    /// The ids of the calls that are not answered yet, in order.
    open: Vec<String>,
    turn: usize,
}

impl ModelPlanner {
    /// A planner for one run.
    ///
    /// # Errors
    ///
    /// A [`ModelFault`] where the base URL or the key is of no use; nothing is sent.
    pub fn new(config: ModelConfig) -> Result<Self, ModelFault> {
        let service = Service::new(&config)?;
        let quote = Quote::new(config.limits.max_result);
        let system = prompt::system(&quote);
        Ok(Self {
            service,
            config,
            quote,
            system,
            tools: None,
            messages: Vec::new(),
            seen: 0,
            open: Vec::new(),
            turn: 0,
        })
    }

    /// Begins the conversation, or goes on with what came of the last calls: one result for each of them, in order.
    fn listen(&mut self, state: &RunState) -> Result<(), ModelFault> {
        if self.tools.is_none() {
            if let Some(limit) = self.config.api.max_tools().filter(|limit| state.tools.len() > *limit) {
                return Err(ModelFault::Tools { listed: state.tools.len(), limit });
            }
            let names = Names::of(state.tools.iter().map(|tool| tool.name.as_str()));
            let definitions = prompt::definitions(&state.tools, &names);
            self.tools = Some((names, definitions));
            self.messages.push(Message::Task(state.task.clone()));
        }
        if self.open.is_empty() {
            return Ok(());
        }
        let mut news = state.observations.get(self.seen..).unwrap_or_default().iter();
        let open = std::mem::take(&mut self.open);
        let results = open.into_iter().map(|id| match news.find(|seen| seen.id.as_ref() == Some(&id)) {
            Some(seen) => {
                let (content, is_error) = self.quote.result(&seen.tool, &seen.finding);
                CallResult { id, content, is_error }
            }
            None => CallResult { id, content: "The host did not make this call.".to_owned(), is_error: true },
        });
        let results = results.collect();
        self.messages.push(Message::Results(results));
        self.seen = state.observations.len();
        Ok(())
    }

    /// Asks the model once.
    async fn ask(&mut self, observer: &(dyn Fn(ModelEvent) + Send + Sync)) -> Result<Reply, ModelFault> {
        self.turn += 1;
        let turn = self.turn;
        let provider = self.config.api.provider();
        let model = self.config.model.clone();
        let (address, server_port) = self.service.address();
        let (server_address, max_tokens) = (address.to_owned(), self.config.limits.max_answer_tokens);
        observer(ModelEvent::Asked {
            turn,
            provider,
            model: model.clone(),
            max_tokens,
            server_address,
            server_port,
        });
        let body = self.service.body(&Request {
            model: &model,
            max_answer_tokens: self.config.limits.max_answer_tokens,
            system: &self.system,
            tools: self.tools.as_ref().map(|(_, tools)| tools.as_slice()).unwrap_or_default(),
            messages: &self.messages,
        });
        let told = |told| {
            observer(match told {
                Told::Said(text) => ModelEvent::Said { turn, text },
                Told::Retried { attempt, after, cause } => {
                    let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    ModelEvent::Retried { turn, attempt, after_ms, cause }
                }
            });
        };
        let began = Instant::now();
        let reply = match self.service.ask(&body, &told).await {
            Ok(reply) => reply,
            Err(fault) => {
                let text = crate::exchange::chain(&fault);
                observer(ModelEvent::Failed { turn, code: fault.code(), text });
                return Err(fault);
            }
        };
        observer(ModelEvent::Answered(Answered {
            turn,
            provider,
            request_model: model,
            response_model: reply.model.clone(),
            response_id: reply.id.clone(),
            finish_reasons: reply.stopped.iter().cloned().collect(),
            input_tokens: reply.input,
            output_tokens: reply.output,
            counted_tokens: counted(&body, &reply),
            calls: reply.calls().count(),
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }));
        Ok(reply)
    }

    /// What an answer means. What was said is kept only where the conversation goes on.
    fn decide(&mut self, reply: &Reply) -> Result<Option<Step>, ModelFault> {
        let reason = reply.stopped.clone().unwrap_or_default();
        let stop = match self.config.api {
            Api::Anthropic => anthropic::stop(&reason),
            Api::OpenAi => openai::stop(&reason),
        };
        let text = reply.text();
        match stop {
            Stop::Cut(what) => return Err(ModelFault::Cut { reason, what }),
            Stop::Unknown => return Err(ModelFault::Stop { reason, found: "a word that is not known" }),
            Stop::Declined => return Err(ModelFault::Declined { reason, said: said(&text) }),
            Stop::Done if !reply.refusal.is_empty() => {
                return Err(ModelFault::Declined { reason, said: said(&reply.refusal) });
            }
            Stop::Paused if reply.blocks.is_empty() => {
                return Err(ModelFault::Stop { reason, found: "nothing to go on with" });
            }
            Stop::Paused if reply.calls().next().is_none() => {
                self.say(spoken(reply));
                return Ok(None);
            }
            Stop::Done | Stop::Paused => {}
        }
        if reply.calls().next().is_none() {
            if text.is_empty() {
                return Err(ModelFault::Stop { reason, found: "neither text nor calls" });
            }
            return Ok(Some(Step::Finish { summary: text }));
        }
        let why = service::cut(&text, 300);
        let calls = reply.calls().map(|call| self.planned(call, why.clone())).collect();
        self.open = reply.calls().map(|call| call.id.clone()).collect();
        self.say(spoken(reply));
        Ok(Some(Step::Calls { calls }))
    }

    /// Keeps what the model said; two messages of it in a row are one.
    fn say(&mut self, spoken: Vec<Spoken>) {
        match self.messages.last_mut() {
            Some(Message::Model(said)) => said.extend(spoken),
            _ => self.messages.push(Message::Model(spoken)),
        }
    }

    fn planned(&self, call: &RawCall, why: String) -> PlannedCall {
        let names = self.tools.as_ref().map(|(names, _)| names);
        let own = names.and_then(|names| names.own(&call.name));
        let (arguments, unusable) = match (arguments(&call.arguments), own) {
            (parsed, None) => {
                let all: Vec<&str> = names.into_iter().flat_map(Names::all).collect();
                let text = format!("there is no tool `{}`; the tools are {}", call.name, all.join(", "));
                (parsed.unwrap_or_default(), Some(text))
            }
            (Err(text), Some(_)) => (Map::new(), Some(text)),
            (Ok(arguments), Some(_)) => (arguments, None),
        };
        let tool = own.unwrap_or(&call.name).to_owned();
        PlannedCall { id: Some(call.id.clone()), tool, arguments: Value::Object(arguments), why, unusable }
    }
}

#[async_trait]
impl Planner for ModelPlanner {
    async fn next(
        &mut self,
        state: &RunState,
        observer: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        self.listen(state)?;
        for _ in 0..=MAX_PAUSES {
            let reply = self.ask(observer).await?;
            if let Some(step) = self.decide(&reply)? {
                return Ok(step);
            }
        }
        let reason = "pause_turn".to_owned();
        Err(ModelFault::Stop { reason, found: "no end after several requests to go on" }.into())
    }

    fn provider(&self) -> Option<&'static str> {
        Some(self.config.api.provider())
    }

    fn model(&self) -> Option<&str> {
        Some(&self.config.model)
    }
}

/// What the model said, as it is given back to it.
fn spoken(reply: &Reply) -> Vec<Spoken> {
    let one = |block: &Block| match block {
        Block::Text(text) if text.trim().is_empty() => None,
        // White space at the end of the last message is refused.
        Block::Text(text) => Some(Spoken::Text(text.trim_end().to_owned())),
        Block::Call(call) => Some(Spoken::Call {
            id: call.id.clone(),
            name: names::acceptable(&call.name),
            arguments: Value::Object(arguments(&call.arguments).unwrap_or_default()),
        }),
    };
    reply.blocks.iter().filter_map(one).collect()
}

/// The arguments of a call, or why they are none.
fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(format!(
            "the arguments are no JSON object, so the call was not made: {}",
            service::cut(text, 200)
        )),
        Err(fault) => Err(format!(
            "the arguments are no JSON ({fault}), so the call was not made: {}",
            service::cut(text, 200)
        )),
    }
}

/// Tokens for the budget: reported ones, or a token for every three bytes.
fn counted(body: &str, reply: &Reply) -> u64 {
    let guess = |bytes: usize| u64::try_from(bytes.div_ceil(3)).unwrap_or(u64::MAX);
    let written = reply.text().len() + reply.calls().map(|call| call.arguments.len()).sum::<usize>();
    let (input, output) = (reply.input.unwrap_or(guess(body.len())), reply.output.unwrap_or(guess(written)));
    input.saturating_add(output)
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {}", service::cut(text, 300)) }
}
