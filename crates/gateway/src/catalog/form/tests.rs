use serde_json::value::RawValue;
use serde_json::{Value, json};

#[test]
fn a_form_is_an_object_of_plain_values() {
    let flat =
        |schema: Value| super::form(&RawValue::from_string(schema.to_string()).expect("JSON")).is_some();
    assert!(flat(json!({"type": "object", "properties": {}})));
    assert!(flat(json!({"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 9}, "n": {"type": "integer"}, "yes": {"type": "boolean"},
        "one": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    }, "required": ["name"]})));
    for nested in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}}),
        json!({"type": "object", "properties": {}, "allOf": []}),
        json!({"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"pattern": "x"}]}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "oneOf": []}}}),
        json!([]),
    ] {
        assert!(!flat(nested.clone()), "{nested}");
    }
}

#[test]
fn a_form_is_held_to_its_plain_keywords_alone() {
    let held = super::form(
        &RawValue::from_string(
            json!({"type": "object", "x": {"allOf": []}, "required": ["a"], "additionalProperties": false, "properties": {
                "a": {"type": "string", "minLength": 2, "$ref": "#/x", "allOf": [{"$ref": "#"}], "title": "A"},
                "b": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
                "c": {"type": "array", "items": {"anyOf": [{"const": "y"}], "$ref": "#"}},
            }})
            .to_string(),
        )
        .expect("JSON"),
    );
    let expected = json!({"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
        "a": {"type": "string", "minLength": 2},
        "b": {"type": "string", "enum": ["x"]},
        "c": {"type": "array", "items": {"enum": ["y"]}},
    }});
    assert_eq!(held, Some(expected));
}
