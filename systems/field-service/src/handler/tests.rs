use aldgate_telemetry::Telemetry;
use aldgate_telemetry::attributes::Way;
use axum::body::Body;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::contracts;
use crate::desk::{Answer, Call, Desk, DeskFault, Features};
use crate::front::{Allowed, Front, Observed};
use crate::hub::Hub;
use crate::options::Access;

/// A desk that panics on some calls and never answers others.
struct Bad {
    contract: contracts::ServerContract,
    hub: Hub,
}

#[async_trait::async_trait]
impl Desk for Bad {
    fn contract(&self) -> &contracts::ServerContract {
        &self.contract
    }

    fn features(&self) -> Features {
        Features { resources: true, prompts: true }
    }

    fn instructions(&self) -> &'static str {
        ""
    }

    fn icon(&self) -> Value {
        crate::desk::icon("")
    }

    fn hub(&self) -> &Hub {
        &self.hub
    }

    async fn call(&self, call: Call) -> Result<Answer, DeskFault> {
        match call.arguments.get("part_no").and_then(Value::as_str) {
            Some("panic") => panic!("a bug"),
            Some("wait") => std::future::pending().await,
            _ => Ok(Answer::Done(json!({ "fine": true }))),
        }
    }

    async fn read(&self, _: &str) -> Result<Vec<Value>, DeskFault> {
        panic!("a bug")
    }

    fn prompts(&self) -> Vec<Value> {
        panic!("a bug")
    }
}

fn bad() -> Front {
    let desk = Bad { contract: contracts::server(".parts").unwrap(), hub: Hub::new() };
    let observed = Observed { telemetry: Telemetry::off(), way: Way::Http };
    Front::new(std::sync::Arc::new(desk), Access::Open, Allowed::default(), observed).unwrap()
}

fn request(method: &str, mut params: Value) -> http::Request<Body> {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let name =
        params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).unwrap_or("-").to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    http::Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("mcp-name", name)
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn call(part_no: &str) -> http::Request<Body> {
    request("tools/call", json!({ "name": "check_availability", "arguments": { "part_no": part_no } }))
}

async fn ask(front: &Front, request: http::Request<Body>) -> (u16, Value) {
    let response = front.clone().router("/mcp").oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_panic_is_answered_and_the_next_request_works() {
    let front = bad();
    let panics = [
        call("panic"),
        request("resources/read", json!({ "uri": "x://y" })),
        request("prompts/list", json!({})),
    ];
    for request in panics {
        let (status, answer) = ask(&front, request).await;
        assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32603)));
        assert_eq!(answer["id"], json!(1));
        assert!(!answer.to_string().contains("a bug"), "the panic's text stays inside");
        let (_, answer) = ask(&front, call("fine")).await;
        assert_eq!(answer["result"]["structuredContent"], json!({ "fine": true }));
    }
}

#[tokio::test]
async fn a_full_server_says_so_and_recovers() {
    let front = bad();
    let waiting: Vec<_> = (0..front.free_places())
        .map(|_| {
            let front = front.clone();
            tokio::spawn(async move { ask(&front, call("wait")).await })
        })
        .collect();
    assert_eq!(waiting.len(), 64);
    while front.free_places() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&front, call("fine")).await.0, 503);
    for call in &waiting {
        call.abort();
    }
    for call in waiting {
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(ask(&front, call("fine")).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_arrives_gives_its_place_back() {
    let front = bad();
    let mut slow = call("fine");
    *slow.body_mut() = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    assert_eq!(ask(&front, slow).await.0, 408);
    assert_eq!(front.free_places(), 64);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_is_answered_in_the_end() {
    let (status, answer) = ask(&bad(), call("wait")).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32603)));
}

#[tokio::test]
async fn a_change_between_acknowledgement_and_listening_is_not_missed() {
    use rmcp::ServerHandler as _;
    let desk = std::sync::Arc::new(Bad { contract: contracts::server(".parts").unwrap(), hub: Hub::new() });
    let identity = std::sync::Arc::new(crate::identity::Identity::of(desk.as_ref()).unwrap());
    let served = super::Served::new(desk.clone(), identity);
    let wanted = rmcp::model::SubscriptionFilter::builder().tools_list_changed().build();
    served.accepted_subscription_filter(&wanted).unwrap();
    desk.hub.announce(crate::hub::Change::Lists);
    let mut ear = served.ear.lock().unwrap().take().unwrap();
    assert_eq!(ear.next().await, Some(Ok(crate::hub::Change::Lists)));
}
