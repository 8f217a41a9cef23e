//! `aldgate demo`: what it does with each decision, and what it claims.

use serde_json::Value;

use crate::running::{Serving, events_of, json_of, named, run};

fn demo(more: &[&str]) -> Vec<Value> {
    let mut arguments = vec![
        "demo",
        "--once",
        "--json",
        "--tickets",
        "400",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ];
    arguments.extend_from_slice(more);
    events_of(&run(&arguments))
}

fn dispatches(events: &[Value], tool: &str) -> usize {
    named(events, "dispatch").iter().filter(|event| event["tool"] == tool).count()
}

fn ledger(events: &[Value]) -> Vec<String> {
    let lines = named(events, "ledger")[0]["lines"].as_array().expect("lines").clone();
    let crossed = lines.iter().filter(|line| line["crossed"] == true);
    crossed.map(|line| line["boundary"].as_str().expect("a word").to_owned()).collect()
}

#[test]
fn an_approved_order_is_dispatched_once_and_the_export_never() {
    let events = demo(&["--approve"]);
    assert_eq!(dispatches(&events, "raise_parts_order"), 1);
    assert_eq!(dispatches(&events, "export_service_records"), 0);
    assert_eq!(dispatches(&events, "post_ticket_update"), 1);
    let facts = &named(&events, "ledger")[0]["facts"];
    assert_eq!(facts["orders_confirmed"], 1);
    assert_eq!(facts["decision"], "approve");
    let refusals = named(&events, "refusal");
    assert!(refusals.iter().any(|event| event["tool"] == "export_service_records"), "{refusals:?}");
    let approvals: Vec<_> = named(&events, "approval").iter().map(|event| event["state"].clone()).collect();
    assert_eq!(approvals, ["asked", "approve"]);
    assert_eq!(ledger(&events).len(), 10);
    assert!(ledger(&events).contains(&"signed in".to_owned()));
    assert_eq!(named(&events, "signs_in").len(), 1, "the program signs in for the person, and says so");
}

#[test]
fn a_denied_order_is_never_dispatched() {
    let events = demo(&["--deny"]);
    assert_eq!(dispatches(&events, "raise_parts_order"), 0);
    assert_eq!(dispatches(&events, "export_service_records"), 0);
    assert!(!ledger(&events).contains(&"order".to_owned()));
    let denied = named(&events, "refused");
    assert!(denied.iter().any(|event| event["code"] == "AG-APPROVAL-DENIED"), "{denied:?}");
}

fn order_line(events: &[Value]) -> String {
    let lines = named(events, "ledger")[0]["lines"].as_array().expect("lines").clone();
    let order = lines.iter().find(|line| line["boundary"] == "order").expect("a line about the order");
    order["what"].as_str().expect("words").to_owned()
}

#[test]
fn a_kept_store_lends_no_claim_of_an_earlier_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = ["--state-dir", folder.path().to_str().expect("UTF-8")];
    let first = demo(&["--approve", kept[0], kept[1]]);
    assert!(ledger(&first).contains(&"order".to_owned()), "{first:?}");
    let second = demo(&["--deny", kept[0], kept[1]]);
    assert_eq!(dispatches(&second, "raise_parts_order"), 0);
    assert!(!ledger(&second).contains(&"order".to_owned()), "{second:?}");
    assert_eq!(order_line(&second), "the order was denied, so none was dispatched");
    let facts = &named(&second, "ledger")[0]["facts"];
    assert_eq!((&facts["orders"], &facts["orders_confirmed"]), (&0.into(), &0.into()));
    assert_eq!(facts["decision"], "deny");
    let rows = |events: &[Value]| named(events, "ledger")[0]["facts"]["rows"].as_u64().expect("a number");
    assert!(rows(&second) <= rows(&first), "rows of the first run are counted: {facts}");
}

#[test]
fn only_the_approval_that_the_notice_names_is_decided() {
    let other = open_ticket_without_a_wish();
    let folder = tempfile::tempdir().expect("a folder");
    let kept = ["--state-dir", folder.path().to_str().expect("UTF-8")];
    let undecided = demo(&["--ticket", &other, kept[0], kept[1]]);
    assert_eq!(order_line(&undecided), "nobody decided on the order, so none was dispatched");
    let older = named(&undecided, "approval")[0]["approval"].as_str().expect("an id").to_owned();

    // The older approval of the same tenant is pending when the next order asks for its own.
    let approved = demo(&["--approve", kept[0], kept[1]]);
    assert_eq!(dispatches(&approved, "raise_parts_order"), 1, "{approved:?}");
    let decided = named(&approved, "approval");
    assert!(decided.iter().all(|event| event["approval"] != older.as_str()), "{decided:?}");
    let serving = Serving::start(&["--no-run", kept[0], kept[1]]);
    let pending = json_of(&serving.run_as(&serving.approver, &["approvals", "list", "--json"]));
    let pending = pending["approvals"].as_array().expect("approvals");
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(pending[0]["id"], older.as_str());
}

#[test]
fn a_run_that_ends_tells_no_token() {
    let output = run(&[
        "demo",
        "--once",
        "--json",
        "--deny",
        "--tickets",
        "400",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(named(&events_of(&output), "stage").len(), 1);
    let said = String::from_utf8_lossy(&output.stdout);
    // Neither what a program shows, nor a client's secret, nor a token.
    for secret in ["agt_", "ags_", "eyJ"] {
        assert!(!said.contains(secret), "{secret}");
    }
}

#[test]
fn nobody_decides_where_nobody_is_asked() {
    let events = demo(&[]);
    assert_eq!(dispatches(&events, "raise_parts_order"), 0);
    assert!(named(&events, "approval").iter().all(|event| event["state"] == "asked"));
    assert!(!ledger(&events).contains(&"a person's decision".to_owned()));
}

#[test]
fn servers_in_the_process_take_the_same_journey_and_make_no_claim_of_http() {
    let events = demo(&["--approve", "--inproc"]);
    assert_eq!(dispatches(&events, "raise_parts_order"), 1);
    let crossed = ledger(&events);
    assert!(!crossed.contains(&"gateway to servers".to_owned()), "{crossed:?}");
    assert!(!crossed.contains(&"servers closed to others".to_owned()), "{crossed:?}");
    assert!(crossed.contains(&"order".to_owned()), "{crossed:?}");
}

#[test]
fn a_ticket_without_an_injected_wish_makes_no_claim_of_a_refused_export() {
    let events = demo(&["--approve", "--ticket", "SR-20031"]);
    assert!(ledger(&events).contains(&"export refused".to_owned()));
    let plain = open_ticket_without_a_wish();
    let events = demo(&["--approve", "--ticket", &plain]);
    assert_eq!(dispatches(&events, "raise_parts_order"), 1, "{events:?}");
    assert!(!ledger(&events).contains(&"export refused".to_owned()));
}

/// An open ticket of the generated data whose customer asks for nothing but a repair.
fn open_ticket_without_a_wish() -> String {
    let serving = Serving::start(&["--no-run"]);
    for number in (20_000..20_031).rev() {
        let id = format!("SR-{number}");
        let arguments = format!(r#"{{"ticket_id": "{id}"}}"#);
        let output = serving.run_as(&serving.agent, &["call", "get_ticket", "--json", "--args", &arguments]);
        let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else { continue };
        let ticket = &answer["structuredContent"];
        if ticket["status"] == "open" && !ticket.to_string().to_lowercase().contains("ignore") {
            return id;
        }
    }
    panic!("no such ticket");
}

#[test]
fn it_states_what_it_rests_on() {
    let events = demo(&["--deny"]);
    let stage = named(&events, "stage")[0];
    assert_eq!(stage["planner"], "scripted");
    assert_eq!(stage["data"], "synthetic");
    assert_eq!(stage["revision"], "2026-07-28");
    let backend = named(&events, "ledger")[0]["search_backend"].as_str().expect("a backend");
    assert!(backend.starts_with("sqlite-fts5"), "{backend}");
}

#[test]
fn what_becomes_of_accounts_is_evidence() {
    let serving = Serving::start(&["--no-run"]);
    let begun = std::time::Instant::now();
    loop {
        let told = serving.run_as(&serving.approver, &["audit", "list", "--kind", "identity", "--json"]);
        let told = String::from_utf8_lossy(&told.stdout);
        if ["client_added", "account_added", "signed_in", "granted"].iter().all(|what| told.contains(what)) {
            return;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{told}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn an_interrupt_ends_it_and_leaves_nothing_behind() {
    let serving = Serving::start(&["--no-run"]);
    let url = serving.url.clone();
    let id = serving.id();
    assert!(serving.interrupt().success());
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = run(&["demo", "--once", "--deny", "--listen", &address]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(&address), "{output:?}");
}
