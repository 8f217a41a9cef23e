//! Where a rule ends.

use expect_test::expect;
use serde_json::{Map, Value, json};

use super::super::{Mode, simulate};
use super::{Tool, check, closed, open};

fn coerced(schema: &Value, value: &Value) -> Option<String> {
    let tool = Tool::of(&[closed(json!({"v": {}})), closed(json!({"v": schema}))]);
    let repair = tool.simulate(&json!({"v": value}), Mode::Repair);
    repair.applied.then(|| repair.args["v"].to_string())
}

#[test]
fn numbers_are_exact_or_left() {
    let (integer, string) = (json!({"type": "integer"}), json!({"type": "string"}));
    for (schema, value, expected) in [
        (&integer, json!(9_007_199_254_740_992.0), Some("9007199254740992")),
        (&integer, json!(-9_007_199_254_740_992.0), Some("-9007199254740992")),
        (&integer, json!(9_007_199_254_740_994.0), None),
        (&integer, json!(0.0), Some("0")),
        (&integer, json!(-0.0), None),
        (&string, json!(999_999_999_999_999.5), Some("\"999999999999999.5\"")),
        (&string, json!(1_000_000_000_000_000.5), None),
        (&string, json!(0.000_000_1), None),
        (&string, json!(-0.5), Some("\"-0.5\"")),
    ] {
        assert_eq!(coerced(schema, &value).as_deref(), expected, "{value} for {schema}");
    }
}

#[test]
fn all_schemas_of_a_place_are_asked() {
    for (schema, value, expected) in [
        (json!({"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}), json!("1"), Some("1")),
        (json!({"additionalProperties": {"type": "integer"}}), json!({"a": "1"}), Some(r#"{"a":1}"#)),
        (
            json!({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}),
            json!(["1", 2]),
            Some(r#"[1,"2"]"#),
        ),
        (json!({"type": "array", "prefixItems": [{"type": "integer"}]}), json!(1), None),
        (json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}), json!("1"), None),
        (json!({"type": ["integer", "boolean"]}), json!("true"), Some("true")),
        (json!({"const": "on"}), json!("ON"), Some("\"on\"")),
        (json!({"enum": [1, 2]}), json!("2"), Some("2")),
        (json!({"enum": [1, "1"]}), json!("1"), Some("unchanged")),
        (json!({"allOf": [{"enum": ["1", "2"]}, {"enum": ["1", "3"]}]}), json!(1), Some("\"1\"")),
        // Which schema is that of a name that a pattern may match is not decided.
        (
            json!({"patternProperties": {"^x": {}}, "additionalProperties": {"type": "integer"}}),
            json!({"x": "1", "y": "1"}),
            None,
        ),
    ] {
        let found = coerced(&schema, &value);
        let expected = expected.filter(|expected| *expected != "unchanged");
        assert_eq!(found.as_deref(), expected, "{value} for {schema}");
    }
}

#[test]
fn no_default_takes_the_place_of_what_may_have_been_renamed() {
    let tool = Tool::of(&[
        open(json!({"timeout": {"type": "integer"}})),
        open(json!({"timeout_ms!": {"type": "integer", "default": 1000}})),
    ]);
    check(
        &tool,
        &json!({"timeout": 30}),
        Mode::Repair,
        &expect![[r#"
        as given: no rule makes them valid under version 2: the whole: "timeout_ms" is a required property; `/timeout` may have become `/timeout_ms` (confidence 0.75), which nobody confirmed
        {"timeout":30}
    "#]],
    );
    check(
        &tool,
        &json!({}),
        Mode::Repair,
        &expect![[r#"
        default /timeout_ms: - > 1000 (0.9)
        applied: written for version 1, with 1 change they are valid under version 2
        {"timeout_ms":1000}
    "#]],
    );
}

#[test]
fn what_is_new_is_told_by_the_version_before() {
    let schema = |more: Value| {
        let mut all = json!({"id!": {"type": "integer"}, "old!": {"default": 1}});
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        closed(all)
    };
    let tool = Tool::of(&[schema(json!({})), schema(json!({"new!": {"default": 2}, "more": {}}))]);
    // Written for the current version, with a slip in it.
    check(
        &tool,
        &json!({"id": "5", "old": 1, "more": 1}),
        Mode::Repair,
        &expect![[r#"
        coerce /id: "5" > 5 (1)
        default /new: - > 2 (0.9)
        applied: with 2 changes they are valid under version 2
        {"id":5,"old":1,"more":1,"new":2}
    "#]],
    );
    // Written for an older one, and not valid: what that one asked for is not new, whatever came between.
    let older = Tool::of(&[
        schema(json!({"gone": {}, "gone_too": {}})),
        closed(json!({"id!": {"type": "integer"}})),
        schema(json!({})),
    ]);
    check(
        &older,
        &json!({"id": "5", "gone": 1, "gone_too": 1}),
        Mode::Repair,
        &expect![[r#"
            coerce /id: "5" > 5 (1)
            drop /gone: 1 > - (0.6)
            drop /gone_too: 1 > - (0.6)
            as given: they would still not be valid under version 3 after 3 changes: the whole: "old" is a required property
            {"id":"5","gone":1,"gone_too":1}
        "#]],
    );
    let alone = Tool::of(&[schema(json!({}))]);
    check(
        &alone,
        &json!({"id": "5"}),
        Mode::Repair,
        &expect![[r#"
        coerce /id: "5" > 5 (1)
        as given: they would still not be valid under version 1 after 1 change: the whole: "old" is a required property
        {"id":"5"}
    "#]],
    );
}

/// One alternative asked for it, and the arguments are of the other.
#[test]
fn what_valid_arguments_were_without_is_new() {
    let by = |name: &str| json!({"properties": {(name): {}}, "required": [name]});
    let tool = Tool::of(&[
        json!({"anyOf": [by("id"), by("name")]}),
        open(json!({"id": {}, "name!": {"default": "any"}})),
    ]);
    check(
        &tool,
        &json!({"id": 1}),
        Mode::Repair,
        &expect![[r#"
            default /name: - > "any" (0.9)
            applied: written for version 1, with 1 change they are valid under version 2
            {"id":1,"name":"any"}
        "#]],
    );
}

#[test]
fn valid_arguments_are_kept_where_a_rename_would_spoil_them() {
    let tool = Tool::of(&[
        open(json!({"q": {"type": "string"}})),
        open(json!({"query": {"type": "string", "pattern": "^[0-9]+$"}})),
    ]);
    check(
        &tool,
        &json!({"q": "pump"}),
        Mode::Repair,
        &expect![[r#"
            as given: nothing to change: the arguments are valid under version 2, and would not be after 1 change: `/query`: the value does not match "^[0-9]+$"
            {"q":"pump"}
        "#]],
    );
}

#[test]
fn a_move_needs_a_free_place() {
    let inner = || json!({"type": "object", "properties": {"city": {"type": "string"}, "zip": {}}});
    let zip = json!({"type": ["object", "string", "null"], "properties": {"zip": {}}});
    let tool = Tool::of(&[
        closed(json!({"address_city": {"type": "string"}, "address": zip})),
        closed(json!({"address": inner()})),
    ]);
    check(
        &tool,
        &json!({"address_city": "Ulm", "address": {"zip": 1}}),
        Mode::Repair,
        &expect![[r#"
        rename /address_city to /address/city: "Ulm" > "Ulm" (0.93)
        applied: written for version 1, with 1 change they are valid under version 2
        {"address":{"zip":1,"city":"Ulm"}}
    "#]],
    );
    for there in [json!(null), json!("x"), json!({"city": "Bonn"})] {
        let repair = tool.simulate(&json!({"address_city": "Ulm", "address": there}), Mode::Repair);
        assert!(!repair.applied && repair.changes.is_empty(), "{}", super::told(&repair));
    }
    let back =
        Tool::of(&[open(json!({"address": inner()})), open(json!({"address_city": {"type": "string"}}))]);
    check(
        &back,
        &json!({"address": {"city": "Ulm"}}),
        Mode::Repair,
        &expect![[r#"
        rename /address/city to /address_city: "Ulm" > "Ulm" (0.93)
        applied: written for version 1, with 1 change they are valid under version 2
        {"address":{},"address_city":"Ulm"}
    "#]],
    );
}

#[test]
fn a_doubt_goes_along_with_what_is_around() {
    let inner = |name: &str| closed(json!({(name): {"type": "integer"}, "kept": {}}));
    let tool = Tool::of(&[
        closed(json!({"orderOptions": inner("timeout")})),
        closed(json!({"orderOptions": inner("timeout_ms")})),
        closed(json!({"order_options": inner("timeout_ms")})),
    ]);
    check(
        &tool,
        &json!({"orderOptions": {"timeout": 3}}),
        Mode::Repair,
        &expect![[r#"
        rename /orderOptions to /order_options: {"timeout":3} > {"timeout":3} (0.98)
        as given: they would still not be valid under version 3 after 1 change: `/order_options`: Additional properties are not allowed ('timeout' was unexpected); `/orderOptions/timeout` may have become `/orderOptions/timeout_ms` (confidence 0.75), which nobody confirmed
        {"orderOptions":{"timeout":3}}
    "#]],
    );
}

#[test]
fn sixteen_versions_are_looked_at() {
    let steps = |count: usize| {
        let schemas: Vec<Value> =
            (0..count).map(|at| closed(json!({(format!("v{at}!")): {"type": "string"}}))).collect();
        let tool = (1..count).fold(Tool::of(&schemas), |tool, at| {
            tool.confirm(at + 1, &format!("v{}", at - 1), &format!("v{at}"))
        });
        tool.simulate(&json!({"v0": "x"}), Mode::Strict)
    };
    assert_eq!((steps(16).applied, steps(16).changes.len()), (true, 15));
    assert_eq!((steps(17).applied, steps(17).changes.len()), (false, 0));
}

#[test]
fn as_many_changes_as_are_allowed_are_made() {
    let tool = Tool::of(&[json!({"additionalProperties": {"type": "integer"}})]);
    let args = |count: usize| -> Map<String, Value> {
        (0..count).map(|at| (format!("k{at}"), json!("1"))).collect()
    };
    assert!(tool.simulate(&Value::Object(args(256)), Mode::Repair).applied);
    assert!(!tool.simulate(&Value::Object(args(257)), Mode::Repair).applied);
    assert!(!simulate(&[], &args(1), Mode::Repair).applied);
}

/// What is at a bound is looked at; one more is not.
#[test]
fn bounds_hold_what_is_at_them() {
    let refused = |schema: &Value, args: &Value| {
        let repair = Tool::of(std::slice::from_ref(schema)).simulate(args, Mode::Repair);
        (!repair.valid).then_some(repair.reason)
    };
    let heavy = |values: usize| json!({"x": vec![0; values - 2]});
    let broad = |values: usize| json!({"a": vec![0; values - 2]});
    let deep = |depth: usize| (0..depth).fold(json!(0), |inner, _| json!({"a": inner}));
    let long = |bytes: usize| json!({"a".repeat(bytes - 1): 0});
    for (schema, args, bound) in [
        (heavy(65_536), json!({}), None),
        (
            heavy(65_537),
            json!({}),
            Some("the input schema of version 1 is too large, or its patterns are, to be looked at"),
        ),
        (json!({}), broad(4096), None),
        (
            json!({}),
            broad(4097),
            Some("the arguments hold 4097 values, 2 deep; at most 4096, 64 deep, are looked at"),
        ),
        (json!({}), deep(64), None),
        (
            json!({}),
            deep(65),
            Some("the arguments hold 66 values, 65 deep; at most 4096, 64 deep, are looked at"),
        ),
        (json!({}), long(4096), None),
        (
            json!({}),
            long(4097),
            Some("names in the arguments that lead to one value have more than 4096 bytes together"),
        ),
    ] {
        assert_eq!(refused(&schema, &args).as_deref(), bound);
    }
}

#[test]
fn the_reason_stays_short() {
    let many = |suffix: &str| -> Value {
        closed(
            (0..9)
                .map(|at| (format!("t{}{suffix}", "x".repeat(at * 40 + 1)), json!({"type": "integer"})))
                .collect(),
        )
    };
    let args: Map<String, Value> =
        (0..9).map(|at| (format!("t{}", "x".repeat(at * 40 + 1)), json!(1))).collect();
    let repair = Tool::of(&[many(""), many("_ms")]).simulate(&Value::Object(args), Mode::Repair);
    assert!(
        !repair.applied && repair.reason.contains("and so for") && repair.reason.len() < 1500,
        "{}",
        repair.reason
    );
}

#[test]
fn the_whole_is_never_changed() {
    for schema in [json!({"type": "array"}), json!({"enum": [[{}]]}), json!({"type": "string"})] {
        for mode in [Mode::Repair, Mode::Strict] {
            let repair = Tool::of(&[json!({}), schema.clone()]).simulate(&json!({}), mode);
            assert!(!repair.applied && repair.changes.is_empty(), "{}", super::told(&repair));
        }
    }
}
