//! Cutting members out of JSON text, by a reader that has nothing in common with the gateway's.

use std::ops::Range;

/// The text of an object without its own members of these names. What is left between the others keeps its bytes.
pub(crate) fn without(object: &str, names: &[&str]) -> String {
    let mut left = object.to_owned();
    for name in names {
        while let Some(member) = member(&left, name) {
            left.replace_range(member, "");
        }
    }
    left
}

/// The text of an object's own member.
pub(crate) fn value<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let member = object.get(members(object).into_iter().find(|(key, _)| key == name)?.1)?;
    let (_, value) = member.split_once(':')?;
    Some(value.trim_matches(|letter: char| letter.is_ascii_whitespace()))
}

/// Where a member stands, together with the comma that divides it from the others.
fn member(object: &str, name: &str) -> Option<Range<usize>> {
    let all = members(object);
    let place = all.iter().position(|(key, _)| key == name)?;
    let Range { start, end } = all[place].1.clone();
    Some(match place.checked_sub(1) {
        // A member that follows another takes the comma before it.
        Some(_) => start - 1..end,
        None if all.len() > 1 => start..end + 1,
        None => start..end,
    })
}

/// The names of an object's own members, as they are spelled, each with the bytes between its commas.
fn members(object: &str) -> Vec<(String, Range<usize>)> {
    let bytes = object.as_bytes();
    assert!(bytes.first() == Some(&b'{') && bytes.last() == Some(&b'}'), "no object: {object}");
    let (mut found, mut depth, mut quoted, mut start) = (Vec::new(), 0, false, 1);
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted && depth > 0 => depth -= 1,
            b',' | b'}' if !quoted && depth == 0 => {
                let text = object.get(start..at).unwrap();
                if let Some((_, named)) = text.split_once('"') {
                    let (name, _) = named.split_once('"').unwrap();
                    found.push((name.to_owned(), start..at));
                }
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[test]
fn members_are_cut_out_with_their_comma() {
    let object = r#"{ "a" : 1.0 ,"_meta":{"a":"}\","}, "b":[{"_meta":1}] }"#;
    assert_eq!(without(object, &["_meta"]), r#"{ "a" : 1.0 , "b":[{"_meta":1}] }"#);
    assert_eq!(without(r#"{"_meta":{},"a":1}"#, &["_meta"]), r#"{"a":1}"#);
    assert_eq!(without(r#"{"a":1,"_meta":{}}"#, &["_meta"]), r#"{"a":1}"#);
    assert_eq!(without(r#"{"_meta":{}}"#, &["_meta"]), "{}");
    assert_eq!(value(object, "b"), Some(r#"[{"_meta":1}]"#));
}
