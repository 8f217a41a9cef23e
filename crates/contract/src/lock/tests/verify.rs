use expect_test::expect;
use proptest::prelude::*;

use super::super::{Checked, Live, Lock, State};
use super::{AT, LATER, ODD, PLAIN, PROMPT, SPACED, TEMPLATE, all, lock, upstream};
use crate::Kind;

fn shown(live: &[(&str, &str)]) -> String {
    lock().verify(live.iter().copied()).iter().map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn the_pinned_list_is_the_same_in_any_order() {
    expect![[r#"
        tool `odd` is as pinned
        tool `plain` is as pinned
        tool `spaced` is as pinned
    "#]]
    .assert_eq(&shown(&[("spaced", SPACED), ("odd", ODD), ("plain", PLAIN)]));
}

#[test]
fn a_change_names_its_members() {
    let changed = ODD.replace("1.10", "1.2").replace("\"empty\":{}", "\"more\":{}");
    let findings = lock().verify([("odd", changed.as_str())]);
    let pinned = crate::fingerprint(ODD).unwrap().jcs;
    let live = crate::fingerprint(&changed).unwrap().jcs;
    let fields = ["empty", "more", "z"].map(str::to_owned).to_vec();
    assert_eq!(findings[0].state, State::Changed { pinned, live, fields });
}

#[test]
fn other_bytes_of_the_same_definition_are_told_apart_from_a_change() {
    for same in [
        ODD.replace("1.10", "1.1"),
        ODD.replace(r"\u00e9\/", "é/"),
        ODD.replace(",\"empty\":{}", "").replacen('{', "{\"empty\":{},", 1),
        ODD.replace("\"z\":", "\"z\" : "),
    ] {
        let findings = lock().verify([("odd", same.as_str())]);
        let pinned = crate::fingerprint(ODD).unwrap().raw;
        let live = crate::fingerprint(&same).unwrap().raw;
        assert_eq!(findings[0].state, State::RawOnly { pinned, live });
    }
}

/// The canonical form does not show it, and it is a change all the same.
#[test]
fn an_integer_above_2_to_the_53rd_is_a_change() {
    let changed = ODD.replace("9007199254740993", "9007199254740992");
    let findings = lock().verify([("odd", changed.as_str())]);
    let digest = crate::fingerprint(ODD).unwrap().jcs;
    let fields = vec!["a".to_owned()];
    assert_eq!(findings[0].state, State::Changed { pinned: digest, live: digest, fields });
    assert!(findings[0].to_string().contains("an integer above 2^53"));
}

#[test]
fn tells_missing_new_and_unreadable_tools() {
    expect![[r#"
        tool `bad` cannot be read: the definition cannot be read without doubt: the key `x` at byte 20 repeats one of the same object; send each key once
        tool `new` is listed, but not pinned
        tool `odd` cannot be read: its definition has another `name`
        tool `plain` cannot be read: the list has two tools of this name
        tool `spaced` is pinned, but the upstream does not list it
    "#]]
    .assert_eq(&shown(&[
        ("bad", r#"{"name":"bad","x":1,"x":2}"#),
        ("new", r#"{"name":"new"}"#),
        ("odd", PLAIN),
        ("plain", PLAIN),
        ("plain", PLAIN),
    ]));
}

#[test]
fn an_empty_lock_and_an_empty_list_agree() {
    let empty = Lock::pin(upstream(), [], AT).unwrap();
    assert_eq!(empty.verify([]), []);
    let findings = lock().verify([]);
    assert!(findings.iter().all(|finding| finding.state == State::Missing) && findings.len() == 3);
    assert_eq!(findings[0].item.name, "odd");
}

#[test]
fn every_kind_is_compared_under_its_own_name() {
    let shown = |live: Live<'_>| -> String {
        all().verify(live).iter().map(|finding| format!("{finding}\n")).collect()
    };
    let changed = TEMPLATE.replace("Ticket", "Other");
    expect![[r#"
        tool `plain` is as pinned
        resource template `gone://{x}` is pinned, but the upstream does not list it
        resource template `ticket://{id}` changed in name: pinned sha256:3fc4e165819bfdb9112cffa37eb6005f4b3b02f12b6f99188285322a3d2ea6de, live sha256:e943d4a731cdef3e8ea247902d4e9f26db985cfa4bfae912d1bb6f617251422d
        prompt `diagnose` is as pinned
        prompt `plain` cannot be read: the list has two prompts of this name
    "#]]
    .assert_eq(&shown(
        Live::default()
            .with(Kind::Prompt, [("diagnose", PROMPT), ("plain", PLAIN), ("plain", PLAIN)])
            .with(Kind::Tool, [("plain", PLAIN)])
            .with(Kind::ResourceTemplate, [("ticket://{id}", changed.as_str())]),
    ));
    expect![[r#"
        resource template `gone://{x}` cannot be read: its definition has another `uriTemplate`
        resource template `ticket://{id}` is pinned, but the upstream does not list it
    "#]]
    .assert_eq(&shown(Live::default().with(Kind::ResourceTemplate, [("gone://{x}", TEMPLATE)])));
}

#[test]
fn what_was_not_asked_for_is_left_alone() {
    let lock = all();
    assert!(lock.verify(Live::default()).is_empty());
    let tools = lock.verify([("plain", PLAIN)]);
    assert_eq!(tools.len(), 1);
    let again = lock.repin([] as [(&str, &str); 0], LATER).unwrap();
    assert!(again.tools.is_empty() && again.retired(Kind::Tool, "plain").len() == 1);
    assert_eq!((again.prompts.len(), again.resource_templates.len()), (1, 2));
    let none = lock.repin(Live::default().with(Kind::Prompt, []), LATER).unwrap();
    assert!(none.prompts.is_empty() && none.retired(Kind::Prompt, "diagnose").len() == 1);
    assert_eq!(none.tools.len(), 1);
}

/// Texts of which many say the same in other bytes, some cannot be read, and some are of another tool.
fn text() -> impl Strategy<Value = String> {
    let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t\r"), 1 => Just("\u{a0}")];
    let name = prop_oneof![
        5 => Just(r#""name":"t""#),
        1 => Just(r#""name": "t""#),
        1 => Just(r#""n\u0061me":"t""#),
        1 => Just(r#""name":"u""#),
    ];
    let member = prop_oneof![
        Just(r#""x":1"#),
        Just(r#""x":1.0"#),
        Just(r#""y":9007199254740993"#),
        Just(r#""y":9007199254740992"#),
        Just(r#""z":"\ud800""#),
    ];
    let members = prop::collection::vec(member, 0..3);
    (space(), name, members, space()).prop_map(|(before, name, members, after)| {
        let members: Vec<&str> = std::iter::once(name).chain(members).collect();
        format!("{before}{{{}}}{after}", members.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    /// Equal bytes are the same without being read again: digests of both say the same of every list.
    #[test]
    fn what_is_the_same_and_what_cannot_be_read_is_as_digests_say(
        pinned in text(), served in prop::collection::vec(text(), 0..3), again in any::<bool>(),
    ) {
        let Ok(lock) = Lock::pin(upstream(), [("t", pinned.as_str())], AT) else { return Ok(()) };
        let lock = if again { Lock::parse(&lock.to_pretty_json()).unwrap() } else { lock };
        let served: Vec<&str> = served.iter().map(String::as_str).chain(again.then_some(pinned.as_str())).collect();
        let found = lock.verify(served.iter().map(|text| ("t", *text)));
        prop_assert_eq!(found.len(), 1);
        let state = &found[0].state;
        let expected = match served.as_slice() {
            [] => "missing",
            [one] => match Checked::new(Kind::Tool, "t", one) {
                Ok(live) if live.fingerprint.raw == lock.tools["t"].raw_digest => "same",
                Ok(_) => "other",
                Err(_) => "unreadable",
            },
            _ => "unreadable",
        };
        let found = match state {
            State::Missing => "missing",
            State::Same => "same",
            State::Changed { .. } | State::RawOnly { .. } => "other",
            State::Unreadable { .. } => "unreadable",
            State::New => "new",
        };
        prop_assert_eq!(found, expected);
    }
}
