//! What is known of a value from several keywords together.

use expect_test::expect;
use serde_json::{Value, json};

use super::inputs::narrow_and_wide;
use super::{compared, rows, tool};
use crate::diff::Severity;
use crate::kind::Kind;

/// Every type but one.
fn all_but(name: &str) -> Value {
    let all = ["null", "boolean", "number", "string", "array", "object"];
    json!({"type": all.into_iter().filter(|one| *one != name).collect::<Vec<_>>()})
}

#[test]
fn a_type_of_which_nothing_is_left_is_lost() {
    rows(
        "inputSchema",
        &[
            (json!({"not": {"type": "string", "title": "t"}}), all_but("string")),
            (json!({"not": {"type": "string", "maxLength": 3}}), all_but("string")),
            (json!({"minLength": 3, "maxLength": 2}), all_but("string")),
            (json!({"minLength": 2, "maxLength": 2}), all_but("string")),
            (json!({"minItems": 3, "maxItems": 2}), all_but("array")),
            (json!({"minProperties": 3, "maxProperties": 2}), all_but("object")),
            (json!({"minimum": 3, "maximum": 2}), all_but("number")),
            (json!({"minimum": 2, "maximum": 2}), all_but("number")),
            (json!({"type": ["integer", "null"], "minimum": 0.5, "maximum": 0.7}), json!({"type": "null"})),
            (json!({"type": ["number", "null"], "minimum": 0.5, "maximum": 0.7}), json!({"type": "null"})),
            (json!({"anyOf": [{"allOf": [{"type": "null"}]}]}), json!({"type": "null"})),
            (
                json!({"anyOf": [{"oneOf": [{"$ref": "#/$defs/a"}]}], "$defs": {"a": {"type": "null"}}}),
                json!({"type": "null"}),
            ),
        ],
        &expect![[r##"
            behavioural  {"not":{"type":"string","title":"t"}}  =>  {"type":["null","boolean","number","array","object"]}
            breaking     {"not":{"type":"string","maxLength":3}}  =>  {"type":["null","boolean","number","array","object"]}
            compatible   {"minLength":3,"maxLength":2}  =>  {"type":["null","boolean","number","array","object"]}
            breaking     {"minLength":2,"maxLength":2}  =>  {"type":["null","boolean","number","array","object"]}
            compatible   {"minItems":3,"maxItems":2}  =>  {"type":["null","boolean","number","string","object"]}
            compatible   {"minProperties":3,"maxProperties":2}  =>  {"type":["null","boolean","number","string","array"]}
            compatible   {"minimum":3,"maximum":2}  =>  {"type":["null","boolean","string","array","object"]}
            breaking     {"minimum":2,"maximum":2}  =>  {"type":["null","boolean","string","array","object"]}
            compatible   {"type":["integer","null"],"minimum":0.5,"maximum":0.7}  =>  {"type":"null"}
            breaking     {"type":["number","null"],"minimum":0.5,"maximum":0.7}  =>  {"type":"null"}
            compatible   {"anyOf":[{"allOf":[{"type":"null"}]}]}  =>  {"type":"null"}
            compatible   {"anyOf":[{"oneOf":[{"$ref":"#/$defs/a"}]}],"$defs":{"a":{"type":"null"}}}  =>  {"type":"null"}
        "##]],
    );
}

#[test]
fn what_is_required_may_require_more() {
    rows(
        "inputSchema",
        &[
            (
                json!({"required": ["a"], "dependentRequired": {"b": ["c"], "a": ["b"]}}),
                json!({"required": ["a", "b", "c"], "type": all_but("x")["type"]}),
            ),
            (json!({"allOf": [{"enum": [1, 2, 3]}, {"enum": [1]}]}), json!({"enum": [1]})),
            (json!({"allOf": [{"enum": [1]}, {"enum": [1, 2, 3]}]}), json!({"enum": [1]})),
        ],
        &expect![[r#"
            compatible   {"required":["a"],"dependentRequired":{"b":["c"],"a":["b"]}}  =>  {"required":["a","b","c"],"type":["null","boolean","number","string","array","object"]}
            compatible   {"allOf":[{"enum":[1,2,3]},{"enum":[1]}]}  =>  {"enum":[1]}
            compatible   {"allOf":[{"enum":[1]},{"enum":[1,2,3]}]}  =>  {"enum":[1]}
        "#]],
    );
}

#[test]
fn a_reference_asks_as_much_as_what_stands_beside_it() {
    let beside =
        |limit: u64| json!({"type": "integer", "$ref": "#/$defs/T", "$defs": {"T": {"maximum": limit}}});
    narrow_and_wide(
        &[(beside(5), json!({"type": "integer"})), (beside(5), beside(6))],
        &expect![[r##"
            compatible   {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":5}}}  =>  {"type":"integer"}
            breaking     {"type":"integer"}  =>  {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":5}}}
            compatible   {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":5}}}  =>  {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":6}}}
            breaking     {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":6}}}  =>  {"type":"integer","$ref":"#/$defs/T","$defs":{"T":{"maximum":5}}}
        "##]],
    );
}

#[test]
fn a_condition_splits_with_either_of_its_consequences() {
    rows(
        "inputSchema",
        &[
            (
                json!({"type": ["string", "integer"], "if": {"type": "string"}, "then": false}),
                json!({"type": "integer"}),
            ),
            (
                json!({"type": ["string", "integer"], "if": {"type": "integer"}, "else": false}),
                json!({"type": "integer"}),
            ),
            (json!({"type": ["string", "integer"], "if": {"type": "string"}}), json!({"type": "integer"})),
        ],
        &expect![[r#"
            compatible   {"type":["string","integer"],"if":{"type":"string"},"then":false}  =>  {"type":"integer"}
            compatible   {"type":["string","integer"],"if":{"type":"integer"},"else":false}  =>  {"type":"integer"}
            breaking     {"type":["string","integer"],"if":{"type":"string"}}  =>  {"type":"integer"}
        "#]],
    );
}

#[test]
fn as_many_alternatives_as_are_allowed_are_tried() {
    let many = |count: usize| json!({"anyOf": (0..count).map(|at| json!({"type": "integer", "minimum": at, "maximum": at})).collect::<Vec<_>>()});
    let severity = |count: usize| {
        let wide = json!({"minimum": 0, "maximum": 100});
        compared(Kind::Tool, &tool("inputSchema", &many(count)), &tool("inputSchema", &wide)).severity()
    };
    assert_eq!([severity(64), severity(65)], [Some(Severity::Compatible), Some(Severity::Breaking)]);
}

#[test]
fn items_are_looked_at_one_by_one() {
    rows(
        "inputSchema",
        &[
            (json!({"minItems": 2, "maxItems": 3}), json!({"minItems": 2})),
            (json!({"uniqueItems": true, "minItems": 1}), json!({"uniqueItems": true})),
            (json!({"minItems": 1}), json!({"uniqueItems": false})),
            (json!({"maxItems": 2}), json!({"uniqueItems": true})),
            (
                json!({"items": {"type": "integer"}}),
                json!({"items": {"type": "number"}, "unevaluatedItems": false}),
            ),
            (json!({}), json!({"prefixItems": [true], "unevaluatedItems": false})),
            // What an array holds, and how often.
            (json!({"contains": {"type": "string"}}), json!({"contains": {"type": "integer"}})),
            (json!({"items": {"type": "string"}, "minItems": 1}), json!({"contains": {"type": "integer"}})),
            (
                json!({"prefixItems": [{}], "items": {"type": "string"}, "minItems": 2}),
                json!({"contains": {"type": "string"}}),
            ),
            (
                json!({"contains": {"type": "string"}, "maxContains": 1}),
                json!({"contains": {"type": "integer"}, "minContains": 0, "maxContains": 2}),
            ),
            (
                json!({"contains": {"type": "integer"}, "maxContains": 3}),
                json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 2}),
            ),
        ],
        &expect![[r#"
            compatible   {"minItems":2,"maxItems":3}  =>  {"minItems":2}
            compatible   {"uniqueItems":true,"minItems":1}  =>  {"uniqueItems":true}
            compatible   {"minItems":1}  =>  {"uniqueItems":false}
            breaking     {"maxItems":2}  =>  {"uniqueItems":true}
            compatible   {"items":{"type":"integer"}}  =>  {"items":{"type":"number"},"unevaluatedItems":false}
            breaking     {}  =>  {"prefixItems":[true],"unevaluatedItems":false}
            breaking     {"contains":{"type":"string"}}  =>  {"contains":{"type":"integer"}}
            breaking     {"items":{"type":"string"},"minItems":1}  =>  {"contains":{"type":"integer"}}
            breaking     {"prefixItems":[{}],"items":{"type":"string"},"minItems":2}  =>  {"contains":{"type":"string"}}
            breaking     {"contains":{"type":"string"},"maxContains":1}  =>  {"contains":{"type":"integer"},"minContains":0,"maxContains":2}
            breaking     {"contains":{"type":"integer"},"maxContains":3}  =>  {"contains":{"const":1},"minContains":0,"maxContains":2}
        "#]],
    );
}

#[test]
fn an_array_is_nothing_where_its_first_item_cannot_be() {
    let nothing = json!({"type": "string", "minLength": 3, "maxLength": 2});
    let array = |more: Value| {
        let mut schema = json!({"type": "array"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (schema, json!({"type": "string"}))
    };
    rows(
        "inputSchema",
        &[
            array(json!({})),
            array(json!({"minItems": 2, "maxItems": 2})),
            array(json!({"items": false})),
            array(json!({"items": false, "minItems": 1})),
            array(json!({"items": nothing})),
            array(json!({"items": nothing, "minItems": 1})),
        ],
        &expect![[r#"
            breaking     {"type":"array"}  =>  {"type":"string"}
            breaking     {"type":"array","minItems":2,"maxItems":2}  =>  {"type":"string"}
            breaking     {"type":"array","items":false}  =>  {"type":"string"}
            compatible   {"type":"array","items":false,"minItems":1}  =>  {"type":"string"}
            breaking     {"type":"array","items":{"type":"string","minLength":3,"maxLength":2}}  =>  {"type":"string"}
            compatible   {"type":"array","items":{"type":"string","minLength":3,"maxLength":2},"minItems":1}  =>  {"type":"string"}
        "#]],
    );
}

#[test]
fn what_is_unevaluated_is_known_where_nothing_depends_on_the_value() {
    let integers = json!({"items": {"type": "integer"}});
    rows(
        "inputSchema",
        &[
            (
                json!({"anyOf": [{"prefixItems": [{"type": "string"}]}], "unevaluatedItems": {"type": "integer"}}),
                integers.clone(),
            ),
            (
                json!({"contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}),
                integers.clone(),
            ),
            (json!({"minItems": 1}), json!({"allOf": [{"items": true}], "unevaluatedItems": false})),
            (
                integers,
                json!({"allOf": [{"unevaluatedItems": {"type": "integer"}}], "unevaluatedItems": false}),
            ),
        ],
        &expect![[r#"
            breaking     {"anyOf":[{"prefixItems":[{"type":"string"}]}],"unevaluatedItems":{"type":"integer"}}  =>  {"items":{"type":"integer"}}
            breaking     {"contains":{"type":"string"},"unevaluatedItems":{"type":"integer"}}  =>  {"items":{"type":"integer"}}
            compatible   {"minItems":1}  =>  {"allOf":[{"items":true}],"unevaluatedItems":false}
            compatible   {"items":{"type":"integer"}}  =>  {"allOf":[{"unevaluatedItems":{"type":"integer"}}],"unevaluatedItems":false}
        "#]],
    );
}

#[test]
fn properties_are_known_by_every_keyword_that_looks_at_them() {
    let pattern = |count: usize| {
        let all: serde_json::Map<String, Value> =
            (0..count).map(|at| (format!("^{at}$"), json!({"type": "integer"}))).collect();
        json!({"patternProperties": all, "additionalProperties": {"type": "integer"}})
    };
    let others = json!({"additionalProperties": {"type": "number"}});
    let severity = |count: usize| {
        compared(Kind::Tool, &tool("inputSchema", &pattern(count)), &tool("inputSchema", &others)).severity()
    };
    // A name that is too long for a pattern may match it.
    let long = |count: usize| {
        let before =
            json!({"properties": {"a".repeat(count): {"type": "string"}}, "additionalProperties": false});
        let after = json!({"patternProperties": {"^b": {"type": "integer"}}});
        compared(Kind::Tool, &tool("inputSchema", &before), &tool("inputSchema", &after)).severity()
    };
    assert_eq!([long(4096), long(4097)], [Some(Severity::Compatible), Some(Severity::Breaking)]);
    // As many combinations of what may be known as are looked at.
    assert_eq!([severity(63), severity(64)], [Some(Severity::Compatible), Some(Severity::Breaking)]);
    let named = |schema: Value, name: &str| {
        let mut schema = json!({"allOf": [schema]});
        schema["unevaluatedProperties"] = json!({"type": "integer"});
        (schema, json!({"properties": {(name): {"type": "integer"}}}))
    };
    let beside = |name: &str| {
        (
            json!({"properties": {(name): {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
            json!({"patternProperties": {"^a": {"type": "integer"}}}),
        )
    };
    rows(
        "inputSchema",
        &[
            (json!({"maxProperties": 2}), json!({"maxProperties": 3})),
            (json!({"maxProperties": 3}), json!({"maxProperties": 2})),
            (
                json!({"minProperties": 1}),
                json!({"anyOf": [{"properties": {"a": {}}}, {}], "unevaluatedProperties": true}),
            ),
            (
                json!({"minProperties": 1}),
                json!({"anyOf": [{"properties": {"a": {}}}, {}], "unevaluatedProperties": {}}),
            ),
            (
                json!({"minProperties": 1}),
                json!({"anyOf": [{"properties": {"a": {}}}, {}], "unevaluatedProperties": false}),
            ),
            named(json!({"properties": {"a": {}}}), "b"),
            named(json!({"properties": {"a": {}}}), "a"),
            named(json!({"patternProperties": {"^a": {}}}), "b"),
            named(json!({"patternProperties": {"^a": {}}}), "ab"),
            named(json!({"additionalProperties": {}}), "a"),
            beside("ab"),
            beside("b"),
        ],
        &expect![[r#"
            compatible   {"maxProperties":2}  =>  {"maxProperties":3}
            breaking     {"maxProperties":3}  =>  {"maxProperties":2}
            compatible   {"minProperties":1}  =>  {"anyOf":[{"properties":{"a":{}}},{}],"unevaluatedProperties":true}
            compatible   {"minProperties":1}  =>  {"anyOf":[{"properties":{"a":{}}},{}],"unevaluatedProperties":{}}
            breaking     {"minProperties":1}  =>  {"anyOf":[{"properties":{"a":{}}},{}],"unevaluatedProperties":false}
            compatible   {"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{"type":"integer"}}  =>  {"properties":{"b":{"type":"integer"}}}
            breaking     {"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{"type":"integer"}}  =>  {"properties":{"a":{"type":"integer"}}}
            compatible   {"allOf":[{"patternProperties":{"^a":{}}}],"unevaluatedProperties":{"type":"integer"}}  =>  {"properties":{"b":{"type":"integer"}}}
            breaking     {"allOf":[{"patternProperties":{"^a":{}}}],"unevaluatedProperties":{"type":"integer"}}  =>  {"properties":{"ab":{"type":"integer"}}}
            breaking     {"allOf":[{"additionalProperties":{}}],"unevaluatedProperties":{"type":"integer"}}  =>  {"properties":{"a":{"type":"integer"}}}
            breaking     {"properties":{"ab":{"type":"string"}},"additionalProperties":{"type":"integer"}}  =>  {"patternProperties":{"^a":{"type":"integer"}}}
            compatible   {"properties":{"b":{"type":"string"}},"additionalProperties":{"type":"integer"}}  =>  {"patternProperties":{"^a":{"type":"integer"}}}
        "#]],
    );
}

#[test]
fn keywords_ask_of_their_own_types_alone() {
    rows(
        "inputSchema",
        &[
            (json!({"type": "integer"}), json!({"maxLength": 3, "pattern": "a"})),
            (json!({"type": "integer"}), json!({"maxItems": 3, "items": {"type": "string"}})),
            (json!({"type": "string"}), json!({"maximum": 3, "required": ["a"]})),
            (json!({"minLength": 2, "maxLength": 3}), json!({"minLength": 2})),
            (json!({"minLength": 2, "maxLength": 3}), json!({"maxLength": 3})),
            // One value, and no list of two.
            (json!({"const": 1}), json!({"const": [1, 2]})),
            // Of values that have parts, none is looked at.
            (json!({"const": [1, 2]}), json!({"type": "array", "contains": {"const": 1}})),
            // It is of an older draft, and not looked into.
            (json!({"minItems": 1}), json!({"additionalItems": {"type": "string"}})),
        ],
        &expect![[r#"
            compatible   {"type":"integer"}  =>  {"maxLength":3,"pattern":"a"}
            compatible   {"type":"integer"}  =>  {"maxItems":3,"items":{"type":"string"}}
            compatible   {"type":"string"}  =>  {"maximum":3,"required":["a"]}
            compatible   {"minLength":2,"maxLength":3}  =>  {"minLength":2}
            compatible   {"minLength":2,"maxLength":3}  =>  {"maxLength":3}
            breaking     {"const":1}  =>  {"const":[1,2]}
            breaking     {"const":[1,2]}  =>  {"type":"array","contains":{"const":1}}
            breaking     {"minItems":1}  =>  {"additionalItems":{"type":"string"}}
        "#]],
    );
}
