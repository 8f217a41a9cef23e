//! Each rule by itself.

use expect_test::expect;
use serde_json::{Value, json};

use super::super::{Mode, Rule};
use super::{Tool, check, closed, open};

#[test]
fn values_are_coerced_where_nothing_is_lost() {
    let accepted = |schema: Value, value: Value| {
        let tool = Tool::of(&[closed(json!({"v": {}})), closed(json!({"v": schema}))]);
        let repair = tool.simulate(&json!({"v": value}), Mode::Strict);
        assert!(repair.changes.iter().all(|change| change.rule == Rule::Coerce));
        repair.applied.then(|| repair.args["v"].clone())
    };
    let integer = || json!({"type": "integer"});
    let string = || json!({"type": "string"});
    let many = |items: Value| json!({"type": "array", "items": items});
    for (schema, value, expected) in [
        (integer(), json!("12"), json!(12)),
        (integer(), json!("-9223372036854775808"), json!(i64::MIN)),
        (integer(), json!("18446744073709551615"), json!(u64::MAX)),
        (json!({"type": "number"}), json!("3.5"), json!(3.5)),
        (json!({"type": "number"}), json!("12"), json!(12)),
        (json!({"type": ["integer", "null"]}), json!("12"), json!(12)),
        (json!({"anyOf": [integer(), {"type": "null"}]}), json!("12"), json!(12)),
        (json!({"type": "boolean"}), json!("true"), json!(true)),
        (string(), json!(12), json!("12")),
        (string(), json!(9_007_199_254_740_993_i64), json!("9007199254740993")),
        (string(), json!(0.5), json!("0.5")),
        (string(), json!(false), json!("false")),
        (json!({"enum": ["1", "2"]}), json!(1), json!("1")),
        (many(string()), json!("a"), json!(["a"])),
        (many(integer()), json!("1"), json!([1])),
        (many(json!({"type": "object"})), json!({"a": 1}), json!([{"a": 1}])),
    ] {
        assert_eq!(accepted(schema.clone(), value.clone()), Some(expected), "{value} for {schema}");
    }
    let whole = accepted(integer(), json!(3.0)).expect("coerced");
    assert_eq!(whole.to_string(), "3");
    for (schema, value) in [
        (integer(), json!("012")),
        (integer(), json!("+1")),
        (integer(), json!("-0")),
        (integer(), json!(" 1")),
        (integer(), json!("1.0")),
        (integer(), json!("1e3")),
        (integer(), json!("18446744073709551616")),
        (integer(), json!(3.5)),
        (integer(), json!("")),
        (integer(), json!(true)),
        (json!({"type": "number"}), json!("0.10")),
        (json!({"type": "number"}), json!("NaN")),
        (json!({"type": "number"}), json!("0.12345678901234567890")),
        (json!({"type": "boolean"}), json!("True")),
        (json!({"type": "boolean"}), json!(1)),
        (string(), json!(1e30)),
        (string(), json!(3.0)),
        (string(), json!(null)),
        (string(), json!(["a"])),
        (string(), json!({"a": 1})),
        (many(string()), json!(null)),
        (many(many(string())), json!(["a", "b"])),
        (many(string()), json!({"a": 1})),
        (json!({"type": ["integer", "boolean"]}), json!("x")),
    ] {
        assert_eq!(accepted(schema.clone(), value.clone()), None, "{value} for {schema}");
    }
}

#[test]
fn members_of_enumerations_change_case_and_separators_alone() {
    let mapped = |members: Value, value: &str| {
        let tool = Tool::of(&[closed(json!({"v": {}})), closed(json!({"v": {"enum": members}}))]);
        let repair = tool.simulate(&json!({"v": value}), Mode::Repair);
        repair.applied.then(|| repair.args["v"].clone())
    };
    let (longest, longer) = ("x".repeat(256), "x".repeat(257));
    for (members, value, expected) in [
        (json!(["IN_PROGRESS", "DONE"]), "in progress", Some("IN_PROGRESS")),
        (json!(["inProgress"]), "in-progress", Some("inProgress")),
        (json!(["in.progress"]), "INPROGRESS", Some("in.progress")),
        (json!(["in_progress", "inProgress"]), "IN PROGRESS", None),
        (json!(["done"]), "finished", None),
        (json!(["M"]), "m", None),
        (json!(["15"]), "1.5", None),
        (json!(["1"]), "-1", None),
        (json!(["v1.5"]), "V1.5", Some("v1.5")),
        (json!(["-x1"]), "x1", None),
        (json!(["step_1"]), "STEP1", Some("step_1")),
        (json!(["1_step"]), "1STEP", Some("1_step")),
        (json!(["a--b"]), "AB", None),
        (json!([longest.as_str()]), &longest.to_uppercase(), Some(longest.as_str())),
        (json!([longer.as_str()]), &longer.to_uppercase(), None),
    ] {
        assert_eq!(mapped(members.clone(), value), expected.map(Value::from), "{value} of {members}");
    }
    let alternatives = json!({"oneOf": [{"const": "low", "title": "Low"}, {"const": "high"}]});
    let tool = Tool::of(&[closed(json!({"v": {}})), closed(json!({"v": alternatives}))]);
    assert_eq!(tool.simulate(&json!({"v": "HIGH"}), Mode::Repair).args["v"], json!("high"));
}

#[test]
fn members_of_enumerations_stay_as_they_are() {
    let tool = Tool::of(&[closed(json!({"v": {"enum": ["open", "closed"]}, "n": {"type": "integer"}}))]);
    check(
        &tool,
        &json!({"v": "open", "n": "1"}),
        Mode::Repair,
        &expect![[r#"
        coerce /n: "1" > 1 (1)
        applied: with 1 change they are valid under version 1
        {"v":"open","n":1}
    "#]],
    );
}

#[test]
fn defaults_are_those_of_new_required_properties() {
    let before = closed(json!({"id!": {}, "old!": {"type": "string", "default": "x"}}));
    let after = closed(json!({
        "id!": {},
        "old!": {"type": "string", "default": "x"},
        "new!": {"type": "integer", "default": 5},
        "optional": {"type": "integer", "default": 6},
    }));
    let tool = Tool::of(&[before, after]);
    check(
        &tool,
        &json!({"id": 1, "old": "y"}),
        Mode::Repair,
        &expect![[r#"
        default /new: - > 5 (0.9)
        applied: written for version 1, with 1 change they are valid under version 2
        {"id":1,"old":"y","new":5}
    "#]],
    );
    check(
        &tool,
        &json!({"id": 1}),
        Mode::Repair,
        &expect![[r#"
        default /new: - > 5 (0.9)
        as given: they would still not be valid under version 2 after 1 change: the whole: "old" is a required property
        {"id":1}
    "#]],
    );
}

#[test]
fn only_what_is_forbidden_is_dropped() {
    let dropped = |schema: Value| {
        let tool = Tool::of(&[open(json!({"id!": {}, "old": {"type": "boolean"}, "x-old": {}})), schema]);
        let repair = tool.simulate(&json!({"id": 1, "old": true, "x-old": 1}), Mode::Repair);
        repair
            .changes
            .iter()
            .map(|change| format!("{:?}{}", change.rule, change.path))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let id = || json!({"id!": {}});
    assert_eq!(dropped(open(id())), "");
    assert_eq!(dropped(closed(id())), "Drop/old Drop/x-old");
    let mut patterns = closed(id());
    patterns["patternProperties"] = json!({"^x-": {}});
    assert_eq!(dropped(patterns), "Drop/old");
    assert_eq!(dropped(open(json!({"id!": {}, "old": false}))), "Drop/old");
    let mut unevaluated = open(json!({}));
    unevaluated["unevaluatedProperties"] = json!(false);
    unevaluated["allOf"] = json!([{"properties": {"id": {}, "x-old": {}}}]);
    assert_eq!(dropped(unevaluated.clone()), "Drop/old");
    unevaluated["if"] = json!({"properties": {"old": {}}});
    assert_eq!(dropped(unevaluated), "");
}
