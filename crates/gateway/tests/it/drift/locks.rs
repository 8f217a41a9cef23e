//! What other locks, signatures and reloads do to what is quarantined.

use std::time::Duration;

use aldgate_contract::Lock;
use aldgate_contract::signature::{Keyring, SigningKey};
use aldgate_gateway::settings::{Pins, Signatures, Violations};
use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use super::{LOOK, behavioural, breaking, cosmetic, events, look_is, serve, status, with_look};
use crate::fake;
use crate::world::{Config, World, code, text};

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed([seed; 32], None).unwrap()
}

/// The fake's lock, `look` signed with this key; `forged` changes what was signed.
fn signed_by(key: &SigningKey, forged: bool) -> Lock {
    let mut lock = fake::lock("up");
    let pin = lock.tools.get_mut("look").unwrap();
    let upstream = if forged { "another" } else { "up" };
    pin.signature = Some(key.sign(&pin.statement(upstream)));
    lock
}

#[tokio::test]
async fn a_new_pin_ends_a_quarantine_and_an_older_lock_begins_one() {
    let mut world = World::plain().await;
    serve(&world, &with_look(&behavioural()));
    world.restart(|_| {}).await;
    look_is(&world, Some("quarantined")).await;
    let next = || {
        let definitions = with_look(&behavioural());
        let tools: Vec<(&str, &str)> =
            fake::TOOLS.iter().zip(&definitions).map(|((name, _), text)| (*name, text.as_str())).collect();
        fake::accepted(tools)
    };
    world.restart(|config| config.up().pins = Pins::Locked(next())).await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    assert_eq!(events(&world).await, ["quarantined behavioural 1", "accepted behavioural 2"]);
    // The lock of before, and a server that serves what it says.
    serve(&world, &fake::TOOLS.map(|(_, text)| text.to_owned()));
    world.restart(|_| {}).await;
    let old = look_is(&world, Some("quarantined")).await;
    assert_eq!(
        (&old["reason"], &old["command"]),
        (&json!("downgraded"), &json!("aldgate contracts accept up/look --version 3"))
    );
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
    assert_eq!(code(&world.call("note", LOOK).await), "-", "that tool alone");
    assert_eq!(events(&world).await[2], "downgraded breaking 1");
    world.restart(|_| {}).await;
    look_is(&world, Some("quarantined")).await;
    assert_eq!(events(&world).await.len(), 3, "told once");
}

#[tokio::test]
async fn a_release_of_an_older_lock_holds_whatever_drifts_under_it() {
    let mut world = World::plain().await;
    let definitions = with_look(&behavioural());
    let tools = fake::TOOLS.iter().zip(&definitions).map(|((name, _), text)| (*name, text.as_str()));
    let next = fake::accepted(tools);
    world.restart(|config| config.up().pins = Pins::Locked(next)).await;
    world.restart(|_| {}).await;
    assert_eq!(look_is(&world, Some("quarantined")).await["reason"], "downgraded");
    let release = json!({"upstream": "up", "kind": "tool", "name": "look"});
    let released = world.admin("approver").post("/v1/quarantine/release", &release).await.unwrap();
    assert_eq!(released.json().unwrap(), json!({"released": true}));
    serve(&world, &with_look(&cosmetic()));
    world.restart(|_| {}).await;
    look_is(&world, Some("drift")).await;
    world.restart(|_| {}).await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
}

#[tokio::test]
async fn each_way_back_to_an_older_lock_is_a_downgrade() {
    // Each lock goes on from the one before it: version 1, 2 and 3 of `look`.
    let of = |look: String| with_look(&look);
    let served = [of(fake::LOOK.to_owned()), of(behavioural()), of(breaking())];
    let tools = |definitions: &[String]| -> Vec<(String, String)> {
        fake::TOOLS
            .iter()
            .zip(definitions)
            .map(|((name, _), text)| ((*name).to_owned(), text.clone()))
            .collect()
    };
    let mut locks = vec![fake::lock("up")];
    for definitions in &served[1..] {
        let tools = tools(definitions);
        let live = tools.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let next = locks.last().unwrap().repin(live, "2026-12-01T00:00:00Z").unwrap();
        locks.push(next);
    }
    let mut world = World::plain().await;
    for (version, quarantined) in
        [(1, false), (2, false), (1, true), (2, false), (3, false), (2, true), (1, true), (3, false)]
    {
        let index = version - 1;
        serve(&world, &served[index]);
        let lock = locks[index].clone();
        world.restart(move |config| config.up().pins = Pins::Locked(lock)).await;
        let arguments = if version == 3 { r#"{"text":"t","n":1}"# } else { LOOK };
        let expected = if quarantined { "AG-CONTRACT-CHANGED" } else { "-" };
        assert_eq!(code(&world.call("look", arguments).await), expected, "version {version}");
    }
    let told: Vec<String> = events(&world).await;
    let expected = [
        "downgraded breaking 1",
        "accepted breaking 2",
        "downgraded breaking 2",
        "downgraded breaking 1",
        "accepted breaking 3",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_reload_keeps_what_is_quarantined_and_compares_anew() {
    let few = |config: &mut Config| {
        config.settings.violations = Violations { count: 1, window: Duration::from_secs(60) };
    };
    let world = World::start(few).await;
    world.up.does("measure", Behaviour::structured(&json!({"celsius": "warm"})));
    assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    world.configure(|_| {});
    assert_eq!(world.reload_as("approver").await.status, 200);
    assert_eq!(code(&world.call("measure", "{}").await), "AG-CONTRACT-CHANGED", "the same lock");
    serve(&world, &with_look(&behavioural()));
    world.configure(|_| {});
    assert_eq!(world.reload_as("approver").await.status, 200);
    let names: Vec<Value> =
        status(&world, "quarantined").await.iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["look", "measure"], "a reload waits for the comparison");
    assert_eq!(world.up.calls("look").len(), 0);
}

#[tokio::test]
async fn a_reload_that_is_refused_uses_no_lock() {
    let mut world = World::plain().await;
    serve(&world, &with_look(&behavioural()));
    world.restart(|_| {}).await;
    look_is(&world, Some("quarantined")).await;
    let definitions = with_look(&behavioural());
    let next = || {
        let tools = fake::TOOLS.iter().zip(&definitions).map(|((name, _), text)| (*name, text.as_str()));
        fake::accepted(tools)
    };
    world.configure(|config| {
        config.up().pins = Pins::Locked(next());
        config.entry("look").expose_as = Some("note".to_owned());
    });
    assert_eq!(world.reload_as("approver").await.status, 409);
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
    assert_eq!(events(&world).await, ["quarantined behavioural 1"]);
    // The lock of before is no downgrade, because the other was never in use.
    world.restart(|_| {}).await;
    assert_eq!(look_is(&world, Some("quarantined")).await["reason"], "changed");
}

#[tokio::test]
async fn a_lock_of_another_upstream_is_not_used() {
    let world = World::plain().await;
    world.configure(|config| config.up().pins = Pins::Locked(fake::lock("another")));
    let refused = world.reload_as("approver").await;
    assert_eq!(
        (refused.status, refused.text().contains("has a lock of `another`")),
        (409, true),
        "{}",
        refused.text()
    );
}

#[tokio::test]
async fn another_contract_under_a_version_that_was_in_use_is_a_downgrade() {
    let mut world = World::plain().await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    let definitions = with_look(&cosmetic());
    serve(&world, &definitions);
    let tools = fake::TOOLS.iter().zip(&definitions).map(|((name, _), text)| (*name, text.as_str()));
    let forged = Lock::pin(fake::lock("up").upstream, tools, "2026-12-01T00:00:00Z").unwrap();
    world.restart(|config| config.up().pins = Pins::Locked(forged)).await;
    assert_eq!(look_is(&world, Some("quarantined")).await["reason"], "downgraded");
}

#[tokio::test]
async fn what_nobody_signed_who_counts_is_held_back() {
    let (ann, bob) = (key(1), key(2));
    let keys = |required, revoked: &[&str]| {
        let revoked: Vec<String> = revoked.iter().map(|kid| (*kid).to_owned()).collect();
        Signatures { keyring: Keyring::new([ann.public().clone()], revoked).unwrap(), required }
    };
    let kid = ann.public().kid().to_owned();
    for (what, lock, signatures, served) in [
        ("signed", signed_by(&ann, false), keys(true, &[]), true),
        ("unsigned", fake::lock("up"), keys(true, &[]), false),
        ("unsigned, where it may be", fake::lock("up"), keys(false, &[]), true),
        ("by another key", signed_by(&bob, false), keys(true, &[]), false),
        ("by another key, where it may be", signed_by(&bob, false), keys(false, &[]), true),
        ("of something else", signed_by(&ann, true), keys(false, &[]), false),
        ("by a revoked key", signed_by(&ann, false), keys(false, &[&kid]), false),
        ("where nobody's counts", signed_by(&ann, false), Signatures::default(), true),
    ] {
        let required = signatures.required;
        let world = World::start(|config| {
            config.up().pins = Pins::Locked(lock);
            config.signatures = signatures;
        })
        .await;
        let reply = world.call("look", LOOK).await;
        assert_eq!(code(&reply), if served { "-" } else { "AG-TOOL-UNKNOWN" }, "{what}");
        let listed = world.send(&Call::method("tools/list")).await.text();
        assert_eq!(listed.contains(r#""name":"look""#), served, "{what}");
        assert_eq!(
            code(&world.call("note", LOOK).await),
            if required { "AG-TOOL-UNKNOWN" } else { "-" },
            "{what}"
        );
        if served && what == "signed" {
            assert!(listed.contains(r#""signature":"ey"#), "{listed}");
        }
        let held = world.look("/v1/status").await["held_back"].to_string();
        assert_eq!(held.contains("aldgate contracts sign up/look --key"), !served, "{what}: {held}");
    }
}
