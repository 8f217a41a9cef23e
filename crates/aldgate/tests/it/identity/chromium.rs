//! A person at a real browser (Chromium, driven by Playwright), with every page looked at (`clients/browser`).

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::succeeds;
use super::world::World;
use crate::running::{json_of, root};

/// Has a person do something, and returns what was counted.
fn person_does(script: &str, given: &Value) -> Value {
    let folder = Path::new(root()).join("clients/browser");
    assert!(
        folder.join("node_modules").is_dir(),
        "run `make test`, which installs a browser and its driver first"
    );
    let output = Command::new("node").arg(folder.join(script)).arg(given.to_string()).output();
    let output = output.expect("Node.js runs");
    succeeds(&output);
    json_of(&output)
}

#[test]
fn a_person_signs_in_with_a_browser_by_password_and_passkey() {
    let world = World::at_localhost();
    let alice = world.person("alice", &["agent", "writer"]);
    let given = json!({
        "aldgate": env!("CARGO_BIN_EXE_aldgate"), "url": world.url, "admin": world.admin, "home": alice.home(),
        "name": "alice", "password": alice.password,
    });
    let told = person_does("sign-in.mjs", &given);
    assert_eq!(told["plain"].as_array().map(Vec::len), Some(4), "{told}");
    // The same person by either way, and what was done is hers.
    let notes = world.rows("outcome");
    let notes: Vec<_> = notes.iter().filter(|row| row["tool"] == "tickets/post_ticket_update").collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["principal"]["name"], "alice");
}

#[test]
fn what_waits_is_decided_with_a_browser_by_password_and_passkey() {
    let world = World::at_localhost();
    let mut alice = world.person("alice", &["agent", "writer"]);
    succeeds(&alice.signs_in(&["login"]));
    let maya = world.person("maya", &["approver"]);
    let given = json!({
        "aldgate": env!("CARGO_BIN_EXE_aldgate"), "url": world.url, "admin": world.admin, "home": alice.home(),
        "asks": {"name": "alice", "password": alice.password},
        "decides": {"name": "maya", "password": maya.password},
    });
    person_does("decide.mjs", &given);
    let rows = world.rows("approval_decided");
    let decided: Vec<_> = rows.iter().map(|row| (&row["principal"]["name"], &row["outcome"])).collect();
    let maya = json!("maya");
    let (approve, deny) = (json!("approve"), json!("deny"));
    assert_eq!(decided, [(&maya, &approve), (&maya, &approve), (&maya, &deny)], "{rows:?}");
    let wrong = world.rows("refusal");
    assert_eq!(wrong.iter().filter(|row| row["code"] == "AG-DECIDE-PROOF").count(), 1, "{wrong:?}");
}
