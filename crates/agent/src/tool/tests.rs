use rmcp::model::Tool;
use serde_json::{Value, json};

use super::ToolSummary;

fn summary(meta: Value) -> ToolSummary {
    let tool: Tool = serde_json::from_value(json!({
        "name": "t", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "title": "T"}, "_meta": meta
    }))
    .unwrap();
    ToolSummary::from_wire(&tool)
}

#[test]
fn only_the_hosts_mark_makes_a_tool_read_only() {
    let key = super::CONTRACT_KEY;
    assert!(summary(json!({key: {"digest": "sha256:a", "readOnly": true}})).host_says_read_only());
    for meta in [json!({}), json!({key: {}}), json!({key: {"readOnly": "true"}}), json!({key: true})] {
        assert!(!summary(meta.clone()).host_says_read_only(), "{meta}");
    }
}

#[test]
fn an_absent_hint_stays_absent() {
    let summary = summary(json!({}));
    assert_eq!(summary.hints.read_only, Some(true));
    assert_eq!((summary.hints.destructive, summary.hints.open_world), (None, None));
    assert_eq!(summary.title.as_deref(), Some("T"));
}
