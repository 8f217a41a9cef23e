//! The streams on which upstreams tell of changes.

use std::time::Duration;

use aldgate_testkit::Behaviour;
use serde_json::{Value, json};

use super::{brief, everything, listen, next};
use crate::fake;
use crate::library::{library, shelves};
use crate::world::{World, code, eventually, http, settings_of};

#[tokio::test]
async fn one_stream_serves_all_who_listen() {
    let world = library().await;
    world.up.ears().were_opened(1).await;
    let mut all = Vec::new();
    for id in 0..5 {
        let mut events = listen(&world, &id.to_string(), everything()).await;
        next(&mut events).await;
        all.push(events);
    }
    eventually("one stream is left", async || (world.up.ears().wants().len() == 1).then_some(())).await;
    let wants = world.up.ears().wants();
    assert_eq!(wants, [everything()], "{wants:?}");
    let sent = world.up.seen().into_iter().filter(|seen| seen.method == "subscriptions/listen").count();
    assert!(sent <= 2, "asked anew once for the resource, not for each client: {sent}");
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    for events in &mut all {
        assert_eq!(brief(&next(events).await).0, "resources/updated");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_opened_again_and_what_may_be_missed_is_told() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    let before = world.up.seen().len();
    world.up.ears().end();
    let told = next(&mut events).await;
    assert_eq!(brief(&told), ("resources/updated".to_owned(), "note://a".to_owned()), "{told}");
    eventually("the lists are compared again", async || {
        let seen = world.up.seen();
        seen.iter().skip(before).any(|seen| seen.method == "prompts/list").then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_an_upstream_does_not_take_on_is_not_acknowledged() {
    for odd in [
        Behaviour::error(-32601, "no such method"),
        Behaviour::status(500),
        Behaviour::html(),
        Behaviour::Stream(vec![
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#.to_owned(),
        ]),
        Behaviour::Stream(vec!["nonsense".to_owned()]),
        Behaviour::Close,
        Behaviour::redirect("http://127.0.0.1:1/"),
        Behaviour::compressed(),
    ] {
        let up = fake::library();
        up.answers("subscriptions/listen", odd.clone());
        let world = World::start_with(up, shelves).await;
        let mut events = listen(&world, "1", everything()).await;
        let acknowledged = next(&mut events).await;
        let mut honoured = everything();
        honoured.as_object_mut().unwrap().remove("resourceSubscriptions");
        assert_eq!(acknowledged["params"]["notifications"], honoured, "{odd:?}");
        assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "-", "calls are served all the same");
    }
}

#[tokio::test]
async fn what_is_not_this_subscriptions_is_dropped() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    let updated = |meta: Value, uri: &str| {
        let params = json!({"_meta": meta, "uri": uri});
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}).to_string()
    };
    let ears = world.up.ears();
    ears.say(&updated(json!({"io.modelcontextprotocol/subscriptionId": "another"}), "note://a"));
    ears.say(&updated(json!({}), "note://a"));
    ears.say(r#"{"jsonrpc":"2.0","method":"notifications/resources/updated"}"#);
    ears.tell("notifications/resources/updated", &json!({"uri": "note://a/../b"}));
    ears.tell("notifications/resources/updated", &json!({"uri": 7}));
    ears.tell("notifications/prompts/list_changed", &json!({}));
    assert_eq!(brief(&next(&mut events).await).0, "prompts/list_changed", "and the stream lives on");
}

#[tokio::test]
async fn a_flood_of_changes_is_told_once_for_as_long_as_a_client_does_not_read() {
    let world = library().await;
    let other = fake::upstream();
    let serving = other.serve().await.unwrap();
    world.configure(|config| {
        shelves(config);
        config.upstreams.push(settings_of("other", "other_", http(&serving.url())));
        config.entries.extend(fake::entries("other"));
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    let mut slow = listen(&world, "1", everything()).await;
    assert_eq!(next(&mut slow).await["params"]["notifications"], everything());
    for _ in 0..50_000 {
        world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    }
    world.up.ears().tell("notifications/tools/list_changed", &json!({}));
    assert_eq!(code(&world.call("other_look", r#"{"text":"t"}"#).await), "-", "others are served meanwhile");
    let mut told = 0;
    loop {
        told += 1;
        if brief(&next(&mut slow).await).0 == "tools/list_changed" {
            break;
        }
    }
    assert!(told < 50_000, "what is marked twice is told once: {told}");
}

#[tokio::test]
async fn an_upstream_that_asks_for_more_than_an_event_may_hold_loses_its_stream_alone() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    world.up.ears().say(&"x".repeat(100_000));
    // The stream is opened anew, and what may have been missed is told.
    assert_eq!(brief(&next(&mut events).await).0, "resources/updated");
    assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "-");
}

#[tokio::test]
async fn a_server_that_says_that_it_tells_nothing_is_not_asked() {
    let up = fake::upstream();
    let world = World::start_with(up, |_| {}).await;
    assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "-");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!world.up.seen().iter().any(|seen| seen.method == "subscriptions/listen"));
}

#[tokio::test]
async fn an_acknowledgement_is_compared_with_what_was_asked_for() {
    let world = library().await;
    world.up.ears().refuse(&["note://no"], &[]);
    let filter = json!({"resourceSubscriptions": ["note://a", "note://no"]});
    let mut events = listen(&world, "1", filter).await;
    let honoured = next(&mut events).await["params"]["notifications"].clone();
    assert_eq!(honoured, json!({"resourceSubscriptions": ["note://a"]}), "what was taken on, and no more");
    let none = listen(&world, "2", json!({"resourceSubscriptions": ["note://no"]})).await;
    let mut none = none;
    assert_eq!(next(&mut none).await["params"]["notifications"], json!({}));
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://no"}));
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    assert_eq!(brief(&next(&mut events).await).1, "note://a", "what was not taken on is not told");
}

#[tokio::test]
async fn what_a_server_refuses_takes_nothing_from_those_who_listen_to_the_rest() {
    let world = library().await;
    world.up.ears().refuse(&[], &["note://never"]);
    let mut good = listen(&world, "1", everything()).await;
    assert_eq!(next(&mut good).await["params"]["notifications"], everything());
    let mut bad = listen(&world, "2", json!({"resourceSubscriptions": ["note://never"]})).await;
    assert_eq!(next(&mut bad).await["params"]["notifications"], json!({}));
    // The stream goes on for the others, and takes more on.
    let mut more = listen(&world, "3", json!({"resourceSubscriptions": ["note://b"]})).await;
    assert_eq!(
        next(&mut more).await["params"]["notifications"],
        json!({"resourceSubscriptions": ["note://b"]})
    );
    for uri in ["note://a", "note://b"] {
        world.up.ears().tell("notifications/resources/updated", &json!({"uri": uri}));
    }
    assert_eq!(brief(&next(&mut good).await).1, "note://a");
    assert_eq!(brief(&next(&mut more).await).1, "note://b");
}

#[tokio::test]
async fn a_server_that_tells_of_resources_alone_is_listened_to_again_and_again() {
    let up = fake::library();
    up.declares(json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}}));
    let world = World::start_with(up, shelves).await;
    let begun = std::time::Instant::now();
    for round in 0..6 {
        let mut events =
            listen(&world, &round.to_string(), json!({"resourceSubscriptions": ["note://a"]})).await;
        let honoured = next(&mut events).await["params"]["notifications"].clone();
        assert_eq!(honoured, json!({"resourceSubscriptions": ["note://a"]}), "round {round}");
        drop(events);
        eventually("nobody listens", async || world.up.ears().wants().is_empty().then_some(())).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "no pause grows: {:?}", begun.elapsed());
}

#[tokio::test]
async fn what_changed_around_a_reload_is_told_afterwards() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    world.configure(shelves);
    assert_eq!(world.reload_as("approver").await.status, 200);
    // Whatever the server told while the one stream was closed and the other not open yet, this comes.
    assert_eq!(brief(&next(&mut events).await), ("resources/updated".to_owned(), "note://a".to_owned()));
}
