//! More than one plan, and two modes.

use expect_test::expect;
use serde_json::json;

use super::super::Mode;
use super::{Tool, check, closed, open, told};

/// A confirmed rename is enough; the unconfirmed one that a repair would add spoils the result.
#[test]
fn a_repair_does_what_strict_mode_does_where_more_would_be_too_much() {
    let tool = Tool::of(&[
        open(json!({"pageSize": {"type": "boolean"}, "ref": {"type": "string"}})),
        open(json!({"page_size": {"type": ["boolean", "string"], "maxLength": 2, "enum": ["a"]}, "case!": {"type": "string"}})),
    ])
    .confirm(2, "ref", "case");
    let mut all = String::new();
    for mode in [Mode::Repair, Mode::Strict] {
        all += &told(&tool.simulate(&json!({"pageSize": true, "ref": "SR-1"}), mode));
    }
    expect![[r#"
        rename /ref to /case: "SR-1" > "SR-1" (1)
        applied: written for version 1, with 1 change they are valid under version 2
        {"pageSize":true,"case":"SR-1"}
        rename /ref to /case: "SR-1" > "SR-1" (1)
        applied: written for version 1, with 1 change they are valid under version 2
        {"pageSize":true,"case":"SR-1"}
    "#]]
    .assert_eq(&all);
}

/// Strict mode would make a number of what a repair gives another name first.
#[test]
fn strict_mode_leaves_what_a_repair_changes_elsewhere() {
    let tool = Tool::of(&[open(json!({"pageSize": {"type": ["string", "integer"]}})), {
        let mut schema = open(json!({"page_size": {"type": "integer"}}));
        schema["additionalProperties"] = json!({"type": "integer"});
        schema
    }]);
    let args = json!({"pageSize": "12"});
    check(
        &tool,
        &args,
        Mode::Strict,
        &expect![[r#"
            as given: no rule makes them valid under version 2: `/pageSize`: the value is not of type "integer"; `/pageSize` may have become `/page_size` (confidence 0.94), which nobody confirmed
            {"pageSize":"12"}
        "#]],
    );
    check(
        &tool,
        &args,
        Mode::Repair,
        &expect![[r#"
            rename /pageSize to /page_size: "12" > "12" (0.94)
            coerce /page_size: "12" > 12 (1)
            applied: written for version 1, with 2 changes they are valid under version 2
            {"page_size":12}
        "#]],
    );
}

/// With `d` and `e` the result looks as if it were written for version 1, where `b` is another one.
#[test]
fn what_was_renamed_is_not_renamed_again() {
    let text = || json!({"type": "string"});
    let tool = Tool::of(&[
        open(json!({"a": text(), "b": text(), "d": text(), "e": text()})),
        open(json!({"b": text(), "c": text()})),
    ])
    .confirm(2, "a", "b")
    .confirm(2, "b", "c");
    let mut all = String::new();
    for args in [json!({"a": "1", "d": "2", "e": "3"}), json!({"b": "1", "d": "2", "e": "3"})] {
        all += &told(&tool.simulate(&args, Mode::Strict));
    }
    expect![[r#"
        rename /a to /b: "1" > "1" (1)
        applied: written for version 1, with 1 change they are valid under version 2
        {"b":"1","d":"2","e":"3"}
        as given: nothing to change: the arguments are valid under version 2
        {"b":"1","d":"2","e":"3"}
    "#]]
    .assert_eq(&all);
}

/// What is written for a version is not changed by how that version came to be.
#[test]
fn renames_count_from_the_version_of_the_arguments_on() {
    let tool = Tool::of(&[
        open(json!({"a": {"type": "string"}})),
        open(json!({"b": {"type": "string"}, "c": {}, "d": {}})),
    ])
    .confirm(2, "a", "b");
    let mut all = String::new();
    for args in [json!({"a": "x", "c": 1, "d": 1}), json!({"a": "x"})] {
        all += &told(&tool.simulate(&args, Mode::Strict));
    }
    expect![[r#"
        as given: nothing to change: the arguments are valid under version 2
        {"a":"x","c":1,"d":1}
        rename /a to /b: "x" > "x" (1)
        applied: written for version 1, with 1 change they are valid under version 2
        {"b":"x"}
    "#]]
    .assert_eq(&all);
}

/// They are valid as they are; whoever reads them as text may not take them for whole.
#[test]
fn numbers_such_as_three_point_nought_are_made_whole_wherever_they_are() {
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let tool = Tool::of(&[open(json!({"n": {"type": "integer"}, "o": open(json!({"v": integers}))}))]);
    check(
        &tool,
        &json!({"n": 3, "o": {"v": [1, 2.0]}}),
        Mode::Strict,
        &expect![[r#"
        coerce /o/v/1: 2.0 > 2 (1)
        applied: with 1 change they are valid under version 1
        {"n":3,"o":{"v":[1,2]}}
    "#]],
    );
}

/// A rename that leads back, or to what is gone as well, is none.
#[test]
fn names_that_turn_in_a_circle_stay() {
    let one = |name: &str| open(json!({(name): {"type": "string"}, "d": {}, "e": {}}));
    let back = Tool::of(&[one("x"), one("y"), open(json!({"x": {"type": "string"}}))])
        .confirm(2, "x", "y")
        .confirm(3, "y", "x");
    let gone = Tool::of(&[one("x"), one("y"), open(json!({}))]).confirm(2, "x", "y");
    let mut all = String::new();
    for tool in [back, gone] {
        all += &told(&tool.simulate(&json!({"x": "1", "d": 1, "e": 1}), Mode::Repair));
    }
    expect![[r#"
        as given: nothing to change: the arguments are valid under version 3
        {"x":"1","d":1,"e":1}
        as given: nothing to change: the arguments are valid under version 3
        {"x":"1","d":1,"e":1}
    "#]]
    .assert_eq(&all);
    let spelled = Tool::of(&[
        closed(json!({"x": {"type": "string"}})),
        open(json!({"y": {"type": "string"}})),
        closed(json!({"x!": {"type": "integer"}})),
    ])
    .confirm(2, "x", "y")
    .confirm(3, "y", "x");
    check(
        &spelled,
        &json!({"x": "1"}),
        Mode::Repair,
        &expect![[r#"
        rename /x to /y: "1" > "1" (1)
        rename /y to /x: "1" > "1" (1)
        coerce /x: "1" > 1 (1)
        applied: written for version 1, with 3 changes they are valid under version 3
        {"x":1}
    "#]],
    );
}
