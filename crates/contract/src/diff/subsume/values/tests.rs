use serde_json::json;

use super::{Build, Look, plain, size};

#[test]
fn a_hard_pattern_takes_longer_with_the_text() {
    let look = |schema: serde_json::Value| {
        let build = Build::of(&schema).unwrap();
        Look::of(build.compile(&schema, None).unwrap(), &schema).unwrap()
    };
    let plain = look(json!({"pattern": "^a+$", "patternProperties": {"b": {}}}));
    assert_eq!([plain.steps(0), plain.steps(7)], [12, 12]);
    let hard = look(json!({"pattern": "^(?=a)a+$", "patternProperties": {"b": {}}}));
    assert_eq!([hard.steps(0), hard.steps(7)], [12, 24]);
}

#[test]
fn a_schema_that_refers_to_others_has_no_size_of_its_own() {
    for (schema, expected) in [
        (json!(true), Some(1)),
        (json!({"enum": [1, 2]}), Some(4)),
        (json!({"properties": {"a": {"type": "null"}}}), Some(4)),
        (json!({"items": {"$ref": "#"}}), None),
        (json!({"items": [{"$dynamicRef": "#a"}]}), None),
    ] {
        assert_eq!(size(&schema), expected, "{schema}");
    }
}

#[test]
fn a_value_without_parts_is_plain() {
    for (value, expected) in [
        (json!(null), true),
        (json!(1.5), true),
        (json!("a".repeat(4096)), true),
        (json!("a".repeat(4097)), false),
        (json!([]), true),
        (json!([1]), false),
        (json!({}), true),
        (json!({"a": 1}), false),
    ] {
        assert_eq!(plain(&value), expected);
    }
}
