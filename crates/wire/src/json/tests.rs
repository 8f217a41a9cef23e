use serde_json::value::RawValue;

use super::{Kind, Members, Repeated, has_prefix, is_integer, kind, string};

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

#[test]
fn members_keep_order_and_bytes() {
    let members = Members::read(r#" {"b" : [1, 2] ,"a":1.10,"\u0063":"\u00e9"} "#).unwrap();
    let listed: Vec<(String, &str)> =
        members.iter().map(|(key, value)| (key.into_owned(), value.get())).collect();
    assert_eq!(
        listed,
        [("b".to_owned(), "[1, 2]"), ("a".to_owned(), "1.10"), ("c".to_owned(), r#""\u00e9""#)]
    );
}

#[test]
fn a_repeated_member_is_refused_only_where_it_is_read() {
    let members = Members::read(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap();
    assert_eq!(members.get("a").unwrap_err(), Repeated("a".to_owned()));
    assert_eq!(members.get("b").unwrap().unwrap().get(), "2");
    assert!(members.get("c").unwrap().is_none());
}

#[test]
fn a_key_with_half_a_surrogate_pair_does_not_spoil_the_object() {
    let members = Members::read(r#"{"\ud800":1,"a":2}"#).unwrap();
    assert_eq!(members.get("a").unwrap().unwrap().get(), "2");
    assert_eq!(members.iter().count(), 2);
}

#[test]
fn only_objects_are_read() {
    for text in ["[]", "1", "null", "\"a\"", "{", "{} {}", ""] {
        assert!(Members::read(text).is_none(), "{text}");
    }
}

#[test]
fn finds_keys_that_differ_by_case() {
    let known = &["name", "_meta"];
    let miscased = |text| Members::read(text).unwrap().miscased(known);
    assert_eq!(miscased(r#"{"name":1,"other":2}"#), None);
    assert_eq!(miscased(r#"{"name":1,"Name":2}"#), Some(("Name".to_owned(), "name")));
    assert_eq!(miscased(r#"{"_Meta":1}"#), Some(("_Meta".to_owned(), "_meta")));
}

#[test]
fn tells_kinds_apart() {
    for (text, expected) in [
        ("{}", Kind::Object),
        ("[]", Kind::Array),
        ("\"\"", Kind::String),
        ("-1", Kind::Number),
        ("0", Kind::Number),
        ("true", Kind::Boolean),
        ("false", Kind::Boolean),
        ("null", Kind::Null),
    ] {
        assert_eq!(kind(raw(text)), expected);
    }
    assert!(is_integer(raw("-12")) && is_integer(raw("0")));
    assert!(!is_integer(raw("1.0")) && !is_integer(raw("1e3")) && !is_integer(raw("\"1\"")));
    assert_eq!(string(raw("\"\\u00e9\"")).as_deref(), Some("é"));
    assert_eq!(string(raw("\"\\ud800\"")), None);
    assert_eq!(string(raw("1")), None);
}

#[test]
fn prefixes_fold_case_and_never_split_a_character() {
    assert!(has_prefix("IO.GitHub.Aldgate/x", "io.github.aldgate/"));
    assert!(!has_prefix("io.github.aldgat", "io.github.aldgate/"));
    assert!(!has_prefix("é", "e"));
}
