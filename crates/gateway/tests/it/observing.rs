//! What traces and metrics say of calls.

mod collector;
mod content;
mod looking;
mod parts;
mod spans;
mod trouble;

use std::fmt::Write as _;

use aldgate_telemetry::{Ring, Settings, SpanRecord, Telemetry};
use aldgate_testkit::{Call, Reply, Upstream};
use serde_json::{Value, json};

use crate::fake;
use crate::world::{Config, World};

const TEXT: &str = r#"{"text":"t"}"#;
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CLIENT: &str = "b7ad6b7169203331";

/// A gateway whose spans are kept.
pub(crate) struct Watched {
    pub(crate) world: World,
    telemetry: Telemetry,
}

fn settings(content: bool) -> Settings {
    Settings {
        service: "aldgate",
        destination: None,
        sample_ratio: 1.0,
        content,
        ring: Some(Ring::new(1000)),
    }
}

fn parent(span: &str, flags: &str) -> String {
    format!("00-{TRACE}-{span}-{flags}")
}

/// The call as a part of the trace that tests look at.
fn traced(call: Call) -> Call {
    call.meta("traceparent", json!(parent(CLIENT, "01")))
}

impl Watched {
    pub(crate) async fn plain() -> Self {
        Self::start(|_| {}).await
    }

    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::start_with(fake::upstream(), settings(false), change).await
    }

    async fn start_with(up: Upstream, settings: Settings, change: impl FnOnce(&mut Config)) -> Self {
        let telemetry = Telemetry::start(settings).unwrap();
        let world = World::start_with(up, |config| {
            config.telemetry = telemetry.clone();
            change(config);
        })
        .await;
        Self { world, telemetry }
    }

    /// Sends it as a part of the trace.
    async fn send(&self, call: Call) -> Reply {
        self.world.send(&traced(call)).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Reply {
        self.send(Call::tool(tool, arguments)).await
    }

    /// The spans of the trace so far.
    pub(crate) fn spans(&self) -> Vec<SpanRecord> {
        self.telemetry.ring().unwrap().trace(TRACE, "default")
    }

    /// The only span of this name and kind.
    fn span(&self, name: &str, kind: &str) -> SpanRecord {
        let mut found: Vec<_> =
            self.spans().into_iter().filter(|span| span.name == name && span.kind == kind).collect();
        assert_eq!(found.len(), 1, "{name} {kind}: {:?}", self.spans());
        found.remove(0)
    }
}

/// How a span ended: its error, `error.type` and the JSON-RPC code.
fn ended(span: &SpanRecord) -> String {
    let said = |name: &str| span.attributes.get(name).and_then(Value::as_str).unwrap_or("-");
    let error = span.error.as_deref().unwrap_or("-");
    format!("{} {} {error}", said("error.type"), said("rpc.response.status_code"))
}

/// Every span with all of its attributes, ids in place of what differs from run to run.
fn shown(spans: &[SpanRecord]) -> String {
    let mut text = String::new();
    for span in spans {
        let above = spans.iter().find(|other| Some(&other.span_id) == span.parent_id.as_ref());
        let above = match (above, span.parent_id.as_deref()) {
            (Some(above), _) => format!("{} {}", above.name, above.kind),
            (None, Some(CLIENT)) => "the client's span".to_owned(),
            (None, other) => format!("{other:?}"),
        };
        writeln!(text, "{} {} within {above}", span.name, span.kind).unwrap();
        for (name, value) in &span.attributes {
            let value = match name.as_str() {
                "client.port" | "server.port" => "PORT".to_owned(),
                "jsonrpc.request.id" | "mcp.request.id" if span.kind == "client" => "OURS".to_owned(),
                "aldgate.call.id" => "CALL".to_owned(),
                "aldgate.approval.id" => "APPROVAL".to_owned(),
                "aldgate.contract.digest" => "DIGEST".to_owned(),
                _ => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            };
            writeln!(text, "  {name} = {value}").unwrap();
        }
    }
    text
}
