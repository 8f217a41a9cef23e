//! What becomes of accounts and clients stands in the evidence.

use std::time::{Duration, Instant};

use super::succeeds;
use super::world::World;

/// Who did what, in the order of the rows, once there are so many of them.
fn recorded(world: &World, most: usize) -> Vec<String> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let rows = world.rows("identity");
        let told = rows.iter().map(|row| {
            let word = |pointer: &str| row.pointer(pointer).and_then(|value| value.as_str()).unwrap_or("-");
            format!("{}: {}", word("/principal/name"), word("/outcome"))
        });
        let told: Vec<String> = told.collect();
        if told.len() >= most || Instant::now() > until {
            return told;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn sign_ins_consents_and_changes_by_the_host_are_in_the_evidence() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent"]);
    succeeds(&alice.signs_in(&["login"]));
    succeeds(&alice.run(&["logout"]));
    succeeds(&world.run(&["users", "disable", "alice"]));
    let expected = [
        "the host: key_made",
        "the host: client_added",
        "the host: account_added",
        "alice: signed_in",
        "alice: password_changed",
        "alice: granted",
        "the gateway: revoked",
        "the host: account_disabled",
    ];
    assert_eq!(recorded(&world, expected.len()), expected);
    let rows = world.rows("identity");
    let granted = rows.iter().find(|row| row["outcome"] == "granted").expect("a row");
    let detail = granted["detail"].as_str().expect("words");
    assert!(detail.contains("`aldgate-cli`") && detail.contains("tools:read"), "{detail}");
    // No secret of it is there: neither a code nor its challenge.
    assert!(!granted.to_string().contains("challenge"), "{granted}");
}

#[test]
fn whoever_gets_other_roles_signs_in_anew_with_them() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent"]);
    succeeds(&alice.signs_in(&["login"]));
    succeeds(&alice.run(&["tools", "list"]));
    succeeds(&world.run(&["users", "change", "alice", "--role", "agent", "--role", "writer"]));
    let until = Instant::now() + Duration::from_secs(60);
    while alice.run(&["tools", "list"]).status.success() {
        assert!(Instant::now() < until, "what was granted before is still good");
        std::thread::sleep(Duration::from_millis(100));
    }
    succeeds(&alice.signs_in(&["login"]));
    let note = r#"{"ticket_id": "SR-20031", "note": "A valve is on its way."}"#;
    succeeds(&alice.run(&["call", "post_ticket_update", "--args", note]));
    let told = recorded(&world, 9);
    assert!(told.contains(&"the host: account_changed".to_owned()), "{told:?}");
    super::fails_with(&world.run(&["users", "change", "alice"]), "AG-CLI-USAGE");
    super::fails_with(&world.run(&["clients", "remove", "aldgate-cli"]), "AG-CLI-USAGE");
}
