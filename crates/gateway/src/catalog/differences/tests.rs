use std::collections::BTreeMap;

use aldgate_contract::{Kind, Lock, UpstreamIdentity};
use expect_test::{Expect, expect};
use serde_json::value::RawValue;

use super::differences;
use crate::catalog::LiveList;
use crate::upstream::Abilities;

fn definition(name: &str, description: &str, property: &str) -> String {
    let schema = format!(r#"{{"type":"object","properties":{{"{property}":{{"type":"string"}}}}}}"#);
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{schema}}}"#)
}

fn ticket(name: &str) -> String {
    definition(name, "Looks a service ticket up by its number.", "number")
}

fn part(name: &str) -> String {
    definition(name, "Tells how many pieces of a spare part are in stock.", "part")
}

fn named(definition: &str) -> (&str, &str) {
    (definition.split('"').nth(3).expect("the name comes first"), definition)
}

fn check(pinned: &[String], served: &[String], expected: &Expect) {
    let identity = UpstreamIdentity { name: "up".to_owned(), endpoint: "http://up".to_owned(), server: None };
    let lock = Lock::pin(identity, pinned.iter().map(|one| named(one)), "2026-12-01T00:00:00Z");
    let served = served.iter().map(|one| {
        let raw = RawValue::from_string(one.clone()).expect("a definition is JSON");
        (named(one).0.to_owned(), raw)
    });
    let live = LiveList {
        contracts: BTreeMap::from([(Kind::Tool, served.collect())]),
        resources: Ok(Vec::new()),
        unreadable: Vec::new(),
        refused: BTreeMap::new(),
        server: None,
        abilities: Abilities::default(),
    };
    let found = differences(&lock.expect("the contracts can be pinned"), &live);
    let line = |(item, found): (_, &super::Found)| format!("{item}: {}; {}\n", found.told, found.detail);
    expected.assert_eq(&found.iter().map(line).collect::<String>());
}

#[test]
fn what_is_as_pinned_is_no_difference() {
    let all = [ticket("get_ticket"), part("count_part")];
    check(&all, &all, &expect![""]);
    check(&all, &[all[1].clone(), all[0].replace("\",\"", "\" , \"")], &expect![""]);
}

#[test]
fn what_changed_is_said_in_words_of_the_host() {
    let live = ticket("get_ticket").replace("number.", "number, always.").replace("string", "integer");
    check(
        &[ticket("get_ticket")],
        &[live],
        &expect![[r#"
        tool `get_ticket`: 1 breaking, 1 behavioural: description, inputSchema; 1 breaking, 1 behavioural: /inputSchema/properties/number/type: a value that is a string may no longer be accepted
    "#]],
    );
}

#[test]
fn a_tool_that_is_served_under_another_name_is_one_tool_s_alone() {
    let pinned = [ticket("get_ticket"), part("count_part"), part("count_parts")];
    check(
        &pinned,
        &[ticket("get_tickets"), part("count_part")],
        &expect![[r#"
        tool `count_parts`: not served any more; not served any more
        tool `get_ticket`: not served any more; not served any more; it may be served as `get_tickets` now (99 %)
    "#]],
    );
    check(
        &pinned,
        &[ticket("getTicket"), part("countParts")],
        &expect![[r#"
        tool `count_part`: not served any more; not served any more
        tool `count_parts`: not served any more; not served any more; it may be served as `countParts` now (88 %)
        tool `get_ticket`: not served any more; not served any more; it may be served as `getTicket` now (99 %)
    "#]],
    );
    // What is new, and where nothing is missing, is no difference.
    check(&[], &pinned, &expect![""]);
}
