//! Traces and metrics of requests: each is served in a span of its own, a part of what its `_meta` or its headers name.

use std::time::{Instant, SystemTime};

use aldgate_telemetry::attributes::{self, About, OTHER_METHOD, Request, Way};
use aldgate_telemetry::{Ended, Operation, Side, Span, Telemetry, TraceContext, names};
use http::HeaderMap;
use serde_json::Value;

use super::envelope::{Envelope, VERSION};

/// Every method that a server here has.
const METHODS: [&str; 10] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "subscriptions/listen",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "prompts/list",
    "prompts/get",
];

/// The span of one request, and the `traceparent` that names it if the caller sent one.
pub(super) struct RequestSpan {
    telemetry: Telemetry,
    way: Way,
    began: Instant,
    method: &'static str,
    /// Until it ended.
    span: Option<Span>,
    pub(super) traceparent: Option<String>,
}

/// Opens the span of a request.
pub(super) fn span(telemetry: &Telemetry, way: Way, envelope: &Envelope, headers: &HeaderMap) -> RequestSpan {
    let method = METHODS.into_iter().find(|known| *known == envelope.method).unwrap_or(OTHER_METHOD);
    let said = |key: &str| envelope.meta().and_then(|meta| meta.get(key)).and_then(Value::as_str);
    let header = |key: &str| headers.get(key).and_then(|value| value.to_str().ok());
    let meta = TraceContext { parent: said("traceparent"), state: said("tracestate") };
    let around = TraceContext { parent: header("traceparent"), state: header("tracestate") };
    let mut span = telemetry.serve(method, SystemTime::now(), meta, around);
    if span.is_recording() {
        let id = envelope.id.to_string();
        let conversation = said(names::CONVERSATION).and_then(attributes::conversation);
        span.set(Request { method, id: Some(&id), version: VERSION, way, conversation }.attributes());
    }
    let traceparent = meta.parse().map(|_| span.as_parent().to_header());
    let telemetry = telemetry.clone();
    RequestSpan { telemetry, way, began: Instant::now(), method, span: Some(span), traceparent }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        self.end(None, &Ended::given_up());
    }
}

impl RequestSpan {
    /// Ends it with the message that answers the request.
    pub(super) fn answered(&mut self, envelope: &Envelope, message: &Value) {
        let error = message.get("error");
        let code = error.and_then(|error| error.get("code")).and_then(Value::as_i64);
        let text = error.and_then(|error| error.get("message")).and_then(Value::as_str).unwrap_or_default();
        let failed = message.pointer("/result/isError").and_then(Value::as_bool) == Some(true);
        let ended = match code {
            Some(code) => Ended::Rpc { code, message: text.into() },
            None if failed => Ended::ToolError { message: None },
            None => Ended::Well,
        };
        // What is not known here is refused: no caller gives names to spans.
        let about = if code.is_none() { self.about(envelope) } else { None };
        if let (Some(span), Some(about)) = (&mut self.span, about) {
            span.rename(about.span_name(self.method));
            span.set(about.attributes());
            if self.telemetry.content()
                && let Some(arguments) = envelope.params.get("arguments")
            {
                span.set_text(names::TOOL_ARGUMENTS, &arguments.to_string());
            }
        }
        let tool = match about {
            Some(About::Tool(name)) => Some(name),
            _ => None,
        };
        self.end(tool, &ended);
    }

    /// Ends it without an answer of its own.
    pub(super) fn ended(&mut self, ended: &Ended<'_>) {
        self.end(None, ended);
    }

    fn end(&mut self, tool: Option<&str>, ended: &Ended<'_>) {
        let Some(span) = self.span.take() else { return };
        let operation = Operation {
            method: self.method,
            tool,
            upstream: None,
            transport: self.way.network(),
            ended,
            took: self.began.elapsed(),
        };
        self.telemetry.instruments().operation(Side::Server, &operation);
        span.end(ended);
    }

    fn about<'a>(&self, envelope: &'a Envelope) -> Option<About<'a>> {
        let said = |key: &str| envelope.params.get(key).and_then(Value::as_str);
        match self.method {
            "tools/call" => said("name").map(About::Tool),
            "prompts/get" => said("name").map(About::Prompt),
            "resources/read" => said("uri").map(About::Resource),
            _ => None,
        }
    }
}
