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
use aldgate_identity::{Door, Presented, Proof, Scopes, Unauthenticated, scopes};
use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use time::OffsetDateTime;

use crate::gate::Gate;
use crate::identify::DPOP;
use crate::{head, metadata};
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
    if let Some(metadata) = metadata::answer(&gate, metadata::ADMIN, &request) {
        return metadata;
    }
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

/// The authenticated principal of a request, and what its token may be used for.
struct Caller(Arc<Principal>, Arc<Scopes>);

impl FromRequestParts<Arc<Gate>> for Caller {
    type Rejection = AdminFault;

    async fn from_request_parts(parts: &mut Parts, gate: &Arc<Gate>) -> Result<Self, AdminFault> {
        let value = single(&parts.headers, &AUTHORIZATION)?;
        let proof = Proof::Sent(single(&parts.headers, &DPOP)?);
        let snapshot = gate.snapshot();
        let base = gate.settings.reach.doors.url(Door::Admin);
        let url = format!("{}{}", base.strip_suffix("/v1").unwrap_or(base), parts.uri.path());
        let method = parts.method.as_str();
        let doors = doors(&parts.method, parts.uri.path());
        let mut refused: Option<(Unauthenticated, Door)> = None;
        for door in doors {
            let presented = Presented { authorization: value, proof, method, url: &url, door: *door };
            match snapshot.identity.authenticate(&presented, OffsetDateTime::now_utc()).await {
                Ok(identity) => return Ok(Self(identity.principal, identity.scopes)),
                Err(fault) => {
                    let tells_more =
                        refused.as_ref().is_none_or(|(before, _)| is_of_door(&fault) && !is_of_door(before));
                    refused = if tells_more { Some((fault, *door)) } else { refused };
                }
            }
        }
        gate.counters.count_unauthenticated();
        let (fault, door) = refused.unwrap_or((Unauthenticated::Unknown, Door::Admin));
        // Who has no token yet is told of the door that the path is the URL of.
        let door =
            if fault == Unauthenticated::Missing { doors.last().copied().unwrap_or(door) } else { door };
        Err(AdminFault::unauthenticated(&fault, gate.protected(&snapshot, door).as_ref()))
    }
}

/// The value of a header that may stand once: two readers could take different ones of two.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a [u8]>, AdminFault> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(HeaderValue::as_bytes);
    if values.next().is_some() {
        let message = format!("the header `{name}` stands more than once; send it once");
        return Err(AdminFault::new(400, "AG-HEAD-REPEATED", message));
    }
    Ok(value)
}

/// Whether a token is for the door that refused it with this: it came beyond the check of its audience.
fn is_of_door(fault: &Unauthenticated) -> bool {
    use Unauthenticated::{Expired, Nonce, Proof, Unavailable};
    matches!(fault, Nonce(_) | Proof(_) | Expired | Unavailable)
}

/// The doors whose tokens are taken at a path. A token for decisions is for nothing but them, and for what is read to decide.
fn doors(method: &Method, path: &str) -> &'static [Door] {
    match path.strip_prefix("/v1/approvals") {
        Some(_) if method == Method::POST => &[Door::Decisions],
        Some(rest) if rest.is_empty() || rest.starts_with('/') => &[Door::Admin, Door::Decisions],
        _ => &[Door::Admin],
    }
}

impl Caller {
    /// Checks that the token was made for one of these scopes.
    fn covered(&self, gate: &Gate, door: Door, scopes: &[&str]) -> Result<(), AdminFault> {
        if scopes.iter().any(|scope| self.1.has(scope)) {
            return Ok(());
        }
        let needs = scopes.first().copied().unwrap_or_default();
        Err(AdminFault::scope(needs, &self.1, gate.protected(&gate.snapshot(), door).as_ref()))
    }

    /// Checks that the token was made for an action on the gateway itself, and that the policies allow it.
    fn may(&self, gate: &Gate, action: Action) -> Result<(), AdminFault> {
        let scope = if action == Action::Audit { scopes::EVIDENCE_READ } else { scopes::ADMIN };
        self.covered(gate, Door::Admin, &[scope])?;
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
