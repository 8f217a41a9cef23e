use serde_json::{Value, json};

use super::{Limit, Plan, shown, size};
use crate::repair::{Change, Rule};

fn plan() -> Plan {
    Plan::new(json!({}), Limit::Repair, 100)
}

fn renamed(from: &str, to: &str) -> Change {
    Change {
        rule: Rule::Rename,
        path: from.to_owned(),
        before: None,
        after: None,
        to: Some(to.to_owned()),
        confidence: 1.0,
    }
}

#[test]
fn a_doubt_follows_what_is_renamed() {
    let mut plan = plan();
    plan.doubtful("/a/x".to_owned(), "/a/y".to_owned(), 0.6);
    plan.doubtful("/ab".to_owned(), "/b".to_owned(), 0.6);
    plan.push(renamed("/a", "/A"));
    plan.push(renamed("/b", "/B"));
    for (place, doubtful, reserved) in [
        ("/A/x", true, false),
        ("/a/x", false, false),
        ("/ab", true, false),
        ("/a/y", false, true),
        ("/B", false, true),
        ("/b", false, false),
    ] {
        assert_eq!((plan.is_doubtful(place), plan.is_reserved(place)), (doubtful, reserved), "{place}");
    }
}

#[test]
fn eight_doubts_take_as_much_as_one_value() {
    let mut plan = plan();
    for at in 0..24 {
        plan.doubtful(format!("/{at}"), "/to".to_owned(), 0.6);
    }
    plan.is_doubtful("/1");
    assert_eq!(plan.effort, 97);
    plan.is_reserved("/1");
    assert_eq!(plan.effort, 94);
}

#[test]
fn what_is_copied_is_counted_value_by_value() {
    for (value, expected) in [(json!(1), 1), (json!([]), 1), (json!({"a": [1, {"b": Value::Null}]}), 5)] {
        assert_eq!(size(&value), expected, "{value}");
    }
}

#[test]
fn a_long_pointer_is_cut() {
    let short = "é".repeat(120);
    assert_eq!(shown(&short), short);
    assert_eq!(shown(&(short.clone() + "x")), short + "…");
}
