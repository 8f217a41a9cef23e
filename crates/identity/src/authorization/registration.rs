//! Clients that register themselves (RFC 7591), for those that know no other way. Off by default.

use std::sync::Arc;

use aldgate_store::identity::StoredClient;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde_json::json;

use super::client::{ClientFault, ClientMethod, ClientRecord};
use super::params;
use super::redirect::{self, Place};
use super::refusal::{Code, Refusal, RequestId, answer, refuse};
use super::{AuthorizationServer, millis, random};
use crate::people::Source;
use crate::people::throttle::Wait;

#[derive(Deserialize)]
struct Registration {
    redirect_uris: Option<Vec<String>>,
    client_name: Option<String>,
    token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    application_type: Option<String>,
    jwks: Option<JwkSet>,
}

pub(super) async fn endpoint(
    State(server): State<Arc<AuthorizationServer>>,
    source: Option<Extension<Source>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let id = RequestId::fresh();
    let source = source.map_or(Source::UNKNOWN, |Extension(source)| source);
    server.registered(source, &headers, body).await.unwrap_or_else(|refusal| refusal.response(&id))
}

impl AuthorizationServer {
    async fn registered(&self, source: Source, headers: &HeaderMap, body: Body) -> Result<Response, Refusal> {
        let now = self.now();
        let kind =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let bare = kind.split(';').next().unwrap_or_default().trim();
        if !bare.eq_ignore_ascii_case("application/json") {
            return Err(refuse(Code::InvalidRequest, "content type", kind, "application/json"));
        }
        let bytes = params::bytes(body).await?;
        let asked: Registration = serde_json::from_slice(&bytes).map_err(|_| {
            let expected = "a JSON object with redirect_uris and client_name";
            refuse(Code::InvalidClientMetadata, "body", "another form", expected)
        })?;
        let application_type = asked.application_type.clone().unwrap_or_else(|| "native".to_owned());
        let (record, grant_types) = record(asked)?;
        let of = hex::encode(source.counted()).into_boxed_str();
        self.registrations.take(&of, millis(now)).map_err(|Wait(wait)| {
            let seconds = wait.as_secs().saturating_add(1);
            let expected = format!("fewer registrations from one address; try again in {seconds} s");
            refuse(
                Code::TemporarilyUnavailable,
                "registration",
                "one more client from this address",
                expected,
            )
        })?;
        let id = format!("dyn_{}", hex::encode(random::<16>().map_err(|_| super::no_seal())?));
        let stored = StoredClient {
            id: id.clone(),
            dynamic: true,
            record: serde_json::to_string(&record).map_err(|fault| Refusal::ours("client", &fault))?,
            secret: None,
            disabled: false,
            created_at: millis(now),
            used_at: None,
        };
        let unused_since = millis(now - self.settings.unused_clients_kept);
        let idle_since = millis(now - self.settings.idle_clients_kept);
        let most = self.settings.most_dynamic_clients;
        let added = self.store.add_dynamic_client(&stored, most, unused_since, idle_since).await;
        if !added.map_err(|fault| Refusal::ours("client", &fault))? {
            let sent = format!("one more than the {most} clients that may register themselves");
            let expected = "room; use a client metadata document, or try again later";
            return Err(refuse(Code::TemporarilyUnavailable, "registration", sent, expected));
        }
        tracing::info!(client = id, name = record.name, "a client registered itself");
        let mut body = json!({
            "client_id": id, "client_id_issued_at": now.unix_timestamp(), "client_name": record.name,
            "redirect_uris": record.redirect_uris, "grant_types": grant_types, "response_types": ["code"],
            "token_endpoint_auth_method": record.method, "application_type": application_type,
        });
        if let (Some(members), Some(jwks)) = (body.as_object_mut(), &record.jwks) {
            members.insert("jwks".to_owned(), json!(jwks));
        }
        Ok(answer(StatusCode::CREATED, &body))
    }
}

/// What is kept of it. Secrets are not given out to those who register themselves: a client that asked for one is
/// registered as a public one, as the answer says (RFC 7591 §3.2.1).
fn record(asked: Registration) -> Result<(ClientRecord, Vec<String>), Refusal> {
    let wrong = |step, sent: &str, expected: &str| refuse(Code::InvalidClientMetadata, step, sent, expected);
    let method = match asked.token_endpoint_auth_method.as_deref() {
        None | Some("none" | "client_secret_basic" | "client_secret_post") => ClientMethod::Public,
        Some("private_key_jwt") => ClientMethod::Assertion,
        Some(other) => {
            return Err(wrong("token_endpoint_auth_method", other, "none or private_key_jwt"));
        }
    };
    let grants = asked.grant_types.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
    if !grants.iter().any(|grant| grant == "authorization_code") {
        return Err(wrong("grant_types", &grants.join(" "), "authorization_code among them"));
    }
    if let Some(types) = asked.response_types.filter(|types| !types.iter().any(|one| one == "code")) {
        return Err(wrong("response_types", &types.join(" "), "code among them"));
    }
    let refresh = grants.iter().any(|grant| grant == "refresh_token");
    let record = ClientRecord {
        name: asked.client_name.unwrap_or_else(|| "A program without a name".to_owned()),
        redirect_uris: asked.redirect_uris.unwrap_or_default(),
        method,
        jwks: asked.jwks.filter(|_| method == ClientMethod::Assertion),
        refresh,
        scope: None,
        service: None,
        exchange_for: Vec::new(),
    };
    record.check_stranger().map_err(|fault| {
        let code = match fault {
            ClientFault::Redirect { .. } | ClientFault::TooMany { .. } | ClientFault::Useless => {
                Code::InvalidRedirectUri
            }
            _ => Code::InvalidClientMetadata,
        };
        refuse(code, "client metadata", fault.to_string(), "metadata of a client that can be used here")
    })?;
    let on_sites = record.redirect_uris.iter().all(|uri| matches!(redirect::place(uri), Ok(Place::Site(_))));
    match asked.application_type.as_deref() {
        None | Some("native") => {}
        Some("web") if on_sites => {}
        Some("web") => {
            let expected = "https redirect URIs, or application_type native";
            return Err(refuse(Code::InvalidRedirectUri, "application_type", "web", expected));
        }
        Some(other) => return Err(wrong("application_type", other, "native or web")),
    }
    let kept = if refresh { vec!["authorization_code", "refresh_token"] } else { vec!["authorization_code"] };
    Ok((record, kept.into_iter().map(str::to_owned).collect()))
}
