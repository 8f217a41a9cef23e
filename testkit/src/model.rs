//! A fake of a model's service: the Messages API and chat completions, with the faults that real ones have.
//!
//! What it answers is scripted; what it is asked is checked as the real services check it, and refused with their words.

mod anthropic;
mod openai;
mod script;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub use script::Script;

/// The key that the service knows.
pub const MODEL_KEY: &str = "sk-test-0123456789abcdef";

/// Which API is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// The Messages API of Anthropic.
    Anthropic,
    /// Chat completions.
    OpenAi,
}

/// What the service does with one request that it accepts.
#[derive(Clone, Debug)]
pub enum ModelAnswer {
    /// A whole stream of events, as it goes over the wire.
    Stream(String),
    /// The stream up to its middle, then the connection is cut.
    Cut(String),
    /// The stream up to its middle, then nothing.
    Stall(String),
    /// No head of an answer.
    Silence,
    /// The connection is cut before a byte of an answer.
    Drop,
    /// Any answer: its status, its media type, further headers and its body.
    Whole {
        /// The status.
        status: u16,
        /// `content-type`.
        media: &'static str,
        /// Further headers.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
}

/// One request as it came in.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Its path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Value,
    /// What was wrong with it; a request that is wrong takes no answer of the script.
    pub wrong: Option<String>,
}

/// The service on a port of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<ModelAnswer>,
    seen: Vec<ModelRequest>,
    /// Whether chat completions need no key.
    open: bool,
}

impl ModelAnswer {
    /// An error as both services write it.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": kind, "message": message, "code": null, "param": null}});
        Self::Whole { status, media: "application/json", headers: Vec::new(), body: body.to_string() }
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

impl ModelServer {
    /// Starts a service that gives these answers in turn, and wants [`MODEL_KEY`].
    ///
    /// # Errors
    /// Where no port can be had.
    pub async fn start(script: impl IntoIterator<Item = ModelAnswer>) -> std::io::Result<Self> {
        Self::serve(script, false).await
    }

    /// The same; chat completions need no key, as with models on one's own machine.
    ///
    /// # Errors
    /// Where no port can be had.
    pub async fn start_open(script: impl IntoIterator<Item = ModelAnswer>) -> std::io::Result<Self> {
        Self::serve(script, true).await
    }

    async fn serve(script: impl IntoIterator<Item = ModelAnswer>, open: bool) -> std::io::Result<Self> {
        let state = State { script: script.into_iter().collect(), open, ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let app = Router::new().fallback(answer).with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // It ends by being aborted.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, state, task })
    }

    /// The base URL of an API.
    #[must_use]
    pub fn base_url(&self, api: ModelApi) -> String {
        match api {
            ModelApi::Anthropic => format!("http://{}", self.address),
            ModelApi::OpenAi => format!("http://{}/v1", self.address),
        }
    }

    /// The requests so far, those included that were refused.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        locked(&self.state).seen.clone()
    }

    /// How many answers of the script are left.
    #[must_use]
    pub fn left(&self) -> usize {
        locked(&self.state).script.len()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    Shared(state): Shared<Arc<Mutex<State>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let wrong = match uri.path() {
        "/v1/messages" => anthropic::check(&headers, &body),
        "/v1/chat/completions" => openai::check(&headers, &body, locked(&state).open),
        _ => Err(Wrong { status: 404, kind: "not_found_error", message: "Not Found".to_owned() }),
    };
    let next = {
        let mut state = locked(&state);
        let wrong = wrong.as_ref().err().map(|wrong| wrong.message.clone());
        state.seen.push(ModelRequest { path: uri.path().to_owned(), headers, body, wrong: wrong.clone() });
        if wrong.is_none() { state.script.pop_front() } else { None }
    };
    let next = match (wrong, next) {
        (Err(wrong), _) => ModelAnswer::error(wrong.status, wrong.kind, &wrong.message),
        (Ok(()), Some(next)) => next,
        (Ok(()), None) => ModelAnswer::error(400, "invalid_request_error", "the script has ended"),
    };
    respond(next).await
}

/// What is wrong with a request, as the service tells it.
struct Wrong {
    status: u16,
    kind: &'static str,
    message: String,
}

impl Wrong {
    fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", message: message.into() }
    }
}

async fn respond(answer: ModelAnswer) -> Response<Body> {
    let half = |text: String| {
        let at = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        Ok::<_, std::io::Error>(Bytes::from(text.get(..at).unwrap_or_default().to_owned()))
    };
    let (status, media, headers, body) = match answer {
        ModelAnswer::Stream(text) => (200, "text/event-stream; charset=utf-8", Vec::new(), Body::from(text)),
        ModelAnswer::Cut(text) => {
            // What was written goes out when the next piece has to be waited for.
            let cut = stream::once(async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut"))
            });
            let pieces = stream::iter([half(text)]).chain(cut);
            (200, "text/event-stream", Vec::new(), Body::from_stream(pieces))
        }
        ModelAnswer::Stall(text) => {
            let pieces = stream::iter([half(text)]).chain(stream::pending());
            (200, "text/event-stream", Vec::new(), Body::from_stream(pieces))
        }
        ModelAnswer::Drop => {
            let cut = stream::iter([Err::<Bytes, _>(std::io::Error::other("cut"))]);
            (200, "text/event-stream", Vec::new(), Body::from_stream(cut))
        }
        ModelAnswer::Silence => std::future::pending().await,
        ModelAnswer::Whole { status, media, headers, body } => (status, media, headers, Body::from(body)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let all = std::iter::once(("content-type", media.to_owned())).chain(headers);
    for (name, value) in all {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Whether a tool's name is one that both services accept.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The members of a body that a service knows; others are refused.
fn known(body: &Value, members: &[&str]) -> Result<(), Wrong> {
    let Some(given) = body.as_object() else { return Err(Wrong::invalid("the body is no JSON object")) };
    match given.keys().find(|name| !members.contains(&name.as_str())) {
        Some(name) => Err(Wrong::invalid(format!("{name}: Extra inputs are not permitted"))),
        None => Ok(()),
    }
}
