//! A server that says back all that it is shown, wherever it can, and a collector that keeps all that it is sent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aldgate_testkit::Call;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

/// What it does with a call, by the name of the tool.
pub(super) const TOOLS: [&str; 7] = ["look", "fail", "error", "stream", "refuse", "page", "type"];

#[derive(Clone, Default)]
pub(super) struct Echo(Arc<Mutex<BTreeSet<String>>>);

impl Echo {
    /// Starts it; gives its address.
    pub(super) async fn start(&self) -> String {
        let app = Router::new().route("/{name}/mcp", post(answer)).with_state(self.clone());
        serve(app).await
    }

    /// The credentials that it was shown.
    pub(super) fn shown(&self) -> BTreeSet<String> {
        self.0.lock().expect("no panic").clone()
    }
}

async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Says back what it is shown.", "inputSchema": {"type": "object"}})
}

/// A call of one of the tools behind a prefix.
pub(super) fn call(prefix: &str, tool: &str) -> Call {
    let tracing = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    Call::tool(&format!("{prefix}{tool}"), "{}")
        .meta("io.modelcontextprotocol/logLevel", "debug".into())
        .meta("traceparent", tracing.into())
}

async fn answer(State(echo): State<Echo>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut said = String::new();
    for (name, value) in &headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        said.push_str(&format!("{name}: {value}; "));
        if name == header::AUTHORIZATION || name == "x-api-key" {
            let secret = value.split_once(' ').map_or(&*value, |(_, secret)| secret);
            echo.0.lock().expect("no panic").insert(secret.to_owned());
        }
    }
    said.push_str(&String::from_utf8_lossy(&body));
    let json_of = |status: StatusCode, body: Value| {
        let headers = [
            (header::CONTENT_TYPE, "application/json".to_owned()),
            (header::WWW_AUTHENTICATE, format!("Bearer error_description=\"{}\"", plain(&said))),
        ];
        (status, headers, body.to_string()).into_response()
    };
    let id = &request["id"];
    let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let error = |code: i64| {
        let error = json!({"code": code, "message": said, "data": {"headers": said}});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    };
    let called = json!({
        "resultType": "complete", "content": [{"type": "text", "text": said}], "structuredContent": {"said": said},
        "_meta": {"echo": said},
    });
    match (
        request["method"].as_str().unwrap_or_default(),
        request["params"]["name"].as_str().unwrap_or_default(),
    ) {
        ("server/discover", _) => json_of(
            StatusCode::OK,
            result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private", "instructions": said,
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "echo", "version": "1"}},
            })),
        ),
        ("tools/list", _) => {
            let tools: Vec<Value> = TOOLS.iter().map(|name| tool(name)).collect();
            let list = json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools, "_meta": {"echo": said},
            });
            json_of(StatusCode::OK, result(list))
        }
        ("tools/call", "look") => json_of(StatusCode::OK, result(called)),
        ("tools/call", "fail") => {
            let failed = json!({"resultType": "complete", "content": [{"type": "text", "text": said}], "isError": true});
            json_of(StatusCode::OK, result(failed))
        }
        ("tools/call", "error") => json_of(StatusCode::OK, error(-32000)),
        ("tools/call", "stream") => {
            let params = json!({"level": "error", "data": said});
            let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
            let events =
                format!("event: message\ndata: {note}\n\nevent: message\ndata: {}\n\n", result(called));
            ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
        }
        ("tools/call", "refuse") => json_of(StatusCode::UNAUTHORIZED, error(-32001)),
        ("tools/call", "page") => {
            json_of(StatusCode::INTERNAL_SERVER_ERROR, json!({"error": {"message": said}}))
        }
        ("tools/call", "type") => {
            ([(header::CONTENT_TYPE, format!("text/{}", plain(&said)))], "no").into_response()
        }
        _ => json_of(StatusCode::NOT_FOUND, error(-32601)),
    }
}

/// Without what cannot stand in a header.
fn plain(said: &str) -> String {
    let from = said.find("authorization").or(said.find("x-api-key")).unwrap_or_default();
    said.chars()
        .skip(from)
        .filter(|letter| letter.is_ascii_graphic() && !"\"\\;,".contains(*letter))
        .take(3000)
        .collect()
}

/// Takes spans and metrics, and keeps the bytes.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    pub(super) async fn start(&self) -> String {
        serve(Router::new().fallback(kept).with_state(self.clone())).await
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("no panic").clone()
    }
}

async fn kept(State(sink): State<Sink>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut kept = sink.0.lock().expect("no panic");
    kept.extend_from_slice(format!("{headers:?}").as_bytes());
    kept.extend_from_slice(&body);
    StatusCode::OK
}
