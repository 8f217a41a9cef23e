//! Checks of the head of a request: who may connect, and in which format.

use axum::http::request::Parts;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, StatusCode, Uri};
use sha2::{Digest as _, Sha256};

use super::reply::Refusal;
use crate::options::Access;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Hosts and origins beside the loopback ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    /// Host names without port.
    pub(crate) hosts: Vec<String>,
    /// Complete origins, such as `https://console.example`.
    pub(crate) origins: Vec<String>,
}

/// `Host` against DNS rebinding, `Origin` against foreign web pages. Both may be absent: a call inside the process
/// has no `Host`, and only browsers send `Origin`.
pub(super) fn origin(parts: &Parts, allowed: &Allowed) -> Result<(), Refusal> {
    if parts.headers.get_all(HOST).iter().count() > 1 || parts.headers.get_all(ORIGIN).iter().count() > 1 {
        return Err(Refusal::plain(StatusCode::BAD_REQUEST, "`Host` or `Origin` is repeated"));
    }
    let host = match parts.headers.get(HOST) {
        Some(value) => Some(value.to_str().unwrap_or("\u{fffd}")),
        None => parts.uri.authority().map(|authority| authority.as_str()),
    };
    if let Some(host) = host {
        let name = without_port(host);
        if !is_loopback(name) && !allowed.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Refusal::plain(StatusCode::FORBIDDEN, format!("host `{host}` is not served here")));
        }
    }
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or("\u{fffd}");
        if !origin_is_loopback(origin)
            && !allowed.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
        {
            return Err(Refusal::plain(StatusCode::FORBIDDEN, format!("origin `{origin}` is not allowed")));
        }
    }
    Ok(())
}

/// The secret, if one is demanded. Digests are compared, so the time does not tell how much of it was right.
pub(super) fn access(headers: &HeaderMap, access: &Access) -> Result<(), Refusal> {
    if headers.get_all(AUTHORIZATION).iter().count() > 1 {
        return Err(Refusal::plain(StatusCode::BAD_REQUEST, "`Authorization` is repeated"));
    }
    let Access::Bearer(secret) = access else { return Ok(()) };
    let given = headers.get(AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
    let given = match given.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => token,
        _ => &[],
    };
    if !secret.is_empty() && Sha256::digest(given) == Sha256::digest(secret.as_bytes()) {
        Ok(())
    } else {
        Err(Refusal::unauthorized())
    }
}

/// Media types, and no compression.
pub(super) fn content(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "`Content-Encoding` is not supported",
        ));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content_type.is_some_and(|value| essence(value).eq_ignore_ascii_case(JSON)) {
        return Err(Refusal::plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("`Content-Type` must be {JSON}"),
        ));
    }
    let listed = |wanted: &str| {
        headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|entry| essence(entry).eq_ignore_ascii_case(wanted) && !is_excluded(entry))
    };
    if !listed(JSON) || !listed(EVENTS) {
        return Err(Refusal::plain(
            StatusCode::NOT_ACCEPTABLE,
            format!("`Accept` must list both {JSON} and {EVENTS}"),
        ));
    }
    Ok(())
}

fn essence(entry: &str) -> &str {
    entry.split(';').next().unwrap_or_default().trim()
}

/// Whether the entry has a quality of zero.
fn is_excluded(entry: &str) -> bool {
    entry.split(';').skip(1).filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
        name.trim().eq_ignore_ascii_case("q")
            && value.trim().parse::<f32>().is_ok_and(|quality| quality <= 0.0)
    })
}

fn is_loopback(name: &str) -> bool {
    LOOPBACK.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

fn origin_is_loopback(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let web = uri.scheme_str().is_some_and(|scheme| scheme == "http" || scheme == "https");
    web && uri.host().is_some_and(is_loopback) && uri.path().trim_end_matches('/').is_empty()
}
