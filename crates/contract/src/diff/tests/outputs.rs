//! Schemas of results: what is valid after has to have been valid before.

use expect_test::expect;
use serde_json::json;

use super::{check, rows, tool};
use crate::kind::Kind;

#[test]
fn results_are_the_other_way_round() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let more = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]});
    let closed = |schema: &serde_json::Value| {
        let mut schema = schema.clone();
        schema["additionalProperties"] = json!(false);
        schema
    };
    rows(
        "outputSchema",
        &[
            (json!({"type": "integer"}), json!({"type": "number"})),
            (json!({"type": "number"}), json!({"type": "integer"})),
            (json!({"maximum": 5}), json!({"maximum": 4})),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]})),
            (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]})),
            (json!({"required": ["a"]}), json!({"required": ["a", "b"]})),
            (json!({"required": ["a", "b"]}), json!({"required": ["a"]})),
            (open.clone(), more.clone()),
            (closed(&open), closed(&more)),
            (more.clone(), open.clone()),
            (closed(&more), closed(&open)),
            (more, closed(&open)),
            (
                json!({"items": {"properties": {"a": {}, "b": {}}}}),
                json!({"items": {"properties": {"a": {}}}}),
            ),
            (
                json!({"properties": {"a": {}}, "$ref": "#/$defs/B", "$defs": {"B": {"properties": {"b": {}}}}}),
                json!({"properties": {"b": {}, "a": {}}}),
            ),
        ],
        &expect![[r##"
            breaking     {"type":"integer"}  =>  {"type":"number"}
            compatible   {"type":"number"}  =>  {"type":"integer"}
            compatible   {"maximum":5}  =>  {"maximum":4}
            compatible   {"enum":["a","b"]}  =>  {"enum":["a"]}
            breaking     {"enum":["a"]}  =>  {"enum":["a","b"]}
            compatible   {"required":["a"]}  =>  {"required":["a","b"]}
            breaking     {"required":["a","b"]}  =>  {"required":["a"]}
            compatible   {"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}  =>  {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}
            breaking     {"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}  =>  {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}
            breaking     {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}  =>  {"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}
            breaking     {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}  =>  {"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}
            breaking     {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}  =>  {"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}
            breaking     {"items":{"properties":{"a":{},"b":{}}}}  =>  {"items":{"properties":{"a":{}}}}
            compatible   {"properties":{"a":{}},"$ref":"#/$defs/B","$defs":{"B":{"properties":{"b":{}}}}}  =>  {"properties":{"b":{},"a":{}}}
        "##]],
    );
}

#[test]
fn what_is_told_of_results() {
    let before = json!({"type": "object", "properties": {
        "ticket": {"type": "object", "properties": {"id": {"type": "string"}, "state": {"enum": ["open", "closed"]}}, "required": ["id", "state"]},
        "total": {"type": "integer", "minimum": 0},
        "old": {"type": "string", "description": "Going."},
    }, "required": ["ticket"], "additionalProperties": false});
    let after = json!({"type": "object", "properties": {
        "ticket": {"type": "object", "properties": {"id": {"type": "string"}, "state": {"enum": ["open", "closed", "lost"]}}, "required": ["id"]},
        "total": {"type": "integer", "minimum": 1, "description": "How many."},
        "new": {"type": "string", "description": "Coming."},
    }, "required": ["ticket"], "additionalProperties": false});
    check(
        Kind::Tool,
        &tool("outputSchema", &before),
        &tool("outputSchema", &after),
        &expect![[r#"
            breaking /outputSchema/properties/ticket/properties/state/enum: the value `"lost"` may be returned now
            breaking /outputSchema/properties/ticket/required: `state` is no longer always there
            breaking /outputSchema/properties/new: `new` was not allowed before
            breaking /outputSchema/properties/old: `old` is no longer among the properties of results
            compatible /outputSchema/properties/total/minimum: `minimum` was `0` and is `1`
            behavioural /outputSchema/properties/total/description: `description` is new
        "#]],
    );
}

#[test]
fn a_schema_of_results_that_comes_or_goes() {
    let (none, some) = (json!({"name": "t"}), tool("outputSchema", &json!({"type": "object"})));
    check(
        Kind::Tool,
        &none,
        &some,
        &expect![[r#"
        compatible /outputSchema: results had no schema and have one now
    "#]],
    );
    check(
        Kind::Tool,
        &some,
        &none,
        &expect![[r#"
        breaking /outputSchema: results no longer have a schema
    "#]],
    );
    check(
        Kind::Tool,
        &none,
        &tool("outputSchema", &json!({"type": "objekt"})),
        &expect![[r#"
        breaking /outputSchema: the new schema cannot be used: it is not a valid JSON Schema: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword
    "#]],
    );
}
