use std::sync::{Arc, Mutex};
use std::time::Duration;

use aldgate_agent::{
    AskReply, Asker, CallLimits, ClientProfile, Connection, Endpoint, InputAsk, PendingApproval, WaitReply,
};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

/// What the fake does with one request.
pub(crate) enum Reply {
    Result(Value),
    Error(i64, &'static str, Value),
    Status(u16),
    /// An HTTP error with this body.
    Http(u16, Value),
    /// Breaks off in the middle of the body.
    Break,
    /// Never answers.
    Hang,
}

/// One `tools/call` as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) id: Value,
    pub(crate) params: Map<String, Value>,
    pub(crate) headers: HeaderMap,
}

type Script = dyn Fn(usize, &Seen) -> Reply + Send + Sync;

/// A server on loopback whose answers to `tools/call` are scripted.
pub(crate) struct Fake {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<Seen>>>,
    lists: Arc<Mutex<Vec<Seen>>>,
    /// Told when a call begins to hang, and when its client has gone.
    pub(crate) hanging: Arc<Notify>,
    pub(crate) abandoned: Arc<Notify>,
    task: tokio::task::JoinHandle<()>,
}

struct Inner {
    calls: Arc<Mutex<Vec<Seen>>>,
    lists: Arc<Mutex<Vec<Seen>>>,
    hanging: Arc<Notify>,
    abandoned: Arc<Notify>,
    pages: Vec<Value>,
    script: Box<Script>,
}

impl Fake {
    /// `script` gets the number of the call, from 1.
    pub(crate) async fn start(script: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_pages(vec![json!({"tools": tools()})], script).await
    }

    pub(crate) async fn with_pages(
        pages: Vec<Value>,
        script: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let lists = Arc::new(Mutex::new(Vec::new()));
        let (hanging, abandoned) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let inner = Arc::new(Inner {
            calls: calls.clone(),
            lists: lists.clone(),
            hanging: hanging.clone(),
            abandoned: abandoned.clone(),
            pages,
            script: Box::new(script),
        });
        let app = Router::new().route("/mcp", post(answer)).with_state(inner);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, calls, lists, hanging, abandoned, task }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            url: self.url.clone(),
            token: Some("t0ken".to_owned()),
            renewal: None,
            client_name: "agent-tests".to_owned(),
        }
    }

    pub(crate) async fn connect(&self) -> Connection {
        self.connect_as(ClientProfile::default()).await
    }

    pub(crate) async fn connect_as(&self, profile: ClientProfile) -> Connection {
        let connection = Connection::open_with(&self.endpoint(), profile, quick()).await.unwrap();
        connection.tools().await.unwrap();
        connection
    }

    pub(crate) fn calls(&self) -> Vec<Seen> {
        self.calls.lock().unwrap().clone()
    }

    /// Requests for lists.
    pub(crate) fn lists(&self) -> Vec<Seen> {
        self.lists.lock().unwrap().clone()
    }

    pub(crate) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

pub(crate) fn quick() -> CallLimits {
    CallLimits {
        pause: Duration::from_millis(1),
        max_pause: Duration::from_millis(2),
        timeout: Duration::from_secs(20),
        ..CallLimits::default()
    }
}

pub(crate) fn tools() -> Value {
    json!([
        {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": false},
         "_meta": {"io.github.aldgate/contract": {"digest": "sha256:aa", "authority": "automatic", "readOnly": true}}},
        {"name": "order", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
         "_meta": {"io.github.aldgate/contract": {"digest": "sha256:bb", "authority": "requires_approval", "readOnly": false}}},
    ])
}

pub(crate) fn done(text: &str) -> Reply {
    Reply::Result(json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
}

pub(crate) fn refusal(code: &str) -> Reply {
    Reply::Result(json!({
        "resultType": "complete", "isError": true, "content": [{"type": "text", "text": format!("refused: {code}")}],
        "_meta": {"io.github.aldgate/refusal": {"code": code, "rule": "registry", "call": "c-1"}}
    }))
}

pub(crate) fn form(state: Option<&str>) -> Reply {
    let mut result = json!({"resultType": "input_required", "inputRequests": {"k": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Who approves?",
                   "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}});
    if let Some(state) = state {
        result["requestState"] = Value::from(state);
    }
    Reply::Result(result)
}

async fn answer(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let id = request["id"].clone();
    let reply = match request["method"].as_str().unwrap() {
        "server/discover" => Reply::Result(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 60000, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}}
        })),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            let params = request["params"].as_object().unwrap().clone();
            inner.lists.lock().unwrap().push(Seen { id: id.clone(), params, headers });
            let page = request["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
            let mut page: Value = inner.pages[page % inner.pages.len()].clone();
            page["resultType"] = Value::from("complete");
            page["ttlMs"] = Value::from(60000);
            page["cacheScope"] = Value::from("private");
            Reply::Result(page)
        }
        "tools/call" | "resources/read" | "prompts/get" => {
            let seen =
                Seen { id: id.clone(), params: request["params"].as_object().unwrap().clone(), headers };
            let number = {
                let mut calls = inner.calls.lock().unwrap();
                calls.push(seen.clone());
                calls.len()
            };
            (inner.script)(number, &seen)
        }
        other => panic!("unexpected method {other}"),
    };
    let json = |status: u16, body: Value| {
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    };
    match reply {
        Reply::Result(result) => json(200, json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Reply::Error(code, message, data) => json(
            200,
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}}),
        ),
        Reply::Status(status) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            if status == 401 {
                response.headers_mut().insert("www-authenticate", "Bearer".parse().unwrap());
            }
            response
        }
        Reply::Http(status, body) => json(status, body),
        Reply::Break => {
            let pieces = [Ok(Bytes::from_static(b"{\"jsonrpc\":")), Err(std::io::Error::other("cut"))];
            Response::builder()
                .header("content-type", "application/json")
                .body(Body::from_stream(futures::stream::iter(pieces)))
                .unwrap()
        }
        Reply::Hang => {
            let _gone = TellWhenDropped(inner.abandoned.clone());
            inner.hanging.notify_one();
            std::future::pending().await
        }
    }
}

struct TellWhenDropped(Arc<Notify>);

impl Drop for TellWhenDropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// An asker that replies from a closure and counts.
pub(crate) struct Scripted<F> {
    reply: F,
    pub(crate) asked: Mutex<Vec<InputAsk>>,
    pub(crate) waits: Mutex<usize>,
    patience: usize,
}

impl<F: Fn(&InputAsk) -> AskReply + Send + Sync> Scripted<F> {
    pub(crate) fn new(reply: F) -> Self {
        Self { reply, asked: Mutex::default(), waits: Mutex::new(0), patience: usize::MAX }
    }

    pub(crate) fn with_patience(mut self, patience: usize) -> Self {
        self.patience = patience;
        self
    }
}

#[async_trait]
impl<F: Fn(&InputAsk) -> AskReply + Send + Sync> Asker for Scripted<F> {
    async fn answer(&self, ask: InputAsk) -> AskReply {
        let reply = (self.reply)(&ask);
        self.asked.lock().unwrap().push(ask);
        reply
    }

    async fn wait(&self, _pending: PendingApproval) -> WaitReply {
        let mut waits = self.waits.lock().unwrap();
        *waits += 1;
        if *waits > self.patience { WaitReply::Stop } else { WaitReply::GoOn }
    }
}

pub(crate) fn accept(_: &InputAsk) -> AskReply {
    AskReply::Accept(Map::from_iter([("name".to_owned(), Value::from("Ada"))]))
}

pub(crate) fn never(ask: &InputAsk) -> AskReply {
    panic!("nothing should be asked, but was: {ask:?}")
}
