//! People and clients that sign in at the gateway's own authorization server.

mod aliases;
mod approvals;
mod browser;
mod chromium;
mod connecting;
mod documents;
mod issuer;
mod issuers;
mod matrix;
mod possession;
mod recorded;
mod renewing;
mod rmcp;
mod tenants;
mod world;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use serde_json::Value;

use crate::clients::{python, typescript};
use crate::running::json_of;
use world::World;

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", text(output));
}

#[track_caller]
fn fails_with(output: &Output, code: &str) {
    assert!(
        !output.status.success() && text(output).contains(code),
        "expected `{code}`, found {}",
        text(output)
    );
}

/// The id of the approval that waits, once it does.
fn pending(approver: &world::Someone<'_>) -> String {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let output = approver.run(&["approvals", "list", "--json"]);
        succeeds(&output);
        let found = json_of(&output);
        if let Some(id) = found["approvals"][0]["id"].as_str() {
            assert_eq!(found["approvals"].as_array().map(Vec::len), Some(1), "{found}");
            return id.to_owned();
        }
        assert!(std::time::Instant::now() < until, "nothing waits for a decision: {found}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

const ORDER: &[&str] = &[
    "call",
    "raise_parts_order",
    "--args",
    r#"{"ticket_id": "SR-20031", "part_no": "AC250-TV-S1", "quantity": 1, "justification": "the valve leaks"}"#,
    "--json",
];

#[test]
fn what_somebody_may_grant_is_what_their_client_can_do() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut bob = world.person("bob", &["agent"]);
    let note =
        ["call", "post_ticket_update", "--args", r#"{"ticket_id": "SR-20031", "note": "looked at it"}"#];
    let look = ["call", "get_ticket", "--args", r#"{"ticket_id": "SR-20031"}"#];

    // Nobody has signed in: the command says what to do.
    let before = alice.run(&look);
    fails_with(&before, "aldgate login");

    let signed_in = alice.signs_in(&["login", "--json"]);
    succeeds(&signed_in);
    assert_eq!(json_of(&signed_in)["scope"], "tools:read tools:write");
    succeeds(&alice.run(&look));
    succeeds(&alice.run(&note));

    let signed_in = bob.signs_in(&["login", "--json"]);
    succeeds(&signed_in);
    assert_eq!(json_of(&signed_in)["scope"], "tools:read", "Bob may grant no more");
    succeeds(&bob.run(&look));
    fails_with(&bob.run(&note), "tools:write");
    let refused: Vec<Value> =
        world.rows("refusal").into_iter().filter(|row| row["code"] == "AG-SCOPE").collect();
    assert!(!refused.is_empty());
    for row in refused {
        assert_eq!(row["tool"], "tickets/post_ticket_update");
        assert_eq!(row["principal"]["name"], "bob");
        assert_eq!(row["principal"]["kind"], "person");
        assert_eq!(row["principal"]["client"], "aldgate-cli");
    }

    // What is kept is readable for its owner alone, and gone after signing out.
    let kept = alice.home().join("aldgate");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&kept), 0o700);
    for entry in std::fs::read_dir(&kept).expect("a folder") {
        assert_eq!(mode(&entry.expect("an entry").path()), 0o600);
    }
    let out = alice.run(&["logout", "--json"]);
    succeeds(&out);
    assert_eq!(json_of(&out)["signed_out"], "revoked");
    fails_with(&alice.run(&look), "aldgate login");
}

#[test]
fn a_decision_is_of_another_person_who_signs_in_for_it() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut maya = world.person("maya", &["agent", "writer", "approver"]);
    succeeds(&alice.signs_in(&["login"]));
    succeeds(&maya.signs_in(&["login"]));
    succeeds(&maya.signs_in(&["login", "--admin", "--scope", "tools:read"]));

    // Maya's own call: she may decide, but not this one.
    let asked = maya.begins(ORDER);
    let own = pending(&maya);
    fails_with(&maya.signs_in(&["approvals", "approve", &own]), "AG-DECIDE-SELF");
    fails_with(&maya.signs_in(&["approvals", "deny", &own]), "AG-DECIDE-SELF");
    let mut lena = world.person("lena", &["approver"]);
    succeeds(&lena.signs_in(&["approvals", "deny", &own]));
    fails_with(&asked.wait_with_output().expect("it ends"), "AG-APPROVAL-DENIED");

    let asked = alice.begins(ORDER);
    let id = pending(&maya);
    // Alice has no scope for decisions, and none of her roles can grant it.
    fails_with(&alice.signs_in(&["approvals", "approve", &id]), "access_denied");
    succeeds(&maya.signs_in(&["approvals", "approve", &id]));
    let done = asked.wait_with_output().expect("it ends");
    succeeds(&done);
    assert_eq!(json_of(&done)["isError"], false, "{}", text(&done));

    let decided = world.rows("approval_decided");
    let who: Vec<_> = decided.iter().filter_map(|row| row["principal"]["name"].as_str()).collect();
    assert_eq!(who.len(), 2, "{decided:?}");
    assert!(who.contains(&"maya") && who.contains(&"lena"), "{decided:?}");
    // A token that may decide is kept nowhere.
    for entry in std::fs::read_dir(maya.home().join("aldgate")).expect("a folder") {
        let kept = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        assert!(!kept.contains("approvals:decide"), "{kept}");
    }
}

#[test]
fn who_was_disabled_is_refused_at_once_and_for_good() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent"]);
    succeeds(&alice.signs_in(&["login"]));
    let look = ["call", "get_ticket", "--args", r#"{"ticket_id": "SR-20031"}"#];
    succeeds(&alice.run(&look));
    succeeds(&world.run(&["users", "disable", "alice"]));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while alice.run(&look).status.success() {
        assert!(std::time::Instant::now() < until, "the token of somebody who was disabled is still taken");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let listed = json_of(&world.run(&["users", "list", "--json"]));
    assert_eq!(listed[0]["disabled"], true, "{listed}");
    // Keys are exchanged beside a gateway that runs.
    succeeds(&world.run(&["keys", "rotate"]));
    succeeds(&world.run(&["users", "enable", "alice"]));
}

fn connects_from_a_bare_url(script: impl Fn() -> Command) {
    let world = World::start();
    succeeds(&world.run(&["clients", "add", "desk", "--redirect", "http://127.0.0.1/callback", "--refresh"]));
    for way in ["dynamic", "registered"] {
        let someone = world.person(way, &["agent", "writer"]);
        let output = script().args([&world.url, way, &someone.password, way]).output().expect("it runs");
        succeeds(&output);
        let told = json_of(&output);
        assert_eq!((&told["registration"], &told["refreshed"]), (&way.into(), &1.into()), "{told}");
    }
}

#[test]
fn the_python_client_connects_from_a_bare_url() {
    connects_from_a_bare_url(|| python("sign_in.py"));
}

#[test]
fn the_typescript_client_connects_from_a_bare_url() {
    connects_from_a_bare_url(|| typescript("sign-in.mjs"));
}
