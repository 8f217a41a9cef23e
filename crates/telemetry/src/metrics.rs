//! What is counted and timed.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

use crate::ended::{Ended, Side};
use crate::names;

/// The instruments of one service.
#[derive(Clone, Debug)]
pub struct Instruments {
    meter: Meter,
    server: Histogram<f64>,
    client: Histogram<f64>,
    rulings: Counter<u64>,
    approvals: Counter<u64>,
    refusals: Counter<u64>,
}

/// One request that ended, as the histograms take it.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The method.
    pub method: &'static str,
    /// A tool's name; only one that is known, so that no client makes up values.
    pub tool: Option<&'a str>,
    /// The upstream, on the client's side.
    pub upstream: Option<&'a str>,
    /// `tcp` or `pipe`; `None` inside the process.
    pub transport: Option<&'static str>,
    /// How it ended.
    pub ended: &'a Ended<'a>,
    /// How long it took.
    pub took: Duration,
}

/// How an upstream stands.
#[derive(Clone, Debug)]
pub struct UpstreamHealth {
    /// The host's name of it.
    pub name: String,
    /// Whether it answered when it was last asked.
    pub up: bool,
    /// Contracts that are not the pinned ones.
    pub changed: u64,
}

/// What is read when somebody looks.
#[derive(Clone, Debug, Default)]
pub struct Gauges {
    /// The upstreams.
    pub upstreams: Vec<UpstreamHealth>,
    /// Requests that are worked on.
    pub in_flight: u64,
    /// Subscriptions that are open.
    pub listening: u64,
    /// Requests without a valid credential so far.
    pub unauthenticated: u64,
    /// Panics that were caught so far.
    pub panics: u64,
    /// Refusals so far whose evidence could not be written.
    pub unrecorded: u64,
}

impl Instruments {
    pub(crate) fn new(meter: Meter) -> Self {
        let duration = |name, text| {
            let boundaries = names::DURATION_BOUNDS.to_vec();
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(text)
                .with_boundaries(boundaries)
                .build()
        };
        let counter =
            |name, unit, text| meter.u64_counter(name).with_unit(unit).with_description(text).build();
        Self {
            server: duration(names::SERVER_DURATION, "MCP requests as their server saw them"),
            client: duration(names::CLIENT_DURATION, "MCP requests as their client saw them"),
            rulings: counter("aldgate.rulings", "{ruling}", "Rulings on requests"),
            approvals: counter("aldgate.approvals", "{approval}", "Approvals that reached a state"),
            refusals: counter("aldgate.refusals", "{refusal}", "Requests that were refused"),
            meter,
        }
    }

    /// Has the approvals there from the start: what rises from nothing is no rate.
    pub fn begin(&self) {
        for state in ["asked", "approved", "denied", "redeemed"] {
            self.approvals.add(0, &[KeyValue::new(names::APPROVAL_STATE, state)]);
        }
    }

    /// Times a request.
    pub fn operation(&self, side: Side, operation: &Operation<'_>) {
        let mut attributes = operation.ended.measured(side);
        attributes.push(KeyValue::new(names::METHOD, operation.method));
        if operation.method == "tools/call" {
            attributes.push(KeyValue::new(names::OPERATION, "execute_tool"));
        }
        if let Some(tool) = operation.tool {
            attributes.push(KeyValue::new(names::TOOL, tool.to_owned()));
        }
        if let Some(upstream) = operation.upstream {
            attributes.push(KeyValue::new(names::UPSTREAM, upstream.to_owned()));
        }
        if let Some(transport) = operation.transport {
            attributes.push(KeyValue::new(names::TRANSPORT, transport));
        }
        let histogram = match side {
            Side::Server => &self.server,
            Side::Client => &self.client,
        };
        histogram.record(operation.took.as_secs_f64(), &attributes);
    }

    /// Counts a ruling.
    pub fn ruling(&self, method: &'static str, decision: &'static str) {
        self.rulings.add(
            1,
            &[KeyValue::new(names::METHOD, method), KeyValue::new(names::GUARDRAIL_DECISION, decision)],
        );
    }

    /// Counts an approval that reached a state: `asked`, `approved`, `denied`, `redeemed`.
    pub fn approval(&self, state: &'static str) {
        self.approvals.add(1, &[KeyValue::new(names::APPROVAL_STATE, state)]);
    }

    /// Counts a refusal.
    pub fn refusal(&self, code: &'static str) {
        self.refusals.add(1, &[KeyValue::new(names::REFUSAL, code)]);
    }

    /// Has `read` called whenever metrics are collected. Where there is nothing to read any more, nothing is said: a counter
    /// must not go back to 0.
    pub fn observe(&self, read: impl Fn() -> Option<Gauges> + Clone + Send + Sync + 'static) {
        let gauge = |name: &'static str, unit, text, value: fn(&Gauges) -> u64| {
            let read = read.clone();
            self.meter
                .u64_observable_gauge(name)
                .with_unit(unit)
                .with_description(text)
                .with_callback(move |observer| {
                    if let Some(now) = read() {
                        observer.observe(value(&now), &[]);
                    }
                })
                .build();
        };
        gauge("aldgate.requests.in_flight", "{request}", "Requests that are worked on", |now| now.in_flight);
        gauge("aldgate.subscriptions", "{subscription}", "Subscriptions that are open", |now| now.listening);
        let counter = |name: &'static str, unit, text, value: fn(&Gauges) -> u64| {
            let read = read.clone();
            self.meter
                .u64_observable_counter(name)
                .with_unit(unit)
                .with_description(text)
                .with_callback(move |observer| {
                    if let Some(now) = read() {
                        observer.observe(value(&now), &[]);
                    }
                })
                .build();
        };
        let unauthenticated = "Requests without a valid credential";
        counter("aldgate.unauthenticated", "{request}", unauthenticated, |now| now.unauthenticated);
        counter("aldgate.panics", "{panic}", "Panics that were caught", |now| now.panics);
        let unrecorded = "Refusals whose evidence could not be written";
        counter("aldgate.evidence.unrecorded", "{refusal}", unrecorded, |now| now.unrecorded);
        let of_upstreams = |name: &'static str, unit, text, value: fn(&UpstreamHealth) -> u64| {
            let read = read.clone();
            self.meter
                .u64_observable_gauge(name)
                .with_unit(unit)
                .with_description(text)
                .with_callback(move |observer| {
                    for upstream in read().into_iter().flat_map(|now| now.upstreams) {
                        let name = KeyValue::new(names::UPSTREAM, Cow::Owned::<str>(upstream.name.clone()));
                        observer.observe(value(&upstream), &[name]);
                    }
                })
                .build();
        };
        let up = "1 where the upstream answered when it was last asked, else 0";
        of_upstreams("aldgate.upstream.up", "{upstream}", up, |upstream| u64::from(upstream.up));
        let changed = "Contracts of the upstream that are not the pinned ones";
        of_upstreams("aldgate.upstream.changed", "{contract}", changed, |upstream| upstream.changed);
    }
}
