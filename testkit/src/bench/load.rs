use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const REVISION: &str = "2026-07-28";
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}"#,
);

/// What is sent again and again.
#[derive(Clone, Debug)]
pub enum Method {
    /// `tools/call` of this tool, whose key is filled up to so many bytes.
    Call(String, usize),
    /// `tools/list`, which has to give so many tools.
    List(usize),
}

/// A load: so many connections, on each of which one request follows the other.
#[derive(Clone, Debug)]
pub struct Load {
    /// The endpoint, an `http:` URL.
    pub url: Uri,
    /// The bearer token that is shown.
    pub token: Option<String>,
    /// What is sent.
    pub method: Method,
    /// Connections, each kept for the whole load.
    pub connections: usize,
    /// Requests on each connection that are not measured, before those that are.
    pub warm: u64,
    /// How long it lasts at most.
    pub lasts: Duration,
    /// Requests at most.
    pub most: u64,
}

/// What came of a load. Every answer was the right one.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Requests that were measured.
    pub requests: u64,
    /// All requests, those that only warmed up with them.
    pub sent: u64,
    /// Bytes of the last answer's body.
    pub bytes: usize,
    /// Requests a second.
    pub rps: f64,
    /// Median of the latency in milliseconds.
    pub p50_ms: f64,
    /// The latency in milliseconds that one in a hundred exceeds.
    pub p99_ms: f64,
}

/// Why a load is of no use.
#[derive(Debug, thiserror::Error)]
pub enum LoadFault {
    /// The URL lacks something.
    #[error("`{0}` has no host and port")]
    Url(Uri),
    /// No connection.
    #[error("no connection")]
    Connect(#[source] std::io::Error),
    /// A request that cannot stand on the wire.
    #[error("the request cannot be made")]
    Request(#[from] http::Error),
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[from] hyper::Error),
    /// An answer that is not the one to what was sent.
    #[error("the answer to request {id} is not the right one: status {status}, body `{body}`")]
    Wrong {
        /// The request's id.
        id: u64,
        /// HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
    /// A part of the load did not end by itself.
    #[error("a connection's task ended early")]
    Task(#[from] tokio::task::JoinError),
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Gives<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gives<'a> {
    #[serde(borrow)]
    structured_content: Option<Found<'a>>,
    tools: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Deserialize)]
struct Found<'a> {
    key: &'a str,
}

impl Load {
    /// Sends it all.
    ///
    /// # Errors
    /// Where an answer does not come or is not the right one.
    pub async fn run(self) -> Result<Measured, LoadFault> {
        let ids = Arc::new(AtomicU64::new(0));
        let connections = u64::try_from(self.connections).unwrap_or(u64::MAX);
        let mut open = Vec::new();
        for _ in 0..self.connections {
            let mut one = Connection::open(self.clone(), ids.clone()).await?;
            for _ in 0..self.warm {
                one.exchange().await?;
            }
            open.push(one);
        }
        let warmed = ids.load(Ordering::Relaxed);
        let begun = Instant::now();
        let until = begun + self.lasts;
        let mut all = JoinSet::new();
        for one in open {
            all.spawn(one.repeat(until, warmed + self.most.saturating_sub(connections)));
        }
        let mut took = Vec::new();
        let mut bytes = 0;
        while let Some(one) = all.join_next().await {
            let (latencies, last) = one??;
            took.extend(latencies);
            bytes = last;
        }
        let lasted = begun.elapsed();
        took.sort_unstable();
        let at = |share: usize| {
            took.get((took.len() * share / 100).min(took.len().saturating_sub(1)))
                .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        };
        let requests = u64::try_from(took.len()).unwrap_or(u64::MAX);
        let exact = u32::try_from(requests).map_or(f64::INFINITY, f64::from);
        Ok(Measured {
            requests,
            sent: ids.load(Ordering::Relaxed),
            bytes,
            rps: exact / lasted.as_secs_f64(),
            p50_ms: at(50),
            p99_ms: at(99),
        })
    }
}

struct Connection {
    load: Load,
    sender: SendRequest<Full<Bytes>>,
    ids: Arc<AtomicU64>,
    host: String,
    /// What fills a key up.
    filling: String,
    /// Bytes of the last answer.
    last: usize,
}

impl Connection {
    async fn open(load: Load, ids: Arc<AtomicU64>) -> Result<Self, LoadFault> {
        let host = load.url.authority().ok_or_else(|| LoadFault::Url(load.url.clone()))?.to_string();
        let stream = TcpStream::connect(&host).await.map_err(LoadFault::Connect)?;
        stream.set_nodelay(true).map_err(LoadFault::Connect)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            // Whoever waits for an answer hears of it.
            let _ = connection.await;
        });
        let filling = match &load.method {
            Method::Call(_, bytes) => "y".repeat(*bytes),
            Method::List(_) => String::new(),
        };
        Ok(Self { load, sender, ids, host, filling, last: 0 })
    }

    async fn repeat(mut self, until: Instant, most: u64) -> Result<(Vec<Duration>, usize), LoadFault> {
        let mut took = Vec::new();
        while Instant::now() < until && self.ids.load(Ordering::Relaxed) <= most {
            took.push(self.exchange().await?);
        }
        Ok((took, self.last))
    }

    async fn exchange(&mut self) -> Result<Duration, LoadFault> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let key = format!("key-{id}-{}", self.filling);
        let request = self.request(id, &key)?;
        let begun = Instant::now();
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        let took = begun.elapsed();
        self.last = body.len();
        let streamed = parts
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if parts.status == 200 && self.is_right(id, &key, &body, streamed) {
            return Ok(took);
        }
        let shown: Vec<u8> = body.iter().copied().take(400).collect();
        Err(LoadFault::Wrong {
            id,
            status: parts.status.as_u16(),
            body: String::from_utf8_lossy(&shown).into_owned(),
        })
    }

    fn request(&self, id: u64, key: &str) -> Result<Request<Full<Bytes>>, LoadFault> {
        let mut request = Request::post(self.load.url.path())
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION);
        if let Some(token) = &self.load.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let (method, params) = match &self.load.method {
            Method::Call(tool, _) => {
                request = request.header("mcp-name", tool);
                let name = json!(tool);
                ("tools/call", format!(r#"{{"name":{name},"arguments":{{"key":"{key}","limit":3}},{META}}}"#))
            }
            Method::List(_) => ("tools/list", format!("{{{META}}}")),
        };
        request = request.header("mcp-method", method);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        Ok(request.body(Full::new(Bytes::from(body)))?)
    }

    fn is_right(&self, id: u64, key: &str, body: &[u8], streamed: bool) -> bool {
        let Ok(text) = std::str::from_utf8(body) else { return false };
        // The last event of a stream is the answer.
        let text = if streamed {
            text.lines().filter_map(|line| line.strip_prefix("data:")).next_back().unwrap_or_default()
        } else {
            text
        };
        let Ok(answer) = serde_json::from_str::<Answer<'_>>(text) else { return false };
        let gives = match &self.load.method {
            Method::Call(..) => answer.result.structured_content.is_some_and(|found| found.key == key),
            Method::List(tools) => answer.result.tools.is_some_and(|listed| listed.len() == *tools),
        };
        gives && answer.id == id
    }
}
