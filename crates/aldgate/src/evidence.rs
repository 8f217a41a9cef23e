//! The evidence server beside the gateway: where it is mounted, who may read, and what it reads.

use std::sync::Arc;

use aldgate_contract::signature::SigningKey;
use aldgate_evidence_server::{
    Admission, Bounds, Denied, Doors, Endpoint, EvidenceServer, Reader, Shelf, Stored, ToolsFault,
};
use aldgate_gateway::{Beside, Gateway, Shown, View};
use aldgate_identity::{DPOP_NONCE, Scopes, Unauthenticated, lacks_scope, scopes};
use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use serde_json::Value;

use crate::identity::Identity;

/// The path of the evidence server on the agents' listener.
pub(crate) const PATH: &str = "/evidence/mcp";
/// Where the public keys are.
pub(crate) const KEYS: &str = "/.well-known/jwks.json";

/// Mounts the evidence server, the public keys and the pages of people beside the gateway. What it gives back is told when the gateway is
/// about to stop.
pub(crate) fn mount(
    gateway: &Gateway,
    doors: &Doors,
    key: &SigningKey,
    identity: &Arc<Identity>,
) -> Result<Arc<EvidenceServer>, ToolsFault> {
    let view = gateway.view();
    let source = Arc::new(Stored::new(gateway.store()));
    let server = Arc::new(EvidenceServer::new(source, shelves(view.shown()), Some(key))?);
    let endpoint = Arc::new(Endpoint::new(
        server.clone(),
        Arc::new(Tenants(view.clone())),
        doors.clone(),
        Bounds::default(),
    ));
    let own = key.public().to_jwk();
    let keys = view.clone();
    let router = Router::new()
        .route(
            PATH,
            any(move |request: Request| async move {
                let response: Response = endpoint.respond(request).await.map(Body::new);
                response
            }),
        )
        .route(KEYS, get(move || async move { public_keys(&keys, own) }))
        .merge(identity.router(doors, gateway.approvals()));
    // What the gateway was started with.
    identity.accepted();
    let (renewed, identity) = (server.clone(), identity.clone());
    gateway.beside(Beside {
        router,
        reloaded: Box::new(move || {
            identity.accepted();
            renewed.replace_shelves(shelves(view.shown()));
        }),
    });
    Ok(server)
}

/// What each upstream's lock holds, for the tenants that it serves.
fn shelves(shown: Vec<Shown>) -> Vec<Shelf> {
    shown.into_iter().map(|Shown { lock, visible, tenants }| Shelf { tenants, lock, visible }).collect()
}

/// The reviewers' keys and the host's own, as a JSON Web Key Set (RFC 7517 §5).
fn public_keys(view: &View, own: Value) -> Response {
    let mut set = view.keyring().jwks();
    if let Some(Value::Array(keys)) = set.get_mut("keys") {
        keys.push(own);
    }
    ([(CACHE_CONTROL, "public, max-age=300")], Json(set)).into_response()
}

/// Principals of the gateway, for whom the policies allow `audit`.
struct Tenants(View);

#[async_trait]
impl Admission for Tenants {
    async fn admit(&self, headers: &HeaderMap) -> Result<Reader, Denied> {
        let identity = self.0.authenticate(headers).await.map_err(|fault| self.unauthenticated(&fault))?;
        let principal = identity.principal;
        let denied = if !identity.scopes.has(scopes::EVIDENCE_READ) {
            Some(self.uncovered(&identity.scopes))
        } else {
            (!self.0.may_audit(&principal)).then_some(Denied::Forbidden)
        };
        let code = denied.as_ref().map(|denied| match denied {
            Denied::Credentials { code, .. } => *code,
            _ => "AG-EVIDENCE-FORBIDDEN",
        });
        let noted = self.0.note_reading(&principal, code).await;
        match (denied, noted) {
            (Some(denied), _) => Err(denied),
            (None, Ok(())) => Ok(Reader::of_tenant(principal.tenant.as_str())),
            (None, Err(fault)) => {
                tracing::error!(
                    error = &fault as &dyn std::error::Error,
                    "a reading of evidence was not recorded"
                );
                Err(Denied::Unrecorded)
            }
        }
    }
}

impl Tenants {
    fn unauthenticated(&self, fault: &Unauthenticated) -> Denied {
        let challenge = fault.challenge(self.0.protected().as_ref());
        let mut headers: Vec<_> = challenge.map(|value| (WWW_AUTHENTICATE, value)).into_iter().collect();
        if let Unauthenticated::Nonce(nonce) = fault {
            headers.push((DPOP_NONCE, nonce.clone()));
        }
        Denied::Credentials {
            status: fault.status(),
            code: fault.code(),
            message: fault.to_string(),
            headers,
        }
    }

    /// A token that was not made for reading evidence.
    fn uncovered(&self, has: &Scopes) -> Denied {
        let needs = scopes::EVIDENCE_READ;
        let message = lacks_scope("this", needs, has);
        let needed = Scopes::of([needs]).unwrap_or_default().and(has);
        let challenge = self.0.protected().map(|of| of.insufficient_scope(&needed, &message));
        let headers = challenge.map(|value| (WWW_AUTHENTICATE, value)).into_iter().collect();
        Denied::Credentials { status: 403, code: "AG-SCOPE", message, headers }
    }
}
