//! From the URL of a protected resource to an authorization server that may be used.

mod fault;
#[cfg(test)]
mod tests;

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use url::Url;

use super::address::{Reach, shown, without_secrets};
use super::challenge::Challenge;
use super::http::{Http, HttpFault};
use super::metadata::{self, ResourceMetadata, ServerMetadata, has};
use crate::Scopes;
use crate::scopes::APPROVALS_DECIDE;

pub use self::fault::{DiscoveryFault, ServerFault};

/// How many authorization servers of one resource are tried.
const MOST_SERVERS: usize = 4;
/// How long all of it may take: several servers may each be slow.
const MOST_TIME: Duration = Duration::from_secs(60);

/// How the resource is asked for its challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// By a request of MCP without credentials.
    Mcp,
    /// By a plain `GET` without credentials.
    Get,
    /// Not at all: this challenge came with a refusal already.
    Known(Challenge),
}

/// What the authorization server is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A person signs in: code and PKCE.
    SignIn,
    /// A program signs in by itself.
    Program,
}

/// A resource and the authorization server that tokens for it come from.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// The resource as it calls itself: what `resource` has to say in every request (RFC 8707).
    pub resource: String,
    /// The authorization server.
    pub server: ServerMetadata,
    /// The scopes to ask for: those of the challenge, else those that the resource lists, else none. A challenge asks
    /// for what one operation needs. The right to decide approvals is never among them: a person asks for it by name.
    pub scopes: Option<Scopes>,
    /// How far the addresses of the server reach.
    pub reach: Reach,
}

/// Finds the authorization server of a resource. `wanted` chooses one of several by its issuer.
///
/// # Errors
/// Where there is none, or none that may be used.
pub async fn discover(
    http: &Http,
    resource: &Url,
    probe: &Probe,
    purpose: Purpose,
    wanted: Option<&str>,
) -> Result<Discovered, DiscoveryFault> {
    let found = found(http, resource, probe, purpose, wanted);
    let slow = || HttpFault::Slow { url: without_secrets(resource), seconds: MOST_TIME.as_secs() };
    tokio::time::timeout(MOST_TIME, found).await.unwrap_or_else(|_| Err(DiscoveryFault::Metadata(slow())))
}

async fn found(
    http: &Http,
    resource: &Url,
    probe: &Probe,
    purpose: Purpose,
    wanted: Option<&str>,
) -> Result<Discovered, DiscoveryFault> {
    let reach = Reach::of(resource);
    reach.check(resource).map_err(DiscoveryFault::Resource)?;
    let challenge = match probe {
        Probe::Known(challenge) => Some(challenge.clone()),
        Probe::Mcp | Probe::Get => probed(http, reach, resource, probe).await,
    };
    let found = of_resource(http, reach, resource, challenge.as_ref()).await?;
    let named = || {
        let each: Vec<_> =
            found.authorization_servers.iter().map(|one| format!("`{}`", shown(one))).collect();
        each.join(", ")
    };
    let told = || shown(resource.as_str());
    let mut faults = Vec::new();
    let mut servers =
        found.authorization_servers.iter().filter(|one| wanted.is_none_or(|wanted| wanted == *one));
    for issuer in servers.by_ref().take(MOST_SERVERS) {
        match authorization_server(http, reach, issuer, purpose).await {
            Ok(server) => {
                let listed = || found.scopes_supported.as_ref().and_then(|scopes| listed(scopes));
                let scopes =
                    challenge.as_ref().and_then(Challenge::scope).or_else(listed).map(without_decisions);
                let scopes = scopes.filter(|scopes| !scopes.is_empty());
                return Ok(Discovered { resource: found.resource, server, scopes, reach });
            }
            Err(why) => faults.push((shown(issuer), why)),
        }
    }
    match (faults.pop(), faults.is_empty(), wanted) {
        (Some((issuer, why)), true, _) => Err(DiscoveryFault::Server { issuer, why }),
        (Some(last), false, _) => {
            faults.push(last);
            let each: Vec<_> = faults.iter().map(|(issuer, why)| format!("`{issuer}`: {why}")).collect();
            Err(DiscoveryFault::NoneOf { resource: told(), each: each.join("; ") })
        }
        (None, _, Some(wanted)) if !found.authorization_servers.is_empty() => {
            Err(DiscoveryFault::NotNamed { resource: told(), wanted: shown(wanted), found: named() })
        }
        (None, ..) => Err(DiscoveryFault::NoServer { resource: told() }),
    }
}

fn listed(scopes: &[String]) -> Option<Scopes> {
    Scopes::of(scopes.iter().map(String::as_str)).ok()
}

fn without_decisions(scopes: Scopes) -> Scopes {
    match Scopes::parse(APPROVALS_DECIDE) {
        Ok(decide) => scopes.without(&decide),
        Err(_) => Scopes::default(),
    }
}

/// Asks without credentials. What fails here is no reason to stop: the metadata may still be where they should be.
async fn probed(http: &Http, reach: Reach, resource: &Url, probe: &Probe) -> Option<Challenge> {
    let answer = match probe {
        Probe::Mcp => http.post(reach, resource, mcp_headers(), MCP_PROBE.to_owned()).await,
        _ => http.get(reach, resource).await,
    };
    let answer = answer.ok().filter(|answer| answer.status == StatusCode::UNAUTHORIZED)?;
    let values = answer.headers.get_all(header::WWW_AUTHENTICATE);
    Challenge::of_oauth(values.iter().filter_map(|value| value.to_str().ok()))
}

/// A request that any server of MCP 2026-07-28 answers, and that changes nothing.
const MCP_PROBE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"aldgate","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""},"io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

fn mcp_headers() -> HeaderMap {
    [
        (header::CONTENT_TYPE, "application/json"),
        (header::ACCEPT, "application/json, text/event-stream"),
        (HeaderName::from_static("mcp-protocol-version"), "2026-07-28"),
        (HeaderName::from_static("mcp-method"), "server/discover"),
    ]
    .into_iter()
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
    .collect()
}

async fn of_resource(
    http: &Http,
    reach: Reach,
    resource: &Url,
    challenge: Option<&Challenge>,
) -> Result<ResourceMetadata, DiscoveryFault> {
    let named = challenge.and_then(Challenge::resource_metadata);
    let places = match named {
        Some(place) => vec![reach.address(place).map_err(|fault| DiscoveryFault::Metadata(fault.into()))?],
        None => metadata::of_resource(resource),
    };
    for place in &places {
        let answer = http.get(reach, place).await.map_err(DiscoveryFault::Metadata)?;
        if named.is_none() && answer.status.is_client_error() {
            continue;
        }
        let found: ResourceMetadata = answer.document(place).map_err(DiscoveryFault::Metadata)?;
        if is_of(&found.resource, resource, place) {
            return Ok(found);
        }
        let (meant, found) = (shown(resource.as_str()), shown(&found.resource));
        return Err(DiscoveryFault::OtherResource { meant, found });
    }
    let tried: Vec<_> = places.iter().map(|place| format!("`{}`", shown(place.as_str()))).collect();
    Err(DiscoveryFault::Nowhere { resource: shown(resource.as_str()), tried: tried.join(", ") })
}

/// Whether metadata that call themselves those of `published` may be used for `meant`: where they are the same, or where
/// whoever owns the host says at the well-known place of `published` that it stands for all below it.
fn is_of(published: &str, meant: &Url, place: &Url) -> bool {
    let Ok(published) = Url::parse(published) else { return false };
    if published.fragment().is_some() {
        return false;
    }
    if &published == meant {
        return true;
    }
    let root = published.origin() == meant.origin() && published.path() == "/" && published.query().is_none();
    root && *place == metadata::inserted(&published, "oauth-protected-resource", true)
}

/// Reads and checks the metadata of an authorization server.
///
/// # Errors
/// Where they cannot be had, are those of another, or lack what the purpose needs.
pub(super) async fn authorization_server(
    http: &Http,
    reach: Reach,
    issuer: &str,
    purpose: Purpose,
) -> Result<ServerMetadata, ServerFault> {
    let url = reach.address(issuer).map_err(ServerFault::Issuer)?;
    if url.query().is_some() {
        return Err(ServerFault::Query);
    }
    let places = metadata::of_server(&url);
    for place in &places {
        let answer = http.get(reach, place).await.map_err(ServerFault::Metadata)?;
        if answer.status.is_client_error() {
            continue;
        }
        let found: ServerMetadata = answer.document(place).map_err(ServerFault::Metadata)?;
        if found.issuer != issuer {
            return Err(ServerFault::OtherIssuer { at: shown(place.as_str()), found: shown(&found.issuer) });
        }
        check(&found, reach, purpose)?;
        return Ok(found);
    }
    let tried: Vec<_> = places.iter().map(|place| format!("`{}`", shown(place.as_str()))).collect();
    Err(ServerFault::Nowhere { tried: tried.join(", ") })
}

fn check(found: &ServerMetadata, reach: Reach, purpose: Purpose) -> Result<(), ServerFault> {
    let signing_in = purpose == Purpose::SignIn;
    for (member, endpoint, needed) in [
        ("authorization_endpoint", &found.authorization_endpoint, signing_in),
        ("token_endpoint", &found.token_endpoint, true),
        ("registration_endpoint", &found.registration_endpoint, false),
        ("revocation_endpoint", &found.revocation_endpoint, false),
    ] {
        match endpoint {
            Some(endpoint) => {
                reach.address(endpoint).map_err(|fault| ServerFault::Endpoint { member, fault })?;
            }
            None if needed => return Err(ServerFault::Missing { member }),
            None => {}
        }
    }
    let methods = found.code_challenge_methods_supported.as_deref();
    if signing_in && !methods.is_some_and(|methods| has(methods, "S256")) {
        let found = methods.filter(|methods| !methods.is_empty()).map_or_else(
            || "nothing".to_owned(),
            |methods| methods.iter().map(|one| format!("`{}`", shown(one))).collect::<Vec<_>>().join(", "),
        );
        return Err(ServerFault::NoPkce { found });
    }
    Ok(())
}
