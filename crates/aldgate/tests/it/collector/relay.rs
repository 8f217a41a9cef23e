//! Rotel, and what it relays.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use serde_json::{Value, json};

use crate::running::root;

/// How long spans may take until they are here.
const WITHIN: Duration = Duration::from_secs(60);
/// How often a port is looked for.
const ATTEMPTS: usize = 5;

/// A span as the collector relayed it.
#[derive(Clone, Debug)]
pub(super) struct Relayed {
    pub(super) service: String,
    pub(super) schema: String,
    pub(super) trace_id: String,
    pub(super) span_id: String,
    pub(super) parent_id: Option<String>,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) error: Option<String>,
    pub(super) attributes: BTreeMap<String, Value>,
    /// Attributes that stand more than once.
    pub(super) repeated: Vec<String>,
    pub(super) links: Vec<String>,
    start: u64,
    end: u64,
}

impl Relayed {
    /// As the demonstration shows its own.
    pub(super) fn as_shown(&self) -> Value {
        let mut shown = json!({
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "name": self.name,
            "kind": self.kind,
            "service": self.service,
            "start_unix_nano": self.start,
            "duration_us": (self.end - self.start) / 1000,
            "attributes": self.attributes,
        });
        if let Some(parent) = &self.parent_id {
            shown["parent_id"] = json!(parent);
        }
        if let Some(error) = &self.error {
            shown["error"] = json!(error);
        }
        if !self.links.is_empty() {
            shown["links"] = json!(self.links);
        }
        shown
    }
}

#[derive(Default)]
struct Taken {
    spans: Vec<Relayed>,
    metrics: BTreeSet<String>,
}

type Shared = Arc<Mutex<Taken>>;

/// A collector that runs, and what came out of it. It ends when this is dropped.
pub(super) struct Relay {
    /// Where it takes spans and metrics.
    pub(super) collector: String,
    rotel: Child,
    taken: Shared,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl Relay {
    pub(super) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let taken = Shared::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let receiver = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new()
            .route("/v1/traces", post(spans))
            .route("/v1/metrics", post(metrics))
            .with_state(taken.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        let folder = tempfile::tempdir().expect("a folder");
        let (rotel, http) = (0..ATTEMPTS)
            .find_map(|_| started(&receiver, folder.path()))
            .expect("a collector that listens, on one of several free ports");
        Self { collector: format!("http://{http}"), rotel, taken, _runtime: runtime, _folder: folder }
    }

    /// The spans of a trace, as soon as they are `enough`.
    pub(super) fn trace(&self, id: &str, enough: impl Fn(&[Relayed]) -> bool) -> Vec<Relayed> {
        until("the spans", || {
            let mut spans = self.taken.lock().expect("no panic").spans.clone();
            spans.retain(|span| span.trace_id == id);
            spans.sort_by_key(|span| span.start);
            enough(&spans).then_some(spans)
        })
    }

    /// Every span so far.
    pub(super) fn spans(&self) -> Vec<Relayed> {
        self.taken.lock().expect("no panic").spans.clone()
    }

    /// The names of metrics, as soon as they are `enough`.
    pub(super) fn metrics(&self, enough: impl Fn(&BTreeSet<String>) -> bool) -> BTreeSet<String> {
        until("the metrics", || {
            Some(self.taken.lock().expect("no panic").metrics.clone()).filter(|metrics| enough(metrics))
        })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.rotel.kill();
        let _ = self.rotel.wait();
    }
}

/// The collector, and where it listens; `None` where somebody else took the port meanwhile.
fn started(receiver: &str, folder: &Path) -> Option<(Child, String)> {
    let program = Path::new(root()).join(".collector/rotel/rotel-agent");
    assert!(program.is_file(), "run `make test`, which installs the collector first");
    let [http, grpc] = [free(), free()];
    let mut rotel = Command::new(program)
        .arg("start")
        .args(["--otlp-http-endpoint", &http, "--otlp-grpc-endpoint", &grpc])
        .args(["--exporter", "otlp", "--otlp-exporter-protocol", "http"])
        .args(["--otlp-exporter-endpoint", receiver])
        .arg("--pid-file")
        .arg(folder.join("pid"))
        .arg("--log-file")
        .arg(folder.join("log"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the collector starts");
    let listens = until("the collector to listen", || {
        let there = TcpStream::connect(&http).is_ok();
        match rotel.try_wait().expect("its state") {
            Some(_ended) => Some(false),
            None => there.then_some(true),
        }
    });
    listens.then_some((rotel, http))
}

/// A free port of loopback. The collector takes no listener that is open, only an address.
fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + WITHIN;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not come within {} s", WITHIN.as_secs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

async fn spans(State(taken): State<Shared>, body: Bytes) -> impl IntoResponse {
    let request = ExportTraceServiceRequest::decode(unpacked(&body).as_slice()).expect("protobuf");
    let mut taken = taken.lock().expect("no panic");
    for resource in request.resource_spans {
        let attributes = resource.resource.map(|resource| resource.attributes).unwrap_or_default();
        let service = attributes.iter().find(|one| one.key == "service.name").map(|one| json_of(&one.value));
        let service = service.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            taken.spans.push(relayed(&service, &resource.schema_url, span));
        }
    }
    ([(CONTENT_TYPE, "application/x-protobuf")], Bytes::new())
}

async fn metrics(State(taken): State<Shared>, body: Bytes) -> impl IntoResponse {
    let request = ExportMetricsServiceRequest::decode(unpacked(&body).as_slice()).expect("protobuf");
    let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
    let names = scopes.flat_map(|scope| scope.metrics).map(|metric| metric.name);
    taken.lock().expect("no panic").metrics.extend(names);
    ([(CONTENT_TYPE, "application/x-protobuf")], Bytes::new())
}

/// The collector packs what it relays, whatever it is told.
fn unpacked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(body).read_to_end(&mut bytes).expect("gzip");
    bytes
}

fn relayed(service: &str, schema: &str, span: Span) -> Relayed {
    let kind = match span.kind() {
        SpanKind::Client => "client",
        SpanKind::Server => "server",
        SpanKind::Internal => "internal",
        _ => "other",
    };
    let mut attributes = BTreeMap::new();
    let mut repeated = Vec::new();
    for KeyValue { key, value, .. } in &span.attributes {
        if attributes.insert(key.clone(), json_of(value)).is_some() {
            repeated.push(key.clone());
        }
    }
    let error = span.status.as_ref().filter(|status| status.code() == StatusCode::Error);
    Relayed {
        service: service.to_owned(),
        schema: schema.to_owned(),
        trace_id: hex(&span.trace_id),
        span_id: hex(&span.span_id),
        parent_id: Some(hex(&span.parent_span_id)).filter(|parent| !parent.is_empty()),
        name: span.name.clone(),
        kind: kind.to_owned(),
        error: error.map(|status| status.message.clone()),
        attributes,
        repeated,
        links: span
            .links
            .iter()
            .map(|link| format!("{}-{}", hex(&link.trace_id), hex(&link.span_id)))
            .collect(),
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn json_of(value: &Option<AnyValue>) -> Value {
    match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::BoolValue(value)) => json!(value),
        Some(Any::IntValue(value)) => json!(value),
        Some(Any::DoubleValue(value)) => json!(value),
        Some(Any::ArrayValue(array)) => {
            array.values.iter().map(|value| json_of(&Some(value.clone()))).collect()
        }
        _ => Value::Null,
    }
}
