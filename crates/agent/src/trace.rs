//! What traces and metrics learn of an agent: its run, the model's turns, the tool calls, and each request to the endpoint.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use aldgate_telemetry::attributes::{self, About, OTHER_METHOD, Request, Way};
use aldgate_telemetry::{
    Describe, Ended, KeyValue, Kind, Operation, Side, Span, Telemetry, TraceParent, names,
};
use rmcp::model::{ClientRequest, RequestMetaObject, ServerResult};
use serde_json::Value;

use crate::exchange::{Lost, chain};
use crate::model::{Answered, ModelEvent};
use crate::outcome::CallFault;
use crate::planner::{Finding, PlanFault, PlannedCall, Planner};
use crate::tool::ToolSummary;

/// The revision that is spoken.
const VERSION: &str = "2026-07-28";
/// The provider of a plan that no model made.
const NO_MODEL: &str = "aldgate";

/// The part of a trace that requests are made in.
#[derive(Clone, Debug)]
pub struct Within {
    /// The span that they are a part of.
    pub parent: TraceParent,
    /// The agent run that they belong to; sent with each in `_meta`.
    pub conversation: String,
}

/// What requests of one connection have in common.
#[derive(Clone, Copy)]
pub(crate) struct Hop<'a> {
    pub(crate) telemetry: &'a Telemetry,
    /// Host and port of the endpoint.
    pub(crate) address: &'a (String, u16),
    pub(crate) within: Option<&'a Within>,
}

/// One request that is under way.
pub(crate) struct Asking<'a> {
    hop: Hop<'a>,
    method: &'static str,
    tool: Option<String>,
    began: Instant,
    span: Span,
}

impl<'a> Hop<'a> {
    /// The span of a request.
    pub(crate) fn begin(self, request: &ClientRequest) -> Asking<'a> {
        let (method, about) = what(request);
        let mut what =
            Describe::new(about.map_or(method.to_owned(), |about| about.span_name(method)), Kind::Client);
        if let Some(within) = self.within {
            what = what.within(&within.parent);
        }
        let mut span = self.telemetry.span(what);
        if span.is_recording() {
            span.set(about.into_iter().flat_map(About::attributes));
            let (host, port) = self.address;
            span.set([
                KeyValue::new(names::SERVER_ADDRESS, host.clone()),
                KeyValue::new(names::SERVER_PORT, i64::from(*port)),
            ]);
        }
        let tool = match about {
            Some(About::Tool(name)) => Some(name.to_owned()),
            _ => None,
        };
        Asking { hop: self, method, tool, began: Instant::now(), span }
    }
}

impl Asking<'_> {
    /// What the request carries of the trace.
    pub(crate) fn meta(&self) -> RequestMetaObject {
        let mut meta = RequestMetaObject::new();
        let parent = self.span.as_parent();
        // A trace that nobody keeps here is not begun elsewhere in our name.
        if self.hop.telemetry.is_on() {
            meta.set_traceparent(parent.to_header());
            if let Some(state) = parent.state() {
                meta.set_tracestate(state);
            }
        }
        if let Some(within) = self.hop.within {
            meta.insert(names::CONVERSATION.to_owned(), Value::from(within.conversation.as_str()));
        }
        meta
    }

    /// The request has its id.
    pub(crate) fn sent(&mut self, id: &str) {
        if self.span.is_recording() {
            let conversation = self.hop.within.map(|within| within.conversation.as_str());
            let (method, id) = (self.method, Some(id));
            let request = Request { method, id, version: VERSION, way: Way::Http, conversation };
            self.span.set(request.attributes());
        }
    }

    /// It was answered, or not.
    pub(crate) fn end(mut self, answer: &Result<ServerResult, Lost>) {
        let ended = match answer {
            Ok(ServerResult::CallToolResult(result)) if result.is_error == Some(true) => {
                Ended::ToolError { message: None }
            }
            Ok(ServerResult::CustomResult(raw)) if raw.0.get("isError") == Some(&Value::Bool(true)) => {
                Ended::ToolError { message: None }
            }
            Ok(_) => Ended::Well,
            Err(lost) => of_lost(lost),
        };
        let operation = Operation {
            method: self.method,
            tool: self.tool.as_deref(),
            upstream: None,
            transport: Way::Http.network(),
            ended: &ended,
            took: self.began.elapsed(),
        };
        self.hop.telemetry.instruments().operation(Side::Client, &operation);
        if let Some(code) = answer.as_ref().err().and_then(refusal) {
            self.span.set([KeyValue::new(names::REFUSAL, code.to_owned())]);
        }
        self.span.end(&ended);
    }
}

/// How a request without a result is seen.
fn of_lost(lost: &Lost) -> Ended<'_> {
    match lost {
        Lost::Rpc(error) => {
            Ended::Rpc { code: i64::from(error.code.0), message: error.message.as_ref().into() }
        }
        Lost::Unauthorized { why, .. } => Ended::Failed { kind: "credential", message: why.trim().into() },
        Lost::Refused(refused) => {
            Ended::Failed { kind: "http_status", message: refused.message.as_str().into() }
        }
        Lost::NotSent(what) => Ended::Failed { kind: "connect", message: what.into() },
        Lost::Broken(what) => Ended::Failed { kind: "connection_broken", message: what.into() },
        Lost::TimedOut => Ended::Failed { kind: "timeout", message: "no answer in time".into() },
    }
}

/// The gateway's stable code, where it gave one.
fn refusal(lost: &Lost) -> Option<&str> {
    let code = match lost {
        Lost::Rpc(error) => error.data.as_ref()?.get("code")?.as_str()?,
        Lost::Refused(refused) => refused.code.as_deref()?,
        _ => return None,
    };
    let letters = |byte: u8| byte.is_ascii_uppercase() || byte == b'-';
    (code.starts_with("AG-") && code.len() <= 64 && code.bytes().all(letters)).then_some(code)
}

/// The method of a request, and what it is about.
fn what(request: &ClientRequest) -> (&'static str, Option<About<'_>>) {
    match request {
        ClientRequest::CallToolRequest(call) => ("tools/call", Some(About::Tool(&call.params.name))),
        ClientRequest::ReadResourceRequest(read) => {
            ("resources/read", Some(About::Resource(&read.params.uri)))
        }
        ClientRequest::GetPromptRequest(get) => ("prompts/get", Some(About::Prompt(&get.params.name))),
        ClientRequest::ListToolsRequest(_) => ("tools/list", None),
        ClientRequest::ListPromptsRequest(_) => ("prompts/list", None),
        ClientRequest::ListResourcesRequest(_) => ("resources/list", None),
        ClientRequest::ListResourceTemplatesRequest(_) => ("resources/templates/list", None),
        ClientRequest::CompleteRequest(_) => ("completion/complete", None),
        _ => (OTHER_METHOD, None),
    }
}

/// The trace of one run.
pub(crate) struct RunTrace {
    telemetry: Telemetry,
    within: Within,
    provider: &'static str,
    run: Mutex<Option<Span>>,
    /// The model's turn that is under way.
    turn: Mutex<Option<Span>>,
}

impl RunTrace {
    /// A run that begins.
    pub(crate) fn begin(telemetry: &Telemetry, agent: &str, planner: &dyn Planner) -> Self {
        let mut span = telemetry.span(Describe::new(format!("invoke_agent {agent}"), Kind::Internal));
        let provider = planner.provider().unwrap_or(NO_MODEL);
        let conversation = format!("run-{:032x}", rand::random::<u128>());
        span.set(attributes::provider(provider));
        span.set([
            KeyValue::new(names::OPERATION, "invoke_agent"),
            KeyValue::new(names::AGENT, agent.to_owned()),
            KeyValue::new(names::CONVERSATION, conversation.clone()),
        ]);
        span.set(planner.model().map(|model| KeyValue::new(names::REQUEST_MODEL, model.to_owned())));
        let within = Within { parent: span.as_parent().clone(), conversation };
        Self {
            telemetry: telemetry.clone(),
            within,
            provider,
            run: Mutex::new(Some(span)),
            turn: Mutex::new(None),
        }
    }

    /// The trace's id, 32 hexadecimal digits.
    pub(crate) fn id(&self) -> String {
        self.within.parent.trace_id()
    }

    /// What requests of the run itself are made in.
    pub(crate) fn within(&self) -> &Within {
        &self.within
    }

    /// A span for a planner that asks no model, while it plans.
    pub(crate) fn plan(&self, planner: &dyn Planner, tools: &[ToolSummary]) -> Option<Span> {
        if planner.provider().is_some() {
            return None;
        }
        let mut span = self.part("plan", Kind::Internal);
        span.set([KeyValue::new(names::OPERATION, "plan")]);
        self.show_tools(&mut span, tools);
        Some(span)
    }

    /// The planner is done.
    pub(crate) fn planned(&self, planning: Option<Span>, fault: Option<&PlanFault>) {
        if let Some(span) = planning {
            span.end(&match fault {
                None => Ended::Well,
                Some(fault) => Ended::Failed { kind: "plan", message: chain(fault).into() },
            });
        }
    }

    /// Something happened to the model's turn.
    pub(crate) fn model(&self, event: &ModelEvent, tools: &[ToolSummary]) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ModelEvent::Asked { model, max_tokens, server_address, server_port, .. } => {
                let mut span = self.part(format!("chat {model}"), Kind::Client);
                span.set([
                    KeyValue::new(names::OPERATION, "chat"),
                    KeyValue::new(names::REQUEST_MODEL, model.clone()),
                    KeyValue::new(names::MAX_TOKENS, i64::from(*max_tokens)),
                    KeyValue::new(names::SERVER_ADDRESS, server_address.clone()),
                    KeyValue::new(names::SERVER_PORT, i64::from(*server_port)),
                ]);
                self.show_tools(&mut span, tools);
                *turn = Some(span);
            }
            ModelEvent::Answered(answered) => {
                if let Some(mut span) = turn.take() {
                    span.set(answer(answered));
                    span.end(&Ended::Well);
                }
            }
            ModelEvent::Failed { code, text, .. } => {
                if let Some(span) = turn.take() {
                    span.end(&Ended::Failed { kind: code, message: text.into() });
                }
            }
            ModelEvent::Said { .. } | ModelEvent::Retried { .. } => {}
        }
    }

    /// A tool call of the run, and what its requests are made in.
    pub(crate) fn tool(&self, step: usize, call: &PlannedCall, tools: &[ToolSummary]) -> (Span, Within) {
        let known = tools.iter().find(|tool| tool.name == call.tool);
        // A model may make names up, and then only those that are listed come into spans.
        let named = known.is_some() || call.id.is_none();
        let name = if named { format!("execute_tool {}", call.tool) } else { "execute_tool".to_owned() };
        let mut span = self.part(name, Kind::Internal);
        if span.is_recording() {
            span.set([
                KeyValue::new(names::OPERATION, "execute_tool"),
                KeyValue::new(names::TOOL_TYPE, "function"),
            ]);
            span.set(named.then(|| KeyValue::new(names::TOOL, call.tool.clone())));
            // What no model chose has no id of a model; its place in the run tells it from others.
            let id = call.id.clone().unwrap_or_else(|| format!("step-{step}"));
            span.set([KeyValue::new(names::TOOL_CALL_ID, id)]);
            if let Some(description) = known.and_then(|tool| tool.description.as_deref()) {
                span.set_text(names::TOOL_DESCRIPTION, description);
            }
            if self.telemetry.content() {
                span.set_text(names::TOOL_ARGUMENTS, &call.arguments.to_string());
            }
        }
        let within =
            Within { parent: span.as_parent().clone(), conversation: self.within.conversation.clone() };
        (span, within)
    }

    /// What came of a tool call; a fault is the end of the run.
    pub(crate) fn found(&self, mut span: Span, finding: Result<&Finding, &CallFault>) {
        let finding = match finding {
            Ok(finding) => finding,
            Err(fault) => {
                let message = chain(fault).into();
                return span.end(&Ended::Failed { kind: "call", message });
            }
        };
        let ended = match finding {
            Finding::Answer(answer) => {
                let answer = answer.as_data();
                if self.telemetry.content() && span.is_recording() {
                    let text =
                        answer.structured.as_ref().map_or_else(|| answer.text.clone(), Value::to_string);
                    span.set_text(names::TOOL_RESULT, &text);
                }
                if answer.is_error { Ended::ToolError { message: None } } else { Ended::Well }
            }
            Finding::Refused(refusal) => {
                span.set([KeyValue::new(names::REFUSAL, refusal.code.clone())]);
                Ended::ToolError { message: Some(refusal.text.as_str().into()) }
            }
            Finding::Waiting(_) => Ended::Well,
            Finding::Failed { text, .. } => Ended::Failed { kind: "no_outcome", message: text.into() },
        };
        span.end(&ended);
    }

    /// The run ended.
    pub(crate) fn end(&self, fault: Option<&str>) {
        let Some(span) = self.run.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        span.end(&match fault {
            None => Ended::Well,
            Some(text) => Ended::Failed { kind: "run", message: text.into() },
        });
    }

    fn part(&self, name: impl Into<std::borrow::Cow<'static, str>>, kind: Kind) -> Span {
        let mut span = self.telemetry.span(Describe::new(name, kind).within(&self.within.parent));
        if span.is_recording() {
            span.set(attributes::provider(self.provider));
            span.set([KeyValue::new(names::CONVERSATION, self.within.conversation.clone())]);
        }
        span
    }

    fn show_tools(&self, span: &mut Span, tools: &[ToolSummary]) {
        if self.telemetry.content()
            && span.is_recording()
            && let Ok(definitions) = serde_json::to_string(tools)
        {
            span.set_text(names::TOOL_DEFINITIONS, &definitions);
        }
    }
}

/// What a model's answer says of itself.
fn answer(answered: &Answered) -> Vec<KeyValue> {
    let text = |name, value: &Option<String>| value.clone().map(|value| KeyValue::new(name, value));
    let count = |name, value: Option<u64>| {
        value.map(|value| KeyValue::new(name, i64::try_from(value).unwrap_or(i64::MAX)))
    };
    [
        text(names::RESPONSE_MODEL, &answered.response_model),
        text(names::RESPONSE_ID, &answered.response_id),
        count(names::INPUT_TOKENS, answered.input_tokens),
        count(names::OUTPUT_TOKENS, answered.output_tokens),
        Some(attributes::finish_reasons(&answered.finish_reasons)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
