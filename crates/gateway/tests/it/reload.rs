//! Reading the configuration again while the gateway runs.

use aldgate_authority::Authority;
use aldgate_gateway::settings::Pins;
use aldgate_testkit::{Behaviour, Call, Latch};

use crate::fake;
use crate::world::{World, approval, code, text};

const TEXT: &str = r#"{"text":"t"}"#;

#[tokio::test]
async fn an_accepted_contract_is_served_without_a_restart() {
    let mut world = World::plain().await;
    let changed = fake::LOOK.replace("closely", "very closely");
    let others = fake::TOOLS.iter().filter(|(name, _)| *name != "look").map(|(_, definition)| *definition);
    let definitions: Vec<&str> = others.chain([changed.as_str()]).collect();
    world.up.lists(&definitions).unwrap();
    world.restart(|_| {}).await;
    assert_eq!(code(&world.call("look", TEXT).await), "AG-CONTRACT-CHANGED");
    world.configure(|config| {
        let names = fake::TOOLS.iter().map(|(name, _)| *name).filter(|name| *name != "look").chain(["look"]);
        let lock = fake::accepted(names.zip(definitions.iter().copied()));
        config.up().pins = Pins::Locked(lock);
    });
    let reply = world.reload_as("approver").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(text(&world.call("look", TEXT).await), "done");
}

#[tokio::test]
async fn what_cannot_be_used_changes_nothing() {
    let world = World::plain().await;
    let unreadable = world.reload_as("approver").await;
    assert_eq!((unreadable.status, unreadable.text().contains("the file cannot be read")), (409, true));
    // Two tools under one name.
    world.configure(|config| config.entry("look").expose_as = Some("note".to_owned()));
    let refused = world.reload_as("approver").await;
    assert_eq!(
        (refused.status, refused.text().contains("would both be visible")),
        (409, true),
        "{}",
        refused.text()
    );
    assert_eq!(text(&world.call("look", TEXT).await), "done");
}

#[tokio::test]
async fn only_operators_reload() {
    let world = World::plain().await;
    world.configure(|config| config.entry("look").authority = Authority::Prohibited);
    for who in ["agent", "robot"] {
        assert_ne!(world.reload_as(who).await.status, 200, "{who}");
    }
    assert_eq!(code(&world.call("look", TEXT).await), "-");
}

#[tokio::test]
async fn a_stricter_registry_counts_from_the_next_request_on_and_for_approvals_that_were_given() {
    let world = World::plain().await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    let id = approval(&world.send(&order).await);
    world.decide(&id, "approve").await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let client = world.client("agent");
    let note = Call::tool("note", TEXT);
    let under_way = client.send(&note);
    let reload = async {
        world.up.was_called("note", 1).await;
        world.configure(|config| {
            config.entry("note").authority = Authority::Prohibited;
            config.entry("order").boundaries.push("never on Sundays".to_owned());
        });
        assert_eq!(world.reload_as("approver").await.status, 200);
        latch.open();
    };
    // A call that is on its way ends as it began.
    let (ended, ()) = tokio::join!(under_way, reload);
    assert_eq!(text(&ended.unwrap()), "late");
    assert_eq!(code(&world.send(&note).await), "AG-AUTHORITY-PROHIBITED");
    // What was approved was approved under another registry entry: it is asked anew.
    assert_eq!(code(&world.send(&order).await), "AG-APPROVAL-PENDING");
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn what_was_read_last_is_what_is_used() {
    let world = World::plain().await;
    let slow = fake::upstream();
    slow.lists_by(Some(Behaviour::Hang));
    let serving = slow.serve().await.unwrap();
    // The first reading takes a while, because a server that it adds does not answer.
    world.configure(|config| {
        config.upstreams.push(crate::world::settings_of("slow", "slow_", crate::world::http(&serving.url())));
    });
    let (first, second) = tokio::join!(world.reload_as("approver"), async {
        let asked = async || slow.seen().iter().any(|seen| seen.method == "server/discover").then_some(());
        crate::world::eventually("the first reading is on its way", asked).await;
        world.configure(|config| config.entry("look").authority = Authority::Prohibited);
        world.reload_as("approver").await
    });
    assert_eq!((first.status, second.status), (200, 200));
    assert_ne!(code(&world.call("look", TEXT).await), "-", "the second reading prohibits it");
}
