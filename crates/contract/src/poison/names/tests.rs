use proptest::prelude::*;

use super::super::Neighbour;
use super::index::Index;
use super::likeness;

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["get", "item", "v2", "new", "secure", "raise", "order", "ex"])
            .prop_map(str::to_owned),
        "[abil1o0]{1,4}",
        "[рnmrwv]{1,4}",
        Just("é".to_owned()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let joined = (prop::collection::vec(part(), 0..4), prop::sample::select(vec!["_", "-", ".", "", "A"]))
        .prop_map(|(parts, between)| parts.join(between));
    prop_oneof![joined, "[ab]{5,8}"]
}

/// A name, and one that may be taken for it.
fn pair() -> impl Strategy<Value = (String, String)> {
    let changed = (name(), any::<prop::sample::Index>(), 0..5).prop_map(|(name, at, how)| {
        let mut letters: Vec<char> = name.chars().collect();
        let at = at.index(letters.len() + 1);
        match how {
            0 => letters.insert(at, 'x'),
            1 if at < letters.len() => drop(letters.remove(at)),
            2 if at + 1 < letters.len() => letters.swap(at, at + 1),
            3 if at < letters.len() => letters[at] = 'x',
            _ => letters.extend("_v2".chars()),
        }
        (letters.into_iter().collect::<String>(), name)
    });
    prop_oneof![changed, (name(), name())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// Whatever looks like another name is found without comparing all.
    #[test]
    fn what_looks_alike_is_a_candidate((name, other) in pair()) {
        let index = Index::of(vec![Neighbour { upstream: "u", tool: &other }]);
        let found = index.candidates(&name).count();
        prop_assert!(found == 1 || likeness(&name, &other).is_none(), "{:?}", likeness(&name, &other));
    }
}

#[test]
fn each_likeness_is_found_among_others() {
    let others = ["send_email", "raise_order", "get_item", "read_file", "createContact"];
    let index = Index::of(others.map(|tool| Neighbour { upstream: "u", tool }).to_vec());
    for (name, other) in [
        ("send_email", "send_email"),
        ("SendEmail", "send_email"),
        ("raise_0rder", "raise_order"),
        ("raise_oder", "raise_order"),
        ("riase_order", "raise_order"),
        ("get_item_v2", "get_item"),
        ("file_read", "read_file"),
    ] {
        let found: Vec<&str> = index.candidates(name).map(|other| other.tool).collect();
        assert_eq!(found, [other], "{name}");
        assert!(likeness(name, other).is_some(), "{name}");
    }
    assert_eq!(index.candidates("other_tool").count(), 0);
}
