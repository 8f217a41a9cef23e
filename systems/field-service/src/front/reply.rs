//! Answers: refusals of the front, and the completion of what `rmcp` answered.

use std::convert::Infallible;

use aldgate_telemetry::Ended;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::envelope::Envelope;
use super::trace::RequestSpan;

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL: i64 = -32603;
pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Why a request was not served.
#[derive(Debug)]
pub(super) struct Refusal(Box<Refused>);

#[derive(Debug)]
struct Refused {
    status: StatusCode,
    body: RefusalBody,
    header: Option<(http::HeaderName, &'static str)>,
}

#[derive(Debug)]
enum RefusalBody {
    Plain(String),
    Rpc { id: Value, code: i64, message: String, data: Option<Value> },
}

impl Refusal {
    pub(super) fn plain(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal(Box::new(Refused { status, body: RefusalBody::Plain(message.into()), header: None }))
    }

    /// A JSON-RPC error; an `id` of null is left out, because it could not be read.
    pub(super) fn rpc(id: Value, code: i64, message: impl Into<String>) -> Refusal {
        let status = match code {
            METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            PARSE_ERROR | INVALID_REQUEST | HEADER_MISMATCH | UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let body = RefusalBody::Rpc { id, code, message: message.into(), data: None };
        Refusal(Box::new(Refused { status, body, header: None }))
    }

    pub(super) fn internal(id: &Value, message: &str) -> Refusal {
        Refusal::rpc(id.clone(), INTERNAL, message)
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Refusal {
        self.0.status = status;
        self
    }

    fn with_header(mut self, name: http::HeaderName, value: &'static str) -> Refusal {
        self.0.header = Some((name, value));
        self
    }

    pub(super) fn with_data(mut self, value: Value) -> Refusal {
        if let RefusalBody::Rpc { data, .. } = &mut self.0.body {
            *data = Some(value);
        }
        self
    }

    pub(super) fn method_not_allowed() -> Refusal {
        Refusal::plain(StatusCode::METHOD_NOT_ALLOWED, "only POST is served here").with_header(ALLOW, "POST")
    }

    pub(super) fn unauthorized() -> Refusal {
        Refusal::plain(StatusCode::UNAUTHORIZED, "`Authorization: Bearer` with the server's secret is needed")
            .with_header(WWW_AUTHENTICATE, "Bearer")
    }

    pub(super) fn busy() -> Refusal {
        Refusal::plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests in progress, try again")
            .with_header(RETRY_AFTER, "1")
    }

    /// How the span of the request ends.
    pub(super) fn seen(&self) -> Ended<'_> {
        match &self.0.body {
            RefusalBody::Plain(message) => Ended::Failed { kind: "http", message: message.into() },
            RefusalBody::Rpc { code, message, .. } => Ended::Rpc { code: *code, message: message.into() },
        }
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = match self.0.body {
            RefusalBody::Plain(message) => (self.0.status, message).into_response(),
            RefusalBody::Rpc { id, code, message, data } => {
                let mut error = json!({ "code": code, "message": message });
                if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
                    error.insert("data".to_owned(), data);
                }
                let mut answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                if let Some(answer) =
                    answer.as_object_mut().filter(|answer| answer.get("id") == Some(&Value::Null))
                {
                    answer.shift_remove("id");
                }
                json_response(self.0.status, &answer)
            }
        };
        if let Some((name, value)) = self.0.header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// The answer to a notification.
pub(super) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// Completes what `rmcp` answered: identity and trace context in the `_meta` of every result, JSON-RPC in every
/// error, and streams passed on as they are.
pub(super) async fn complete(
    answer: http::Response<BoxBody<Bytes, Infallible>>,
    envelope: &Envelope,
    server_info: &Value,
    span: &mut RequestSpan,
    permit: OwnedSemaphorePermit,
) -> Result<Response, Refusal> {
    let (parts, body) = answer.into_parts();
    let content_type =
        parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if content_type.starts_with("text/event-stream") {
        // Its span is that of its opening.
        span.ended(&Ended::Well);
        return Ok(stream(body, permit));
    }
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let Ok(mut message) = serde_json::from_slice::<Value>(&bytes) else {
        // `rmcp` answers some failures in plain text.
        tracing::error!(status = %parts.status, body = %String::from_utf8_lossy(&bytes), "unexpected answer");
        return Err(Refusal::internal(&envelope.id, "the server failed while it worked on this request"));
    };
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        identify(result, server_info, span);
    }
    span.answered(envelope, &message);
    Ok(json_response(parts.status, &message))
}

fn identify(result: &mut Map<String, Value>, server_info: &Value, span: &RequestSpan) {
    result.entry("resultType").or_insert_with(|| json!("complete"));
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(SERVER_INFO_KEY.to_owned(), server_info.clone());
        if let Some(traceparent) = &span.traceparent {
            meta.insert("traceparent".to_owned(), json!(traceparent));
        }
    }
}

/// Passes a stream on and keeps its place among the listeners until it ends.
fn stream(body: BoxBody<Bytes, Infallible>, permit: OwnedSemaphorePermit) -> Response {
    let frames = body.into_data_stream().map(move |frame| {
        let _ = &permit;
        frame
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn json_response(status: StatusCode, message: &Value) -> Response {
    let mut response = (status, message.to_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
