//! What the server says of itself (RFC 8414), and its public keys (RFC 7517).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::AuthorizationServer;
use super::assertion::ALGORITHMS;
use super::refusal::answer;
use crate::proof;

pub(super) async fn document(State(server): State<Arc<AuthorizationServer>>) -> Response {
    let settings = &server.settings;
    let methods = ["none", "private_key_jwt", "client_secret_basic", "client_secret_post"];
    let scopes = settings.every_scope();
    let mut document = json!({
        "issuer": settings.issuer,
        "authorization_endpoint": settings.url("/oauth/authorize"),
        "token_endpoint": settings.url("/oauth/token"),
        "jwks_uri": settings.url("/oauth/jwks.json"),
        "revocation_endpoint": settings.url("/oauth/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", "client_credentials", super::exchange::GRANT_TYPE,
        ],
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login", "consent"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": settings.client_metadata,
        "token_endpoint_auth_methods_supported": methods,
        "token_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "revocation_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_signing_alg_values_supported": ALGORITHMS,
        "scopes_supported": scopes.iter().collect::<Vec<_>>(),
        "dpop_signing_alg_values_supported": proof::ALGORITHMS,
    });
    if settings.dynamic_registration
        && let Some(members) = document.as_object_mut()
    {
        members.insert("registration_endpoint".to_owned(), json!(settings.url("/oauth/register")));
    }
    public(answer(StatusCode::OK, &document))
}

pub(super) async fn keys(State(server): State<Arc<AuthorizationServer>>) -> Response {
    public(answer(StatusCode::OK, &json!(*server.jwks())))
}

/// The same for everybody: it may be kept for a while.
fn public(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.remove(header::PRAGMA);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    response
}
