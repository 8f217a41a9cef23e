//! The stdio transport: one message a line. Each line takes the same way as an HTTP request does, with the headers
//! that its own body implies, so that both transports are equally strict.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tower::ServiceExt as _;

#[cfg(test)]
mod tests;

/// Where the router that is passed in serves.
pub(crate) const PATH: &str = "/mcp";

/// Longest line; a longer one cannot be a request that the server would take.
const LONGEST_LINE: u64 = 256 * 1024 + 1;
/// Answers that wait for the reader of the output.
const WAITING: usize = 256;
/// Text of the version that a line without one is checked against.
const NO_VERSION: &str = "";

/// Standard input or output failed.
#[derive(Debug, Error)]
pub enum StdioFault {
    /// Reading.
    #[error("standard input could not be read")]
    Read(#[source] std::io::Error),
    /// Writing.
    #[error("standard output could not be written")]
    Write(#[source] std::io::Error),
}

/// Requests in progress by their id as JSON text.
type InProgress = Arc<Mutex<HashMap<String, AbortHandle>>>;

/// Serves until the input ends; requests in progress are then finished, and listens are dropped.
pub(crate) async fn serve<R, W>(router: Router, input: R, output: W) -> Result<(), StdioFault>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (answers, waiting) = mpsc::channel::<String>(WAITING);
    let mut writer = tokio::spawn(write(waiting, output));
    let in_progress: InProgress = Arc::default();
    let mut requests = JoinSet::new();
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut input).take(LONGEST_LINE);
        let read = tokio::select! {
            read = limited.read_until(b'\n', &mut line) => read.map_err(StdioFault::Read)?,
            // Nobody reads the output any more.
            done = &mut writer => return finished(done),
        };
        if read == 0 {
            break;
        }
        if line.last() != Some(&b'\n') && read as u64 == LONGEST_LINE {
            let _ = answers.send(error(-32600, "the line is longer than 262144 bytes")).await;
            skip_line(&mut input).await?;
            continue;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let message: Option<Value> = serde_json::from_slice(&line).ok();
        if let Some(id) = message.as_ref().and_then(cancelled) {
            if let Some(request) = lock(&in_progress).remove(&id) {
                request.abort();
            }
            continue;
        }
        let id = message.as_ref().and_then(|message| message.get("id")).map(Value::to_string);
        let request = request(&line, message.as_ref());
        let work = answer(router.clone(), request, answers.clone(), in_progress.clone(), id.clone());
        let listens = message.as_ref().and_then(|message| message.get("method"))
            == Some(&json!("subscriptions/listen"));
        {
            // Held until the request is noted, so that its own end cannot come before.
            let mut noted = lock(&in_progress);
            let handle = if listens { tokio::spawn(work).abort_handle() } else { requests.spawn(work) };
            if let Some(id) = id {
                noted.insert(id, handle);
            }
        }
        while requests.try_join_next().is_some() {}
    }
    while requests.join_next().await.is_some() {}
    for (_, listen) in lock(&in_progress).drain() {
        listen.abort();
    }
    drop(answers);
    finished(writer.await)
}

fn finished(done: Result<std::io::Result<()>, tokio::task::JoinError>) -> Result<(), StdioFault> {
    match done {
        Ok(written) => written.map_err(StdioFault::Write),
        Err(fault) => Err(StdioFault::Write(std::io::Error::other(fault))),
    }
}

fn lock(in_progress: &InProgress) -> std::sync::MutexGuard<'_, HashMap<String, AbortHandle>> {
    in_progress.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write<W: AsyncWrite + Unpin>(
    mut waiting: mpsc::Receiver<String>,
    mut output: W,
) -> std::io::Result<()> {
    while let Some(mut answer) = waiting.recv().await {
        answer.push('\n');
        output.write_all(answer.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

async fn skip_line<R: AsyncRead + Unpin>(input: &mut BufReader<R>) -> Result<(), StdioFault> {
    loop {
        let mut rest = Vec::new();
        let read = input.take(LONGEST_LINE).read_until(b'\n', &mut rest).await.map_err(StdioFault::Read)?;
        if read == 0 || rest.last() == Some(&b'\n') {
            return Ok(());
        }
    }
}

/// The id that a `notifications/cancelled` names.
fn cancelled(message: &Value) -> Option<String> {
    if message.get("method").and_then(Value::as_str) != Some("notifications/cancelled") {
        return None;
    }
    message.get("params").and_then(|params| params.get("requestId")).map(Value::to_string)
}

/// The HTTP request that a line stands for.
fn request(line: &[u8], message: Option<&Value>) -> Request<Body> {
    let params = message.and_then(|message| message.get("params"));
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(encoded);
    let version = params
        .and_then(|params| params.get("_meta"))
        .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    let method = text(message.and_then(|message| message.get("method")));
    let name = text(params.and_then(|params| params.get("name").or_else(|| params.get("uri"))));
    let mut request = Request::new(Body::from(line.to_vec()));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = http::Uri::from_static(PATH);
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, http::HeaderValue::from_static("application/json, text/event-stream"));
    let mirrored = [
        ("mcp-protocol-version", Some(text(version).unwrap_or_else(|| NO_VERSION.to_owned()))),
        ("mcp-method", method),
        ("mcp-name", name),
    ];
    for (header, value) in mirrored {
        if let Some(value) = value.and_then(|value| http::HeaderValue::from_str(&value).ok()) {
            headers.insert(header, value);
        }
    }
    request
}

/// A header value, in the transport's base64 form where it is not plain ASCII.
fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if plain && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

async fn answer(
    router: Router,
    request: Request<Body>,
    answers: mpsc::Sender<String>,
    in_progress: InProgress,
    id: Option<String>,
) {
    let Ok(response) = router.oneshot(request).await;
    let streams = response.headers().get(CONTENT_TYPE).is_some_and(|value| value == "text/event-stream");
    let json = response.headers().get(CONTENT_TYPE).is_some_and(|value| value == "application/json");
    let status = response.status();
    let mut frames = response.into_body().into_data_stream();
    let mut buffer = Vec::new();
    while let Some(Ok(frame)) = frames.next().await {
        buffer.extend_from_slice(&frame);
        while streams && let Some(event) = next_event(&mut buffer) {
            if answers.send(event).await.is_err() {
                return;
            }
        }
    }
    if json {
        let _ = answers.send(String::from_utf8_lossy(&buffer).into_owned()).await;
    } else if !streams && !status.is_success() {
        let message = String::from_utf8_lossy(&buffer).into_owned();
        let id = id.as_deref().and_then(|id| serde_json::from_str(id).ok());
        let _ = answers.send(error_for(id, -32603, &message)).await;
    }
    if let Some(id) = id {
        lock(&in_progress).remove(&id);
    }
}

/// Takes one server-sent event from the buffer and returns its data; comments have none and are skipped.
fn next_event(buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        let end = buffer.windows(2).position(|pair| pair == b"\n\n")?;
        let event: Vec<u8> = buffer.drain(..end + 2).collect();
        let event = String::from_utf8_lossy(&event);
        let data: String =
            event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
        if !data.is_empty() {
            return Some(data);
        }
    }
}

fn error(code: i64, message: &str) -> String {
    error_for(None, code, message)
}

fn error_for(id: Option<Value>, code: i64, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
        None => json!({ "jsonrpc": "2.0", "error": error }).to_string(),
    }
}
