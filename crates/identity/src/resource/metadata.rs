//! What a protected resource says of itself (RFC 9728).

use serde_json::{Value, json};
use url::Url;

use super::ProofRule;
use crate::{Scopes, proof};

/// The well-known path of metadata, before the path of the resource.
pub const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a door (RFC 9728 §2). `issuers` are the URLs of those whose tokens are taken; `scopes` what a client may ask
/// for.
#[must_use]
pub fn metadata<'a>(
    door_url: &str,
    issuers: impl IntoIterator<Item = &'a str>,
    scopes: &Scopes,
    name: &str,
    proofs: ProofRule,
) -> Value {
    let mut told = json!({
        "resource": door_url,
        "authorization_servers": issuers.into_iter().collect::<Vec<_>>(),
        "scopes_supported": scopes.iter().collect::<Vec<_>>(),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    });
    if let (Some(members), true) = (told.as_object_mut(), proofs != ProofRule::Off) {
        members.insert("dpop_signing_alg_values_supported".to_owned(), json!(proof::ALGORITHMS));
        members.insert("dpop_bound_access_tokens_required".to_owned(), json!(proofs == ProofRule::Require));
    }
    told
}

/// The path of the metadata of a door: the well-known one before the door's own (RFC 9728 §3.1).
#[must_use]
pub fn metadata_path(door_url: &str) -> String {
    let path = Url::parse(door_url).map(|url| url.path().trim_end_matches('/').to_owned());
    format!("{METADATA}{}", path.unwrap_or_default())
}

/// The URL of the metadata of a door.
#[must_use]
pub fn metadata_url(door_url: &str) -> String {
    let path = metadata_path(door_url);
    let origin = Url::parse(door_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    format!("{origin}{path}")
}
