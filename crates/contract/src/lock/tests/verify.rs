use expect_test::expect;

use super::super::{Finding, Lock};
use super::{AT, ODD, PLAIN, SPACED, lock, upstream};

fn shown(live: &[(&str, &str)]) -> String {
    lock().verify(live.iter().copied()).iter().map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn the_pinned_list_is_the_same_in_any_order() {
    expect![[r#"
        `odd` is as pinned
        `plain` is as pinned
        `spaced` is as pinned
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
    assert_eq!(findings[0], Finding::Changed { tool: "odd".to_owned(), pinned, live, fields });
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
        assert_eq!(findings[0], Finding::RawOnly { tool: "odd".to_owned(), pinned, live });
    }
}

/// The canonical form does not show it, and it is a change all the same.
#[test]
fn an_integer_above_2_to_the_53rd_is_a_change() {
    let changed = ODD.replace("9007199254740993", "9007199254740992");
    let findings = lock().verify([("odd", changed.as_str())]);
    let digest = crate::fingerprint(ODD).unwrap().jcs;
    let fields = vec!["a".to_owned()];
    assert_eq!(
        findings[0],
        Finding::Changed { tool: "odd".to_owned(), pinned: digest, live: digest, fields }
    );
    assert!(findings[0].to_string().contains("an integer above 2^53"));
}

#[test]
fn tells_missing_new_and_unreadable_tools() {
    expect![[r#"
        `bad` cannot be read: the definition cannot be read without doubt: the key `x` at byte 20 repeats one of the same object; send each key once
        `new` is listed, but not pinned
        `odd` cannot be read: its definition has another `name`
        `plain` cannot be read: the list has two tools of this name
        `spaced` is pinned, but the upstream does not list it
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
    assert!(findings.iter().all(|finding| matches!(finding, Finding::Missing { .. })) && findings.len() == 3);
    assert_eq!(findings[0].tool(), "odd");
}
