//! Many who listen at once.

use aldgate_testkit::Call;
use serde_json::json;

use super::{brief, everything, listen, next, within};
use crate::fake;
use crate::library::{library, shelves};
use crate::world::{World, code, rpc};

#[tokio::test]
async fn as_many_listen_as_may_and_no_more() {
    for (all, each) in [(2, 64), (1024, 2)] {
        let world = World::start_with(fake::library(), |config| {
            shelves(config);
            config.settings.bounds.listens = all;
            config.settings.bounds.listens_per_principal = each;
        })
        .await;
        let mut first = listen(&world, "1", everything()).await;
        let mut second = listen(&world, "2", everything()).await;
        next(&mut first).await;
        next(&mut second).await;
        let third = world.send(&Call::listen(everything())).await;
        assert_eq!((third.status, code(&third).as_str()), (429, "AG-LISTENS"), "{}", third.text());
        assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "-", "other requests are served");
        let other = Call::listen(json!({"toolsListChanged": true}));
        let other = within(world.client("other").listen(&other)).await.unwrap();
        assert_eq!(other.status, if each == 2 { 200 } else { 429 });
    }
}

#[tokio::test]
async fn one_request_subscribes_to_so_many_resources_and_no_more() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.listen_uris = 3;
    })
    .await;
    let uris = |count: usize| (0..count).map(|n| format!("note://{n}")).collect::<Vec<_>>();
    let refused = world.send(&Call::listen(json!({"resourceSubscriptions": uris(4)}))).await;
    assert_eq!(rpc(&refused), -32602, "{}", refused.text());
    let mut events = listen(&world, "1", json!({"resourceSubscriptions": uris(3)})).await;
    let acknowledged = next(&mut events).await;
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!(uris(3)));
}

#[tokio::test]
async fn a_thousand_listen_and_a_call_is_answered_meanwhile() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.listens_per_principal = 1000;
        config.settings.bounds.in_flight = 16;
        config.settings.bounds.in_flight_per_principal = 8;
    })
    .await;
    world.up.ears().were_opened(1).await;
    let mut all = Vec::new();
    for id in 0..1000 {
        let mut events = listen(&world, &id.to_string(), everything()).await;
        next(&mut events).await;
        all.push(events);
    }
    assert_eq!(
        code(&world.call("look", r#"{"text":"t"}"#).await),
        "-",
        "a subscription takes no place of a call"
    );
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    for events in &mut all {
        assert_eq!(brief(&next(events).await).0, "resources/updated");
    }
    let status = world.look("/v1/status").await;
    assert_eq!(status["listening"], 1000);
}

#[tokio::test]
async fn who_listens_again_under_the_same_id_has_two_subscriptions() {
    let world = library().await;
    let mut first = listen(&world, "1", json!({"resourceSubscriptions": ["note://a"]})).await;
    let mut second = listen(&world, "1", json!({"resourceSubscriptions": ["note://b"]})).await;
    next(&mut first).await;
    next(&mut second).await;
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://b"}));
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    assert_eq!(brief(&next(&mut first).await).1, "note://a");
    assert_eq!(brief(&next(&mut second).await).1, "note://b");
}
