//! Traces and metrics of what is not configured by a file: clients, the demonstration, servers of this program.

use std::sync::Arc;
use std::time::Duration;

use aldgate_telemetry::{Destination, Ring, Settings, Telemetry};

use crate::coded::WithCode as _;

/// Where a collector is, for programs without a configuration file: the variable that OpenTelemetry gives that meaning.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// How long the last spans may take at the end.
const WITHIN: Duration = Duration::from_secs(5);

/// Telemetry of a program that is told by the environment where to send it, and keeps all of it.
pub(crate) fn start(
    service: &'static str,
    content: bool,
    ring: Option<Arc<Ring>>,
) -> miette::Result<Telemetry> {
    let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
    let destination = endpoint.map(|endpoint| Destination { endpoint });
    Telemetry::start(Settings { service, destination, sample_ratio: 1.0, content, ring }).coded()
}

/// Sends what waits, for a few seconds at the most.
pub(crate) async fn finish(telemetry: Telemetry) {
    let sending = tokio::task::spawn_blocking(move || telemetry.shutdown(WITHIN));
    if tokio::time::timeout(WITHIN * 2, sending).await.is_err() {
        tracing::warn!("the last traces and metrics were not sent in time");
    }
}
