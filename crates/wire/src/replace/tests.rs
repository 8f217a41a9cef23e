use serde_json::value::RawValue;

use super::{ReplaceFault, replaced, replaced_at};

fn check(object: &str, set: &[(&str, &str)], expected: Result<&str, ReplaceFault>) {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let values: Vec<_> = set.iter().map(|(key, value)| (*key, raw(value))).collect();
    let set: Vec<_> = values.iter().map(|(key, value)| (*key, &**value)).collect();
    let found = replaced(&raw(object), &set).map(|raw| raw.get().to_owned());
    assert_eq!(found, expected.map(str::to_owned), "{object}");
}

#[test]
fn values_are_replaced_in_place_and_the_rest_keeps_its_bytes() {
    check(r#"{ "a" : 1.10 , "b":[ ]}"#, &[("b", "2"), ("a", "{}")], Ok(r#"{ "a" : {} , "b":2}"#));
    check(
        r#"{"\u0061":1,"x":1e400,"x":"\ud800"}"#,
        &[("a", "2")],
        Ok(r#"{"\u0061":2,"x":1e400,"x":"\ud800"}"#),
    );
    check(r#"{"a":{"a":1}}"#, &[("a", "null")], Ok(r#"{"a":null}"#));
}

#[test]
fn missing_members_follow_at_the_end() {
    check("{}", &[("a", "1"), ("b", "2")], Ok(r#"{"a":1,"b":2}"#));
    check("{ }", &[("a", "1")], Ok(r#"{ "a":1}"#));
    check("{\"x\":{}\n}", &[("a\"", "1"), ("x", "3")], Ok("{\"x\":3\n,\"a\\\"\":1}"));
}

#[test]
fn what_cannot_be_replaced_without_doubt_is_left() {
    check(r#"{"a":1,"\u0061":2}"#, &[("a", "3")], Err(ReplaceFault::Repeated { member: "a".to_owned() }));
    check("[]", &[("a", "3")], Err(ReplaceFault::NotObject));
}

#[test]
fn a_path_is_followed_and_made() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let at = |object: &str, path: &[&str]| {
        replaced_at(&raw(object), path, &raw("7")).map(|raw| raw.get().to_owned())
    };
    assert_eq!(at(r#"{ "a":{"x": 1, "b":2}}"#, &["a", "b"]).unwrap(), r#"{ "a":{"x": 1, "b":7}}"#);
    assert_eq!(at(r#"{"x": 1}"#, &["a", "b"]).unwrap(), r#"{"x": 1,"a":{"b":7}}"#);
    assert_eq!(at(r#"{"a":1}"#, &["a", "b"]), Err(ReplaceFault::NotObject));
}
