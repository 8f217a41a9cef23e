use serde_json::{Map, Value, json};

use super::{Complete, PENDING_CODE};

fn complete(is_error: bool, mark: Value) -> Complete {
    Complete {
        is_error,
        text: "no".to_owned(),
        meta: Map::from_iter([(super::REFUSAL_KEY.to_owned(), mark)]),
        ..Complete::default()
    }
}

#[test]
fn a_refusal_is_read_from_an_error_result_only() {
    let mark = json!({"code": PENDING_CODE, "rule": "r", "call": "c"});
    let refusal = complete(true, mark.clone()).refusal().unwrap();
    assert!(refusal.is_pending());
    assert_eq!(
        (refusal.rule.as_deref(), refusal.call.as_deref(), refusal.text.as_str()),
        (Some("r"), Some("c"), "no")
    );
    assert_eq!(complete(false, mark).refusal(), None);
}

#[test]
fn a_mark_without_a_code_is_no_refusal() {
    for mark in [json!({}), json!({"code": 7}), json!("AG-X"), Value::Null] {
        assert_eq!(complete(true, mark.clone()).refusal(), None, "{mark}");
    }
}
