use serde_json::json;

use super::{cancelled, encoded, next_event};

#[test]
fn events_are_taken_whole_and_comments_skipped() {
    let mut buffer = b": keep-alive\n\ndata: {\"a\":1}\n\nid: 3\ndata: {\"b\"".to_vec();
    assert_eq!(next_event(&mut buffer).as_deref(), Some("{\"a\":1}"));
    assert_eq!(next_event(&mut buffer), None, "the rest has not come yet");
    buffer.extend_from_slice(b":2}\n\n");
    assert_eq!(next_event(&mut buffer).as_deref(), Some("{\"b\":2}"));
    assert_eq!(next_event(&mut buffer), None);
}

#[test]
fn header_values_are_ascii() {
    assert_eq!(encoded("get_ticket"), "get_ticket");
    assert_eq!(encoded("Größe"), "=?base64?R3LDtsOfZQ==?=");
    assert_eq!(encoded(" x"), "=?base64?IHg=?=");
    assert_eq!(encoded("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
}

#[test]
fn a_cancellation_names_a_request_of_either_id_type() {
    let message =
        |id| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert_eq!(cancelled(&message(json!(1))).as_deref(), Some("1"));
    assert_eq!(cancelled(&message(json!("1"))).as_deref(), Some("\"1\""));
    assert_eq!(cancelled(&json!({ "method": "other" })), None);
}
