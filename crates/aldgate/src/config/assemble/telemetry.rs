//! Traces and metrics of the gateway, as they are configured.

use aldgate_gateway::settings::origin_of;
use aldgate_telemetry::{Destination, Ring, Settings};

use super::AssembleFault;
use crate::config::Loaded;

/// Spans that may be kept in memory; each takes one to two KiB, content not included.
const MOST_SPANS: usize = 100_000;

/// Traces and metrics of the gateway.
pub(super) fn settings(loaded: &Loaded) -> Result<Settings, AssembleFault> {
    let section = &loaded.config.telemetry;
    let wrong = |what: String| Err(AssembleFault::Value { what });
    if !(0.0..=1.0).contains(&section.sample_ratio) {
        return wrong(format!("`telemetry.sample_ratio` is {}; expected 0 to 1", section.sample_ratio));
    }
    if section.spans > MOST_SPANS {
        return wrong(format!("`telemetry.spans` is {}; expected 0 to {MOST_SPANS}", section.spans));
    }
    if let Some(endpoint) = &section.otlp_endpoint {
        let expected = "expected a base URL such as `http://127.0.0.1:4318`";
        if endpoint.contains('@') {
            // Not repeated: there may be a password in it.
            let what = "`telemetry.otlp_endpoint` names a user; credentials come from OTEL_EXPORTER_OTLP_HEADERS, and here";
            return wrong(format!("{what} is {expected}"));
        }
        if origin_of(endpoint).is_none() || endpoint.contains(['?', '#']) {
            return wrong(format!("`telemetry.otlp_endpoint` is `{endpoint}`; {expected}"));
        }
        if endpoint.trim_end_matches('/').ends_with("/v1/traces") {
            let what = "`/v1/traces` and `/v1/metrics` are put behind it";
            return wrong(format!("`telemetry.otlp_endpoint` is `{endpoint}`; {expected}: {what}"));
        }
    }
    Ok(Settings {
        service: "aldgate",
        destination: section.otlp_endpoint.clone().map(|endpoint| Destination { endpoint }),
        sample_ratio: section.sample_ratio,
        content: section.content,
        ring: (section.spans > 0).then(|| Ring::new(section.spans)),
    })
}
