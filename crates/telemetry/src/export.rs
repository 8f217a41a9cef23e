//! Where spans and metrics go beside the ring: OTLP over HTTP, protobuf.

#[cfg(test)]
mod tests;

use std::time::Duration;

use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::metrics::PeriodicReader;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor};

/// Spans that wait to be sent; more are dropped.
const QUEUE: usize = 2048;
/// Spans that are sent together.
const BATCH: usize = 512;
/// How often what waits is sent.
const EVERY: Duration = Duration::from_secs(2);
/// How often metrics are sent.
const METRICS_EVERY: Duration = Duration::from_secs(15);
/// How long the collector may take.
const WITHIN: Duration = Duration::from_secs(5);

/// Both exporters. Their client may not be made on a thread that serves tasks, so it is made on one of its own.
pub(crate) fn to(
    endpoint: &str,
) -> Result<(BatchSpanProcessor, PeriodicReader<MetricExporter>), ExporterBuildError> {
    let base = endpoint.trim_end_matches('/');
    let built = std::thread::scope(|scope| {
        let building = scope.spawn(|| {
            let client = client()?;
            let spans = SpanExporter::builder()
                .with_http()
                .with_http_client(client.clone())
                .with_protocol(Protocol::HttpBinary)
                .with_endpoint(format!("{base}/v1/traces"))
                .with_timeout(WITHIN)
                .build()?;
            let metrics = MetricExporter::builder()
                .with_http()
                .with_http_client(client)
                .with_protocol(Protocol::HttpBinary)
                .with_endpoint(format!("{base}/v1/metrics"))
                .with_timeout(WITHIN)
                .build()?;
            Ok((spans, metrics))
        });
        building.join()
    });
    let (spans, metrics) = match built {
        Ok(built) => built?,
        Err(_panic) => {
            return Err(ExporterBuildError::InternalFailure("the exporter's thread broke".to_owned()));
        }
    };
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE)
        .with_max_export_batch_size(BATCH)
        .with_scheduled_delay(EVERY)
        .build();
    let spans = BatchSpanProcessor::builder(spans).with_batch_config(config).build();
    Ok((spans, PeriodicReader::builder(metrics).with_interval(METRICS_EVERY).build()))
}

/// No redirects and no proxy: what stands in spans goes to the collector that the host named.
fn client() -> Result<reqwest::blocking::Client, ExporterBuildError> {
    reqwest::blocking::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(WITHIN)
        .build()
        .map_err(|fault| ExporterBuildError::InternalFailure(fault.to_string()))
}
