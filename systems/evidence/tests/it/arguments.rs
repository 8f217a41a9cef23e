//! Arguments that a tool does not take are errors of the request, never results.

use expect_test::expect;
use serde_json::{Value, json};

use crate::world::{TOKEN_A, world};

async fn refused(tool: &str, arguments: Value) -> String {
    let answered = world().call(TOKEN_A, tool, arguments.clone()).await;
    assert_eq!(answered.status, 200);
    assert!(answered.body.get("result").is_none(), "{tool} took {arguments}");
    let error = &answered.body["error"];
    assert_eq!(error["code"], -32602, "{tool} {arguments}");
    assert_eq!(answered.body["id"], 1);
    format!("{} {}", error["data"]["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

#[tokio::test]
async fn what_the_input_schema_does_not_allow_is_refused() {
    let long = "x".repeat(257);
    let cases = [
        ("lookup_contract", json!({})),
        ("lookup_contract", json!({ "tool": "" })),
        ("lookup_contract", json!({ "tool": long })),
        ("lookup_contract", json!({ "tool": "ü".repeat(257) })),
        ("lookup_contract", json!({ "tool": 7 })),
        ("lookup_contract", json!({ "tool": null })),
        ("lookup_contract", json!({ "tool": "clock", "tenant": "globex" })),
        ("lookup_contract", json!({ "Tool": "clock" })),
        ("query_drift", json!({ "tool": "clock", "limit": 0 })),
        ("query_drift", json!({ "tool": "clock", "limit": 101 })),
        ("query_drift", json!({ "tool": "clock", "limit": -1 })),
        ("query_drift", json!({ "tool": "clock", "limit": 1.5 })),
        ("query_drift", json!({ "tool": "clock", "limit": "20" })),
        ("query_drift", json!({ "tool": "clock", "limit": null })),
        ("query_drift", json!({ "limit": 20 })),
        ("fetch_audit", json!({ "id": long })),
        ("fetch_audit", json!({ "id": "" })),
        ("fetch_audit", json!({ "id": ["a"] })),
        ("fetch_audit", json!({ "id": "a", "tenant": "globex" })),
        ("simulate_repair", json!({ "tool": "clock" })),
        ("simulate_repair", json!({ "tool": "clock", "args": [] })),
        ("simulate_repair", json!({ "tool": "clock", "args": {}, "mode": "force" })),
        ("simulate_repair", json!({ "tool": "clock", "args": {}, "dispatch": true })),
        ("coverage_report", json!({})),
        ("coverage_report", json!({ "tools": [] })),
        ("coverage_report", json!({ "tools": vec!["a"; 101] })),
        ("coverage_report", json!({ "tools": "clock" })),
        ("coverage_report", json!({ "tools": ["clock", ""] })),
        ("coverage_report", json!({ "tools": ["clock", long] })),
    ];
    for (tool, arguments) in cases {
        let said = refused(tool, arguments).await;
        assert!(said.starts_with("AG-EVIDENCE-ARGUMENTS the arguments of"), "{said}");
    }
    let limit = refused("query_drift", json!({ "tool": "clock", "limit": 101 })).await;
    expect!["AG-EVIDENCE-ARGUMENTS the arguments of `query_drift` do not fit its input schema: `/limit`: the value is greater than the maximum of 100"].assert_eq(&limit);
}

#[tokio::test]
async fn characters_are_counted_and_not_bytes() {
    let world = world();
    for letter in ["x", "ü", "ツ", "😀"] {
        let value = world.value(TOKEN_A, "lookup_contract", json!({ "tool": letter.repeat(256) })).await;
        assert_eq!(value, Value::Null);
    }
    let hundred = vec!["😀".repeat(256); 100];
    let value = world.value(TOKEN_A, "coverage_report", json!({ "tools": hundred })).await;
    assert_eq!(value["tools"].as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn a_tool_that_there_is_not_is_no_result_either() {
    for tool in ["vendor.read", "", "Lookup_contract", "lookup_contract ", "clock"] {
        let said = refused(tool, json!({})).await;
        assert!(said.starts_with("AG-TOOL-UNKNOWN there is no tool"), "{said}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused() {
    let world = world();
    for arguments in [json!([]), json!("tool"), json!(7)] {
        let params = json!({ "name": "lookup_contract", "arguments": arguments });
        let modern = world.modern(TOKEN_A, "tools/call", params.clone()).await;
        let older = world.older(TOKEN_A, "tools/call", params).await;
        assert_eq!(modern.body["error"]["code"], -32602);
        assert_eq!(older.body["error"]["code"], -32602);
    }
    let missing = json!({ "name": "lookup_contract" });
    assert_eq!(world.modern(TOKEN_A, "tools/call", missing.clone()).await.body["error"]["code"], -32602);
    assert_eq!(world.older(TOKEN_A, "tools/call", missing).await.body["error"]["code"], -32602);
    let nameless = json!({ "arguments": {} });
    assert_eq!(world.modern(TOKEN_A, "tools/call", nameless.clone()).await.body["error"]["code"], -32602);
    assert_eq!(world.older(TOKEN_A, "tools/call", nameless).await.body["error"]["code"], -32602);
}
