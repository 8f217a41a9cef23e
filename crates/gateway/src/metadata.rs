//! What the gateway's doors say of themselves to clients that look for a token (RFC 9728).

use aldgate_identity::Door;
use aldgate_identity::resource::{METADATA, metadata, metadata_path};
use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Method, Request, StatusCode, header};
use serde_json::Value;

use crate::gate::Gate;
use crate::reply;

/// The doors of the listener for agents; where a client asks for no path, the first is meant.
pub(crate) const AGENTS: &[Door] = &[Door::Mcp, Door::Evidence];
/// The doors of the admin API.
pub(crate) const ADMIN: &[Door] = &[Door::Admin, Door::Decisions];

/// The metadata of one of these doors, where a request asks for any. It is public, and a page of another origin may read
/// it: that is how clients in browsers find their way.
pub(crate) fn answer(gate: &Gate, doors: &[Door], request: &Request<Body>) -> Option<Response> {
    let path = request.uri().path();
    if !path.starts_with(METADATA) {
        return None;
    }
    let of = |door: &&Door| metadata_path(gate.settings.reach.doors.url(**door)) == path;
    let door = doors.iter().find(of).or(doors.first().filter(|_| path == METADATA));
    let snapshot = gate.snapshot();
    let Some(door) = door.filter(|_| !snapshot.issuers.is_empty()) else {
        return Some(reply::json_response(
            404,
            br#"{"error":"there is no protected resource of this path"}"#.to_vec(),
        ));
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return Some(reply::empty(StatusCode::METHOD_NOT_ALLOWED.as_u16()));
    }
    let document = document(gate, *door, &snapshot.issuers);
    let mut response = reply::json_response(200, document.to_string().into_bytes());
    for (name, value) in [
        (header::CACHE_CONTROL, "public, max-age=300"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "mcp-protocol-version"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Some(response)
}

fn document(gate: &Gate, door: Door, issuers: &[String]) -> Value {
    let reach = &gate.settings.reach;
    let name = match door {
        Door::Mcp => "Aldgate",
        Door::Evidence => "Aldgate: evidence",
        Door::Admin => "Aldgate: administration",
        Door::Decisions => "Aldgate: approvals",
    };
    let issuers = issuers.iter().map(String::as_str);
    metadata(reach.doors.url(door), issuers, &reach.protected(door).scope, name, reach.proofs)
}
