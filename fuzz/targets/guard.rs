//! What the guard lets pass has one reading, and it lets pass what serde_json reads.
#![no_main]

use aldgate_wire::guard::{GuardFault, Limits, check, check_shape};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

/// serde_json reads values up to a depth of 127.
const LIMITS: Limits = Limits { max_bytes: 1 << 20, max_depth: 100 };

fuzz_target!(|body: &[u8]| {
    let shape = check_shape(body, &LIMITS);
    let strict = check(body, &LIMITS);
    for fault in [shape.as_ref().err(), strict.as_ref().err()].into_iter().flatten() {
        assert!(fault.at().is_none_or(|at| at <= body.len()), "{fault}");
    }
    let readable =
        std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<&RawValue>(text).is_ok());
    match &shape {
        Ok(()) => assert!(readable),
        Err(GuardFault::TooDeep { .. }) => assert!(strict.is_err()),
        Err(_) => assert!(!readable && strict.is_err(), "{strict:?}"),
    }
    if strict.is_err() {
        return;
    }
    assert_eq!(shape, Ok(()));
    let once: Value = serde_json::from_slice(body).unwrap();
    let again = serde_json::to_string(&once).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), once, "another value when it is written anew");
    assert_eq!(check(again.as_bytes(), &LIMITS), Ok(()));
    // No member got lost: who keeps the first of two members and who keeps the last see the same.
    assert_eq!(keys(&once), colons(body));
});

fn keys(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(keys).sum::<usize>(),
        Value::Array(items) => items.iter().map(keys).sum(),
        _ => 0,
    }
}

/// Colons outside of strings.
fn colons(body: &[u8]) -> usize {
    let (mut colons, mut inside, mut escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => inside = !inside,
            b':' if !inside => colons += 1,
            _ => {}
        }
    }
    colons
}
