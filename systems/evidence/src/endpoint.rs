//! The Streamable HTTP transport: one POST, one answer as JSON, no session and no stream.

use std::sync::Arc;
use std::time::Duration;

use aldgate_wire::guard::Limits;
use aldgate_wire::head::{self, Doors, HeadFault};
use aldgate_wire::request::Rejection;
use aldgate_wire::response::error_bytes;
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::answer::fault_response;
use crate::era::{self, Asking, Era, Message};
use crate::fault::{Fault, own_code};
use crate::reader::{Admission, Denied, Reader};
use crate::server::EvidenceServer;

/// Bounds on what requests may take.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Nesting of a request's body.
    pub depth: usize,
    /// How long a body may take to come.
    pub body_within: Duration,
    /// Requests that are worked on at once; further ones are told to come again.
    pub in_flight: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { body_bytes: 256 << 10, depth: 64, body_within: Duration::from_secs(10), in_flight: 64 }
    }
}

/// A refusal at the level of HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refused {
    status: u16,
    code: &'static str,
    message: String,
    /// Further headers of the response.
    headers: Vec<(HeaderName, String)>,
}

impl Refused {
    fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), headers: Vec::new() }
    }
}

impl From<HeadFault> for Refused {
    fn from(fault: HeadFault) -> Self {
        Self::new(fault.http(), fault.code(), fault.to_string())
    }
}

/// The server behind HTTP.
pub struct Endpoint {
    server: Arc<EvidenceServer>,
    admission: Arc<dyn Admission>,
    doors: Doors,
    bounds: Bounds,
    places: Semaphore,
}

impl Endpoint {
    /// An endpoint; which path it has is for whoever mounts it.
    #[must_use]
    pub fn new(
        server: Arc<EvidenceServer>,
        admission: Arc<dyn Admission>,
        doors: Doors,
        bounds: Bounds,
    ) -> Self {
        let places = Semaphore::new(bounds.in_flight);
        Self { server, admission, doors, bounds, places }
    }

    /// The response to one request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.answer(request).await.unwrap_or_else(|refused| refusal(&refused))
    }

    async fn answer<B>(&self, request: Request<B>) -> Result<Response<Full<Bytes>>, Refused>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        head::doorway(&self.doors, &parts.headers, &parts.uri)?;
        head::method(&parts.method, &parts.headers)?;
        let reader = self.admission.admit(&parts.headers).await.map_err(denied)?;
        if self.server.is_draining() {
            return Err(unavailable(&Fault::Draining));
        }
        head::content(&parts.headers, self.bounds.body_bytes)?;
        let Ok(_place) = self.places.try_acquire() else { return Err(unavailable(&Fault::Busy)) };
        let body = self.read(body).await?;
        let limits = Limits { max_bytes: self.bounds.body_bytes, max_depth: self.bounds.depth };
        Ok(match era::read(Some(&parts.headers), &body, &limits) {
            Err(rejection) => json_response(rejection.http, rejected(&rejection)),
            Ok(Message::Notification) => empty(202),
            Ok(Message::Request(asking)) => {
                let (status, bytes) = answered(&self.server, &reader, asking).await;
                json_response(status, bytes)
            }
            Ok(Message::Batch(messages)) => match batch(&self.server, &reader, messages).await {
                Some(bytes) => json_response(200, bytes),
                None => empty(202),
            },
        })
    }

    async fn read<B>(&self, body: B) -> Result<Bytes, Refused>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse = |message: &str| Refused::new(400, "AG-HEAD-BODY", message);
        let whole = Limited::new(body, self.bounds.body_bytes).collect();
        match tokio::time::timeout(self.bounds.body_within, whole).await {
            Err(_) => Err(refuse("the body did not come in time")),
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(fault)) if fault.is::<LengthLimitError>() => Err(too_large(self.bounds.body_bytes)),
            Ok(Err(_)) => Err(refuse("the body broke off")),
        }
    }
}

/// The response to one request, with the HTTP status that belongs to it.
pub(crate) async fn answered(server: &EvidenceServer, reader: &Reader, asking: Asking) -> (u16, Vec<u8>) {
    let Asking { id, era, ask } = asking;
    match server.answer(reader, ask).await {
        Ok(answer) => (200, answer.response(&id, era)),
        Err(fault) => {
            let status = match (era, fault.http()) {
                // The earlier revisions answer every request that they could read with 200.
                (Era::Older, 404) => 200,
                (_, status) => status,
            };
            (status, fault_response(&id, &fault))
        }
    }
}

/// The responses to a batch, as an array; `None` where it asked for none.
pub(crate) async fn batch(
    server: &EvidenceServer,
    reader: &Reader,
    messages: Vec<Result<Option<Asking>, Rejection>>,
) -> Option<Vec<u8>> {
    let mut responses = Vec::new();
    for message in messages {
        match message {
            Ok(Some(asking)) => responses.push(answered(server, reader, asking).await.1),
            Ok(None) => {}
            Err(rejection) => responses.push(rejected(&rejection)),
        }
    }
    let whole = [b"[".as_slice(), &responses.join(b",".as_slice()), b"]"].concat();
    (!responses.is_empty()).then_some(whole)
}

/// The response to a message that was not accepted.
pub(crate) fn rejected(rejection: &Rejection) -> Vec<u8> {
    error_bytes(rejection.id.as_ref(), rejection.code, &rejection.message, rejection.data.as_deref())
}

fn denied(denied: Denied) -> Refused {
    let message = denied.to_string();
    match denied {
        Denied::Credentials { status, code, headers, .. } => {
            Refused { headers, ..Refused::new(status, code, message) }
        }
        Denied::Forbidden => Refused::new(403, "AG-EVIDENCE-FORBIDDEN", message),
        Denied::Unrecorded => Refused::new(503, "AG-EVIDENCE-STORE", message),
    }
}

/// A body that turned out to be too large though it was not announced so.
fn too_large(limit: usize) -> Refused {
    Refused::new(413, "AG-HEAD-SIZE", format!("the body is larger than {limit} bytes; send less"))
}

fn unavailable(fault: &Fault) -> Refused {
    Refused::new(fault.http(), fault.ag(), fault.to_string())
}

fn refusal(refused: &Refused) -> Response<Full<Bytes>> {
    let Refused { status, code, message, headers } = refused;
    let body = error_bytes(None, own_code(*status), message, Some(&json!({ "code": code })));
    let mut response = json_response(*status, body);
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    if *status == 401 {
        response.headers_mut().entry(WWW_AUTHENTICATE).or_insert(HeaderValue::from_static("Bearer"));
    }
    if *status == 405 {
        insert(&mut response, ALLOW, "POST");
    }
    response
}

fn json_response(status: u16, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = empty(status);
    *response.body_mut() = Full::from(body);
    insert(&mut response, CONTENT_TYPE, "application/json");
    if status == 503 {
        insert(&mut response, RETRY_AFTER, "1");
    }
    response
}

fn empty(status: u16) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    insert(&mut response, CACHE_CONTROL, "no-store");
    response
}

fn insert(response: &mut Response<Full<Bytes>>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
