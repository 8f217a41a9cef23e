//! Random JSON texts, spelled in many ways.

use proptest::prelude::*;
use serde_json::Value;

/// A JSON text: values, white space and escapes of any kind; keys repeat now and then.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number(),
        string(),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..6), space())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(&format!("{space},")))),
            members(inner).prop_map(|members| object(&members)),
        ]
    })
}

/// The members of an object, as spelled keys and values.
pub(crate) fn members(value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((string(), value), 0..6)
}

/// The text of an object.
pub(crate) fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(key, value)| format!("{key} :\t{value}")).collect();
    format!("{{{}}}", members.join(" ,\n"))
}

pub(crate) fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| Value::from(n).to_string()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?",
    ]
}

/// A string whose characters are often written as escapes, and now and then half a surrogate pair.
pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -!#-\\[\\]-~]{0,3}",
        2 => "[a-c]",
        1 => any::<char>().prop_map(plain),
        2 => any::<char>().prop_map(escaped),
        1 => prop_oneof![Just("\\/"), Just("\\\\"), Just("\\\""), Just("\\b"), Just("\\n")].prop_map(str::to_owned),
        1 => (0xD800u32..0xE000).prop_map(|unit| format!("\\u{unit:04X}")),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn plain(c: char) -> String {
    let quoted = Value::from(c.to_string()).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

fn escaped(c: char) -> String {
    let mut units = [0; 2];
    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn space() -> impl Strategy<Value = String> {
    "[ \t\r\n]{0,2}"
}

/// The same text with a few bytes put in, taken out or changed.
pub(crate) fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        0..3u8,
        prop_oneof![any::<u8>(), prop::sample::select(&b"{}[]\",:\\u0e.-1"[..])],
    );
    (text(), prop::collection::vec(edit, 0..4)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (place, kind, byte) in edits {
            let at = place.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => bytes[at] = byte,
                _ if at < bytes.len() => drop(bytes.remove(at)),
                _ => {}
            }
        }
        bytes
    })
}
