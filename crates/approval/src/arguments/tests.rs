use proptest::prelude::*;
use serde_json::value::RawValue;

use super::digest;

fn of(text: &str) -> String {
    digest(Some(&RawValue::from_string(text.to_owned()).expect("JSON"))).expect("digest")
}

#[test]
fn the_same_arguments_have_one_digest_however_they_are_written() {
    let plain = of(r#"{"part_no":"TV-1","quantity":1,"zero":0}"#);
    for spelled in [
        r#"{ "zero": 0, "quantity": 1, "part_no": "TV-1" }"#,
        r#"{"part_no":"\u0054V-1","quantity":1.0,"zero":-0.0}"#,
        r#"{"part_no":"TV-1","quantity":1e0,"zero":0e5}"#,
    ] {
        assert_eq!(of(spelled), plain, "{spelled}");
    }
}

#[test]
fn a_large_whole_number_has_one_digest_however_it_is_written() {
    for (plain, spelled) in [
        (r#"{"a":10000000000000000}"#, r#"{"a":1e16}"#),
        (r#"{"a":10000000000000000}"#, r#"{"a":10000000000000000.0}"#),
        (r#"{"a":9223372036854775808}"#, r#"{"a":9223372036854775808.0}"#),
        (r#"{"a":-9000000000000000000}"#, r#"{"a":-9e18}"#),
        (r#"{"a":1e30}"#, r#"{"a":1000000000000000000000000000000}"#),
    ] {
        assert_eq!(of(spelled), of(plain), "{spelled}");
    }
}

#[test]
fn other_arguments_have_another_digest() {
    for (left, right) in [
        (r#"{"a":1}"#, r#"{"a":2}"#),
        (r#"{"a":1}"#, r#"{"a":"1"}"#),
        (r#"{"a":null}"#, r#"{}"#),
        (r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#),
        (r#"{"a":18446744073709551615}"#, r#"{"a":18446744073709551614}"#),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
        (r#"{"a":0.1}"#, r#"{"a":0.2}"#),
    ] {
        assert_ne!(of(left), of(right), "{left} {right}");
    }
}

#[test]
fn absent_arguments_are_an_empty_object() {
    assert_eq!(digest(None).expect("digest"), of("{}"));
}

proptest! {
    #[test]
    fn key_order_never_counts(mut members in proptest::collection::btree_map("[a-z]{1,6}", any::<i64>(), 1..8)) {
        let forward: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let backward: Vec<_> = forward.iter().rev().cloned().collect();
        prop_assert_eq!(of(&format!("{{{}}}", forward.join(","))), of(&format!("{{{}}}", backward.join(" , "))));
        let first = members.keys().next().cloned().expect("one member");
        let before = of(&format!("{{{}}}", forward.join(",")));
        members.entry(first).and_modify(|value| *value = value.wrapping_add(1));
        let changed: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        prop_assert_ne!(before, of(&format!("{{{}}}", changed.join(","))));
    }
}
