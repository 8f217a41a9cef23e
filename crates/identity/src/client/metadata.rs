//! The documents of a protected resource (RFC 9728 §2) and of an authorization server (RFC 8414 §2), and where they are.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use url::Url;

/// What a protected resource says of itself, as far as it is used here.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    #[serde(default)]
    pub(super) scopes_supported: Option<Vec<String>>,
}

/// What an authorization server says of itself, as far as it is used here.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ServerMetadata {
    /// Its identifier. Equal to the one that was asked for, to the last letter.
    pub issuer: String,
    /// Where people sign in.
    #[serde(default)]
    pub authorization_endpoint: Option<String>,
    /// Where tokens are asked for.
    #[serde(default)]
    pub token_endpoint: Option<String>,
    /// Where clients register themselves (RFC 7591).
    #[serde(default)]
    pub registration_endpoint: Option<String>,
    /// Where tokens are revoked (RFC 7009).
    #[serde(default)]
    pub revocation_endpoint: Option<String>,
    /// Methods of PKCE.
    #[serde(default)]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// Scopes that it knows.
    #[serde(default)]
    pub scopes_supported: Option<Vec<String>>,
    /// How clients may prove who they are at the token endpoint.
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether its answers to a sign-in hold `iss` (RFC 9207 §3).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    /// Whether a client identifier may be the URL of a metadata document.
    #[serde(default)]
    pub client_id_metadata_document_supported: bool,
    /// Algorithms of proofs of possession (RFC 9449 §5.1).
    #[serde(default)]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// Whether a method to authenticate clients may be used. Without a list it is `client_secret_basic` (RFC 8414 §2).
    pub(super) fn takes_method(&self, method: &str) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => has(methods, method),
            None => method == "client_secret_basic",
        }
    }

    /// Whether proofs of possession that are signed with ES256 are taken.
    pub(super) fn takes_dpop(&self) -> bool {
        self.dpop_signing_alg_values_supported.as_ref().is_some_and(|algorithms| has(algorithms, "ES256"))
    }

    /// Whether refresh tokens have to be asked for by a scope of their own.
    pub(super) fn lists_offline_access(&self) -> bool {
        self.scopes_supported.as_ref().is_some_and(|scopes| has(scopes, "offline_access"))
    }
}

pub(super) fn has(list: &[String], one: &str) -> bool {
    list.iter().any(|found| found == one)
}

/// Where the metadata of a resource may be: with its path inserted, then at the root (RFC 9728 §3.1).
pub(super) fn of_resource(resource: &Url) -> Vec<Url> {
    let mut places = vec![inserted(resource, "oauth-protected-resource", true)];
    let root = {
        let mut root = resource.clone();
        root.set_query(None);
        root.set_path("/.well-known/oauth-protected-resource");
        root
    };
    if !places.contains(&root) {
        places.push(root);
    }
    places
}

/// Where the metadata of an authorization server may be, in the order of MCP.
pub(super) fn of_server(issuer: &Url) -> Vec<Url> {
    let mut places = vec![
        inserted(issuer, "oauth-authorization-server", false),
        inserted(issuer, "openid-configuration", false),
    ];
    let path = issuer.path().trim_end_matches('/');
    if !path.is_empty() {
        let mut appended = issuer.clone();
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(appended);
    }
    places
}

/// The URL with `/.well-known/<name>` between host and path.
pub(super) fn inserted(of: &Url, name: &str, query: bool) -> Url {
    let mut url = of.clone();
    url.set_path(&format!("/.well-known/{name}{}", of.path().trim_end_matches('/')));
    if !query {
        url.set_query(None);
    }
    url
}
