//! The strict HTTP front of each server. It checks everything that the transport demands before `rmcp` sees the
//! request, and completes every result afterwards.

mod envelope;
mod guard;
mod params;
mod reply;
mod trace;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use aldgate_telemetry::Telemetry;
use aldgate_telemetry::attributes::Way;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) use guard::Allowed;

use crate::desk::{Desk, Features};
use crate::handler::Served;
use crate::identity::Identity;
use crate::options::Access;
use envelope::Envelope;
use reply::Refusal;
use trace::RequestSpan;

/// Longest request body in bytes.
const LONGEST_BODY: usize = 256 * 1024;
/// Requests in progress for one server; further ones are told to come again.
const IN_PROGRESS: usize = 64;
/// Streams that listen at the same time for one server.
const LISTENING: usize = 64;
/// A body has to arrive within this time: it holds a place meanwhile.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// A request that takes longer than this has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Who looks at the requests of a server, and how they come.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) telemetry: Telemetry,
    pub(crate) way: Way,
}

/// One server behind its front. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Front {
    inner: Arc<Inner>,
}

struct Inner {
    service: StreamableHttpService<Served, NeverSessionManager>,
    identity: Arc<Identity>,
    features: Features,
    access: Access,
    allowed: Allowed,
    observed: Observed,
    in_progress: Arc<Semaphore>,
    listening: Arc<Semaphore>,
}

impl Front {
    pub(crate) fn new(
        desk: Arc<dyn Desk>,
        access: Access,
        allowed: Allowed,
        observed: Observed,
    ) -> Result<Front, serde_json::Error> {
        let identity = Arc::new(Identity::of(desk.as_ref())?);
        let features = desk.features();
        // Host and Origin are checked here, with answers of our own.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(2 * LONGEST_BODY)
            .with_stateless_protocol_metadata_required(true)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let served = identity.clone();
        let service = StreamableHttpService::new(
            move || Ok(Served::new(desk.clone(), served.clone())),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Ok(Front {
            inner: Arc::new(Inner {
                service,
                identity,
                features,
                access,
                allowed,
                observed,
                in_progress: Arc::new(Semaphore::new(IN_PROGRESS)),
                listening: Arc::new(Semaphore::new(LISTENING)),
            }),
        })
    }

    #[cfg(test)]
    pub(crate) fn free_places(&self) -> usize {
        self.inner.in_progress.available_permits()
    }

    /// A router that serves this server at `path`.
    pub(crate) fn router(self, path: &str) -> Router {
        Router::new().route(path, axum::routing::any(serve)).with_state(self)
    }
}

async fn serve(State(front): State<Front>, request: Request) -> Response {
    front.answer(request).await.unwrap_or_else(Refusal::into_response)
}

impl Front {
    async fn answer(&self, request: Request) -> Result<Response, Refusal> {
        let inner = &self.inner;
        let (parts, body) = request.into_parts();
        guard::origin(&parts, &inner.allowed)?;
        if parts.method != Method::POST {
            return Err(Refusal::method_not_allowed());
        }
        guard::access(&parts.headers, &inner.access)?;
        guard::content(&parts.headers)?;
        let permit = permit(&inner.in_progress)?;

        let body = tokio::time::timeout(BODY_TIMEOUT, read(body))
            .await
            .map_err(|_| Refusal::plain(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))??;
        let Some(envelope) = Envelope::read(&body)? else {
            // A notification: nothing here waits for one.
            return Ok(reply::accepted());
        };
        envelope.check(&parts.headers, inner.features)?;
        params::check(&envelope)?;

        let observed = &inner.observed;
        let mut span = trace::span(&observed.telemetry, observed.way, &envelope, &parts.headers);
        let answered = self.work(&envelope, parts, permit, &mut span).await;
        if let Err(refusal) = &answered {
            span.ended(&refusal.seen());
        }
        answered
    }

    async fn work(
        &self,
        envelope: &Envelope,
        mut parts: http::request::Parts,
        mut permit: OwnedSemaphorePermit,
        span: &mut RequestSpan,
    ) -> Result<Response, Refusal> {
        let inner = &self.inner;
        if envelope.method == "subscriptions/listen" {
            permit = self::permit(&inner.listening)?;
        }
        parts.headers.remove(http::header::CONTENT_LENGTH);
        // `rmcp` wants a host even where it checks none; a call inside the process has none.
        parts.headers.entry(http::header::HOST).or_insert(http::HeaderValue::from_static("localhost"));
        let request = Request::from_parts(parts, Body::from(envelope.bytes()));
        let answer = tokio::time::timeout(TIMEOUT, inner.service.handle(request))
            .await
            .map_err(|_| Refusal::internal(&envelope.id, "the request took too long"))?;
        reply::complete(answer, envelope, &inner.identity.server_info, span, permit).await
    }
}

fn permit(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Refusal> {
    semaphore.clone().try_acquire_owned().map_err(|_| Refusal::busy())
}

async fn read(body: Body) -> Result<bytes::Bytes, Refusal> {
    match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(fault) if fault.is::<LengthLimitError>() => Err(Refusal::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is longer than {LONGEST_BODY} bytes"),
        )),
        Err(_) => Err(Refusal::plain(StatusCode::BAD_REQUEST, "the body could not be read")),
    }
}
