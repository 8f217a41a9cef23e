use expect_test::{Expect, expect};

use super::*;

fn check(schema: Value, expected: &Expect) {
    let Accepted { schema, notes } = accepted(&schema);
    let root = schema.as_object().unwrap();
    assert_eq!(root["type"], "object");
    assert!(root["properties"].as_object().unwrap().keys().all(|name| is_accepted(name)));
    assert!(REFUSED.iter().all(|keyword| !root.contains_key(*keyword)));
    let mut told = vec![schema.to_string()];
    told.extend(notes);
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn a_plain_schema_stays_but_for_its_dialect() {
    check(
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^x", "oneOf": [{"minLength": 1}]}},
            "required": ["a"], "additionalProperties": false, "x-mcp-header": "A"}),
        &expect![[
            r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^x","oneOf":[{"minLength":1}]}},"required":["a"],"additionalProperties":false,"x-mcp-header":"A"}"#
        ]],
    );
}

#[test]
fn what_is_no_object_becomes_one() {
    for schema in [json!({}), json!(true), json!({"type": ["object", "null"]})] {
        check(schema, &expect![[r#"{"type":"object","properties":{}}"#]]);
    }
    check(json!({"properties": 7}), &expect![[r#"{"properties":{},"type":"object"}"#]]);
}

#[test]
fn alternatives_at_the_root_are_merged_and_told() {
    check(
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
            "additionalProperties": false,
            "anyOf": [
                {"properties": {"id": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a", "b"]},
                {"properties": {"b": true}, "required": ["b"]}],
            "allOf": [{"required": ["c"]}, {"$ref": "#/$defs/d"}],
            "not": {"required": ["z"]}}),
        &expect![[r##"
            {"type":"object","properties":{"id":{"anyOf":[{"type":"string"},{"type":"integer"}]},"a":{"type":"string"},"b":{}},"required":["id","c","b"]}
            The arguments must also be valid under this JSON Schema: {"allOf":[{"required":["c"]},{"$ref":"#/$defs/d"}],"anyOf":[{"properties":{"id":{"type":"integer"},"a":{"type":"string"}},"required":["a","b"]},{"properties":{"b":true},"required":["b"]}],"not":{"required":["z"]}}"##]],
    );
}

#[test]
fn an_argument_whose_name_is_not_accepted_is_told_in_words() {
    check(
        json!({"type": "object", "properties": {"ok": {}, "not ok": {"type": "string"}},
            "required": ["ok", "not ok"], "additionalProperties": false}),
        &expect![[r#"
            {"type":"object","properties":{"ok":{}},"required":["ok"]}
            There is one more argument, "not ok", with this JSON Schema: {"type":"string"}"#]],
    );
}

#[test]
fn a_note_is_bounded() {
    let Accepted { notes, .. } = accepted(&json!({"enum": ["x".repeat(100_000)]}));
    assert!(notes[0].len() < 3000 && notes[0].ends_with("(too long to show)"));
}
