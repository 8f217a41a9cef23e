use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::facts::all_signed_in;
use super::{Facts, NEVER};

fn all() -> Facts {
    Facts {
        signed_in: true,
        agent_requests: 12,
        over_http: true,
        completed: BTreeMap::from([("tickets".to_owned(), 3), ("manuals".to_owned(), 1)]),
        refused_without_secret: Some(true),
        contracts_equal: 8,
        automatic: 6,
        order_asked: true,
        order_waited: true,
        order_denied_before: false,
        decision: Some("approve".into()),
        decided_by_another: true,
        orders: 1,
        orders_confirmed: 1,
        orders_failed: 0,
        export_refused: true,
        exports: 0,
        rows: 30,
        search_backend: Some("fts5".into()),
    }
}

fn claims(facts: &Facts) -> Vec<&'static str> {
    facts.ledger().iter().filter(|line| line.crossed).map(|line| line.boundary).collect()
}

fn said(facts: &Facts, boundary: &str) -> String {
    facts.ledger().into_iter().find(|line| line.boundary == boundary).expect("a line").what
}

#[test]
fn a_claim_is_made_only_for_what_was_seen() {
    let full = claims(&all());
    assert_eq!(full.len(), 10);
    type Change = fn(&mut Facts);
    let switched_off: [(&str, Change); 15] = [
        ("signed in", |facts| facts.signed_in = false),
        ("agent to gateway", |facts| facts.agent_requests = 0),
        ("gateway to servers", |facts| facts.over_http = false),
        ("gateway to servers", |facts| facts.completed.clear()),
        ("servers closed to others", |facts| facts.refused_without_secret = None),
        ("servers closed to others", |facts| facts.refused_without_secret = Some(false)),
        ("contracts", |facts| facts.contracts_equal = 0),
        ("automatic calls", |facts| facts.automatic = 0),
        ("a person's decision", |facts| facts.decision = None),
        ("a person's decision", |facts| facts.decided_by_another = false),
        ("order", |facts| facts.orders = 0),
        ("order", |facts| facts.orders = 2),
        ("order", |facts| facts.orders_confirmed = 0),
        ("export refused", |facts| facts.exports = 1),
        ("evidence", |facts| facts.rows = 0),
    ];
    for (boundary, switch_off) in switched_off {
        let mut facts = all();
        switch_off(&mut facts);
        let expected: Vec<_> = full.iter().filter(|claim| **claim != boundary).copied().collect();
        assert_eq!(claims(&facts), expected, "{boundary}");
    }
    assert!(claims(&Facts::default()).is_empty());
}

#[test]
fn what_no_run_crosses_is_said_every_time() {
    for facts in [all(), Facts::default()] {
        let not: Vec<_> =
            facts.ledger().into_iter().filter(|line| !line.crossed).map(|line| line.boundary).collect();
        for (boundary, _) in NEVER {
            assert!(not.contains(&boundary), "{boundary}");
        }
    }
}

#[test]
fn each_server_is_named_with_what_it_completed() {
    assert_eq!(
        said(&all(), "gateway to servers"),
        "calls that the servers completed over HTTP: tickets 3, parts 0, manuals 1"
    );
}

#[test]
fn a_decision_is_told_by_what_it_was() {
    assert_eq!(said(&all(), "a person's decision"), "approved by another principal than the caller");
    let denied = Facts { decision: Some("deny".into()), ..all() };
    assert_eq!(said(&denied, "a person's decision"), "denied by another principal than the caller");
}

fn order(change: impl FnOnce(&mut Facts), expected: &Expect) {
    let mut facts = Facts { orders: 0, orders_confirmed: 0, decision: None, ..all() };
    change(&mut facts);
    expected.assert_eq(&said(&facts, "order"));
    assert!(!claims(&facts).contains(&"order"));
}

#[test]
fn why_there_is_no_order_is_told_by_what_was_seen() {
    order(|facts| facts.order_asked = false, &expect!["no order was asked for"]);
    order(
        |facts| facts.decision = Some("deny".into()),
        &expect!["the order was denied, so none was dispatched"],
    );
    order(|_| (), &expect!["nobody decided on the order, so none was dispatched"]);
    order(
        |facts| facts.order_denied_before = true,
        &expect!["a person denied the same order before this run, so none was dispatched"],
    );
    order(
        |facts| facts.order_waited = false,
        &expect!["the order was refused before a person was asked, so none was dispatched"],
    );
    order(
        |facts| facts.decision = Some("approve".into()),
        &expect!["the order was approved, and yet none was dispatched"],
    );
    order(
        |facts| facts.orders = 1,
        &expect!["an order was dispatched, and its outcome is unknown: executed or not"],
    );
    order(
        |facts| (facts.orders, facts.orders_failed) = (1, 1),
        &expect!["an order was dispatched, and the parts server answered with an error"],
    );
    order(
        |facts| (facts.orders, facts.orders_confirmed) = (2, 2),
        &expect!["2 orders were dispatched and 2 confirmed, where one approval allows one"],
    );
}

fn row(kind: &str, who: &str, more: Value) -> Value {
    let mut row = json!({"kind": kind, "principal": {"kind": if who == "agent" { "service" } else { "person" }, "subject": who}});
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

#[test]
fn rows_of_others_are_no_work_of_the_agent() {
    let order = "parts/raise_parts_order";
    let mut rows = vec![
        row("answer", "agent", json!({"method": "tools/list"})),
        row("intent", "agent", json!({"tool": "tickets/get_ticket", "ruling": "automatic"})),
        row("outcome", "agent", json!({"tool": "tickets/get_ticket", "outcome": "complete"})),
        row("approval_asked", "agent", json!({"tool": order, "approval": "ap_own"})),
        row("approval_decided", "approver", json!({"tool": order, "approval": "ap_own", "outcome": "deny"})),
    ];
    let own = Facts::of_rows(&rows);
    assert_eq!((own.agent_requests, own.automatic, own.orders), (2, 1, 0));
    assert_eq!(own.completed, BTreeMap::from([("tickets".to_owned(), 1)]));
    assert_eq!((own.decision.as_deref(), own.decided_by_another), (Some("deny"), true));

    rows.extend([
        row("answer", "approver", json!({"method": "tools/list"})),
        row("intent", "somebody", json!({"tool": order, "ruling": "requires_approval"})),
        row("outcome", "somebody", json!({"tool": order, "outcome": "complete"})),
        row("approval_asked", "somebody", json!({"tool": order, "approval": "ap_other"})),
        row(
            "approval_decided",
            "approver",
            json!({"tool": order, "approval": "ap_other", "outcome": "approve"}),
        ),
    ]);
    assert_eq!(Facts::of_rows(&rows), Facts { rows: rows.len(), ..own });
}

#[test]
fn who_decides_its_own_call_is_not_another() {
    let tool = json!({"tool": "parts/raise_parts_order", "approval": "ap_1", "outcome": "approve"});
    let rows = [row("approval_asked", "agent", tool.clone()), row("approval_decided", "agent", tool)];
    let facts = Facts::of_rows(&rows);
    assert_eq!((facts.decision.as_deref(), facts.decided_by_another), (Some("approve"), false));
}

#[test]
fn who_signed_in_is_told_of_rows_alone() {
    let of = |issuers: &[&str]| {
        let rows: Vec<_> = issuers.iter().map(|issuer| json!({"principal": {"issuer": issuer}})).collect();
        all_signed_in(&rows, "http://gateway")
    };
    assert!(of(&["aldgate", "http://gateway", "http://gateway"]));
    assert!(!of(&[]), "nobody was there");
    assert!(!of(&["aldgate"]), "the gateway signs in nowhere");
    assert!(!of(&["http://gateway", "config"]));
    assert!(!of(&["config", "http://gateway"]));
}
