//! The API for the people and programs that run the gateway: approvals, evidence, status. On its own listener, with the
//! same identities; every route asks the policies.

mod approvals;
mod evidence;
mod fault;
mod quarantine;
mod reload;
mod status;
mod tools;
mod traces;

use std::sync::Arc;

use aldgate_authority::{Action, Principal};
use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::request::Parts;
use time::OffsetDateTime;

use crate::gate::Gate;
use crate::head;
use fault::AdminFault;

/// Bytes of a request's body.
const BODY: usize = 16 << 10;
/// How long the body of a request may take.
const WITHIN: std::time::Duration = std::time::Duration::from_secs(30);

/// All routes of the API.
pub(crate) fn router(gate: Arc<Gate>) -> Router {
    Router::new()
        .route("/v1/status", get(status::status))
        .route("/v1/reload", post(reload::reload))
        .route("/v1/quarantine/release", post(quarantine::release))
        .route("/v1/tools/{name}", get(tools::show))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", get(approvals::show))
        .route("/v1/approvals/{id}/decision", post(approvals::decide))
        .route("/v1/traces", get(traces::list))
        .route("/v1/traces/{id}", get(traces::show))
        .route("/metrics", get(traces::metrics))
        .route("/v1/evidence", get(evidence::list))
        .route("/v1/evidence/{call}", get(evidence::show))
        .fallback(|| async { AdminFault::no_route() })
        .layer(middleware::from_fn_with_state(gate.clone(), door))
        .route("/healthz", get(healthz).with_state(gate.clone()))
        .with_state(gate)
}

/// A healthy gateway answers `ok`.
async fn healthz(State(gate): State<Arc<Gate>>) -> Response {
    match gate.store.ping().await {
        Ok(()) => "ok\n".into_response(),
        Err(fault) => {
            tracing::error!(error = &fault as &dyn std::error::Error, "the store is not well");
            AdminFault::new(503, "AG-STORE", "the store does not take rows; see the gateway's log")
                .into_response()
        }
    }
}

/// `Host` and `Origin` are checked as on the other listener. The body has to come in time; then the request is worked to its
/// end whether or not its client stays, so that what is decided is also told to those who wait for it.
async fn door(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = head::doorway(&gate.settings.doors, &parts) {
        return AdminFault::new(refusal.http_status(), refusal.code(), refusal.to_string()).into_response();
    }
    let body = match tokio::time::timeout(WITHIN, axum::body::to_bytes(body, BODY)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return AdminFault::bad("the body was cut off, or has more than 16 KiB").into_response();
        }
        Err(_) => {
            let message = "the request did not come within 30 s; nothing was done";
            return AdminFault::new(408, "AG-ADMIN-SLOW", message).into_response();
        }
    };
    let worked = tokio::spawn(next.run(Request::from_parts(parts, body.into()))).await;
    worked.unwrap_or_else(|fault| {
        tracing::error!(error = &fault as &dyn std::error::Error, "a request to the admin API broke");
        AdminFault::new(500, "AG-INTERNAL", "the gateway failed; see its log").into_response()
    })
}

/// The authenticated principal of a request.
struct Caller(Arc<Principal>);

impl FromRequestParts<Arc<Gate>> for Caller {
    type Rejection = AdminFault;

    async fn from_request_parts(parts: &mut Parts, gate: &Arc<Gate>) -> Result<Self, AdminFault> {
        let mut values = parts.headers.get_all(http::header::AUTHORIZATION).iter();
        let value = values.next().map(http::HeaderValue::as_bytes);
        if values.next().is_some() {
            return Err(AdminFault::new(
                400,
                "AG-HEAD-REPEATED",
                "the header `authorization` stands more than once",
            ));
        }
        let authenticated = gate.snapshot().identity.authenticate(value, OffsetDateTime::now_utc()).await;
        authenticated.map(|identity| Self(identity.principal)).map_err(|fault| {
            gate.counters.count_unauthenticated();
            AdminFault::unauthenticated(&fault)
        })
    }
}

impl Caller {
    /// Checks that the policies allow an action on the gateway itself.
    fn may(&self, gate: &Gate, action: Action) -> Result<(), AdminFault> {
        gate.snapshot().authorizer.may(&self.0, action).map_err(|_reasons| {
            let message = format!(
                "`{}` may not `{}` here; a policy would have to permit it",
                self.0.name,
                action.as_str()
            );
            AdminFault::new(403, "AG-ADMIN-FORBIDDEN", message)
        })
    }
}
