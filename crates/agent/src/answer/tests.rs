use rmcp::model::ServerResult;
use serde_json::{Value, json};

use super::{Answer, Unusable, read};

/// Decodes as the client library does, then reads.
fn answer(result: Value) -> Result<Answer, Unusable> {
    read(serde_json::from_value::<ServerResult>(result).unwrap())
}

#[test]
fn a_result_keeps_text_structure_and_null() {
    let Ok(Answer::Complete(complete)) = answer(json!({
        "content": [{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"},
                    {"type": "text", "text": "b"}],
        "structuredContent": null, "_meta": {"k": 1}
    })) else {
        panic!("no complete result")
    };
    assert_eq!(complete.text, "a\nb");
    assert_eq!(complete.structured, Some(Value::Null));
    assert!(!complete.is_error);
    assert_eq!(complete.meta["k"], 1);
}

#[test]
fn content_of_a_kind_that_the_library_does_not_know_does_not_spoil_the_result() {
    let Ok(Answer::Complete(complete)) = answer(json!({
        "resultType": "complete", "isError": true,
        "content": [{"type": "hologram"}, {"type": "text", "text": "failed"}]
    })) else {
        panic!("no complete result")
    };
    assert_eq!((complete.is_error, complete.text.as_str()), (true, "failed"));
}

#[test]
fn results_that_cannot_be_used_say_what_was_found() {
    let cases = [
        (json!({"resultType": "odd", "content": []}), "odd"),
        (json!({"resultType": "input_required"}), "without `inputRequests`"),
        (json!({"resultType": "input_required", "inputRequests": []}), "no object"),
        (json!({"resultType": "input_required", "requestState": 7}), "no string"),
        (json!({"content": "text"}), "no array"),
        (json!({"content": [], "isError": "yes"}), "expected a boolean"),
        (json!([1]), "no object"),
        (
            json!({"resultType": "task", "taskId": "t", "status": "working", "createdAt": "2026-11-30T10:30:00Z",
                "lastUpdatedAt": "2026-11-30T10:30:00Z", "ttlMs": null}),
            "task",
        ),
    ];
    for (result, expected) in cases {
        match answer(result.clone()) {
            Err(Unusable::Shape(what)) => assert!(what.contains(expected), "{result}: {what}"),
            other => panic!("{result}: {other:?}"),
        }
    }
}
