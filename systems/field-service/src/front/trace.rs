//! Trace context: a request's `_meta.traceparent` is continued by a span of this server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope::Envelope;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The span of one request, and the `traceparent` that names it if the caller sent one.
#[derive(Debug, Clone)]
pub(super) struct RequestSpan {
    pub(super) traceparent: Option<String>,
    pub(super) span: tracing::Span,
}

/// Opens the span of a request.
pub(super) fn span(envelope: &Envelope, server_info: &Value) -> RequestSpan {
    let server = server_info.get("name").and_then(Value::as_str).unwrap_or_default();
    let given = envelope.meta().and_then(|meta| meta.get("traceparent")).and_then(Value::as_str);
    let parent = given.and_then(Traceparent::parse);
    let span = tracing::info_span!(
        "mcp.request",
        mcp.server = server,
        mcp.method.name = envelope.method,
        trace_id = tracing::field::Empty,
        parent_span_id = tracing::field::Empty,
        span_id = tracing::field::Empty,
    );
    let traceparent = parent.map(|parent| {
        let own = new_span_id();
        span.record("trace_id", parent.trace_id);
        span.record("parent_span_id", parent.span_id);
        span.record("span_id", own.as_str());
        format!("00-{}-{own}-{}", parent.trace_id, parent.flags)
    });
    RequestSpan { traceparent, span }
}

/// A `traceparent` of version 00, see W3C Trace Context §3.2. An invalid one is ignored, as the standard says.
struct Traceparent<'a> {
    trace_id: &'a str,
    span_id: &'a str,
    flags: &'a str,
}

impl<'a> Traceparent<'a> {
    fn parse(text: &'a str) -> Option<Traceparent<'a>> {
        let mut fields = text.split('-');
        let (version, trace_id, span_id, flags) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let is_hex = |field: &str, length: usize| {
            field.len() == length && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
        let valid = version == "00"
            && fields.next().is_none()
            && is_hex(trace_id, 32)
            && is_hex(span_id, 16)
            && is_hex(flags, 2)
            && !is_zero(trace_id)
            && !is_zero(span_id);
        valid.then_some(Traceparent { trace_id, span_id, flags })
    }
}

/// 64 bits that no other span of this process has, and of another one only by chance.
fn new_span_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut digest = Sha256::new();
    digest.update(now.to_be_bytes());
    digest.update(NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    digest.update(std::process::id().to_be_bytes());
    hex::encode(digest.finalize().get(..8).unwrap_or_default())
}
