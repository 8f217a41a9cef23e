//! The three real field-service servers behind one address, with as much of a gateway as the planner needs: contract
//! marks in the list, and an export that is not listed and refused.

use std::sync::{Arc, Mutex};

use aldgate_agent::{ClientProfile, Connection, Endpoint};
use aldgate_field_service::{Access, CONTRACTS, FieldService, Options};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::post;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fake::quick;

/// The host's own registry: which server a tool belongs to, and whether it only reads.
const REGISTRY: [(&str, &str, bool); 7] = [
    ("get_ticket", "tickets", true),
    ("search_tickets", "tickets", true),
    ("post_ticket_update", "tickets", false),
    ("find_part", "parts", true),
    ("check_availability", "parts", true),
    ("raise_parts_order", "parts", false),
    ("search_manual", "manuals", true),
];

pub(crate) struct Gate {
    url: String,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

#[derive(Clone)]
struct Inner {
    servers: Router,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Gate {
    pub(crate) async fn start() -> Self {
        let options = Options {
            store: None,
            tickets: 2000,
            seed: aldgate_field_service::DEFAULT_SEED,
            access: Access::Open,
            state_key: [7; 32],
        };
        let service = FieldService::open(options).await.unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let inner = Inner { servers: service.router(), calls: calls.clone() };
        let app = Router::new().route("/mcp", post(answer)).with_state(inner);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            // The store lives as long as its server.
            let _service = service;
            axum::serve(listener, app).await.unwrap();
        });
        Self { url, calls }
    }

    pub(crate) async fn connect(&self) -> Connection {
        let endpoint = Endpoint {
            url: self.url.clone(),
            token: None,
            renewal: None,
            client_name: "agent-tests".to_owned(),
        };
        Connection::open_with(&endpoint, ClientProfile::default(), quick()).await.unwrap()
    }

    /// The calls of one tool that came in, with their parameters.
    pub(crate) fn calls_of(&self, tool: &str) -> Vec<Value> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|(name, _)| name == tool).map(|(_, params)| params.clone()).collect()
    }
}

async fn answer(State(inner): State<Inner>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap();
    let send = async |server: &str| {
        let mut copy = axum::http::Request::new(Body::from(body.clone()));
        *copy.method_mut() = parts.method.clone();
        *copy.headers_mut() = parts.headers.clone();
        *copy.uri_mut() = format!("/{server}/mcp").parse().unwrap();
        inner.servers.clone().oneshot(copy).await.unwrap()
    };
    match message["method"].as_str().unwrap() {
        "tools/list" => {
            let mut tools = Vec::new();
            for server in ["tickets", "parts", "manuals"] {
                let page = axum::body::to_bytes(send(server).await.into_body(), 1 << 20).await.unwrap();
                let page: Value = serde_json::from_slice(&page).unwrap();
                tools.extend(page["result"]["tools"].as_array().unwrap().iter().filter_map(marked));
            }
            result(
                &message,
                json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}),
            )
        }
        "tools/call" => {
            let name = message["params"]["name"].as_str().unwrap().to_owned();
            inner.calls.lock().unwrap().push((name.clone(), message["params"].clone()));
            match REGISTRY.iter().find(|(tool, ..)| *tool == name) {
                Some((_, server, _)) => send(server).await,
                None => result(
                    &message,
                    json!({"resultType": "complete", "isError": true,
                        "content": [{"type": "text", "text": format!("the host prohibits `{name}`")}],
                        "_meta": {"io.github.aldgate/refusal":
                            {"code": "AG-PROHIBITED", "rule": "registry", "call": "c-1"}}}),
                ),
            }
        }
        _ => send("tickets").await,
    }
}

/// The tool with the gateway's mark; `None` if the registry does not name it.
fn marked(tool: &Value) -> Option<Value> {
    let (_, _, read_only) = REGISTRY.iter().find(|(name, ..)| tool["name"] == *name)?;
    let mut tool = tool.clone();
    tool["_meta"]["io.github.aldgate/contract"] =
        json!({"digest": "sha256:0", "authority": "automatic", "readOnly": read_only});
    Some(tool)
}

fn result(message: &Value, result: Value) -> Response<Body> {
    let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    Response::builder().header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

/// The registry of this file names every tool that the contracts do not call prohibited.
#[test]
fn the_registry_covers_the_contracts() {
    let contracts: Value = serde_json::from_str(CONTRACTS).unwrap();
    let tools = contracts["servers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|server| server["tools"].as_array().unwrap());
    for tool in tools {
        let known = REGISTRY.iter().any(|(name, ..)| tool["name"] == *name);
        assert_eq!(known, tool["_registry"] != "prohibited", "{}", tool["name"]);
    }
}
