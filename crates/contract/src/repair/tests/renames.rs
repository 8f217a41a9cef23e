//! Members that go on under another name.

use expect_test::expect;
use serde_json::{Value, json};

use super::{Mode, Tool, check, closed, open};

#[test]
fn renames_are_chained_through_the_versions_between() {
    let tool = Tool::of(&[
        closed(json!({"q!": {"type": "string"}})),
        closed(json!({"query!": {"type": "string"}})),
        closed(json!({"searchQuery!": {"type": "string", "description": "What to look for"}, "limit": {}})),
    ])
    .confirm(3, "query", "searchQuery");
    check(
        &tool,
        &json!({"q": "pump"}),
        Mode::Repair,
        &expect![[r#"
        rename /q to /query: "pump" > "pump" (0.96)
        rename /query to /searchQuery: "pump" > "pump" (1)
        applied: written for version 1, with 2 changes they are valid under version 3
        {"searchQuery":"pump"}
    "#]],
    );
    check(
        &tool,
        &json!({"query": "pump"}),
        Mode::Repair,
        &expect![[r#"
        rename /query to /searchQuery: "pump" > "pump" (1)
        applied: written for version 2, with 1 change they are valid under version 3
        {"searchQuery":"pump"}
    "#]],
    );
    check(
        &tool,
        &json!({"searchQuery": "pump"}),
        Mode::Repair,
        &expect![[r#"
        as given: nothing to change: the arguments are valid under version 3
        {"searchQuery":"pump"}
    "#]],
    );
}

#[test]
fn a_rename_is_made_though_other_properties_are_allowed() {
    let tool =
        Tool::of(&[open(json!({"q": {"type": "string"}})), open(json!({"query": {"type": "string"}}))]);
    check(
        &tool,
        &json!({"q": "pump"}),
        Mode::Repair,
        &expect![[r#"
        rename /q to /query: "pump" > "pump" (0.96)
        applied: written for version 1, with 1 change they are valid under version 2
        {"query":"pump"}
    "#]],
    );
    check(
        &tool,
        &json!({"other": "pump"}),
        Mode::Repair,
        &expect![[r#"
        as given: nothing to change: the arguments are valid under version 2
        {"other":"pump"}
    "#]],
    );
}

#[test]
fn a_rename_below_is_made_though_other_properties_are_allowed() {
    let lines = |name: &str| {
        open(json!({"lines": {"type": "array", "items": open(json!({(name): {"type": "string"}}))}}))
    };
    check(
        &Tool::of(&[lines("q"), lines("query")]),
        &json!({"lines": [{"q": "pump"}]}),
        Mode::Repair,
        &expect![[r#"
            rename /lines/0/q to /lines/0/query: "pump" > "pump" (0.96)
            applied: written for version 1, with 1 change they are valid under version 2
            {"lines":[{"query":"pump"}]}
        "#]],
    );
}

#[test]
fn what_is_there_is_never_overwritten() {
    let tool =
        Tool::of(&[closed(json!({"q": {"type": "string"}})), closed(json!({"query!": {"type": "string"}}))]);
    check(
        &tool,
        &json!({"q": "a", "query": "b"}),
        Mode::Repair,
        &expect![[r#"
        as given: no rule makes them valid under version 2: the whole: Additional properties are not allowed ('q' was unexpected); `/q` seems to be `/query` now, which is there with another value
        {"q":"a","query":"b"}
    "#]],
    );
    let tool_with_more = Tool::of(&[
        closed(json!({"q": {"type": "string"}, "more": {}})),
        closed(json!({"query!": {"type": "string"}})),
    ])
    .confirm(2, "q", "query");
    for (args, expected) in [
        (
            json!({"q": "a", "query": "b", "more": 1}),
            expect![[r#"
            as given: no rule makes them valid under version 2: the whole: Additional properties are not allowed ('q' was unexpected); `/q` seems to be `/query` now, which is there with another value
            {"q":"a","query":"b","more":1}
        "#]],
        ),
        (
            json!({"q": "a", "query": "a", "more": 1}),
            expect![[r#"
            as given: no rule makes them valid under version 2: the whole: Additional properties are not allowed ('q' was unexpected)
            {"q":"a","query":"a","more":1}
        "#]],
        ),
    ] {
        check(&tool_with_more, &args, Mode::Strict, &expected);
    }
    check(
        &tool,
        &json!({"q": "a", "query": "a"}),
        Mode::Repair,
        &expect![[r#"
        drop /q: "a" > - (0.6)
        applied: with 1 change they are valid under version 2
        {"query":"a"}
    "#]],
    );
}

#[test]
fn a_doubtful_rename_keeps_its_property_from_being_dropped() {
    let tool = Tool::of(&[
        closed(json!({"timeout": {"type": "integer"}, "id!": {}})),
        closed(json!({"timeout_ms": {"type": "integer"}, "id!": {}})),
    ]);
    check(
        &tool,
        &json!({"timeout": 30, "id": 1}),
        Mode::Repair,
        &expect![[r#"
        as given: no rule makes them valid under version 2: the whole: Additional properties are not allowed ('timeout' was unexpected); `/timeout` may have become `/timeout_ms` (confidence 0.75), which nobody confirmed
        {"timeout":30,"id":1}
    "#]],
    );
}

#[test]
fn places_below_are_renamed_too() {
    let line = |id: &str, count: &str| {
        json!({"type": "object", "properties": {(id): {"type": "string"}, (count): {"type": "integer"}},
        "required": [id], "additionalProperties": false})
    };
    let order = |lines: &str, line: Value| {
        let mut schema = closed(
            json!({(format!("{lines}!")): {"type": "array", "items": {"$ref": "#/$defs/line"}, "description": "What was ordered, line by line"}}),
        );
        schema["$defs"] = json!({"line": line});
        schema
    };
    let tool =
        Tool::of(&[order("lines", line("partId", "qty")), order("orderLines", line("part_id", "quantity"))]);
    check(
        &tool,
        &json!({"lines": [{"partId": "a", "qty": 1}, {"partId": "b"}]}),
        Mode::Repair,
        &expect![[r#"
            rename /lines to /orderLines: [{"partId":"a","qty":1},{"partId":"b"}] > [{"partId":"a","qty":1},{"partId":"b"}] (0.92)
            rename /orderLines/0/partId to /orderLines/0/part_id: "a" > "a" (0.98)
            rename /orderLines/0/qty to /orderLines/0/quantity: 1 > 1 (0.96)
            rename /orderLines/1/partId to /orderLines/1/part_id: "b" > "b" (0.98)
            applied: written for version 1, with 4 changes they are valid under version 2
            {"orderLines":[{"part_id":"a","quantity":1},{"part_id":"b"}]}
        "#]],
    );
}

#[test]
fn two_that_change_places_do_so_at_once() {
    let tool = Tool::of(&[
        closed(json!({"a!": {"type": "string"}, "b!": {"type": "integer"}})),
        closed(json!({"a!": {"type": "integer"}, "b!": {"type": "string"}})),
    ])
    .confirm(2, "a", "b")
    .confirm(2, "b", "a");
    check(
        &tool,
        &json!({"a": "x", "b": 1}),
        Mode::Strict,
        &expect![[r#"
        rename /a to /b: "x" > "x" (1)
        rename /b to /a: 1 > 1 (1)
        applied: written for version 1, with 2 changes they are valid under version 2
        {"b":"x","a":1}
    "#]],
    );
}

#[test]
fn a_property_moves_into_an_object() {
    let address =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false});
    let tool =
        Tool::of(&[closed(json!({"address_city": {"type": "string"}})), closed(json!({"address": address}))]);
    check(
        &tool,
        &json!({"address_city": "Ulm"}),
        Mode::Repair,
        &expect![[r#"
        rename /address_city to /address/city: "Ulm" > "Ulm" (0.93)
        applied: written for version 1, with 1 change they are valid under version 2
        {"address":{"city":"Ulm"}}
    "#]],
    );
}
