//! `subscriptions/listen`

mod ending;
mod many;
mod upstreams;

use std::time::Duration;

use aldgate_testkit::{Call, Events};
use serde_json::{Value, json};

use crate::library::{library, shelves};
use crate::world::{World, code, rpc};

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
    let whole = ("resources/updated".to_owned(), "note://a".to_owned());
    assert_eq!(
        brief(&next(&mut note).await),
        whole,
        "nothing is registered for the part, so the whole is told"
    );
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
    assert_eq!((rpc(&unknown), code(&unknown).as_str()), (-32602, "AG-RESOURCE-UNKNOWN"));
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
async fn a_changed_policy_is_heard_of() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    // The prompt is not for agents any more.
    world.configure(|config| {
        shelves(config);
        config
            .policy
            .push_str(r#"@id("no-prompt") forbid (principal, action == Action::"get_prompt", resource);"#);
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    assert_eq!(brief(&next(&mut events).await).0, "prompts/list_changed");
    assert_eq!(world.look("/v1/status").await["listening"], 1);
}

#[tokio::test]
async fn what_may_not_be_heard_of_any_more_ends_the_subscription() {
    for forbidden in [
        r#"@id("no-note") forbid (principal, action == Action::"listen", resource is Resource);"#,
        r#"@id("no-lists") forbid (principal, action == Action::"listen", resource is Gateway);"#,
    ] {
        let world = library().await;
        let mut events = listen(&world, "1", everything()).await;
        next(&mut events).await;
        world.configure(|config| {
            shelves(config);
            config.policy.push_str(forbidden);
        });
        assert_eq!(world.reload_as("approver").await.status, 200);
        // What is acknowledged holds to the end, and this is the end.
        let last = next(&mut events).await;
        assert_eq!(
            (&last["result"]["resultType"], ending::why(&last)),
            (&json!("complete"), "not_permitted"),
            "{last}"
        );
        assert_eq!(within(events.next()).await, None);
        // Who listens anew is told what is left.
        let mut again = listen(&world, "2", everything()).await;
        assert_ne!(next(&mut again).await["params"]["notifications"], everything());
    }
}

#[tokio::test]
async fn a_part_is_told_to_those_alone_who_may_listen_to_it() {
    let world = World::start_with(crate::fake::library(), |config| {
        shelves(config);
        let reading = config.resources[0].1.clone();
        config.resources.push(("up/note://a/{+part}".to_owned(), reading));
        config.policy.push_str(
            r#"@id("secret") forbid (principal, action == Action::"listen", resource is Resource) when { context.uri like "note://a/secret*" };"#,
        );
    })
    .await;
    let mut events = listen(&world, "1", json!({"resourceSubscriptions": ["note://a"]})).await;
    next(&mut events).await;
    for (part, told) in [("note://a/b", "note://a/b"), ("note://a/secret/1", "note://a")] {
        world.up.ears().tell("notifications/resources/updated", &json!({"uri": part}));
        assert_eq!(brief(&next(&mut events).await).1, told);
    }
    // Neither a longer name nor a shorter one is a part.
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://ab"}));
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://"}));
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    assert_eq!(brief(&next(&mut events).await).1, "note://a");
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
