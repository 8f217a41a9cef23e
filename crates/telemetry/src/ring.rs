//! The last spans, kept in memory.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::trace::{SpanKind, Status, TraceId};
use opentelemetry::{Array, Context, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanProcessor};
use serde::{Deserialize, Serialize};

use crate::names;

/// Spans of one trace that are shown: the first ones.
const MOST: usize = 2000;

/// The last spans of one or several services. The oldest make room for new ones.
#[derive(Debug)]
pub struct Ring {
    most: usize,
    spans: Mutex<VecDeque<Arc<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    service: Arc<str>,
    span: SpanData,
}

/// A span as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanRecord {
    /// The trace, 32 hexadecimal digits.
    pub trace_id: String,
    /// The span, 16 hexadecimal digits.
    pub span_id: String,
    /// The span that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Its name.
    pub name: String,
    /// `server`, `client`, `internal`, …
    pub kind: String,
    /// The service that made it.
    pub service: String,
    /// When it began, in nanoseconds since the Unix epoch.
    pub start_unix_nano: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// What went wrong; empty where nobody said. Absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its attributes.
    pub attributes: BTreeMap<String, serde_json::Value>,
    /// Spans that it has to do with, as `trace id-span id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
}

/// One trace in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Its id.
    pub trace_id: String,
    /// The name of its first span here, after `… ` where that is a part of a span elsewhere.
    pub name: String,
    /// When that began, in nanoseconds since the Unix epoch.
    pub start_unix_nano: u64,
    /// From its first beginning to its last end, in microseconds.
    pub duration_us: u64,
    /// Spans here.
    pub spans: usize,
    /// Those with an error.
    pub errors: usize,
}

impl Ring {
    /// A ring of `most` spans.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, spans: Mutex::new(VecDeque::new()) })
    }

    /// The spans of one trace, in the order in which they began. Those of another tenant than `tenant` are left out; a span
    /// that names none is everybody's.
    #[must_use]
    pub fn trace(&self, id: &str, tenant: &str) -> Vec<SpanRecord> {
        let Ok(id) = TraceId::from_hex(id) else { return Vec::new() };
        let mut spans: Vec<SpanRecord> = self
            .seen_by(tenant)
            .iter()
            .filter(|kept| kept.span.span_context.trace_id() == id)
            .map(|kept| kept.record())
            .collect();
        spans.sort_by_key(|span| span.start_unix_nano);
        spans.truncate(MOST);
        spans
    }

    /// The newest traces first, `most` at the most. Takes as long as there are spans.
    #[must_use]
    pub fn traces(&self, tenant: &str, most: usize) -> Vec<TraceSummary> {
        let mut traces: HashMap<TraceId, (TraceSummary, u64)> = HashMap::new();
        for kept in &self.seen_by(tenant) {
            let span = &kept.span;
            let (start, end) = (nanos(span.start_time), nanos(span.end_time));
            let id = span.span_context.trace_id();
            let (trace, last) = traces.entry(id).or_insert_with(|| {
                let trace = TraceSummary {
                    trace_id: id.to_string(),
                    name: heading(span),
                    start_unix_nano: start,
                    duration_us: 0,
                    spans: 0,
                    errors: 0,
                };
                (trace, end)
            });
            if start < trace.start_unix_nano {
                trace.start_unix_nano = start;
                trace.name = heading(span);
            }
            *last = end.max(*last);
            trace.spans += 1;
            trace.errors += usize::from(matches!(span.status, Status::Error { .. }));
        }
        let finished = |(mut trace, end): (TraceSummary, u64)| {
            trace.duration_us = end.saturating_sub(trace.start_unix_nano) / 1000;
            trace
        };
        let mut traces: Vec<TraceSummary> = traces.into_values().map(finished).collect();
        traces.sort_by_key(|trace| std::cmp::Reverse(trace.start_unix_nano));
        traces.truncate(most);
        traces
    }

    fn spans(&self) -> MutexGuard<'_, VecDeque<Arc<Kept>>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that a tenant may see. Whoever makes spans waits only while they are counted off.
    fn seen_by(&self, tenant: &str) -> Vec<Arc<Kept>> {
        let spans: Vec<_> = self.spans().iter().cloned().collect();
        spans.into_iter().filter(|kept| kept.is_for(tenant)).collect()
    }

    fn push(&self, kept: Arc<Kept>) {
        let gone = {
            let mut spans = self.spans();
            let gone = if spans.len() >= self.most { spans.pop_front() } else { None };
            spans.push_back(kept);
            gone
        };
        // Freed without the lock.
        drop(gone);
    }
}

impl Kept {
    fn is_for(&self, tenant: &str) -> bool {
        let of = self.span.attributes.iter().find(|attribute| attribute.key.as_str() == names::TENANT);
        match of {
            Some(of) => of.value.as_str() == tenant,
            // One that lost attributes may have lost its tenant.
            None => self.span.dropped_attributes_count == 0,
        }
    }

    fn record(&self) -> SpanRecord {
        let span = &self.span;
        let kind = match span.span_kind {
            SpanKind::Client => "client",
            SpanKind::Server => "server",
            SpanKind::Internal => "internal",
            SpanKind::Producer => "producer",
            SpanKind::Consumer => "consumer",
        };
        let error = match &span.status {
            Status::Error { description } => Some(description.to_string()),
            Status::Unset | Status::Ok => None,
        };
        let has_parent = span.parent_span_id != opentelemetry::trace::SpanId::INVALID;
        SpanRecord {
            trace_id: span.span_context.trace_id().to_string(),
            span_id: span.span_context.span_id().to_string(),
            parent_id: has_parent.then(|| span.parent_span_id.to_string()),
            name: span.name.to_string(),
            kind: kind.to_owned(),
            service: self.service.to_string(),
            start_unix_nano: nanos(span.start_time),
            duration_us: nanos(span.end_time).saturating_sub(nanos(span.start_time)) / 1000,
            error,
            attributes: span
                .attributes
                .iter()
                .map(|attribute| (attribute.key.to_string(), json(&attribute.value)))
                .collect(),
            links: span
                .links
                .links
                .iter()
                .map(|link| format!("{}-{}", link.span_context.trace_id(), link.span_context.span_id()))
                .collect(),
        }
    }
}

/// The name of a trace whose first span here is this one; it says where its beginning is elsewhere, at the client.
fn heading(span: &SpanData) -> String {
    if span.parent_span_is_remote { format!("… {}", span.name) } else { span.name.to_string() }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::F64(value) => (*value).into(),
        Value::Array(Array::String(values)) => {
            values.iter().map(|value| value.as_str().to_owned()).collect::<Vec<_>>().into()
        }
        other => other.as_str().into_owned().into(),
    }
}

/// Puts the spans of one service into a ring.
#[derive(Debug)]
pub(crate) struct ToRing {
    pub(crate) ring: Arc<Ring>,
    pub(crate) service: Arc<str>,
}

impl SpanProcessor for ToRing {
    fn on_start(&self, _span: &mut opentelemetry_sdk::trace::Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        self.ring.push(Arc::new(Kept { service: self.service.clone(), span }));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}
