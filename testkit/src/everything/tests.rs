use std::collections::BTreeSet;

use axum::body::Body;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::definitions::Definitions;
use super::router;
use crate::Call;

/// What came back: the status and every message of the stream.
struct Answer {
    status: StatusCode,
    messages: Vec<Value>,
}

impl Answer {
    /// The last message, which is the answer.
    fn last(&self) -> &Value {
        self.messages.last().unwrap()
    }

    fn result(&self) -> &Value {
        assert_eq!(self.status, StatusCode::OK, "{:?}", self.messages);
        &self.last()["result"]
    }

    fn text(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap()
    }

    fn error(&self) -> (u16, i64) {
        (self.status.as_u16(), self.last()["error"]["code"].as_i64().unwrap())
    }
}

fn request(call: &Call) -> Request<Body> {
    call.request("/mcp", "localhost", None).unwrap().map(Body::from)
}

/// The messages of a piece of a stream.
fn events(bytes: &Bytes) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter(|data| !data.trim().is_empty()).map(|data| serde_json::from_str(data).unwrap()).collect()
}

async fn send(router: &axum::Router, call: Call) -> Answer {
    let response = router.clone().oneshot(request(&call)).await.unwrap();
    let status = response.status();
    let stream = response.headers()["content-type"] == "text/event-stream";
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let messages = if stream { events(&body) } else { vec![serde_json::from_slice(&body).unwrap()] };
    Answer { status, messages }
}

fn everything_declared() -> Value {
    json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} })
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn the_definitions_are_read_as_they_stand() {
    let raw: Value = serde_json::from_str(include_str!("definitions.json")).unwrap();
    let read = Definitions::load().unwrap();
    assert_eq!(json!(read.tools), raw["tools"]);
    assert_eq!(json!(read.prompts), raw["prompts"]);
    assert_eq!(json!(read.resources), raw["resources"]);
    assert_eq!(json!(read.resource_templates), raw["resourceTemplates"]);
}

#[tokio::test]
async fn every_tool_prompt_and_resource_that_is_listed_answers() {
    let (router, listed) = (router().unwrap(), Definitions::load().unwrap());
    let names: BTreeSet<_> = listed.tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names.len(), 23);
    for name in names {
        let mut call = Call::tool(name, r#"{"value":"v","phone":"1"}"#).declaring(everything_declared());
        if name == "test_custom_header" {
            call = call.header("mcp-param-value", "v");
        }
        let answer = send(&router, call).await;
        let kind = answer.result()["resultType"].as_str();
        assert!(matches!(kind, Some("complete" | "input_required")), "{name}: {:?}", answer.messages);
    }
    for prompt in &listed.prompts {
        let arguments = r#"{"arg1":"a","arg2":"b","resourceUri":"test://x"}"#;
        let params = json!({
            "name": prompt.name,
            "arguments": serde_json::from_str::<Value>(arguments).unwrap(),
        });
        let answer = send(&router, method("prompts/get", &prompt.name, params)).await;
        let result = answer.result();
        assert!(result["messages"].is_array() || result["inputRequests"].is_object(), "{result}");
    }
    for resource in &listed.resources {
        let params = json!({ "uri": resource.uri });
        let answer = send(&router, method("resources/read", &resource.uri, params)).await;
        assert_eq!(answer.result()["contents"][0]["uri"], json!(resource.uri));
    }
}

/// A request with any parameters.
fn method(method: &str, name: &str, mut params: Value) -> Call {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": everything_declared(),
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    Call::method(method).header("mcp-name", name).body(body.to_string())
}

#[tokio::test]
async fn progress_goes_before_the_answer_under_the_callers_token() {
    let router = router().unwrap();
    let quiet = send(&router, Call::tool("test_tool_with_progress", "{}")).await;
    assert_eq!(quiet.messages.len(), 1);

    let call = Call::tool("test_tool_with_progress", "{}").meta("progressToken", json!("mine"));
    let told = send(&router, call).await;
    let steps: Vec<_> = told.messages.iter().map(|message| &message["params"]).take(3).collect();
    for (step, progress) in steps.iter().zip([0.0, 50.0, 100.0]) {
        assert_eq!(step["progressToken"], "mine");
        assert_eq!((step["progress"].as_f64(), step["total"].as_f64()), (Some(progress), Some(100.0)));
    }
    assert_eq!((steps.len(), told.messages.len()), (3, 4));
    assert_eq!(told.text(), "The work is done");
}

#[tokio::test]
async fn log_messages_go_only_to_callers_that_ask_and_from_the_level_they_name() {
    let router = router().unwrap();
    let log = || Call::tool("test_logging_tool", "{}");
    assert_eq!(send(&router, log()).await.messages.len(), 1);
    let told = send(&router, log().meta("io.modelcontextprotocol/logLevel", json!("critical"))).await;
    let levels: Vec<_> =
        told.messages.iter().filter_map(|message| message["params"]["level"].as_str()).collect();
    assert_eq!(levels, ["critical", "alert", "emergency"]);
}

#[tokio::test]
async fn nobody_is_asked_for_what_it_did_not_declare() {
    let router = router().unwrap();
    for tool in ["test_missing_capability", "test_input_required_result_sampling"] {
        let answer = send(&router, Call::tool(tool, "{}")).await;
        assert_eq!(answer.error(), (400, -32021));
        assert_eq!(answer.last()["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
    }
    let call = Call::tool("test_input_required_result_capabilities", "{}").declaring(json!({"sampling": {}}));
    let answer = send(&router, call).await;
    let asked: Vec<_> = answer.result()["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(asked, ["capital_question"]);
}

#[tokio::test]
async fn two_rounds_end_with_what_was_answered_in_both() {
    let router = router().unwrap();
    let tool = || Call::tool("test_input_required_result_multi_round", "{}").with_forms();
    let first = send(&router, tool()).await;
    let state = first.result()["requestState"].as_str().unwrap().to_owned();
    let answered = tool().state(&state).answering(json!({"step1": accepted(json!({"name": "Ada"}))}));
    let second = send(&router, answered).await;
    let next = second.result()["requestState"].as_str().unwrap().to_owned();
    assert_ne!(next, state);
    let answered = tool().state(&next).answering(json!({"step2": accepted(json!({"color": "blue"}))}));
    assert_eq!(send(&router, answered).await.text(), "Ada likes blue");
}

#[tokio::test]
async fn a_state_is_refused_if_it_was_altered_or_made_for_another_tool() {
    let router = router().unwrap();
    let tool = |name| {
        Call::tool(name, "{}").with_forms().answering(json!({"confirm": accepted(json!({"ok": true}))}))
    };
    let first = send(&router, tool("test_input_required_result_request_state")).await;
    let state = first.result()["requestState"].as_str().unwrap().to_owned();
    let right = send(&router, tool("test_input_required_result_request_state").state(&state)).await;
    assert_eq!(right.text(), "state-ok, confirmed: true");

    for (name, state) in [
        ("test_input_required_result_request_state", format!("{state}-TAMPERED")),
        ("test_input_required_result_tampered_state", state),
    ] {
        assert_eq!(send(&router, tool(name).state(&state)).await.error(), (200, -32602), "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_again() {
    let router = router().unwrap();
    for wrong in [json!(12345), json!({}), accepted(json!({"name": 5})), json!({"action": "perhaps"})] {
        let call = Call::tool("test_input_required_result_elicitation", "{}")
            .with_forms()
            .answering(json!({ "user_name": wrong, "other": accepted(json!({"name": "Eve"})) }));
        let answer = send(&router, call).await;
        assert!(answer.result()["inputRequests"]["user_name"].is_object(), "{:?}", answer.messages);
    }
}

#[tokio::test]
async fn a_header_that_differs_from_the_argument_is_refused() {
    let router = router().unwrap();
    let call = || Call::tool("test_custom_header", r#"{"value":"Hello"}"#);
    let right = send(&router, call().header("mcp-param-value", "=?base64?SGVsbG8=?=")).await;
    assert_eq!(right.text(), "The value is `Hello`");
    for wrong in [call(), call().header("mcp-param-value", "Bye")] {
        assert_eq!(send(&router, wrong).await.error(), (400, -32020));
    }
}

#[tokio::test]
async fn foreign_pages_are_refused_and_local_ones_are_not() {
    let router = router().unwrap();
    for (origin, status) in [("http://evil.example.com", 403), ("http://127.0.0.1:9", 200)] {
        let call = Call::tool("test_simple_text", "{}").header("origin", origin);
        let response = router.clone().oneshot(request(&call)).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{origin}");
    }
}

#[tokio::test]
async fn listeners_hear_what_they_asked_for_and_nothing_else() {
    let router = router().unwrap();
    let wanted = json!({ "notifications": {
        "promptsListChanged": true, "resourceSubscriptions": ["test://watched-resource"],
    }});
    let listen = method("subscriptions/listen", "", wanted).without("mcp-name");
    let mut body = router.clone().oneshot(request(&listen)).await.unwrap().into_body();
    let mut heard = Vec::new();
    // The acknowledgement says that the listener is there.
    while heard.is_empty() {
        heard.extend(events(&body.frame().await.unwrap().unwrap().into_data().unwrap()));
    }
    for tool in ["test_trigger_tool_change", "test_trigger_resource_change", "test_trigger_prompt_change"] {
        send(&router, Call::tool(tool, "{}")).await.text();
    }
    while heard.len() < 3 {
        heard.extend(events(&body.frame().await.unwrap().unwrap().into_data().unwrap()));
    }
    let methods: Vec<_> = heard.iter().filter_map(|message| message["method"].as_str()).collect();
    assert_eq!(
        methods,
        [
            "notifications/subscriptions/acknowledged",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
        ]
    );
    for message in &heard {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    }
}
