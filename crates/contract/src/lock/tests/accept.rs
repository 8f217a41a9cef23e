use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;

use super::super::{Acceptance, Lock};
use super::{AT, LATER, PLAIN, TEMPLATE, all, lock};
use crate::rename::Confirmed;
use crate::{Item, Kind};

fn tool(name: &str) -> Item {
    Kind::Tool.item(name)
}

fn definition(name: &str, description: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}"}}"#)
}

fn renamed(from: &str, to: &str) -> Confirmed {
    Confirmed { from: from.to_owned(), to: to.to_owned() }
}

/// The line of contracts of each tool, and what is retired.
fn shown(lock: &Lock) -> String {
    let mut out = String::new();
    for pin in lock.tools.values() {
        let _ = write!(out, "{}:", pin.name);
        for past in &pin.history {
            let _ = write!(out, " {}@{}", past.name, past.version);
        }
        let _ = write!(out, " {}@{}", pin.name, pin.version);
        if let Some(from) = &pin.renamed_from {
            let _ = write!(out, " from {from}");
        }
        for rename in &pin.renames {
            let _ = write!(out, " {}={}", rename.from, rename.to);
        }
        for check in &pin.acknowledged {
            let _ = write!(out, " !{check}");
        }
        out.push_str(if pin.signature.is_some() { " signed\n" } else { "\n" });
    }
    for (name, past) in &lock.retired[&Kind::Tool] {
        let past: Vec<_> = past.iter().map(|past| format!("{}@{}", past.name, past.version)).collect();
        let _ = writeln!(out, "retired {name}: {}", past.join(" "));
    }
    out
}

/// What is shown is also what is shown after the lock was written and read.
fn check(lock: &Lock, expected: &Expect) {
    let read = Lock::parse(&lock.to_pretty_json()).unwrap();
    assert_eq!(read.to_pretty_json(), lock.to_pretty_json());
    assert_eq!(shown(&read), shown(lock));
    expected.assert_eq(&shown(lock));
}

const ACCEPTED: Acceptance<'_> =
    Acceptance { at: LATER, version: None, renamed_from: None, renames: &[], acknowledged: &[] };

#[test]
fn a_new_version_keeps_the_earlier_one_and_drops_its_signature() {
    let mut lock = lock();
    assert!(lock.sign(&tool("plain"), "a..b".to_owned()) && lock.sign(&tool("odd"), "c..d".to_owned()));
    assert!(!lock.sign(&tool("nothing"), String::new()));
    let renames = [renamed("a", "b")];
    let acknowledged = ["sensitive_parameter".to_owned(), "hidden_content".to_owned()];
    let acceptance = Acceptance { at: LATER, renames: &renames, acknowledged: &acknowledged, ..ACCEPTED };
    let next = lock.accept(&tool("plain"), &definition("plain", "New."), &acceptance).unwrap();
    check(
        &next,
        &expect![[r#"
            odd: odd@1 signed
            plain: plain@1 plain@2 a=b !hidden_content !sensitive_parameter
            spaced: spaced@1
        "#]],
    );
    let plain = &next.tools["plain"];
    assert_eq!((plain.pinned_at.as_str(), plain.definition.get()), (LATER, &*definition("plain", "New.")));
    let past = &plain.history[0];
    assert_eq!((past.pinned_at.as_str(), past.definition.get()), (AT, PLAIN));
    assert_eq!(past.signature.as_deref(), Some("a..b"));
    // What a person said of one version is not said of the next.
    let third = next
        .accept(&tool("plain"), &definition("plain", "Newer."), &Acceptance { at: LATER, ..ACCEPTED })
        .unwrap();
    assert_eq!(shown(&third).lines().nth(1), Some("plain: plain@1 plain@2 plain@3"));
    assert_eq!(third.tools["plain"].history[1].renames, renames);
    assert_eq!(third.tools["plain"].history[1].acknowledged, ["hidden_content", "sensitive_parameter"]);
}

#[test]
fn the_same_bytes_keep_version_and_signature_and_take_over_what_is_said() {
    let mut lock = lock();
    lock.sign(&tool("plain"), "a..b".to_owned());
    let said = |renames: &[Confirmed], lock: &Lock| {
        let acknowledged = ["hidden_content".to_owned()];
        let acceptance = Acceptance { at: LATER, renames, acknowledged: &acknowledged, ..ACCEPTED };
        lock.accept(&tool("plain"), PLAIN, &acceptance).unwrap()
    };
    let lock = said(&[renamed("a", "b"), renamed("c", "d"), renamed("c", "d")], &lock);
    assert_eq!(shown(&lock).lines().nth(1), Some("plain: plain@1 a=b c=d !hidden_content signed"));
    assert_eq!(lock.tools["plain"].pinned_at, AT);
    let lock = said(&[renamed("a", "z"), renamed("y", "d")], &lock);
    assert_eq!(shown(&lock).lines().nth(1), Some("plain: plain@1 a=z y=d !hidden_content signed"));
    let mut lock = lock;
    assert!(
        lock.acknowledge(&tool("plain"), &["sensitive_parameter".to_owned(), "hidden_content".to_owned()])
    );
    assert!(!lock.acknowledge(&tool("nothing"), &[]));
    assert_eq!(
        shown(&lock).lines().nth(1),
        Some("plain: plain@1 a=z y=d !hidden_content !sensitive_parameter signed")
    );
}

#[test]
fn a_chosen_version_is_above_all_earlier_ones() {
    let mut lock = lock();
    lock.sign(&tool("plain"), "a..b".to_owned());
    let version = |version, lock: &Lock| {
        let acceptance = Acceptance { at: LATER, version: Some(version), ..ACCEPTED };
        lock.accept(&tool("plain"), PLAIN, &acceptance)
    };
    let lock = version(7, &lock).unwrap();
    assert_eq!(shown(&lock).lines().nth(1), Some("plain: plain@1 plain@7"));
    for low in [0, 1, 7] {
        assert_eq!(
            version(low, &lock).unwrap_err().to_string(),
            format!("tool `plain` has had version 7; expected a version above it, found {low}")
        );
    }
    assert_eq!(
        version(u32::MAX, &lock).unwrap_err().to_string(),
        "version 4294967295 of tool `plain` is too high; expected one up to 1000000000"
    );
    let lock = version(1_000_000_000, &lock).unwrap();
    let changed = definition("plain", "New.");
    assert_eq!(
        lock.repin([("plain", changed.as_str())], LATER).unwrap().tools["plain"].version,
        1_000_000_001
    );
    let last = lock.to_pretty_json().replacen("1000000000", "2000000000", 1);
    let lock = Lock::parse(&last).unwrap();
    let told = "tool `plain` has had the last version that there is; pin it in a new lock";
    assert_eq!(lock.repin([("plain", changed.as_str())], LATER).unwrap_err().to_string(), told);
    assert_eq!(lock.accept(&tool("plain"), &changed, &ACCEPTED).unwrap_err().to_string(), told);
    assert!(Lock::parse(&lock.to_pretty_json()).is_ok());
}

#[test]
fn a_tool_that_takes_another_s_place_goes_on_with_its_history() {
    let two = definition("plain", "Two.");
    let lock = lock().accept(&tool("plain"), &two, &ACCEPTED).unwrap();
    let takes = |from, name: &str, lock: &Lock| {
        let acceptance = Acceptance { at: LATER, renamed_from: Some(from), ..ACCEPTED };
        lock.accept(&tool(name), &definition(name, "Taken."), &acceptance)
    };
    let next = takes("plain", "fancy", &lock).unwrap();
    check(
        &next,
        &expect![[r#"
            fancy: plain@1 plain@2 fancy@3 from plain
            odd: odd@1
            spaced: spaced@1
        "#]],
    );
    // The same again changes nothing.
    assert_eq!(takes("plain", "fancy", &next).unwrap().to_pretty_json(), next.to_pretty_json());
    // The old name comes again as something else: its versions stay taken.
    let back = next.accept(&tool("plain"), PLAIN, &ACCEPTED).unwrap();
    check(
        &back,
        &expect![[r#"
            fancy: plain@1 plain@2 fancy@3 from plain
            odd: odd@1
            plain: plain@3
            spaced: spaced@1
        "#]],
    );
    // And is taken again, by a name that has a past of its own.
    let again = takes("plain", "odd", &back).unwrap();
    check(
        &again,
        &expect![[r#"
            fancy: plain@1 plain@2 fancy@3 from plain
            odd: plain@3 odd@4 from plain
            spaced: spaced@1
        "#]],
    );
    let gone = again.repin([("spaced", super::SPACED)], LATER).unwrap();
    check(
        &gone,
        &expect![[r#"
            spaced: spaced@1
            retired fancy: plain@1 plain@2 fancy@3
            retired odd: plain@3 odd@4
        "#]],
    );
    // From the retired, in one chain.
    check(
        &takes("odd", "even", &gone).unwrap(),
        &expect![[r#"
            even: plain@3 odd@4 even@5 from odd
            spaced: spaced@1
            retired fancy: plain@1 plain@2 fancy@3
        "#]],
    );
    // A second place would leave versions of the first one's names out, which could then be used again.
    let twice = back.accept(&tool("spaced"), &definition("spaced", "S."), &ACCEPTED).unwrap();
    assert_eq!(
        takes("spaced", "fancy", &twice).unwrap_err().to_string(),
        "tool `fancy` goes on with the history of another already, so it takes no second place; accept it as it is"
    );
    let newer = Acceptance { renamed_from: Some("plain"), ..ACCEPTED };
    let newer = back.accept(&tool("fancy"), &definition("fancy", "Newer."), &newer).unwrap();
    assert_eq!(shown(&newer).lines().next(), Some("fancy: plain@1 plain@2 fancy@3 fancy@4"));
    assert!(newer.tools.contains_key("plain"), "whose place was taken before may have come again");
    assert_eq!(
        takes("nothing", "even", &gone).unwrap_err().to_string(),
        "tool `nothing` was never pinned, so nothing can take its place"
    );
}

#[test]
fn a_version_is_in_a_lock_once() {
    let lock = lock().repin([("plain", PLAIN)], LATER).unwrap();
    let acceptance = Acceptance { at: LATER, renamed_from: Some("plain"), ..ACCEPTED };
    let lock = lock.accept(&tool("fancy"), &definition("fancy", "F."), &acceptance).unwrap();
    let lock = lock.accept(&tool("plain"), PLAIN, &ACCEPTED).unwrap();
    let text = lock.to_pretty_json();
    let (before, plain) = text.rsplit_once("\"plain\": {").unwrap();
    let edited = plain.replacen("\"version\": 2", "\"version\": 1", 1);
    let fault = Lock::parse(&format!("{before}\"plain\": {{{edited}")).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the lock was edited: the versions of tool `plain` do not ascend from 1; restore the file"
    );
}

#[test]
fn what_is_gone_is_retired_alone() {
    let lock = lock().retire(&tool("plain")).unwrap();
    check(
        &lock,
        &expect![[r#"
            odd: odd@1
            spaced: spaced@1
            retired plain: plain@1
        "#]],
    );
    assert!(lock.retire(&tool("plain")).is_none());
    let back = lock.accept(&tool("plain"), PLAIN, &ACCEPTED).unwrap();
    assert_eq!(shown(&back).lines().nth(1), Some("plain: plain@1 plain@2"));
}

#[test]
fn other_kinds_are_accepted_under_their_own_name() {
    let item = Kind::ResourceTemplate.item("ticket://{id}");
    let changed = TEMPLATE.replace("Ticket", "Other");
    let next = all().accept(&item, &changed, &ACCEPTED).unwrap();
    assert_eq!(next.resource_templates["ticket://{id}"].version, 2);
    assert_eq!(next.tools["plain"].version, 1);
    let fault = all().accept(&tool("ticket://{id}"), &changed, &ACCEPTED).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the definition of tool `ticket://{id}` has another `name`; pin the list as the upstream serves it"
    );
}

#[test]
fn a_lineage_has_every_contract_oldest_first() {
    let renames = [renamed("a", "b")];
    let lock = lock()
        .accept(&tool("plain"), &definition("plain", "Two."), &Acceptance { renames: &renames, ..ACCEPTED })
        .unwrap()
        .accept(
            &tool("fancy"),
            &definition("fancy", "Three."),
            &Acceptance { renamed_from: Some("plain"), ..ACCEPTED },
        )
        .unwrap();
    let lineage = lock.lineage(Kind::Tool, "fancy").unwrap();
    let found: Vec<_> = lineage
        .revisions()
        .iter()
        .map(|revision| (revision.version, revision.definition["name"].clone(), revision.confirmed.len()))
        .collect();
    assert_eq!(found, [(1, json!("plain"), 0), (2, json!("plain"), 1), (3, json!("fancy"), 0)]);
    assert_eq!(lineage.revisions()[2].definition["description"], "Three.");
    assert!(lock.lineage(Kind::Tool, "plain").is_none() && lock.lineage(Kind::Prompt, "fancy").is_none());
}

#[test]
fn a_statement_is_of_one_contract() {
    let lock = lock().accept(&tool("plain"), &definition("plain", "Two."), &ACCEPTED).unwrap();
    let pin = &lock.tools["plain"];
    let now = pin.statement("parts");
    assert_eq!((now.upstream, now.kind, now.name, now.version), ("parts", Kind::Tool, "plain", 2));
    assert_eq!(now.digest, pin.digest);
    let past = pin.history[0].statement(Kind::Tool, "parts");
    assert_eq!((past.name, past.version, past.digest), ("plain", 1, pin.history[0].digest));
}

#[test]
fn what_no_lock_may_say_is_not_accepted() {
    let refused = |acceptance: &Acceptance<'_>| {
        lock().accept(&tool("plain"), PLAIN, acceptance).unwrap_err().to_string()
    };
    let not_one_to_one = "the renames of tool `plain` are not one to one; \
        expected each name once on either side, and no name for itself";
    for renames in [
        &[renamed("a", "a")][..],
        &[renamed("a", "b"), renamed("a", "c")],
        &[renamed("a", "c"), renamed("b", "c")],
    ] {
        assert_eq!(refused(&Acceptance { renames, ..ACCEPTED }), not_one_to_one);
    }
    assert_eq!(
        refused(&Acceptance { at: "now", ..ACCEPTED }),
        "`now` is no time; expected one as RFC 3339 writes it, such as `2026-12-01T10:00:00Z`"
    );
    let acknowledged = ["nothing".to_owned(), "unreadable".to_owned()];
    let lock = lock()
        .accept(&tool("plain"), PLAIN, &Acceptance { acknowledged: &acknowledged, ..ACCEPTED })
        .unwrap();
    assert_eq!(lock.tools["plain"].acknowledged, ["unreadable"]);
}
