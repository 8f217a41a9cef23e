//! Getting one document.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::{StatusCode, header};
use url::Url;

use super::{DocumentFault, MetadataHosts};
use crate::authorization::address::{is_inside, is_public};

/// More bytes than an honest document has.
const LONGEST: usize = 16 * 1024;

/// What may be fetched, and how long it may take.
pub(super) struct Rules {
    pub(super) allow_loopback: bool,
    /// Hosts that may be inside a private network.
    pub(super) named: MetadataHosts,
    pub(super) timeout: Duration,
}

/// A document.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) body: Vec<u8>,
    /// How long its server lets it be kept.
    pub(super) kept: time::Duration,
}

/// Gets the document at a URL whose form was checked, in the time that there is for all of it.
pub(super) async fn get(url: &Url, rules: &Rules) -> Result<Fetched, DocumentFault> {
    let all = tokio::time::timeout(rules.timeout, get_now(url, rules)).await;
    all.unwrap_or(Err(DocumentFault::Fetch("it took too long")))
}

async fn get_now(url: &Url, rules: &Rules) -> Result<Fetched, DocumentFault> {
    let host = url.host_str().ok_or(DocumentFault::Url)?;
    let port = url.port_or_known_default().ok_or(DocumentFault::Url)?;
    let addresses = addresses(host, port).await?;
    let named = rules.named.name(url);
    let allowed = |address: IpAddr| {
        is_public(address) || (named && is_inside(address)) || (rules.allow_loopback && address.is_loopback())
    };
    // One bad address is enough: which of them is taken would be for others to say.
    if !addresses.iter().all(|address| allowed(address.ip())) {
        return Err(DocumentFault::Address);
    }
    // The connection goes to the addresses that were checked, whatever the name means a moment later.
    let client = reqwest::Client::builder()
        .tls_certs_merge(if named { rules.named.ca.clone() } else { Vec::new() })
        .resolve_to_addrs(host, &addresses)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .timeout(rules.timeout)
        .user_agent("aldgate")
        .build()
        .map_err(|_| DocumentFault::Fetch("no connection can be made"))?;
    let request = client.get(url.clone()).header(header::ACCEPT, "application/json");
    let mut response = request.send().await.map_err(|_| DocumentFault::Fetch("the connection failed"))?;
    match response.status() {
        StatusCode::OK => {}
        status if status.is_server_error() => return Err(DocumentFault::Fetch("its server has a failure")),
        status => {
            let told = format!("the status is {}, not 200; redirects are not followed", status.as_u16());
            return Err(DocumentFault::Document(told));
        }
    }
    let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let json = kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"));
    if !json {
        return Err(DocumentFault::Document("its content type is not JSON".to_owned()));
    }
    let kept = kept(text(header::CACHE_CONTROL));
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|_| DocumentFault::Fetch("the connection broke off"))?
    {
        if body.len() + chunk.len() > LONGEST {
            return Err(DocumentFault::Document("it has more than 16 KiB".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Fetched { body, kept })
}

async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, DocumentFault> {
    let bare = host.trim_matches(['[', ']']);
    let found: Vec<_> =
        tokio::net::lookup_host((bare, port)).await.map_err(|_| DocumentFault::NoAddress)?.take(16).collect();
    if found.is_empty() { Err(DocumentFault::NoAddress) } else { Ok(found) }
}

/// What `Cache-Control` says, in seconds; nothing where it is not to be kept (RFC 9111 §5.2.2).
fn kept(control: &str) -> time::Duration {
    let mut kept = time::Duration::ZERO;
    for directive in control.split(',').map(|one| one.trim().to_ascii_lowercase()) {
        match directive.split_once('=') {
            None if directive == "no-store" || directive == "no-cache" => return time::Duration::ZERO,
            Some(("max-age", seconds)) => {
                let seconds = seconds.trim_matches('"').parse().unwrap_or(0_u32);
                kept = time::Duration::seconds(i64::from(seconds));
            }
            _ => {}
        }
    }
    kept
}
