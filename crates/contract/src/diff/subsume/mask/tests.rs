use expect_test::expect;
use serde_json::json;

use super::Mask;

#[test]
fn types_in_words() {
    let mut table = String::new();
    for types in [
        json!("null"),
        json!("boolean"),
        json!("integer"),
        json!("number"),
        json!(["string", "array", "object"]),
        json!(["integer", "number"]),
        json!(["null", "number", "string"]),
        json!("objekt"),
        json!(1),
    ] {
        table += &format!("{types}: {}\n", Mask::of_type(&types).words());
    }
    table += &format!("fractions: {}\n", Mask::of_type(&json!("number")).without(Mask::WHOLE).words());
    for value in [
        json!(null),
        json!(true),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!("a"),
        json!([]),
        json!({}),
        json!(1e300),
    ] {
        table += &format!("value {value}: {}\n", Mask::of_value(&value).words());
    }
    expect![[r#"
        "null": null
        "boolean": a boolean
        "integer": an integer
        "number": a number
        ["string","array","object"]: a string or an array or an object
        ["integer","number"]: a number
        ["null","number","string"]: null or a number or a string
        "objekt": 
        1: 
        fractions: a number with a fraction
        value null: null
        value true: a boolean
        value 1: an integer
        value 1.0: an integer
        value 1.5: a number with a fraction
        value "a": a string
        value []: an array
        value {}: an object
        value 1e+300: an integer
    "#]]
    .assert_eq(&table);
}

#[test]
fn masks_are_sets() {
    let (text, number) = (Mask::STRING, Mask::NUMBER);
    assert!(text.or(number).any(Mask::WHOLE) && text.or(number).any(text) && !text.any(number));
    assert!(text.and(number).is_none() && !text.is_none());
    assert_eq!(text.or(number).without(number), text);
    assert_eq!(text.or(number).and(number), number);
    assert_eq!(Mask::EACH.into_iter().fold(text, Mask::or), Mask::ALL);
}
