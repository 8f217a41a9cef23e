//! Laws of locks, for any order of what may happen to one.

use std::collections::BTreeMap;

use aldgate_contract::rename::Confirmed;
use aldgate_contract::{Acceptance, Digest, Kind, Lock, UpstreamIdentity};
use proptest::prelude::*;

/// Something that a reviewer does.
#[derive(Debug, Clone)]
enum Step {
    /// Pins all that is served.
    Pin(Vec<(usize, u8)>),
    /// Accepts one.
    Accept { name: usize, words: u8, from: Option<usize>, version: Option<u32>, renames: bool },
    /// Takes one out.
    Retire(usize),
    /// Signs one.
    Sign(usize),
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    // Words seldom come again by chance, so that a version that is used again shows.
    let words = prop_oneof![0_u8..2, any::<u8>()];
    let from = prop::option::of(name.clone());
    let version = prop::option::weighted(0.1, 1_u32..30);
    let accept = (name.clone(), words.clone(), from, version, any::<bool>());
    prop_oneof![
        1 => prop::collection::btree_map(name.clone(), words, 0..3)
            .prop_map(|live| Step::Pin(live.into_iter().collect())),
        8 => accept.prop_map(|(name, words, from, version, renames)| {
            Step::Accept { name, words, from, version, renames }
        }),
        1 => name.clone().prop_map(Step::Retire),
        1 => name.prop_map(Step::Sign),
    ]
}

fn definition(name: &str, words: u8) -> String {
    format!(r#"{{"name":"{name}","description":"{words}"}}"#)
}

/// The lock after a step; `None` where the step is refused, which leaves it as it is.
fn after(lock: &Lock, step: &Step, at: &str) -> Option<Lock> {
    let name = |index: &usize| NAMES.get(*index).copied().unwrap_or_default();
    let item = |index: &usize| aldgate_contract::Item { kind: Kind::Tool, name: name(index).to_owned() };
    match step {
        Step::Pin(live) => {
            let live: Vec<_> =
                live.iter().map(|(index, words)| (name(index), definition(name(index), *words))).collect();
            lock.repin(live.iter().map(|(name, text)| (*name, text.as_str())), at).ok()
        }
        Step::Accept { name: index, words, from, version, renames } => {
            let confirmed = [Confirmed { from: "x".to_owned(), to: "y".to_owned() }];
            let acceptance = Acceptance {
                at,
                version: *version,
                renamed_from: from.as_ref().map(name).filter(|from| *from != name(index)),
                renames: if *renames { &confirmed } else { &[] },
                acknowledged: &[],
            };
            lock.accept(&item(index), &definition(name(index), *words), &acceptance).ok()
        }
        Step::Retire(index) => lock.retire(&item(index)),
        Step::Sign(index) => {
            let mut signed = lock.clone();
            signed.sign(&item(index), "e30..c2ln".to_owned()).then_some(signed)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// **Invariant:** a signature is over name, version and digest, so no name ever has two contracts of one version.
    #[test]
    fn a_version_of_a_name_is_one_contract_for_ever(steps in prop::collection::vec(step(), 1..24)) {
        let upstream = UpstreamIdentity { name: "u".to_owned(), endpoint: "inproc:u".to_owned(), server: None };
        let lock = Lock::pin(upstream, [], "2026-11-30T00:00:00Z");
        prop_assert!(lock.is_ok());
        let Ok(mut lock) = lock else { return Ok(()) };
        let mut seen: BTreeMap<(String, u32), Digest> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let Some(next) = after(&lock, step, &format!("2026-12-01T00:00:{at:02}Z")) else { continue };
            for pin in next.tools.values() {
                let known = seen.insert((pin.name.clone(), pin.version), pin.raw_digest);
                prop_assert!(known.is_none_or(|known| known == pin.raw_digest), "{} {}", pin.name, pin.version);
                prop_assert!(pin.history.iter().all(|past| past.version < pin.version));
                for past in &pin.history {
                    let known = seen.get(&(past.name.clone(), past.version));
                    prop_assert_eq!(known, Some(&past.raw_digest), "the history is what was pinned");
                }
                let before = lock.tools.get(&pin.name);
                if let (Some(before), Some(_)) = (before, &pin.signature) {
                    prop_assert!(matches!(step, Step::Sign(_)) || before.version == pin.version, "a new version is unsigned");
                }
            }
            let text = next.to_pretty_json();
            let read = Lock::parse(&text);
            prop_assert!(read.is_ok(), "{:?}", read.err());
            prop_assert_eq!(read.map(|read| read.to_pretty_json()).unwrap_or_default(), text);
            lock = next;
        }
    }
}
