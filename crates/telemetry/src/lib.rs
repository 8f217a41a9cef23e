//! Traces and metrics: what spans, attributes and instruments are called, and where they go.
//!
//! A [`Telemetry`] is what one service has: a tracer, its instruments, and where both go: the local [`Ring`], a collector
//! that speaks OTLP, Prometheus. Spans are made with [`Telemetry::span`] from a [`Describe`], and end with an [`Ended`],
//! which knows what counts as an error on which side. Nothing here ever waits for a collector: what does not fit into
//! the queue is dropped, and the log says how much that was.
//!
//! **Invariant:** names of attributes stand in [`names`] alone.
//!
//! **Invariant:** arguments and results of tools are in a span only where [`Settings::content`] is on.

pub mod attributes;
mod context;
mod ended;
mod export;
mod metrics;
pub mod names;
mod ring;
mod span;
mod telemetry;
mod tree;

pub use context::{TraceContext, TraceParent};
pub use ended::{Ended, Side};
pub use metrics::{Gauges, Instruments, Operation, UpstreamHealth};
pub use opentelemetry::KeyValue;
pub use ring::{Ring, SpanRecord, TraceSummary};
pub use span::{Describe, Kind, Span};
pub use telemetry::{Destination, Settings, StartFault, Telemetry};
pub use tree::tree;
