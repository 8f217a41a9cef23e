use aldgate_wire::guard::{GuardFault, Limits, check, check_shape};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json;

/// serde_json's own depth is 128; the texts here stay far below.
const LIMITS: Limits = Limits { max_bytes: 1 << 20, max_depth: 100 };

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<&RawValue>(text).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_with_serde_json_on_what_is_json(bytes in json::mutated()) {
        prop_assert_eq!(check_shape(&bytes, &LIMITS).is_ok(), is_json(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
    }

    /// What passes is read without loss, and what does not has one of the named faults.
    #[test]
    fn passes_only_what_reads_without_doubt(bytes in json::mutated()) {
        let json = is_json(&bytes);
        match check(&bytes, &LIMITS) {
            Ok(()) => {
                let value: Value = serde_json::from_slice(&bytes).unwrap();
                // No key got lost, so a reader that keeps the first of two and one that keeps the last see the same.
                let colons = count_members(&bytes);
                prop_assert_eq!(count_keys(&value), colons);
                // Written anew it is the same, and passes.
                let again = serde_json::to_vec(&value).unwrap();
                prop_assert_eq!(&serde_json::from_slice::<Value>(&again).unwrap(), &value);
                prop_assert_eq!(check(&again, &LIMITS), Ok(()));
            }
            Err(
                GuardFault::DuplicateKey { .. } | GuardFault::LoneSurrogate { .. } | GuardFault::InexactNumber { .. },
            ) => {}
            Err(fault) => prop_assert!(!json, "{:?}", fault),
        }
    }

    #[test]
    fn finds_every_repeated_key(members in json::members(Just("1".to_owned()))) {
        let decoded: Vec<Option<String>> = members.iter().map(|(key, _)| serde_json::from_str(key).ok()).collect();
        let found = check(json::object(&members).as_bytes(), &LIMITS);
        if decoded.iter().any(Option::is_none) {
            prop_assert!(matches!(found, Err(GuardFault::LoneSurrogate { .. })), "{:?}", found);
        } else {
            let distinct: std::collections::HashSet<_> = decoded.iter().collect();
            prop_assert_eq!(found.is_ok(), distinct.len() == decoded.len(), "{:?}", found);
        }
    }

    #[test]
    fn every_integer_and_every_double_passes(i in any::<i64>(), u in any::<u64>(), f in any::<f64>()) {
        prop_assert!(check(i.to_string().as_bytes(), &LIMITS).is_ok());
        prop_assert!(check(u.to_string().as_bytes(), &LIMITS).is_ok());
        if f.is_finite() {
            for text in [format!("{f:?}"), format!("{f:e}"), Value::from(f).to_string()] {
                prop_assert!(check(text.as_bytes(), &LIMITS).is_ok());
            }
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(check_shape(&bytes, &LIMITS).is_ok(), is_json(&bytes));
    }
}

/// Members in the text: colons outside of strings.
fn count_members(bytes: &[u8]) -> usize {
    let (mut colons, mut inside, mut escaped) = (0, false, false);
    for byte in bytes {
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

fn count_keys(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(count_keys).sum::<usize>(),
        Value::Array(items) => items.iter().map(count_keys).sum(),
        _ => 0,
    }
}
