//! Client ID metadata documents: a client whose id is a URL is described by what stands there (MCP 2026-07-28,
//! client registration; draft-ietf-oauth-client-id-metadata-document).
//!
//! Whoever names a client names a URL that this server then fetches. So the address is looked up here and checked, and the
//! connection goes to that very address; nothing is followed, and size, time, number and repetition are bounded.

mod fetch;
mod named;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use time::{Duration, OffsetDateTime};
use tokio::sync::Semaphore;
use url::Url;

use super::client::{ClientMethod, ClientRecord};
use super::settings::loopback;
use fetch::{Fetched, Rules};

pub use named::{MetadataHosts, MetadataHostsFault};

/// How long a document is kept at least, and at most, whatever its server says.
const KEPT: (Duration, Duration) = (Duration::minutes(5), Duration::hours(24));
/// How long keys at a URL of their own are kept at most: they are changed where one was lost.
const KEYS_KEPT: Duration = Duration::hours(1);
/// How long a failure is kept.
const FAILURE_KEPT: Duration = Duration::minutes(1);
const MOST_KEPT: u64 = 1000;
const MOST_AT_ONCE: usize = 8;
/// Fetches from one host at once: a slow one leaves places to the others.
const MOST_OF_A_HOST: usize = 2;

/// Fetches the documents, and keeps them for a while.
pub(super) struct Documents {
    kept: moka::sync::Cache<String, Kept>,
    places: Semaphore,
    hosts: Hosts,
    rules: Rules,
}

#[derive(Clone)]
struct Kept {
    found: Result<Arc<ClientRecord>, DocumentFault>,
    /// When what was found was fetched.
    at: OffsetDateTime,
    until: OffsetDateTime,
}

/// Why a URL describes no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DocumentFault {
    #[error(
        "a client id that is a URL has to be `https://<host>/<path>`, as it is written when it is normalised"
    )]
    Url,
    #[error(
        "the address of the host is not of the public internet, and the host is none that the configuration names"
    )]
    Address,
    #[error("the host has no address")]
    NoAddress,
    #[error("the document does not come: {0}")]
    Fetch(&'static str),
    #[error("it is no client metadata document: {0}")]
    Document(String),
    #[error("too many documents are being fetched; try again")]
    Busy,
}

impl Documents {
    pub(super) fn new(allow_loopback: bool, named: MetadataHosts) -> Self {
        Self {
            kept: moka::sync::Cache::new(MOST_KEPT),
            places: Semaphore::new(MOST_AT_ONCE),
            hosts: Hosts::default(),
            rules: Rules { allow_loopback, named, timeout: std::time::Duration::from_secs(5) },
        }
    }

    /// Whether a client id is of this kind.
    pub(super) fn names_document(id: &str) -> bool {
        id.starts_with("https://") || id.starts_with("http://")
    }

    /// The client that a URL describes.
    pub(super) async fn client(
        &self,
        id: &str,
        now: OffsetDateTime,
    ) -> Result<Arc<ClientRecord>, DocumentFault> {
        let url = self.url(id)?;
        let kept = self.kept.get(id);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.until > now) {
            return kept.found.clone();
        }
        let place = self.places.try_acquire().map_err(|_| DocumentFault::Busy)?;
        let fetched = self.fetched(id, &url).await;
        drop(place);
        // That says nothing of the client.
        if let Err(DocumentFault::Busy) = fetched {
            return Err(DocumentFault::Busy);
        }
        let unreachable = matches!(fetched, Err(DocumentFault::Fetch(_) | DocumentFault::NoAddress));
        let fresh = match fetched {
            Ok((record, kept_for)) => Kept { found: Ok(Arc::new(record)), at: now, until: now + kept_for },
            Err(fault) => Kept { found: Err(fault), at: now, until: now + FAILURE_KEPT },
        };
        // A client whose site is down for a while is the client that it was (RFC 5861 §4).
        let earlier = kept.filter(|kept| unreachable && kept.found.is_ok() && now - kept.at < KEPT.1);
        let fresh = earlier.map_or(fresh, |kept| Kept { until: now + FAILURE_KEPT, ..kept });
        self.kept.insert(id.to_owned(), fresh.clone());
        fresh.found
    }

    /// The client, with its keys where they stand at a URL of their own; and how long it may be kept.
    async fn fetched(&self, id: &str, url: &Url) -> Result<(ClientRecord, Duration), DocumentFault> {
        let Fetched { body, kept } = self.get(url).await?;
        let (mut record, keys_at) = read(id, &body)?;
        let mut kept = kept.clamp(KEPT.0, KEPT.1);
        if let Some(keys_at) = keys_at {
            let url = self.url(&keys_at)?;
            let keys = self.get(&url).await?;
            let set = serde_json::from_slice(&keys.body);
            let wrong = |_| DocumentFault::Document("no keys stand at its jwks_uri".to_owned());
            record.jwks = Some(set.map_err(wrong)?);
            kept = kept.min(keys.kept.clamp(KEPT.0, KEYS_KEPT));
        }
        // Others may be for other uses.
        if let Some(set) = &mut record.jwks {
            set.keys.retain(super::assertion::usable);
        }
        record.check_stranger().map_err(|fault| DocumentFault::Document(fault.to_string()))?;
        Ok((record, kept))
    }

    async fn get(&self, url: &Url) -> Result<Fetched, DocumentFault> {
        let _place = self.hosts.place(url.host_str().unwrap_or_default()).ok_or(DocumentFault::Busy)?;
        fetch::get(url, &self.rules).await
    }

    fn url(&self, id: &str) -> Result<Url, DocumentFault> {
        let url = Url::parse(id).ok().filter(|_| id.len() <= 1000).ok_or(DocumentFault::Url)?;
        let near = self.rules.allow_loopback && loopback(&url);
        let port = url.port().is_none_or(|_| near || self.rules.named.name(&url));
        let scheme = url.scheme() == "https" || (near && url.scheme() == "http");
        let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let path = url.path().len() > 1;
        // An address says nothing of who is there, and would not be looked up.
        let named = near || matches!(url.host(), Some(url::Host::Domain(_)));
        if scheme && port && bare && path && named && url.as_str() == id {
            Ok(url)
        } else {
            Err(DocumentFault::Url)
        }
    }
}

/// How many fetches there are of each host.
#[derive(Default)]
struct Hosts(Mutex<HashMap<String, usize>>);

/// One of the places of a host, until it is dropped.
struct HostPlace<'a> {
    hosts: &'a Hosts,
    host: String,
}

impl Hosts {
    fn place(&self, host: &str) -> Option<HostPlace<'_>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(host.to_owned()).or_default();
        if *count >= MOST_OF_A_HOST {
            return None;
        }
        *count += 1;
        Some(HostPlace { hosts: self, host: host.to_owned() })
    }
}

impl Drop for HostPlace<'_> {
    fn drop(&mut self) {
        let mut counts = self.hosts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.host) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.host);
            }
        }
    }
}

#[derive(Deserialize)]
struct Document {
    client_id: String,
    client_name: Option<String>,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    client_secret: Option<serde_json::Value>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    jwks: Option<JwkSet>,
    jwks_uri: Option<String>,
}

/// The client that a document describes, and where its keys stand if not in it.
fn read(id: &str, body: &[u8]) -> Result<(ClientRecord, Option<String>), DocumentFault> {
    let wrong = |told: &str| DocumentFault::Document(told.to_owned());
    let document: Document = serde_json::from_slice(body)
        .map_err(|_| wrong("expected a JSON object with client_id, client_name and redirect_uris"))?;
    if document.client_id != id {
        return Err(wrong("its client_id is not the URL that it stands at"));
    }
    if document.client_secret.is_some() {
        return Err(wrong("it holds a client_secret, which everybody could read"));
    }
    let method = match document.token_endpoint_auth_method.as_deref() {
        None | Some("none") => ClientMethod::Public,
        Some("private_key_jwt") => ClientMethod::Assertion,
        Some(_) => return Err(wrong("its token_endpoint_auth_method is neither none nor private_key_jwt")),
    };
    let grants = document.grant_types.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
    if !grants.iter().any(|grant| grant == "authorization_code") {
        return Err(wrong("its grant_types lack authorization_code"));
    }
    if document.response_types.is_some_and(|types| !types.iter().any(|one| one == "code")) {
        return Err(wrong("its response_types lack code"));
    }
    let proves = method == ClientMethod::Assertion;
    let jwks = document.jwks.filter(|_| proves);
    let keys_at = document.jwks_uri.filter(|_| proves && jwks.is_none());
    let name = document.client_name.ok_or_else(|| wrong("it has no client_name"))?;
    let record = ClientRecord {
        name,
        redirect_uris: document.redirect_uris,
        method,
        jwks,
        refresh: grants.iter().any(|grant| grant == "refresh_token"),
        scope: None,
        service: None,
        exchange_for: Vec::new(),
    };
    Ok((record, keys_at))
}
