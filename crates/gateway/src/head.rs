//! The first step: what can be refused before a byte of the body is read.

#[cfg(test)]
mod tests;

use axum::body::Body;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Method, Request, request::Parts};

use crate::refusal::Refusal;
use crate::settings::{Bounds, Doors};

/// A request whose head was found acceptable.
pub(crate) struct Head {
    pub(crate) parts: Parts,
    pub(crate) body: Body,
}

/// Checks method, `Host`, `Origin`, media types, encoding, announced size and repeated headers.
pub(crate) fn check(doors: &Doors, bounds: &Bounds, request: Request<Body>) -> Result<Head, Refusal> {
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    doorway(doors, &parts)?;
    if parts.method != Method::POST {
        return Err(Refusal::http(405, "AG-HEAD-METHOD", "this endpoint takes POST requests only"));
    }
    once(headers)?;
    let media = text(headers, &CONTENT_TYPE).unwrap_or_default();
    if !is_media_type(media, "application/json") {
        let message = format!("the body must be `application/json`, found `{}`", shown(media));
        return Err(Refusal::http(415, "AG-HEAD-CONTENT-TYPE", message));
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::http(
            415,
            "AG-HEAD-ENCODING",
            "a body must not be compressed; leave `Content-Encoding` out",
        ));
    }
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>();
    if !["application/json", "text/event-stream"].iter().all(|wanted| accepts(&accepted, wanted)) {
        let message = "`Accept` must name both `application/json` and `text/event-stream`";
        return Err(Refusal::http(406, "AG-HEAD-ACCEPT", message));
    }
    let announced = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if let Some(announced) = announced.filter(|announced| *announced > bounds.body_bytes) {
        return Err(Refusal::too_large(announced, bounds.body_bytes));
    }
    Ok(Head { parts, body })
}

/// Checks `Host` and `Origin` alone; the admin listener uses it too.
pub(crate) fn doorway(doors: &Doors, parts: &Parts) -> Result<(), Refusal> {
    let authority = text(&parts.headers, &HOST).or_else(|| parts.uri.host()).unwrap_or_default();
    let host = host_of(authority).unwrap_or_default();
    let known = is_loopback(host) || doors.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host));
    // A request for an absolute URI names its host twice; both must be the same.
    let named_otherwise = parts.uri.authority().is_some_and(|named| named.as_str() != authority);
    if parts.headers.get_all(HOST).iter().count() > 1 || !known || named_otherwise {
        let message =
            format!("the host `{}` is not served here; add it to `hosts` if it should be", shown(authority));
        return Err(Refusal::http(403, "AG-HEAD-HOST", message));
    }
    let mut origins = parts.headers.get_all(ORIGIN).iter();
    let origin = origins.next();
    let allowed = match origin.map(http::HeaderValue::to_str) {
        None => true,
        Some(Ok(origin)) => doors.origins.iter().any(|allowed| allowed == origin),
        Some(Err(_)) => false,
    };
    if !allowed || origins.next().is_some() {
        let message = "requests of this origin are not let in; add it to `origins` if they should be";
        return Err(Refusal::http(403, "AG-HEAD-ORIGIN", message));
    }
    Ok(())
}

/// Headers that steer a decision must stand once: two readers may take different ones of two.
fn once(headers: &HeaderMap) -> Result<(), Refusal> {
    for name in headers.keys() {
        let steers = name == http::header::AUTHORIZATION
            || name == CONTENT_TYPE
            || name == CONTENT_LENGTH
            || name.as_str().starts_with("mcp-");
        if steers && headers.get_all(name).iter().count() > 1 {
            let message = format!("the header `{name}` stands more than once; send it once");
            return Err(Refusal::http(400, "AG-HEAD-REPEATED", message));
        }
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_media_type(value: &str, wanted: &str) -> bool {
    value.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(wanted))
}

fn accepts(values: &[&str], wanted: &str) -> bool {
    values.iter().flat_map(|value| value.split(',')).any(|range| is_media_type(range, wanted))
}

/// The host of `host[:port]`; `None` for anything else, such as a user before it.
fn host_of(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at_checked(end)?;
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let plain = !host.contains('@') && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
    plain.then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "[::1]"
}

/// Peer-supplied text, cut to what fits in a message.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(100).collect()
}
