//! What is told of each place of two schemas, whether it breaks or not.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{check, tool};
use crate::kind::Kind;

fn arguments(before: &Value, after: &Value, expected: &Expect) {
    check(Kind::Tool, &tool("inputSchema", before), &tool("inputSchema", after), expected);
}

fn results(before: &Value, after: &Value, expected: &Expect) {
    check(Kind::Tool, &tool("outputSchema", before), &tool("outputSchema", after), expected);
}

#[test]
fn a_place_that_takes_no_value_is_told() {
    let (any, none) = (json!({"properties": {"a": {}}}), json!({"properties": {"a": false}}));
    arguments(
        &none,
        &any,
        &expect![[r#"
        compatible /inputSchema/properties/a: values are allowed now
    "#]],
    );
    results(
        &any,
        &none,
        &expect![[r#"
        compatible /outputSchema/properties/a: values are no longer allowed
    "#]],
    );
}

/// A list of one, as generators write it around a reference, says what its one part says.
#[test]
fn a_single_part_is_compared_with_what_stands_around_it() {
    arguments(
        &json!({"allOf": [{"maximum": 5, "title": "a"}], "description": "a"}),
        &json!({"maximum": 6, "title": "b", "description": "b"}),
        &expect![[r#"
            behavioural /inputSchema/description: `description` has other words
            compatible /inputSchema/maximum: `maximum` was `5` and is `6`
            behavioural /inputSchema/title: `title` has other words
        "#]],
    );
    // Beside a reference it is a list like any other.
    arguments(
        &json!({"$ref": "#/$defs/A", "allOf": [{"maximum": 5}], "$defs": {"A": {"type": "integer"}}}),
        &json!({"$ref": "#/$defs/A", "allOf": [{"maximum": 6}], "$defs": {"A": {"type": "integer"}}, "maximum": 7}),
        &expect![[r#"
            compatible /inputSchema/maximum: `maximum` is new: `7`
            compatible /inputSchema/allOf/0/maximum: `maximum` was `5` and is `6`
        "#]],
    );
}

#[test]
fn what_a_property_brings_with_it_is_told() {
    arguments(
        &json!({"dependencies": {"a": ["b", "c"], "b": ["c"], "c": ["d"]}}),
        &json!({"dependencies": {"a": ["b"], "b": {"required": ["c"]}, "c": ["d"]}}),
        &expect![[r#"
            compatible /inputSchema/dependencies/a: `dependencies` changed
            compatible /inputSchema/dependencies/b: `dependencies` changed
        "#]],
    );
    arguments(
        &json!({"dependentSchemas": {"a": {"description": "Why."}}, "dependencies": {"b": {"description": "Why."}}}),
        &json!({"dependentSchemas": {}, "dependencies": {}}),
        &expect![[r#"
            compatible /inputSchema/dependentSchemas/a: `dependentSchemas` is gone
            behavioural /inputSchema/dependentSchemas/a: words came or went with `dependentSchemas`
            compatible /inputSchema/dependencies/b: `dependencies` is gone
            behavioural /inputSchema/dependencies/b: words came or went with `dependencies`
        "#]],
    );
}

#[test]
fn properties_that_are_gone_are_told() {
    arguments(
        &json!({"properties": {"a": {"type": "string"}, "b": {}}, "patternProperties": {"^x": {"type": "string"}}}),
        &json!({"properties": {"b": {}}, "patternProperties": {}}),
        &expect![[r#"
            compatible /inputSchema/properties/a: `a` is no longer described
            compatible /inputSchema/patternProperties/^x: `^x` is gone
        "#]],
    );
    // One of two places that describe it is gone, and not the property.
    results(
        &json!({"properties": {"a": {"maximum": 5}}, "$ref": "#/$defs/B", "$defs": {"B": {"properties": {"a": {"minimum": 1}}}}}),
        &json!({"properties": {"a": {"minimum": 1, "maximum": 5}}}),
        &expect![[r#"
            compatible /outputSchema/$defs/B/properties/a: `a` is gone
            compatible /outputSchema/properties/a/minimum: `minimum` is new: `1`
        "#]],
    );
}

#[test]
fn items_are_compared_by_place_and_alternatives_by_what_they_say() {
    let (text, number) = (json!({"const": "a"}), json!({"const": 1}));
    let ordered = |key: &str, first: &Value, second: &Value| json!({(key): [first, second], "x": second});
    results(
        &ordered("prefixItems", &text, &number),
        &ordered("prefixItems", &number, &text),
        &expect![[r#"
            breaking /outputSchema/prefixItems/0/const: the value `1` may be returned now
            breaking /outputSchema/prefixItems/1/const: the value `"a"` may be returned now
            behavioural /outputSchema/x: `x` was `{"const":1}` and is `{"const":"a"}`
        "#]],
    );
    results(
        &ordered("anyOf", &text, &number),
        &ordered("anyOf", &number, &text),
        &expect![[r#"
            behavioural /outputSchema/x: `x` was `{"const":1}` and is `{"const":"a"}`
        "#]],
    );
    arguments(
        &json!({"allOf": [{"maximum": 5}, {"minimum": 1, "description": "d"}, {"multipleOf": 1}]}),
        &json!({"allOf": [{"maximum": 5}, {"multipleOf": 1}]}),
        &expect![[r#"
            compatible /inputSchema/allOf/1: `allOf` is gone
            behavioural /inputSchema/allOf/1: words came or went with `allOf`
        "#]],
    );
}

/// The reason is told at `else`; the change is one of `if`.
#[test]
fn a_change_that_is_not_shown_to_be_compatible_breaks() {
    let schema = |types: Value| json!({"if": {"type": types}, "else": {"const": null}});
    arguments(
        &schema(json!(["string", "integer"])),
        &schema(json!("string")),
        &expect![[r#"
            breaking /inputSchema/else/const: a value other than the only one listed may no longer be accepted
            breaking /inputSchema/if/type: `type` was `["string","integer"]` and is `"string"`; it is not shown to be compatible
        "#]],
    );
    // Of the alternative that breaks it is known what breaks, wherever it stood before.
    arguments(
        &json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 5}]}),
        &json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 4}, {"type": "string"}]}),
        &expect![[r#"
            breaking /inputSchema/anyOf/0/maximum: a number above 4 may no longer be accepted
            compatible /inputSchema/anyOf/0/minimum: `minimum` was `1` and is `0`
        "#]],
    );
}

#[test]
fn definitions_come_and_go_with_what_refers_to_them() {
    let deep = json!({"properties": {"y": {"anyOf": [{"$ref": "#/$defs/X"}]}}});
    let (without, with) = (
        json!({"properties": {"b": {}}}),
        json!({"properties": {"b": {}, "a": deep}, "$defs": {"X": {"description": "d"}}}),
    );
    arguments(
        &without,
        &with,
        &expect![[r#"
        compatible /inputSchema/properties/a: `a` is new
    "#]],
    );
    arguments(
        &with,
        &without,
        &expect![[r#"
        compatible /inputSchema/properties/a: `a` is no longer described
    "#]],
    );
}

/// Though it is no object.
#[test]
fn a_definition_that_takes_every_value_is_referred_to_like_any_other() {
    let schema = |any: Value| json!({"properties": {"a": {"$ref": "#/$defs/X"}}, "$defs": {"X": any}});
    arguments(
        &schema(json!({"type": "string"})),
        &schema(json!(true)),
        &expect![[r#"
            compatible /inputSchema/$defs/X/type: `type` is gone: `"string"`
        "#]],
    );
}

#[test]
fn a_definition_that_nothing_refers_to_any_more_is_told_where_it_changed() {
    let used = |word: &str| json!({"properties": {"a": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"description": word}}});
    let unused = |word: &str| json!({"properties": {}, "$defs": {"X": {"description": word}}});
    arguments(
        &used("same"),
        &unused("same"),
        &expect![[r#"
        compatible /inputSchema/properties/a: `a` is no longer described
    "#]],
    );
    arguments(
        &used("old"),
        &unused("new"),
        &expect![[r#"
        compatible /inputSchema/properties/a: `a` is no longer described
        behavioural /inputSchema/$defs/X: the definition `X`, which nothing refers to, is new
    "#]],
    );
    arguments(
        &unused("old"),
        &unused("new"),
        &expect![[r#"
        behavioural /inputSchema/$defs/X/description: `description` has other words
    "#]],
    );
}
