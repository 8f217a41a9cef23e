//! How this client comes to be known to an authorization server: beforehand, by a document at a URL, or by registering
//! itself (MCP 2026-07-28, authorization#client-registration).

#[cfg(test)]
mod tests;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::address::{AddressFault, Reach, shown};
use super::discover::Discovered;
use super::http::{Http, HttpFault};
use super::secret::Secret;
use super::token_endpoint::ClientAuthentication;

/// A client that one authorization server knows beforehand.
#[derive(Clone, Debug)]
pub struct Preregistered {
    /// The server that knows it, to the last letter. Another one is never shown its credentials.
    pub issuer: String,
    /// Its identifier.
    pub client_id: String,
    /// How it proves to be itself.
    pub authentication: ClientAuthentication,
}

/// Who the client is to one authorization server.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    pub(super) client_id: String,
    pub(super) authentication: ClientAuthentication,
    /// The port of the redirect that was registered; none where any will do.
    pub(super) port: Option<u16>,
}

/// Why the client is not known to an authorization server.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationFault {
    /// There is no way.
    #[error(
        "`{issuer}` does not know this client, and there is no way to become known: no client was given for this issuer, \
         it {documents}, and it has no `registration_endpoint`; register a client there with the redirect \
         `http://127.0.0.1/callback` and give its identifier"
    )]
    NoWay {
        /// The issuer.
        issuer: String,
        /// What about client metadata documents.
        documents: &'static str,
    },
    /// The document's URL cannot be one.
    #[error(
        "`{found}` cannot be a client's identifier: it has to be an `https` URL with a path and without query"
    )]
    Document {
        /// What was configured.
        found: String,
    },
    /// The endpoint is not asked.
    #[error("the registration endpoint cannot be used: {0}")]
    Address(#[from] AddressFault),
    /// No answer, or none that could be read.
    #[error("the registration endpoint cannot be used")]
    Http(#[from] HttpFault),
    /// The server refused (RFC 7591 §3.2.2).
    #[error("`{issuer}` refused to register this client: `{code}` (status {status})")]
    Refused {
        /// The issuer.
        issuer: String,
        /// The status.
        status: u16,
        /// The error code.
        code: String,
    },
    /// An answer that cannot be used.
    #[error("`{issuer}` registered this client in a way that it cannot use: {why}")]
    Answer {
        /// The issuer.
        issuer: String,
        /// Why.
        why: &'static str,
    },
}

/// What the client is by itself, before any server knows it.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    /// URL of its metadata document.
    pub(super) document: Option<&'a Url>,
    pub(super) preregistered: &'a [Preregistered],
}

#[derive(Deserialize)]
struct Registered {
    client_id: Option<String>,
    client_secret: Option<Secret>,
    token_endpoint_auth_method: Option<String>,
    error: Option<String>,
}

impl Wanted<'_> {
    /// Who the client is without being registered anew, if anybody.
    pub(super) fn known(&self, at: &Discovered) -> Result<Option<Registration>, RegistrationFault> {
        if let Some(known) = self.preregistered.iter().find(|one| one.issuer == at.server.issuer) {
            let (client_id, authentication) = (known.client_id.clone(), known.authentication.clone());
            return Ok(Some(Registration { client_id, authentication, port: None }));
        }
        let Some(document) = self.document.filter(|_| at.server.client_id_metadata_document_supported) else {
            return Ok(None);
        };
        let is_good = document.path() != "/" && document.query().is_none();
        match Reach::Elsewhere.check(document) {
            Ok(()) if is_good => Ok(Some(Registration {
                client_id: document.as_str().to_owned(),
                authentication: ClientAuthentication::None,
                port: None,
            })),
            _ => Err(RegistrationFault::Document { found: shown(document.as_str()) }),
        }
    }

    /// Registers the client with one redirect on this machine.
    pub(super) async fn register(
        &self,
        http: &Http,
        at: &Discovered,
        port: u16,
    ) -> Result<Registration, RegistrationFault> {
        let issuer = || shown(&at.server.issuer);
        let Some(endpoint) = &at.server.registration_endpoint else {
            let documents = match (self.document, at.server.client_id_metadata_document_supported) {
                (None, true) => "takes client metadata documents but none is configured",
                _ => "takes no client metadata documents",
            };
            return Err(RegistrationFault::NoWay { issuer: issuer(), documents });
        };
        let url = at.reach.address(endpoint)?;
        let methods = ["none", "client_secret_basic", "client_secret_post"];
        // A program on somebody's machine keeps no secret, so none is asked for where the server leaves the choice.
        let listed = at.server.token_endpoint_auth_methods_supported.is_some();
        let method =
            methods.into_iter().find(|method| listed && at.server.takes_method(method)).unwrap_or("none");
        let asked = json!({
            "client_name": self.name,
            "application_type": "native",
            "redirect_uris": [redirect(port)],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        });
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
        let answer = http.post(at.reach, &url, headers, asked.to_string()).await?;
        let refused = |code: &str| {
            let (status, code) = (answer.status.as_u16(), shown(code));
            RegistrationFault::Refused { issuer: issuer(), status, code }
        };
        let found: Registered = match answer.json(&url) {
            Ok(found) => found,
            Err(_) if !answer.status.is_success() => return Err(refused("no error code")),
            Err(fault) => return Err(fault.into()),
        };
        if let Some(code) = &found.error {
            return Err(refused(code));
        }
        if !matches!(answer.status, StatusCode::OK | StatusCode::CREATED) {
            return Err(refused("no error code"));
        }
        let unusable = |why| RegistrationFault::Answer { issuer: issuer(), why };
        let client_id =
            found.client_id.filter(|id| !id.is_empty()).ok_or_else(|| unusable("it has no `client_id`"))?;
        let method = found.token_endpoint_auth_method.as_deref().unwrap_or(method);
        let authentication = authentication(method, found.client_secret, at).map_err(unusable)?;
        Ok(Registration { client_id, authentication, port: Some(port) })
    }
}

/// How the client proves to be itself, by the method that it was registered with.
pub(super) fn authentication(
    method: &str,
    secret: Option<Secret>,
    at: &Discovered,
) -> Result<ClientAuthentication, &'static str> {
    match (method, secret) {
        ("client_secret_basic", Some(secret)) => Ok(ClientAuthentication::Basic(secret)),
        ("client_secret_post", Some(secret)) => Ok(ClientAuthentication::Post(secret)),
        ("client_secret_basic" | "client_secret_post", None) => {
            Err("it has a method with a secret but no secret")
        }
        // Some servers give a secret and name no method that uses it.
        ("none", Some(secret))
            if !at.server.takes_method("none") && at.server.takes_method("client_secret_basic") =>
        {
            Ok(ClientAuthentication::Basic(secret))
        }
        ("none", _) => Ok(ClientAuthentication::None),
        _ => Err("its `token_endpoint_auth_method` is not one that this client has"),
    }
}

/// Where the browser comes back to. A literal address: `localhost` may lead elsewhere (RFC 8252 §8.3).
pub(super) fn redirect(port: u16) -> String {
    format!("http://127.0.0.1:{port}/callback")
}
