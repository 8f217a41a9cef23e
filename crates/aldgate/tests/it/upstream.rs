//! A server whose tools a test changes.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

type Shared = Arc<Mutex<Served>>;

/// What it lists, and the methods that it was asked for.
struct Served {
    tools: Vec<Value>,
    asked: Vec<String>,
    /// What the last call was authorised with.
    shown: Option<String>,
}

/// A server on loopback that lists what it is told to, answers every call with the arguments, and who listens never.
pub(crate) struct Upstream {
    pub(crate) url: String,
    tools: Shared,
    _runtime: tokio::runtime::Runtime,
}

impl Upstream {
    pub(crate) fn start(tools: &[Value]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let tools: Shared =
            Arc::new(Mutex::new(Served { tools: tools.to_vec(), asked: Vec::new(), shown: None }));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let app = Router::new().route("/mcp", post(answer)).with_state(tools.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { url, tools, _runtime: runtime }
    }

    /// Serves other tools from now on.
    pub(crate) fn serve(&self, tools: &[Value]) {
        self.tools.lock().expect("no panic").tools = tools.to_vec();
    }

    /// What the last call was authorised with.
    pub(crate) fn shown(&self) -> Option<String> {
        self.tools.lock().expect("no panic").shown.clone()
    }

    /// How many calls it was asked for.
    pub(crate) fn calls(&self) -> usize {
        self.asked("tools/call")
    }

    /// How often it was asked for this method.
    pub(crate) fn asked(&self, wanted: &str) -> usize {
        let served = self.tools.lock().expect("no panic");
        served.asked.iter().filter(|method| *method == wanted).count()
    }
}

/// A tool that takes any object.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

async fn answer(
    State(tools): State<Shared>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let asked = request["method"].as_str().unwrap_or_default().to_owned();
    {
        let mut served = tools.lock().expect("no panic");
        if asked == "tools/call" {
            let shown = headers.get("authorization").and_then(|value| value.to_str().ok());
            served.shown = shown.map(str::to_owned);
        }
        served.asked.push(asked);
    }
    let result = match request["method"].as_str() {
        Some("server/discover") => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "changing", "version": "1"}},
        }),
        Some("tools/list") => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": tools.lock().expect("no panic").tools,
        }),
        Some("tools/call") => json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": request["params"]["arguments"].to_string()}],
        }),
        Some("subscriptions/listen") => std::future::pending().await,
        _ => {
            let error = json!({"code": -32601, "message": "method not found"});
            let body = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            return (StatusCode::NOT_FOUND, Json(body));
        }
    };
    (StatusCode::OK, Json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})))
}

/// testkit's server with every fixture of the official conformance suite.
pub(crate) struct Everything {
    pub(crate) url: String,
    _runtime: tokio::runtime::Runtime,
}

impl Everything {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        runtime.spawn(aldgate_testkit::everything::serve(listener));
        Self { url, _runtime: runtime }
    }
}
