//! Schemas that refer to themselves: what is taken as shown while it is being shown.

use expect_test::expect;
use serde_json::json;

use super::rows;

#[test]
fn what_rested_on_a_proof_that_failed_is_shown_anew() {
    let text = json!({"type": "string"});
    // `far` lies within `Far` only if `near` lies within `Near`, which fails after `far` was looked at.
    let before = json!({
        "properties": {"p": {"$ref": "#/$defs/near"}},
        "$defs": {
            "near": {"type": "object", "properties": {"x": {"$ref": "#/$defs/far"}, "v": text}},
            "far": {"type": "object", "properties": {"back": {"$ref": "#/$defs/near"}}},
        },
    });
    let after = |v: &serde_json::Value| {
        json!({
            "anyOf": [
                {"properties": {"p": {"$ref": "#/$defs/Near"}}},
                {"properties": {"p": {"properties": {"x": {"$ref": "#/$defs/Far"}}}}},
            ],
            "$defs": {
                "Near": {"properties": {"x": {"$ref": "#/$defs/Far"}, "v": v}},
                "Far": {"properties": {"back": {"$ref": "#/$defs/Near"}}},
            },
        })
    };
    rows(
        "inputSchema",
        &[
            (before.clone(), after(&json!({"type": "integer"}))),
            (before, after(&json!({"type": ["string", "null"]}))),
        ],
        &expect![[r##"
            breaking     {"properties":{"p":{"$ref":"#/$defs/near"}},"$defs":{"near":{"type":"object","properties":{"x":{"$ref":"#/$defs/far"},"v":{"type":"string"}}},"far":{"type":"object","properties":{"back":{"$ref":"#/$defs/near"}}}}}  =>  {"anyOf":[{"properties":{"p":{"$ref":"#/$defs/Near"}}},{"properties":{"p":{"properties":{"x":{"$ref":"#/$defs/Far"}}}}}],"$defs":{"Near":{"properties":{"x":{"$ref":"#/$defs/Far"},"v":{"type":"integer"}}},"Far":{"properties":{"back":{"$ref":"#/$defs/Near"}}}}}
            compatible   {"properties":{"p":{"$ref":"#/$defs/near"}},"$defs":{"near":{"type":"object","properties":{"x":{"$ref":"#/$defs/far"},"v":{"type":"string"}}},"far":{"type":"object","properties":{"back":{"$ref":"#/$defs/near"}}}}}  =>  {"anyOf":[{"properties":{"p":{"$ref":"#/$defs/Near"}}},{"properties":{"p":{"properties":{"x":{"$ref":"#/$defs/Far"}}}}}],"$defs":{"Near":{"properties":{"x":{"$ref":"#/$defs/Far"},"v":{"type":["string","null"]}}},"Far":{"properties":{"back":{"$ref":"#/$defs/Near"}}}}}
        "##]],
    );
}

/// The same by way of what cannot be: `Far` is what is not none of those.
#[test]
fn what_was_empty_by_a_proof_that_failed_is_looked_at_anew() {
    let before = json!({
        "properties": {"p": {"$ref": "#/$defs/near"}},
        "$defs": {
            "near": {"type": "object", "properties": {"x": {"$ref": "#/$defs/far"}, "v": {"type": "string"}}},
            "far": {"type": "object", "properties": {"back": {"$ref": "#/$defs/near"}}},
        },
    });
    let after = |v: &str| {
        json!({
            "anyOf": [
                {"properties": {"p": {"$ref": "#/$defs/Near"}}},
                {"properties": {"p": {"properties": {"x": {"$ref": "#/$defs/Far"}}}}},
            ],
            "$defs": {
                "Near": {"properties": {"x": {"$ref": "#/$defs/Far"}, "v": {"type": v}}},
                "Far": {"not": {"not": {"properties": {"back": {"$ref": "#/$defs/Near"}}}}},
            },
        })
    };
    rows(
        "inputSchema",
        &[(before.clone(), after("integer")), (before, after("string"))],
        &expect![[r##"
        breaking     {"properties":{"p":{"$ref":"#/$defs/near"}},"$defs":{"near":{"type":"object","properties":{"x":{"$ref":"#/$defs/far"},"v":{"type":"string"}}},"far":{"type":"object","properties":{"back":{"$ref":"#/$defs/near"}}}}}  =>  {"anyOf":[{"properties":{"p":{"$ref":"#/$defs/Near"}}},{"properties":{"p":{"properties":{"x":{"$ref":"#/$defs/Far"}}}}}],"$defs":{"Near":{"properties":{"x":{"$ref":"#/$defs/Far"},"v":{"type":"integer"}}},"Far":{"not":{"not":{"properties":{"back":{"$ref":"#/$defs/Near"}}}}}}}
        compatible   {"properties":{"p":{"$ref":"#/$defs/near"}},"$defs":{"near":{"type":"object","properties":{"x":{"$ref":"#/$defs/far"},"v":{"type":"string"}}},"far":{"type":"object","properties":{"back":{"$ref":"#/$defs/near"}}}}}  =>  {"anyOf":[{"properties":{"p":{"$ref":"#/$defs/Near"}}},{"properties":{"p":{"properties":{"x":{"$ref":"#/$defs/Far"}}}}}],"$defs":{"Near":{"properties":{"x":{"$ref":"#/$defs/Far"},"v":{"type":"string"}}},"Far":{"not":{"not":{"properties":{"back":{"$ref":"#/$defs/Near"}}}}}}}
    "##]],
    );
}

/// Whatever is no `S` lies within `S` only if it is nothing.
#[test]
fn what_rests_on_a_part_of_the_value_does_not_count_for_the_value_itself() {
    rows(
        "inputSchema",
        &[(
            json!({
                "properties": {"r": {"$ref": "#/$defs/I"}},
                "not": {"properties": {"r": {"$ref": "#/$defs/S"}}},
                "$defs": {
                    "I": {"properties": {"x": {"$ref": "#/$defs/I"}}, "not": {"$ref": "#/$defs/N"}},
                    "S": {"properties": {"x": {"$ref": "#/$defs/N"}}, "type": "string"},
                    "N": {"allOf": [{"$ref": "#/$defs/S"}]},
                },
            }),
            json!({"type": "string"}),
        )],
        &expect![[r##"
            breaking     {"properties":{"r":{"$ref":"#/$defs/I"}},"not":{"properties":{"r":{"$ref":"#/$defs/S"}}},"$defs":{"I":{"properties":{"x":{"$ref":"#/$defs/I"}},"not":{"$ref":"#/$defs/N"}},"S":{"properties":{"x":{"$ref":"#/$defs/N"}},"type":"string"},"N":{"allOf":[{"$ref":"#/$defs/S"}]}}}  =>  {"type":"string"}
        "##]],
    );
}

#[test]
fn a_look_at_a_part_of_the_value_is_over_when_it_failed() {
    rows(
        "inputSchema",
        &[
            (
                json!({"type": "object", "not": {"properties": {"a": {"type": "string"}}}}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "array", "contains": {"const": 1}, "not": {"contains": {"type": "string"}}}),
                json!({"type": "string"}),
            ),
        ],
        &expect![[r#"
            breaking     {"type":"object","not":{"properties":{"a":{"type":"string"}}}}  =>  {"type":"string"}
            breaking     {"type":"array","contains":{"const":1},"not":{"contains":{"type":"string"}}}  =>  {"type":"string"}
        "#]],
    );
}
