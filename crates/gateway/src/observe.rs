//! What traces and metrics learn of a journey.
//!
//! **Invariant:** nothing here decides or waits; a journey goes the same way whether or not anybody looks.

use std::time::{Instant, SystemTime};

use aldgate_authority::Verdict;
use aldgate_telemetry::attributes::{self, About, Way};
use aldgate_telemetry::{
    Describe, Ended, Gauges, KeyValue, Kind, Operation, Side, Span, TraceContext, TraceParent,
    UpstreamHealth, names,
};
use aldgate_wire::request::{Method, Rejection, Request};
use http::HeaderMap;
use http::request::Parts;
use serde_json::value::RawValue;

use crate::catalog::{Source, Target};
use crate::gate::Gate;
use crate::receive::{SERVED, VERSIONS};
use crate::refusal::{Form, Refusal};
use crate::serving::Peer;
use crate::trail::Trail;
use crate::upstream::Upstream;

/// What is seen of one request.
pub(crate) struct Seen {
    began: (SystemTime, Instant),
    span: Option<Span>,
    method: &'static str,
    /// The agent run that it belongs to.
    conversation: Option<String>,
    /// A known tool's visible name.
    tool: Option<String>,
    /// Whether arguments and results are shown.
    content: bool,
    /// How the call ended, where it came to an answer of the upstream.
    pub(crate) ended: Ended<'static>,
}

impl Seen {
    /// Of a request that has just arrived.
    pub(crate) fn begin() -> Self {
        Self {
            began: (SystemTime::now(), Instant::now()),
            span: None,
            method: "",
            conversation: None,
            tool: None,
            content: false,
            ended: Ended::Well,
        }
    }

    fn recording(&mut self) -> Option<&mut Span> {
        self.span.as_mut().filter(|span| span.is_recording())
    }
}

/// The envelope was read: the span begins, as a part of what the request names.
pub(crate) fn received(gate: &Gate, trail: &mut Trail, request: &Request, parts: &Parts) {
    let meta = TraceContext {
        parent: request.meta.traceparent.as_deref(),
        state: request.meta.tracestate.as_deref(),
    };
    let conversation = conversation(request);
    serves(gate, trail, request.method, Some(request.id.as_raw().get()), meta, conversation, parts);
}

/// The envelope was refused. Only where a header names a method that is served is there a span, since nothing of the body
/// can be believed; its parent is what the headers name.
pub(crate) fn rejected(gate: &Gate, trail: &mut Trail, rejection: &Rejection, parts: &Parts) {
    let said = parts.headers.get("mcp-method").and_then(|value| value.to_str().ok());
    let Some(method) = SERVED.iter().find(|method| Some(method.as_str()) == said) else { return };
    let id = rejection.id.as_ref().map(|id| id.as_raw().get());
    serves(gate, trail, *method, id, TraceContext::default(), None, parts);
}

fn serves(
    gate: &Gate,
    trail: &mut Trail,
    method: Method,
    id: Option<&str>,
    meta: TraceContext<'_>,
    conversation: Option<String>,
    parts: &Parts,
) {
    let method = method.as_str();
    let mut span = gate.telemetry.serve(method, trail.seen.began.0, meta, around(&parts.headers));
    trail.trace = Some(span.as_parent().to_header());
    if span.is_recording() {
        let conversation = conversation.as_deref();
        let about = attributes::Request { method, id, version: version(), way: Way::Http, conversation };
        span.set(about.attributes());
        span.set([KeyValue::new(names::CALL, trail.call.to_string())]);
        if let Some(Peer(address)) = parts.extensions.get() {
            span.set([
                KeyValue::new(names::CLIENT_ADDRESS, address.ip().to_string()),
                KeyValue::new(names::CLIENT_PORT, i64::from(address.port())),
            ]);
        }
        if let Some(principal) = &trail.principal {
            span.set([
                KeyValue::new(names::TENANT, principal.tenant.clone()),
                KeyValue::new(names::PRINCIPAL, principal.name.clone()),
            ]);
        }
    }
    trail.seen.method = method;
    trail.seen.conversation = conversation;
    trail.seen.content = gate.telemetry.content();
    trail.seen.span = Some(span);
}

/// What the headers of a request say of its trace.
fn around(headers: &HeaderMap) -> TraceContext<'_> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    TraceContext { parent: text("traceparent"), state: text("tracestate") }
}

/// What the request is about is known.
pub(crate) fn resolved(trail: &mut Trail, target: &Target, arguments: Option<&RawValue>) {
    let method = trail.method.unwrap_or_default();
    let about = match target {
        Target::Tool(tool) => {
            trail.seen.tool = Some(tool.offer.visible.clone());
            About::Tool(&tool.offer.visible)
        }
        Target::Prompt(prompt) => About::Prompt(&prompt.offer.visible),
        Target::Resource(resource) => About::Resource(&resource.offer.visible),
    };
    let content = trail.seen.content;
    let Some(span) = trail.seen.recording() else { return };
    span.rename(about.span_name(method));
    span.set(about.attributes());
    let offer = target.offer();
    span.set([
        KeyValue::new(names::UPSTREAM, offer.source.upstream.name().to_owned()),
        KeyValue::new(names::CONTRACT, offer.contract.clone()),
    ]);
    if content && let Some(arguments) = arguments {
        span.set_text(names::TOOL_ARGUMENTS, arguments.get());
    }
}

/// A check that begins: a span of its own.
pub(crate) fn check(gate: &Gate, trail: &Trail, name: &'static str) -> Span {
    part(gate, trail, Describe::new(name, Kind::Internal))
}

/// A span within the request's, of the same tenant.
fn part(gate: &Gate, trail: &Trail, what: Describe<'_>) -> Span {
    let mut span = match &trail.seen.span {
        Some(whole) => gate.telemetry.span(what.within(whole.as_parent())),
        None => gate.telemetry.span(what),
    };
    if span.is_recording() {
        span.set(
            trail.principal.as_ref().map(|principal| KeyValue::new(names::TENANT, principal.tenant.clone())),
        );
    }
    span
}

/// The ruling is made.
pub(crate) fn ruled(gate: &Gate, mut span: Span, method: Method, rule: &str, verdict: Verdict) {
    let decision = decision(verdict);
    gate.telemetry.instruments().ruling(method.as_str(), decision);
    if span.is_recording() {
        span.set(attributes::guardrail(rule, decision));
    }
    span.end(&Ended::Well);
}

/// The contract was compared: it is the pinned one, or it is not, or nobody knows.
pub(crate) fn compared(mut span: Span, pinned: bool) {
    if span.is_recording() {
        span.set(attributes::guardrail("contract", if pinned { "allow" } else { "block" }));
    }
    span.end(&Ended::Well);
}

/// A person has to decide: what is looked up or asked for from here on is a part of that.
pub(crate) fn approval(gate: &Gate, trail: &Trail) -> Span {
    let mut span = check(gate, trail, "approval");
    if span.is_recording() {
        span.set(attributes::guardrail("approval", "require_approval"));
    }
    span
}

/// A row is on the disk.
pub(crate) fn written(span: Span) {
    span.end(&Ended::Well);
}

/// What came of an approval.
pub(crate) fn approved(trail: &Trail, mut span: Span, refusal: Option<&Refusal>) {
    if span.is_recording() {
        let (decision, state) = match refusal.map(Refusal::code) {
            None => ("allow", "approved"),
            Some("AG-APPROVAL-PENDING") => ("require_approval", "pending"),
            Some("AG-APPROVAL-DENIED") => ("block", "denied"),
            Some(_) => ("block", "none"),
        };
        span.set(attributes::guardrail("approval", decision));
        span.set([KeyValue::new(names::APPROVAL_STATE, state)]);
        span.set(trail.approval.as_ref().map(|id| KeyValue::new(names::APPROVAL, id.clone())));
    }
    span.end(&Ended::Well);
}

/// A request to an upstream that begins.
pub(crate) fn sends<'a>(gate: &'a Gate, trail: &Trail, request: Sent<'a>) -> Sending<'a> {
    let (method, upstream) = (request.method.as_str(), request.upstream);
    let about = request.about();
    let what =
        Describe::new(about.map_or_else(|| method.to_owned(), |about| about.span_name(method)), Kind::Client);
    let mut span = part(gate, trail, what);
    if span.is_recording() {
        let way = upstream.way();
        let id = request.id.to_string();
        let conversation = trail.seen.conversation.as_deref();
        let seen = attributes::Request { method, id: Some(&id), version: version(), way, conversation };
        span.set(seen.attributes());
        span.set(about.into_iter().flat_map(About::attributes));
        span.set([KeyValue::new(names::UPSTREAM, upstream.name().to_owned())]);
        if let Some((host, port)) = upstream.address() {
            span.set([
                KeyValue::new(names::SERVER_ADDRESS, host.to_owned()),
                KeyValue::new(names::SERVER_PORT, i64::from(port)),
            ]);
        }
    }
    Sending { gate, request, began: Instant::now(), span: Some(span) }
}

/// A request to an upstream.
pub(crate) struct Sent<'a> {
    pub(crate) method: Method,
    pub(crate) id: u64,
    pub(crate) upstream: &'a Upstream,
    /// The upstream's own name of what it is about.
    pub(crate) name: &'a str,
}

impl Sent<'_> {
    fn about(&self) -> Option<About<'_>> {
        match self.method {
            Method::CallTool => Some(About::Tool(self.name)),
            Method::GetPrompt => Some(About::Prompt(self.name)),
            Method::ReadResource => Some(About::Resource(self.name)),
            _ => None,
        }
    }
}

/// A request to an upstream that is under way. One that is dropped was given up.
pub(crate) struct Sending<'a> {
    gate: &'a Gate,
    request: Sent<'a>,
    began: Instant,
    /// Until it ended.
    span: Option<Span>,
}

impl Sending<'_> {
    /// Its span, which the upstream is told.
    pub(crate) fn context(&self) -> Option<&TraceParent> {
        self.span.as_ref().map(Span::as_parent)
    }

    /// It ended.
    pub(crate) fn answered(mut self, ended: &Ended<'_>) {
        self.end(ended);
    }

    fn end(&mut self, ended: &Ended<'_>) {
        let Some(span) = self.span.take() else { return };
        let request = &self.request;
        let operation = Operation {
            method: request.method.as_str(),
            tool: Some(request.name).filter(|_| request.method == Method::CallTool),
            upstream: Some(request.upstream.name()),
            transport: request.upstream.way().network(),
            ended,
            took: self.began.elapsed(),
        };
        self.gate.telemetry.instruments().operation(Side::Client, &operation);
        span.end(ended);
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.end(&Ended::given_up());
    }
}

/// How a refusal is seen. A caller who only has to wait sees no failure.
fn of_refusal<'a>(refusal: &'a Refusal, message: &'a str, method: &str) -> Ended<'a> {
    match refusal.form() {
        _ if refusal.code() == "AG-CLIENT-LEFT" => Ended::given_up(),
        Form::Tool if method == "tools/call" => Ended::ToolError { message: Some(message.into()) },
        Form::Tool => Ended::Rpc { code: refusal.rpc_code(), message: message.into() },
        Form::Rpc { code, .. } => Ended::Rpc { code: *code, message: message.into() },
        Form::Notice { .. } => Ended::Well,
        Form::Http(_) => Ended::Failed { kind: "http", message: message.into() },
    }
}

/// The request ended with a refusal.
pub(crate) fn refused(gate: &Gate, trail: &mut Trail, refusal: &Refusal) {
    gate.telemetry.instruments().refusal(refusal.code());
    if let Some(span) = trail.seen.recording() {
        span.set([KeyValue::new(names::REFUSAL, refusal.code())]);
    }
    let message = refusal.to_string();
    let ended = of_refusal(refusal, &message, trail.seen.method);
    finished(gate, trail, &ended);
}

/// The request ended.
pub(crate) fn finished(gate: &Gate, trail: &mut Trail, ended: &Ended<'_>) {
    let Some(span) = trail.seen.span.take() else { return };
    let operation = Operation {
        method: trail.seen.method,
        tool: trail.seen.tool.as_deref(),
        upstream: None,
        transport: Way::Http.network(),
        ended,
        took: trail.seen.began.1.elapsed(),
    };
    gate.telemetry.instruments().operation(Side::Server, &operation);
    span.end(ended);
}

/// The result of a call, where it is shown.
pub(crate) fn result(trail: &mut Trail, result: &[u8]) {
    if !trail.seen.content || trail.seen.method != "tools/call" {
        return;
    }
    if let Some(span) = trail.seen.recording() {
        span.set_text(names::TOOL_RESULT, &String::from_utf8_lossy(result));
    }
}

/// What is read when somebody looks at the metrics.
pub(crate) fn gauges(gate: &Gate) -> Gauges {
    let [unauthenticated, panics, unrecorded] = gate.counters.read();
    let counted = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    Gauges {
        upstreams: gate.snapshot().catalog.sources.iter().map(|source| health(source)).collect(),
        in_flight: counted(gate.settings.bounds.in_flight.saturating_sub(gate.in_flight.available_permits())),
        listening: counted(gate.listeners.len()),
        unauthenticated,
        panics,
        unrecorded,
    }
}

fn health(source: &Source) -> UpstreamHealth {
    let standing = source.standing();
    UpstreamHealth {
        name: source.upstream.name().to_owned(),
        up: standing.compared_at.is_some() && standing.unreachable.is_none(),
        changed: u64::try_from(standing.drifts.values().filter(|kept| kept.is_quarantined()).count())
            .unwrap_or(u64::MAX)
            + u64::from(standing.stranger.is_some()),
    }
}

/// The value of `guardrail.decision` for a verdict.
fn decision(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Automatic => "allow",
        Verdict::RequiresApproval => "require_approval",
        Verdict::Prohibited => "block",
    }
}

/// The agent run that a request belongs to, as its client says.
fn conversation(request: &Request) -> Option<String> {
    let (_, raw) = request.meta.other.iter().find(|(key, _)| key == names::CONVERSATION)?;
    let id = serde_json::from_str::<String>(raw.get()).ok()?;
    attributes::conversation(&id).map(str::to_owned)
}

fn version() -> &'static str {
    VERSIONS.first().copied().unwrap_or_default()
}
