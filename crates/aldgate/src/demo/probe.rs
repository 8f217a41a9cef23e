//! Whether the servers are closed to everyone but the gateway, tried from outside.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::stage::Stage;

/// Whether each server answers `401` to a request that does not carry the secret of this run. `None` where they are not
/// reached over HTTP.
pub(super) async fn refused_without_secret(stage: &Stage) -> Option<bool> {
    let base = stage.servers()?;
    let client: Client<HttpConnector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).build(HttpConnector::new());
    for server in ["tickets", "parts", "manuals"] {
        let request = Request::post(format!("{base}/{server}/mcp"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from_static(b"{}")))
            .ok()?;
        let answer = tokio::time::timeout(Duration::from_secs(10), client.request(request)).await;
        match answer {
            Ok(Ok(response)) if response.status() == StatusCode::UNAUTHORIZED => {}
            _ => return Some(false),
        }
    }
    Some(true)
}
