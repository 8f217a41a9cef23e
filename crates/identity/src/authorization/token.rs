//! The token endpoint: `POST /oauth/token` (RFC 6749 §5), with proofs of possession (RFC 9449 §5).

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::client::Client;
use super::params::Params;
use super::refusal::{Code, Refusal, RequestId, answer, refuse};
use super::tokens::{Actor, Claims, Confirmation, Kind};
use super::{AuthorizationServer, exchange, millis, random};
use crate::Scopes;
use crate::proof::{self, Asked, NonceRule, ProofFault};
use crate::scopes::APPROVALS_DECIDE;

/// A token request whose client proved who it is.
pub(super) struct TokenRequest<'a> {
    pub(super) params: &'a Params,
    pub(super) client: Client,
    /// The proof of possession, which is not taken yet.
    pub(super) proven: Option<proof::Proven>,
    /// Thumbprint of the key that the client proved to hold.
    pub(super) jkt: Option<String>,
    pub(super) now: OffsetDateTime,
}

/// Whom and what an access token is to be of.
pub(super) struct Issue {
    pub(super) subject: String,
    pub(super) name: String,
    pub(super) tenant: String,
    pub(super) roles: BTreeSet<String>,
    pub(super) kind: Kind,
    pub(super) resource: String,
    pub(super) scopes: Scopes,
    pub(super) auth_time: Option<i64>,
    pub(super) grant: Option<String>,
    pub(super) actor: Option<Actor>,
    /// It has to end by then, seconds since 1970.
    pub(super) until: Option<i64>,
}

/// What a grant type hands out.
pub(super) struct Issued {
    pub(super) issue: Issue,
    pub(super) refresh_token: Option<String>,
}

pub(super) async fn endpoint(
    State(server): State<Arc<AuthorizationServer>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let id = RequestId::fresh();
    let mut response = server.token(&headers, body).await.unwrap_or_else(|refusal| {
        let mut response = refusal.response(&id);
        // Who tried it by the header is told so in the header (RFC 6749 §5.2).
        if refusal.code == Code::InvalidClient && headers.contains_key(http::header::AUTHORIZATION) {
            let value = HeaderValue::from_static("Basic realm=\"aldgate\"");
            response.headers_mut().insert(http::header::WWW_AUTHENTICATE, value);
        }
        response
    });
    if headers.contains_key("dpop")
        && server.settings.require_nonce
        && let Some(nonce) = server.nonce()
    {
        response.headers_mut().insert("dpop-nonce", nonce);
    }
    response
}

impl AuthorizationServer {
    async fn token(&self, headers: &HeaderMap, body: Body) -> Result<Response, Refusal> {
        let params = &Params::of_form(headers, body).await?;
        let now = self.now();
        let grant_type = params.required("grant_type")?;
        let proven = self.proven(headers, now)?;
        if proven.as_ref().is_some_and(|proven| self.replays.came(proven)) {
            return Err(proof_refused(&ProofFault::Replayed));
        }
        let client = self.authenticate(headers, params, now).await?;
        let jkt = proven.as_ref().map(|proven| proven.thumbprint.clone());
        let request = TokenRequest { params, client, proven, jkt, now };
        let issued = match grant_type {
            "authorization_code" => self.by_code(&request).await?,
            "refresh_token" => self.by_refresh_token(&request).await?,
            "client_credentials" => self.by_itself(&request)?,
            exchange::GRANT_TYPE => self.by_exchange(&request).await?,
            other => {
                let expected = format!(
                    "authorization_code, refresh_token, client_credentials or {}",
                    exchange::GRANT_TYPE
                );
                return Err(refuse(Code::UnsupportedGrantType, "grant_type", other, expected));
            }
        };
        // The family is advanced: without this answer the client would have lost it. The note only keeps it from being
        // swept out as unused.
        if let Err(fault) = self.store.note_client_used(&request.client.id, millis(now)).await {
            tracing::error!(client = request.client.id, %fault, "the use of a client cannot be noted");
        }
        self.hand_out(&request, issued, grant_type == exchange::GRANT_TYPE)
    }

    /// Takes the proof of a request, once. Each grant type does it when all else was found good, so that nobody fills the
    /// memory of proofs who gets nothing; and before a handle is used, so that a full memory costs nobody a family.
    pub(super) fn take_proof(&self, request: &TokenRequest<'_>) -> Result<(), Refusal> {
        let Some(proven) = &request.proven else { return Ok(()) };
        self.replays.first(proven, request.now).map_err(|fault| proof_refused(&fault))
    }

    fn hand_out(
        &self,
        request: &TokenRequest<'_>,
        issued: Issued,
        exchanged: bool,
    ) -> Result<Response, Refusal> {
        let Issued { issue, refresh_token } = issued;
        let life = self.life(&issue.scopes);
        let iat = request.now.unix_timestamp();
        let exp = (request.now + life).unix_timestamp();
        let exp = issue.until.map_or(exp, |until| exp.min(until));
        let scope = issue.scopes.to_string();
        let jti = random::<16>().map_err(|_| super::no_seal())?;
        let claims = Claims {
            iss: self.settings.issuer.clone(),
            sub: issue.subject,
            aud: issue.resource,
            exp,
            iat,
            nbf: iat,
            jti: URL_SAFE_NO_PAD.encode(jti),
            client_id: request.client.id.clone(),
            scope: scope.clone(),
            auth_time: issue.auth_time,
            tenant: issue.tenant,
            roles: issue.roles,
            kind: issue.kind,
            name: issue.name,
            grant: issue.grant,
            cnf: request.jkt.clone().map(|jkt| Confirmation { jkt }),
            act: issue.actor,
        };
        let signed = self.keys.load().sign(&claims);
        let token = signed.map_err(|fault| Refusal::ours("access token", &fault))?;
        tracing::info!(
            client = claims.client_id,
            subject = claims.sub,
            resource = claims.aud,
            scope,
            jti = claims.jti,
            "handed out an access token",
        );
        let kind = if claims.cnf.is_some() { "DPoP" } else { "Bearer" };
        let mut body = json!({
            "access_token": token, "token_type": kind, "expires_in": exp - iat, "scope": scope,
        });
        if let Some(members) = body.as_object_mut() {
            if let Some(refresh_token) = refresh_token {
                members.insert("refresh_token".to_owned(), json!(refresh_token));
            }
            if exchanged {
                members.insert("issued_token_type".to_owned(), json!(exchange::ACCESS_TOKEN));
            }
        }
        Ok(answer(StatusCode::OK, &body))
    }

    /// How long an access token with these scopes lives.
    pub(super) fn life(&self, scopes: &Scopes) -> Duration {
        let decides = scopes.has(APPROVALS_DECIDE);
        if decides { self.settings.decision_token_life } else { self.settings.access_token_life }
    }

    /// The proof of possession that was sent, if one was.
    fn proven(&self, headers: &HeaderMap, now: OffsetDateTime) -> Result<Option<proof::Proven>, Refusal> {
        let mut all = headers.get_all("dpop").iter();
        let Some(sent) = all.next() else { return Ok(None) };
        if all.next().is_some() {
            let expected = "one `DPoP` header";
            return Err(refuse(Code::InvalidDpopProof, "DPoP proof", "several", expected));
        }
        let url = self.settings.url("/oauth/token");
        let nonce = if self.settings.require_nonce { NonceRule::Sealed(&self.seal) } else { NonceRule::Open };
        let asked = Asked { method: "POST", url: &url, access_token: None, nonce };
        proof::check(sent.as_bytes(), &asked, now).map(Some).map_err(|fault| proof_refused(&fault))
    }

    fn nonce(&self) -> Option<HeaderValue> {
        let nonce = proof::issue_nonce(&self.seal, random().ok()?, self.now()).ok()?;
        HeaderValue::from_str(&nonce).ok()
    }
}

fn proof_refused(fault: &ProofFault) -> Refusal {
    let code = match fault {
        ProofFault::Nonce => Code::UseDpopNonce,
        ProofFault::Crowded => Code::TemporarilyUnavailable,
        _ => Code::InvalidDpopProof,
    };
    refuse(code, "DPoP proof", fault.to_string(), "a proof for this request (RFC 9449, section 4.3)")
}

/// That a client may use a grant type.
pub(super) fn unauthorized(grant_type: &'static str, expected: &str) -> Refusal {
    refuse(Code::UnauthorizedClient, "grant_type", grant_type, expected)
}
