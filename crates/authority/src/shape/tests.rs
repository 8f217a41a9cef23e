use expect_test::{Expect, expect};

use super::*;

fn check(schema: &str, expected: Expect) {
    let shape = Shape::of(&serde_json::from_str(schema).unwrap());
    let text = shape.cedar_type().map_or("unknown".to_owned(), |kind| kind.to_string());
    expected.assert_eq(&text);
}

#[test]
fn types_become_cedar_types() {
    check(
        r#"{"type":"object","required":["n","maybe"],"properties":{
            "n":{"type":"integer"},"price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},
            "maybe":{"type":["string","null"]},"any":{},"pair":{"type":"array","prefixItems":[{},{}]}}}"#,
        expect![[
            r#"{"type":"Record","attributes":{"maybe":{"type":"String","required":false},"n":{"type":"Long","required":true},"price":{"type":"Extension","name":"decimal","required":false},"tags":{"type":"Set","element":{"type":"String"},"required":false}}}"#
        ]],
    );
    check(r#"{"type":["integer","number"]}"#, expect![[r#"{"type":"Extension","name":"decimal"}"#]]);
    check(r#"{"enum":["a","b",null]}"#, expect![[r#"{"type":"String"}"#]]);
    check(r#"{"const":true}"#, expect![[r#"{"type":"Boolean"}"#]]);
    check(r#"{"anyOf":[{"type":"null"},{"type":"integer"}]}"#, expect![[r#"{"type":"Long"}"#]]);
    check(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"boolean"}}}"##, expect![[r#"{"type":"Boolean"}"#]]);
}

#[test]
fn what_is_not_certain_is_unknown() {
    for schema in [
        "true",
        "{}",
        r#"{"type":["string","integer"]}"#,
        r#"{"anyOf":[{"type":"string"},{}]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"enum":[1,"a"]}"#,
        r#"{"enum":[null]}"#,
        r#"{"type":"array"}"#,
        r#"{"allOf":[{"type":"string"}]}"#,
        r#"{"$ref":"https://example.org/schema"}"#,
        r##"{"$ref":"#"}"##,
        r#"{"properties":{"a":{"type":"string"}}}"#,
    ] {
        check(schema, expect!["unknown"]);
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}}}"##;
    assert!(matches!(Shape::of(&serde_json::from_str(schema).unwrap()), Shape::Record { .. }));
}

#[test]
fn certainty_follows_the_path() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object","additionalProperties":false,
        "properties":{"n":{"type":"integer"}}},"any":{}}}"#;
    let shape = Shape::of(&serde_json::from_str(schema).unwrap());
    let at = |path: &[&str]| shape.certainty(&path.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(at(&[]), Certainty::Typed);
    assert_eq!(at(&["a", "n"]), Certainty::Typed);
    assert_eq!(at(&["a", "other"]), Certainty::Absent);
    assert_eq!(at(&["any"]), Certainty::AnyType);
    assert_eq!(at(&["any", "below"]), Certainty::AnyType);
    assert_eq!(at(&["other"]), Certainty::Undeclared);
}
