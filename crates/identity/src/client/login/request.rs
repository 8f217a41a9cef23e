//! What a server is asked when a person signs in (RFC 6749 §4.1.1, RFC 7636, RFC 8707).

use url::Url;

use super::LoginFault;
use crate::Scopes;
use crate::client::discover::{Discovered, DiscoveryFault};
use crate::client::proof_key::challenge_of;
use crate::client::register::redirect;
use crate::client::secret::Secret;
use crate::scopes::APPROVALS_DECIDE;

/// What lets tokens be refreshed, at servers that list it.
const OFFLINE_ACCESS: &str = "offline_access";

/// The scopes to ask for. `offline_access` is added where the server lists it, but never to none at all, which would ask
/// for less than the default; nor to the right to decide, which is not refreshed.
pub(super) fn scopes(wanted: Option<&Scopes>, found: &Discovered) -> Option<Scopes> {
    let scopes = wanted.cloned().or_else(|| found.scopes.clone()).filter(|scopes| !scopes.is_empty())?;
    match Scopes::parse(OFFLINE_ACCESS) {
        Ok(offline) if found.server.lists_offline_access() && !scopes.has(APPROVALS_DECIDE) => {
            Some(scopes.and(&offline))
        }
        _ => Some(scopes),
    }
}

/// The page to sign in at.
pub(super) fn url(
    found: &Discovered,
    client_id: &str,
    port: u16,
    verifier: &Secret,
    state: &Secret,
    asked: Option<&Scopes>,
) -> Result<Url, LoginFault> {
    let endpoint = found.server.authorization_endpoint.as_deref().unwrap_or_default();
    let mut url = found.reach.address(endpoint).map_err(DiscoveryFault::Resource)?;
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", client_id)
        .append_pair("redirect_uri", &redirect(port))
        .append_pair("code_challenge", &challenge_of(verifier))
        .append_pair("code_challenge_method", "S256")
        .append_pair("state", state.expose())
        .append_pair("resource", &found.resource);
    if let Some(asked) = asked {
        query.append_pair("scope", &asked.to_string());
        if asked.has(APPROVALS_DECIDE) {
            query.append_pair("max_age", "0");
        }
        // Such servers give a refresh token only where the person was asked (OpenID Connect Core §11).
        if asked.has(OFFLINE_ACCESS) {
            query.append_pair("prompt", "consent");
        }
    }
    drop(query);
    Ok(url)
}
