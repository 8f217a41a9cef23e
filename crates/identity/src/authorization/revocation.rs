//! Revocation (RFC 7009): a client gives back what it has.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde_json::json;

use super::AuthorizationServer;
use super::params::Params;
use super::refusal::{Code, Refusal, RequestId, answer, refuse};
use super::tokens::{Claims, Handle, HandleKind};

pub(super) async fn endpoint(
    State(server): State<Arc<AuthorizationServer>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let id = RequestId::fresh();
    match server.give_back(&headers, body).await {
        Ok(()) => answer(StatusCode::OK, &json!({})),
        Err(refusal) => refusal.response(&id),
    }
}

impl AuthorizationServer {
    /// Revokes the whole grant that a token is of. What is not a token of this client is no reason to refuse (RFC 7009 §2.2).
    async fn give_back(&self, headers: &HeaderMap, body: Body) -> Result<(), Refusal> {
        let params = &Params::of_form(headers, body).await?;
        let client = self.authenticate(headers, params, self.now()).await?;
        let token = params.required("token")?;
        let grant = if let Some(handle) = Handle::open(HandleKind::Refresh, &self.seal, token) {
            Some(handle.grant)
        } else {
            let claims: Option<Claims> = self.keys.load().verify(token);
            match claims.filter(|claims| claims.client_id == client.id) {
                // It belongs to whom it was granted: one who was lent it cannot take it away.
                Some(claims) if claims.act.is_none() && claims.grant.is_some() => claims.grant,
                Some(_) => {
                    let expected = "a token that a person granted; this one ends by itself";
                    return Err(refuse(Code::UnsupportedTokenType, "token", "one of a service", expected));
                }
                None => None,
            }
        };
        let Some(grant) = grant else { return Ok(()) };
        let found = self.store.grant(&grant).await.map_err(|fault| Refusal::ours("token", &fault))?;
        match found {
            Some(found) if found.client == client.id => self.revoke(&grant).await,
            _ => Ok(()),
        }
    }
}
