use aldgate_gateway::settings::Pins;

use super::{approved, order, retry};
use crate::fake;
use crate::world::{Config, World, approval, code, http, settings_of, text};

/// An approval of before does not cover the call after the gateway was started with this change.
async fn check(what: &str, change: impl Fn(&mut Config)) {
    let mut world = World::plain().await;
    let (notice, id) = approved(&world).await;
    world.restart(&change).await;
    let reply = world.send(&retry(&notice)).await;
    assert_eq!(code(&reply), "AG-APPROVAL-SPENT", "{what}: {}", reply.text());
    assert!(text(&reply).contains(&format!("was given for another {what}")), "{}", text(&reply));
    assert_eq!(world.state_of(&id).await, "approved", "not redeemed");
    let anew = world.send(&order()).await;
    assert_ne!(approval(&anew), id, "the call itself asks anew");
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn another_registry_entry_needs_another_approval() {
    check("registry entry", |config| config.entry("order").boundaries = vec!["ten at most".to_owned()]).await;
}

#[tokio::test]
async fn another_policy_needs_another_approval() {
    let more = r#"@id("later") forbid (principal, action == Action::"call", resource == Tool::"up/order") when { context.args has item && context.args.item == "nails" };"#;
    check("policies", |config| config.policy.push_str(more)).await;
}

#[tokio::test]
async fn a_policy_of_another_tool_changes_nothing() {
    let mut world = World::plain().await;
    let (notice, _) = approved(&world).await;
    let other = r#"@id("later") forbid (principal, action == Action::"call", resource == Tool::"up/note");"#;
    world.restart(|config| config.policy.push_str(other)).await;
    assert_eq!(text(&world.send(&retry(&notice)).await), "done");
}

#[tokio::test]
async fn a_policy_that_forbids_by_now_is_held_to() {
    let mut world = World::plain().await;
    let (notice, id) = approved(&world).await;
    let forbid =
        r#"@id("later") forbid (principal, action == Action::"call", resource == Tool::"up/order");"#;
    world.restart(|config| config.policy.push_str(forbid)).await;
    assert_eq!(code(&world.send(&retry(&notice)).await), "AG-AUTHORITY-FORBIDDEN");
    assert_eq!(world.state_of(&id).await, "approved");
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn another_contract_needs_another_approval() {
    let changed: Vec<_> = fake::TOOLS
        .iter()
        .map(|(name, definition)| (*name, definition.replace("Orders.", "Orders at once.")))
        .collect();
    let mut world = World::plain().await;
    let (notice, id) = approved(&world).await;
    let definitions: Vec<_> = changed.iter().map(|(_, definition)| definition.as_str()).collect();
    world.up.lists(&definitions).unwrap();
    let live = changed.iter().map(|(name, definition)| (*name, definition.as_str()));
    let lock = fake::accepted(live);
    world.restart(|config| config.up().pins = Pins::Locked(lock)).await;
    let reply = world.send(&retry(&notice)).await;
    assert_eq!(code(&reply), "AG-APPROVAL-SPENT", "{}", reply.text());
    assert!(text(&reply).contains("was given for another contract"), "{}", text(&reply));
    assert_eq!(world.state_of(&id).await, "approved");
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn another_upstream_needs_another_approval() {
    let elsewhere = fake::upstream();
    let serving = elsewhere.serve().await.unwrap();
    check("upstream", |config| config.upstreams = vec![settings_of("up", "", http(&serving.url()))]).await;
    assert_eq!(elsewhere.calls("order").len(), 0);
}
