//! `subscriptions/listen`

mod ending;
mod many;
mod upstreams;

use std::time::Duration;

use aldgate_testkit::{Call, Events};
use serde_json::{Value, json};

use crate::library::{library, shelves};
use crate::world::{World, eventually, rpc};

/// All that can be listened to at the library.
fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["note://a"],
    })
}

async fn listen(world: &World, id: &str, filter: Value) -> Events {
    let call = Call::listen(filter).id(id);
    within(world.client("agent").listen(&call)).await.unwrap()
}

/// The next message, which must come.
async fn next(events: &mut Events) -> Value {
    within(events.next()).await.unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.unwrap()
}

/// The method and the URI of a notification.
fn brief(message: &Value) -> (String, String) {
    let method = message["method"].as_str().unwrap_or("-").trim_start_matches("notifications/").to_owned();
    (method, message["params"]["uri"].as_str().unwrap_or("-").to_owned())
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[tokio::test]
async fn the_first_message_acknowledges_what_is_honoured_and_all_carry_the_id_with_its_type() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    for id in [r#""mine""#, "7", r#""7""#, "-3"] {
        let mut filter = everything();
        filter["resourceSubscriptions"] = json!(["note://a", "secret://b", "no uri"]);
        filter["taskIds"] = json!(["t"]);
        let mut events = listen(&world, id, filter).await;
        let first = next(&mut events).await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        assert_eq!(first["params"]["notifications"], everything(), "only what is known and permitted");
        let id: Value = serde_json::from_str(id).unwrap();
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id);
        world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
        let updated = next(&mut events).await;
        assert_eq!(brief(&updated), ("resources/updated".to_owned(), "note://a".to_owned()));
        assert_eq!(updated["params"]["_meta"][SUBSCRIPTION], id);
    }
}

#[tokio::test]
async fn only_what_was_asked_for_is_told() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    let mut prompts = listen(&world, "1", json!({"promptsListChanged": true})).await;
    let mut nothing = listen(&world, "2", json!({})).await;
    let mut note = listen(&world, "3", json!({"resourceSubscriptions": ["note://a"]})).await;
    for events in [&mut prompts, &mut nothing, &mut note] {
        assert_eq!(next(events).await["method"], "notifications/subscriptions/acknowledged");
    }
    let ears = world.up.ears();
    ears.tell("notifications/tools/list_changed", &json!({}));
    ears.tell("notifications/progress", &json!({"progressToken": 1, "progress": 1}));
    ears.tell("notifications/message", &json!({"level": "info", "data": "x"}));
    ears.tell("notifications/resources/updated", &json!({"uri": "note://other"}));
    ears.tell("notifications/resources/updated", &json!({"uri": "note://a/part"}));
    ears.tell("notifications/prompts/list_changed", &json!({}));
    assert_eq!(brief(&next(&mut prompts).await).0, "prompts/list_changed");
    let part = ("resources/updated".to_owned(), "note://a/part".to_owned());
    assert_eq!(brief(&next(&mut note).await), part, "a part of what was subscribed to");
    let quiet = tokio::time::timeout(Duration::from_millis(300), nothing.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
}

#[tokio::test]
async fn whoever_may_hear_nothing_is_refused_and_every_subscription_leaves_a_row() {
    let world = library().await;
    let call = Call::listen(everything());
    let refused = world.client("approver").send(&call).await.unwrap();
    assert_eq!(rpc(&refused), 7403, "{}", refused.text());
    let unknown = world.send(&Call::listen(json!({"resourceSubscriptions": ["secret://b"]}))).await;
    assert_eq!(rpc(&unknown), 7403, "{}", unknown.text());
    let odd = world.send(&Call::listen(json!({"toolsListChanged": "yes"}))).await;
    assert_eq!(rpc(&odd), -32602);
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    let rows = world.rows().await;
    let row = rows.iter().find(|row| row["kind"] == "answer").expect("a row of the subscription");
    assert_eq!((&row["method"], &row["ruling"]), (&json!("subscriptions/listen"), &json!("automatic")));
    assert_eq!(row["explanation"]["honoured"], everything(), "{row}");
    assert_eq!(rows.iter().filter(|row| row["kind"] == "refusal").count(), 3, "{rows:?}");
}

#[tokio::test]
async fn a_changed_policy_is_heard_of_and_filters_anew() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    // The prompt is not for agents any more, nor is listening to the resource.
    world.configure(|config| {
        shelves(config);
        config.policy.push_str(
            r#"@id("no-prompt") forbid (principal, action == Action::"get_prompt", resource);
               @id("no-note") forbid (principal, action == Action::"listen", resource is Resource);"#,
        );
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    assert_eq!(brief(&next(&mut events).await).0, "prompts/list_changed");
    // The new configuration listens to the upstream with a stream of its own.
    let lists = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    eventually("the new stream", async || (world.up.ears().wants() == [lists.clone()]).then_some(())).await;
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    world.up.ears().tell("notifications/tools/list_changed", &json!({}));
    assert_eq!(brief(&next(&mut events).await).0, "tools/list_changed", "nothing of the resource");
    // Nothing is left to hear of: the subscription ends.
    world.configure(|config| {
        shelves(config);
        config.policy.push_str(r#"@id("silence") forbid (principal, action == Action::"listen", resource);"#);
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    let mut last = next(&mut events).await;
    while last["method"].is_string() {
        last = next(&mut events).await;
    }
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(within(events.next()).await, None);
}

#[tokio::test]
async fn a_contract_that_is_quarantined_is_heard_of() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    let mut events = listen(&world, "1", json!({"promptsListChanged": true})).await;
    next(&mut events).await;
    // The server changes its prompt and tells only that its tools changed.
    world.up.offers("prompts/list", &[&crate::fake::PROMPT.replace("Greets", "Says")]).unwrap();
    world.up.ears().tell("notifications/tools/list_changed", &json!({}));
    assert_eq!(brief(&next(&mut events).await).0, "prompts/list_changed");
    let listed = world.send(&Call::method("prompts/list")).await.result().unwrap();
    assert_eq!(listed["prompts"], json!([]));
}
