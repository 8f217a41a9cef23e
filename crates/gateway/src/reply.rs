//! The last step: the one place where outcomes and refusals become HTTP responses.

use aldgate_wire::request::RequestId;
use aldgate_wire::response::{error_bytes, response_bytes};
use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use serde_json::value::RawValue;

use crate::record::Recorded;
use crate::refusal::{Form, Refusal};
use crate::trail::Trail;

/// JSON-RPC code of a refusal at the HTTP level: this and the HTTP status. Positive, as codes of our own are.
const HTTP_REFUSALS: i64 = 7000;

/// What the gateway says of itself.
pub(crate) fn server_info() -> Result<&'static RawValue, serde_json::Error> {
    serde_json::from_str(concat!(
        r#"{"name":"aldgate","title":"Aldgate","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}"#
    ))
}

/// `_meta` of a result that the host made.
pub(crate) fn own_meta() -> serde_json::Value {
    json!({
        "io.modelcontextprotocol/serverInfo":
            {"name": "aldgate", "title": "Aldgate", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The response to a request that came through.
pub(crate) fn recorded(trail: &Trail, recorded: Recorded) -> Response {
    match (recorded, &trail.request_id) {
        (Recorded::Result(result), Some(id)) => json_response(200, response_bytes(id, &result)),
        (Recorded::Accepted, _) | (_, None) => empty(202),
    }
}

/// The response to a request that was refused.
pub(crate) fn refused(trail: &Trail, refusal: &Refusal) -> Response {
    if let Some(cause) = refusal.cause() {
        let cause: &(dyn std::error::Error + 'static) = cause.as_ref();
        tracing::warn!(call = %trail.call, code = refusal.code(), error = cause, "a request failed");
    }
    let status = refusal.http_status();
    let message = refusal.to_string();
    let own_id = match refusal.form() {
        Form::Rpc { id, .. } => id.as_ref(),
        _ => None,
    };
    let id = own_id.or(trail.request_id.as_ref());
    let mut response = match (refusal.form(), id) {
        (Form::Tool, Some(id)) if trail.method == Some("tools/call") => {
            json_response(status, response_bytes(id, tool_error(trail, refusal).as_bytes()))
        }
        (Form::Notice { key, page, state }, Some(id)) => {
            let notice = notice(trail, refusal, key, page.as_deref(), state.as_deref());
            json_response(status, response_bytes(id, notice.as_bytes()))
        }
        // Only a tool's result can be an error; elsewhere the same is a JSON-RPC error.
        (Form::Tool, Some(id)) => {
            let data = refusal_note(trail, refusal);
            json_response(status, error_bytes(Some(id), refusal.rpc_code(), &message, Some(&data)))
        }
        (Form::Rpc { code, .. }, id) => {
            let mut data = refusal.data();
            if let serde_json::Value::Object(members) = &mut data {
                members.insert("call".to_owned(), trail.call.as_str().into());
            }
            json_response(status, error_bytes(id, *code, &message, Some(&data)))
        }
        (Form::Http(_) | Form::Tool | Form::Notice { .. }, _) => {
            let data = refusal.data();
            let mut response = json_response(
                status,
                error_bytes(None, HTTP_REFUSALS + i64::from(status), &message, Some(&data)),
            );
            if status == 405 {
                insert(&mut response, http::header::ALLOW, "POST");
            }
            response
        }
    };
    if let Some(challenge) = refusal.challenge() {
        challenge.tell(&mut response);
    }
    response
}

/// The response to a request of which no trail is left.
pub(crate) fn bare(id: Option<&RequestId>, refusal: &Refusal) -> Response {
    let status = refusal.http_status();
    let code = match refusal.form() {
        Form::Rpc { code, .. } => *code,
        Form::Http(_) | Form::Tool | Form::Notice { .. } => HTTP_REFUSALS + i64::from(status),
    };
    json_response(status, error_bytes(id, code, &refusal.to_string(), Some(&refusal.data())))
}

/// What is said of a refusal beside its message.
fn refusal_note(trail: &Trail, refusal: &Refusal) -> serde_json::Value {
    let mut said = json!({"code": refusal.code(), "call": trail.call.as_str()});
    if let serde_json::Value::Object(said) = &mut said {
        if let Some(rule) = refusal.rule() {
            said.insert("rule".to_owned(), rule.into());
        }
        if let Some(approval) = &trail.approval {
            said.insert("approval".to_owned(), approval.as_str().into());
        }
    }
    said
}

fn refusal_meta(trail: &Trail, refusal: &Refusal) -> serde_json::Value {
    let mut meta = own_meta();
    if let serde_json::Value::Object(members) = &mut meta {
        members.insert("io.github.aldgate/refusal".to_owned(), refusal_note(trail, refusal));
    }
    meta
}

fn tool_error(trail: &Trail, refusal: &Refusal) -> String {
    json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": format!("{} ({})", refusal, refusal.code())}],
        "isError": true,
        "_meta": refusal_meta(trail, refusal),
    })
    .to_string()
}

/// A page to open, or a form with nothing to fill in: they tell of what somebody has to do, and decide nothing.
fn notice(trail: &Trail, refusal: &Refusal, key: &str, page: Option<&str>, state: Option<&str>) -> String {
    let message = refusal.to_string();
    let params = match page {
        Some(url) => json!({"mode": "url", "message": message, "url": url}),
        None => {
            let nothing = json!({"type": "object", "properties": {}});
            json!({"mode": "form", "message": message, "requestedSchema": nothing})
        }
    };
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": {(key): {"method": "elicitation/create", "params": params}},
        "_meta": refusal_meta(trail, refusal),
    });
    if let (Some(state), Some(members)) = (state, result.as_object_mut()) {
        members.insert("requestState".to_owned(), state.into());
    }
    result.to_string()
}

/// A JSON response that nobody keeps.
pub(crate) fn json_response(status: u16, body: Vec<u8>) -> Response {
    let mut response = empty(status);
    *response.body_mut() = Body::from(body);
    insert(&mut response, CONTENT_TYPE, "application/json");
    response
}

/// A stream of events that nobody keeps or holds back.
pub(crate) fn event_stream(body: Body) -> Response {
    let mut response = empty(200);
    *response.body_mut() = body;
    insert(&mut response, CONTENT_TYPE, "text/event-stream");
    insert(&mut response, http::HeaderName::from_static("x-accel-buffering"), "no");
    response
}

pub(crate) fn empty(status: u16) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    insert(&mut response, CACHE_CONTROL, "no-store");
    response
}

fn insert(response: &mut Response, name: http::HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
