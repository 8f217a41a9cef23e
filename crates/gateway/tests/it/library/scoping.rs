//! Scopes of entries that are not tools.

use aldgate_testkit::{Call, Events, Reply};
use serde_json::{Value, json};

use super::shelves;
use crate::fake;
use crate::world::{Config, World, code};

/// `note://{id}` needs `lab:notes`, and the prompt `lab:greet`; `agent` has what is given, `other` may read and write.
async fn scoped(agent: &'static str) -> World {
    World::start_with(fake::library(), |config| shelves_scoped(config, agent)).await
}

fn shelves_scoped(config: &mut Config, agent: &'static str) {
    shelves(config);
    config.issuers = vec!["https://as.example".to_owned()];
    config.resources[0].1.scope = Some("lab:notes".to_owned());
    config.prompts[0].1.scope = Some("lab:greet".to_owned());
    config.scopes = vec![("agent", agent), ("other", "tools:read tools:write")];
}

fn lacks(reply: &Reply, needs: &str, together: &str) {
    assert_eq!(reply.status, 403, "{}", reply.text());
    assert_eq!(code(reply), "AG-SCOPE");
    assert_eq!(reply.error().unwrap()["data"]["scope"], needs);
    let challenge = reply.header("www-authenticate");
    assert!(challenge.contains(&format!("scope=\"{together}\"")), "{challenge}");
}

fn both() -> Value {
    json!({"toolsListChanged": true, "resourceSubscriptions": ["note://a"]})
}

async fn next(events: &mut Events) -> Value {
    tokio::time::timeout(std::time::Duration::from_secs(30), events.next()).await.unwrap().unwrap()
}

#[tokio::test]
async fn prompts_resources_and_completion_need_the_scopes_of_their_entries() {
    let world = scoped("lab:notes lab:greet").await;
    let argument = |name: &str| json!({"name": name, "value": ""});
    let complete = |reference: Value, name: &str| {
        Call::method("completion/complete").param("ref", reference).param("argument", argument(name))
    };
    for (call, needs) in [
        (Call::prompt("greet", &json!({"who": "Ada"})), "lab:greet"),
        (Call::resource("note://a"), "lab:notes"),
        (complete(json!({"type": "ref/prompt", "name": "greet"}), "who"), "lab:greet"),
        (complete(json!({"type": "ref/resource", "uri": "note://{id}"}), "id"), "lab:notes"),
    ] {
        let good = world.send(&call).await;
        assert!(good.result().is_ok(), "{}", good.text());
        let refused = world.client("other").send(&call).await.unwrap();
        lacks(&refused, needs, &format!("{needs} tools:read tools:write"));
    }
}

#[tokio::test]
async fn a_subscription_leaves_out_what_the_token_has_no_scope_for() {
    for (agent, honoured) in [
        ("lab:notes tools:read", both()),
        ("lab:notes", json!({"resourceSubscriptions": ["note://a"]})),
        ("tools:read", json!({"toolsListChanged": true})),
    ] {
        let world = scoped(agent).await;
        let mut events = world.client("agent").listen(&Call::listen(both())).await.unwrap();
        assert_eq!(next(&mut events).await["params"]["notifications"], honoured, "{agent}");
    }
}

#[tokio::test]
async fn whoever_has_no_scope_for_anything_is_told_all_that_would_be_needed() {
    let world = scoped("lab:greet").await;
    lacks(&world.send(&Call::listen(both())).await, "lab:notes tools:read", "lab:greet lab:notes tools:read");
    let note = Call::listen(json!({"resourceSubscriptions": ["note://a"]}));
    lacks(&world.client("other").send(&note).await.unwrap(), "lab:notes", "lab:notes tools:read tools:write");
    assert_eq!(world.look("/v1/status").await["listening"], 0);
}

#[tokio::test]
async fn a_scope_that_an_entry_gets_later_ends_a_subscription() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.scopes = vec![("agent", "tools:read")];
    })
    .await;
    let note = Call::listen(json!({"resourceSubscriptions": ["note://a"]}));
    let mut events = world.client("agent").listen(&note).await.unwrap();
    next(&mut events).await;
    world.configure(|config| shelves_scoped(config, "tools:read"));
    assert_eq!(world.reload_as("approver").await.status, 200);
    let last = next(&mut events).await;
    assert_eq!(last["result"]["_meta"]["io.github.aldgate/ended"]["why"], "not_permitted", "{last}");
}
