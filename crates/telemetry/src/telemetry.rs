//! What one service has.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use prometheus::{Registry, TextEncoder};

use crate::context::{TraceContext, TraceParent};
use crate::metrics::Instruments;
use crate::names;
use crate::ring::{Ring, ToRing};
use crate::span::{Describe, Kind, Span, same};
use crate::{export, span};

/// Attributes of one span; none has as many.
const ATTRIBUTES: u32 = 128;
/// Links of one span; there is one at the most.
const LINKS: u32 = 8;
/// Events of one span; none has any.
const EVENTS: u32 = 8;

/// Where spans and metrics are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Base URL of a collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`.
    pub endpoint: String,
}

/// What a service is to have.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name, `service.name`.
    pub service: &'static str,
    /// Where spans and metrics are sent, if anywhere.
    pub destination: Option<Destination>,
    /// Which part of the traces that begin here is kept, 0 to 1. A trace that began elsewhere is kept where its beginning
    /// was.
    pub sample_ratio: f64,
    /// Whether arguments and results are kept in spans.
    pub content: bool,
    /// Where the last spans are kept.
    pub ring: Option<Arc<Ring>>,
}

/// Why there is no telemetry.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    /// An exporter that cannot be made.
    #[error(
        "traces and metrics cannot be sent to `{endpoint}`; expected the base URL of an OTLP/HTTP collector"
    )]
    Destination {
        /// The URL.
        endpoint: String,
        /// Why not.
        source: ExporterBuildError,
    },
    /// Metrics that cannot be shown.
    #[error("the metrics cannot be set up")]
    Metrics(#[from] OTelSdkError),
}

/// Tracer, instruments, and where both go. Clones are the same.
#[derive(Clone, Debug)]
pub struct Telemetry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tracer: SdkTracer,
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    instruments: Instruments,
    registry: Registry,
    ring: Option<Arc<Ring>>,
    content: bool,
    sample_ratio: f64,
    on: bool,
}

impl Telemetry {
    /// Telemetry as it is set.
    ///
    /// # Errors
    /// Where an exporter cannot be made. A collector that cannot be reached is no error.
    pub fn start(settings: Settings) -> Result<Self, StartFault> {
        let resource = Resource::builder_empty()
            .with_service_name(settings.service)
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_schema_url([], names::SCHEMA)
            .build();
        let root = Sampler::TraceIdRatioBased(settings.sample_ratio);
        let mut tracers = SdkTracerProvider::builder()
            .with_sampler(Sampler::ParentBased(Box::new(root)))
            // Given, so that no environment variable gives others.
            .with_max_attributes_per_span(ATTRIBUTES)
            .with_max_links_per_span(LINKS)
            .with_max_events_per_span(EVENTS)
            .with_resource(resource.clone());
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .without_target_info()
            .build()?;
        let mut meters = SdkMeterProvider::builder().with_resource(resource).with_reader(exporter);
        if let Some(ring) = settings.ring.clone() {
            tracers = tracers.with_span_processor(ToRing { ring, service: settings.service.into() });
        }
        if let Some(Destination { endpoint }) = settings.destination {
            let (spans, metrics) = export::to(&endpoint)
                .map_err(|source| StartFault::Destination { endpoint: endpoint.clone(), source })?;
            tracers = tracers.with_span_processor(spans);
            meters = meters.with_reader(metrics);
        }
        let (tracers, meters) = (tracers.build(), meters.build());
        Ok(Self(Arc::new(Inner {
            tracer: tracers.tracer("aldgate"),
            instruments: Instruments::new(meters.meter("aldgate")),
            tracers,
            meters,
            registry,
            ring: settings.ring,
            content: settings.content,
            sample_ratio: settings.sample_ratio,
            on: true,
        })))
    }

    /// Telemetry that keeps nothing and sends nothing.
    #[must_use]
    pub fn off() -> Self {
        let tracers = SdkTracerProvider::builder()
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOff)))
            .with_resource(Resource::builder_empty().build())
            .build();
        let meters = SdkMeterProvider::builder().with_resource(Resource::builder_empty().build()).build();
        Self(Arc::new(Inner {
            tracer: tracers.tracer("aldgate"),
            instruments: Instruments::new(meters.meter("aldgate")),
            tracers,
            meters,
            registry: Registry::new(),
            ring: None,
            content: false,
            sample_ratio: 0.0,
            on: false,
        }))
    }

    /// Starts a span.
    #[must_use]
    pub fn span(&self, what: Describe<'_>) -> Span {
        span::Span::start(&self.0.tracer, self.0.content, what)
    }

    /// Starts the span of a request that is served: a part of what its `_meta` names, else of what its headers name, and
    /// linked to the latter where they differ (MCP semantic conventions, context propagation).
    #[must_use]
    pub fn serve(
        &self,
        name: &'static str,
        began: std::time::SystemTime,
        meta: TraceContext<'_>,
        headers: TraceContext<'_>,
    ) -> Span {
        let (of_message, around): (Option<TraceParent>, Option<TraceParent>) =
            (meta.parse(), headers.parse());
        let (parent, link) = match (of_message, around) {
            (Some(parent), Some(around)) if !same(&parent.0, &around.0) => (Some(parent), Some(around)),
            (Some(parent), _) => (Some(parent), None),
            (None, around) => (around, None),
        };
        let what = Describe {
            name: name.into(),
            kind: Kind::Server,
            parent: parent.as_ref(),
            link,
            began: Some(began),
        };
        self.span(what)
    }

    /// The instruments.
    #[must_use]
    pub fn instruments(&self) -> &Instruments {
        &self.0.instruments
    }

    /// Whether arguments and results are kept in spans.
    #[must_use]
    pub fn content(&self) -> bool {
        self.0.content
    }

    /// Whether it is there at all. What is off has no say in whether others keep a trace.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.on
    }

    /// Which part of the traces that begin here is kept.
    #[must_use]
    pub fn sample_ratio(&self) -> f64 {
        self.0.sample_ratio
    }

    /// The last spans, where they are kept.
    #[must_use]
    pub fn ring(&self) -> Option<&Arc<Ring>> {
        self.0.ring.as_ref()
    }

    /// The metrics in Prometheus' text format.
    ///
    /// # Errors
    /// Where they cannot be written, in words for an operator.
    pub fn prometheus(&self) -> Result<String, String> {
        TextEncoder::new().encode_to_string(&self.0.registry.gather()).map_err(|fault| fault.to_string())
    }

    /// Sends what waits and ends the exporters. Blocks, up to `within`; not to be called on a thread that serves tasks.
    pub fn shutdown(&self, within: Duration) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if let Err(fault) = self.0.meters.shutdown_with_timeout(within) {
                    tracing::warn!(
                        error = &fault as &dyn std::error::Error,
                        "the last metrics were not sent"
                    );
                }
            });
            if let Err(fault) = self.0.tracers.shutdown_with_timeout(within) {
                tracing::warn!(error = &fault as &dyn std::error::Error, "the last spans were not sent");
            }
        });
    }
}
