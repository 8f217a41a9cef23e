//! An MCP server with every fixture that the official conformance suite names for the revision 2026-07-28, but those of
//! the Tasks extension.
//!
//! Tools, prompts and resources stand in `definitions.json`. What they answer is written here as it stands on the wire.
//! Every answer is a stream of events, so that whoever stands in front of this server has to pass streams on.

mod asking;
mod changes;
mod content;
mod definitions;
mod diagnostics;
mod handler;
mod prompts;
mod resources;
mod rounds;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use handler::{Everything, Shared};

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum EverythingFault {
    /// The definitions are not what the protocol's types expect.
    #[error("the built-in file `definitions.json` cannot be read; rebuild from an unmodified source tree")]
    Definitions(#[source] serde_json::Error),
    /// The key that states are sealed with was refused.
    #[error("states cannot be sealed with the key that was made for it")]
    Key(#[source] rmcp::model::RequestStateError),
    /// Connections could not be taken.
    #[error("the server cannot take connections")]
    Serve(#[source] std::io::Error),
}

/// A router that serves at `/mcp`. It keeps nothing between requests but a sealing key of its own and who listens now.
/// `Host` and `Origin` must be of loopback.
///
/// # Errors
/// Where the definitions or the key are not usable, which no input can bring about.
pub fn router() -> Result<Router, EverythingFault> {
    let shared = Arc::new(Shared::new()?);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(false)
        .with_sse_retry(None)
        .with_stateless_protocol_metadata_required(true)
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]);
    let service = StreamableHttpService::new(
        move || Ok(Everything::new(shared.clone())),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Ok(Router::new().route_service("/mcp", service))
}

/// Serves [`router`] until it is dropped.
///
/// # Errors
/// As [`router`], and where connections cannot be taken.
pub async fn serve(listener: TcpListener) -> Result<(), EverythingFault> {
    let router = router()?;
    let listener = listener.tap_io(|stream| {
        // A connection without it is only slower.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await.map_err(EverythingFault::Serve)
}
