//! Laws of the canonical form and of locks, for any definition; and judges of what is told of contracts, each written
//! without regard to how it is found out.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod compatible;
mod dice;
mod independent;
mod locks;
mod poison;
mod renames;
mod repair_laws;
mod samples;
mod schemas;
mod severity;
mod stories;

use aldgate_contract::{Kind, Live, Lock, State, UpstreamIdentity, canonical, fingerprint};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// A value whose numbers every reader reads alike.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof!["[a-d]{0,2}", any::<String>()];
    prop::collection::vec((key, value), 0..5).prop_map(Map::from_iter)
}

/// A definition of the tool `t`.
fn definition() -> impl Strategy<Value = Map<String, Value>> {
    members(value()).prop_map(|mut members| {
        members.insert("name".to_owned(), Value::from("t"));
        members
    })
}

/// The same value spelled in another way: keys in reverse, white space, escapes, exponents.
fn respelled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .rev()
                .map(|(key, value)| format!("{} :\t{}", escaped(key), respelled(value)))
                .collect();
            format!("{{ {}\n}}", members.join(" , "))
        }
        Value::Array(items) => {
            format!("[\r\n{} ]", items.iter().map(respelled).collect::<Vec<_>>().join(" ,"))
        }
        Value::String(text) => escaped(text),
        Value::Number(number) if number.is_f64() => format!("{:e}", number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{units}\"")
}

fn lock(definition: &str) -> Result<Lock, TestCaseError> {
    let upstream = UpstreamIdentity { name: "u".to_owned(), endpoint: "inproc:u".to_owned(), server: None };
    Lock::pin(upstream, [("t", definition)], "2026-11-30T10:00:00Z")
        .map_err(|fault| TestCaseError::fail(fault.to_string()))
}

fn states(found: &[aldgate_contract::Finding]) -> Vec<&State> {
    found.iter().map(|finding| &finding.state).collect()
}

/// A definition of the kind, under the key `t`.
fn named(kind: Kind, mut members: Map<String, Value>) -> String {
    members.insert(kind.key().to_owned(), Value::from("t"));
    Value::from(members).to_string()
}

/// The locks of the demonstration were written when a lock held tools alone.
#[test]
fn a_lock_of_tools_alone_is_written_as_it_was_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/contracts");
    for name in ["tickets", "parts", "manuals"] {
        let path = folder.join(name).with_extension("json");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lock = Lock::parse(&text).map_err(|fault| format!("{}: {fault}", path.display()));
        assert_eq!(lock.map(|lock| lock.to_pretty_json()), Ok(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_canonical_form_is_stable(members in definition()) {
        let value = Value::from(members);
        let plain = canonical(&value.to_string());
        prop_assert!(plain.is_ok(), "{:?}", plain);
        let plain = plain.unwrap_or_default();
        let other = canonical(&respelled(&value));
        prop_assert!(other.is_ok(), "{:?}", other);
        prop_assert_eq!(&other.unwrap_or_default(), &plain);
        prop_assert_eq!(canonical(&plain).unwrap_or_default(), plain);
    }

    #[test]
    fn the_order_of_members_does_not_matter_for_digests(members in definition()) {
        let reversed: Map<String, Value> = members.clone().into_iter().rev().collect();
        let (one, other) = (Value::from(members).to_string(), Value::from(reversed).to_string());
        let digest = |text| fingerprint(text).map(|found| found.jcs).map_err(|fault| fault.to_string());
        prop_assert_eq!(digest(&one), digest(&other));
    }

    #[test]
    fn a_list_that_is_compared_with_itself_is_the_same(members in definition()) {
        let value = Value::from(members);
        for text in [value.to_string(), respelled(&value)] {
            let found = lock(&text)?.verify([("t", text.as_str())]);
            prop_assert!(matches!(states(&found).as_slice(), [State::Same]), "{:?}", found);
        }
    }

    #[test]
    fn another_spelling_is_never_taken_for_a_change(members in definition()) {
        let value = Value::from(members);
        let found = lock(&value.to_string())?.verify([("t", respelled(&value).as_str())]);
        prop_assert!(matches!(states(&found).as_slice(), [State::RawOnly { .. }]), "{:?}", found);
    }

    #[test]
    fn every_change_is_found_and_named(members in definition(), key in "[a-d]{1,2}", value in value()) {
        prop_assume!(members.get(&key) != Some(&value));
        let mut changed = members.clone();
        changed.insert(key.clone(), value);
        let (one, other) = (Value::from(members).to_string(), Value::from(changed).to_string());
        let found = lock(&one)?.verify([("t", other.as_str())]);
        match states(&found).as_slice() {
            [State::Changed { fields, .. }] => prop_assert_eq!(fields, &[key]),
            // `1` and `1.0` are other values to serde_json, and the same to every reader of JSON.
            [State::RawOnly { .. }] => prop_assert_eq!(canonical(&one).ok(), canonical(&other).ok()),
            _ => prop_assert!(false, "{:?}", found),
        }
    }

    #[test]
    fn a_lock_gives_the_exact_bytes_back(members in definition()) {
        let value = Value::from(members);
        for text in [value.to_string(), respelled(&value)] {
            let written = lock(&text)?.to_pretty_json();
            let read = Lock::parse(&written);
            prop_assert!(read.is_ok(), "{:?}", read);
            if let Ok(read) = read {
                prop_assert_eq!(read.tools.get("t").map(|pin| pin.definition.get()), Some(text.as_str()));
                prop_assert_eq!(read.to_pretty_json(), written);
            }
        }
    }

    #[test]
    fn kinds_do_not_touch_each_other(
        one in definition(), other in definition(), changed in definition(), kind in 0_usize..3,
    ) {
        let upstream = UpstreamIdentity { name: "u".to_owned(), endpoint: "inproc:u".to_owned(), server: None };
        let mut live = Live::default();
        let texts: Vec<(Kind, String)> = Kind::ALL
            .into_iter()
            .map(|kind| (kind, named(kind, if kind == Kind::Tool { one.clone() } else { other.clone() })))
            .collect();
        for (kind, text) in &texts {
            live = live.with(*kind, [("t", text.as_str())]);
        }
        let pinned = Lock::pin(upstream, live.clone(), "2026-11-30T10:00:00Z");
        prop_assert!(pinned.is_ok(), "{:?}", pinned);
        let Ok(pinned) = pinned else { return Ok(()) };
        let written = pinned.to_pretty_json();
        let read = Lock::parse(&written);
        prop_assert!(read.is_ok(), "{:?}", read);
        let Ok(read) = read else { return Ok(()) };
        prop_assert_eq!(read.to_pretty_json(), written);
        let found = read.verify(live);
        prop_assert!(found.len() == 3 && found.iter().all(|finding| finding.state == State::Same), "{:?}", found);

        let Some(kind) = Kind::ALL.get(kind).copied() else { return Ok(()) };
        let text = named(kind, changed);
        let next = read.repin(Live::default().with(kind, [("t", text.as_str())]), "2026-12-01T10:00:00Z");
        prop_assert!(next.is_ok(), "{:?}", next);
        let Ok(next) = next else { return Ok(()) };
        for (other, text) in texts.iter().filter(|(other, _)| *other != kind) {
            prop_assert_eq!(next.pins(*other).get("t").map(|pin| pin.definition.get()), Some(text.as_str()));
        }
        prop_assert_eq!(next.pins(kind).get("t").map(|pin| pin.definition.get()), Some(text.as_str()));
    }
}
