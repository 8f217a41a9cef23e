//! What registry and policies say is what happens on the wire.

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call};
use serde_json::json;

use crate::world::{Config, World, approval, code, state, text};

const TEXT: &str = r#"{"text":"t"}"#;

fn with(policy: &'static str) -> impl FnOnce(&mut Config) {
    |config| config.policy.push_str(policy)
}

const FIVE: &str = r#"@id("five") forbid (principal, action == Action::"call", resource == Tool::"up/look") when { context.args has n && context.args.n > 5 };"#;

#[tokio::test]
async fn a_policy_decides_by_the_arguments_that_are_sent() {
    let world = World::start(with(FIVE)).await;
    for (arguments, expected) in [
        (TEXT, "-"),
        (r#"{"text":"t","n":5}"#, "-"),
        (r#"{"text":"t","n":6}"#, "AG-AUTHORITY-FORBIDDEN"),
        (r#"{"n":600,"text":"t"}"#, "AG-AUTHORITY-FORBIDDEN"),
    ] {
        assert_eq!(code(&world.call("look", arguments).await), expected, "{arguments}");
    }
    assert_eq!(world.up.calls("look").len(), 2);
    let listed = world.send(&Call::method("tools/list")).await.text();
    assert!(listed.contains(r#""name":"look""#), "what depends on arguments is listed");
}

#[tokio::test]
async fn what_a_policy_cannot_see_refuses_the_call() {
    let world = World::start(with(
        r#"@id("few") forbid (principal, action == Action::"call", resource == Tool::"up/order") when { context.args has count && context.args.count == decimal("7.0") };"#,
    ))
    .await;
    let unseen = world.call("order", r#"{"item":"bolts","count":1.00001}"#).await;
    assert_eq!(code(&unseen), "AG-AUTHORITY-UNMAPPED", "{}", unseen.text());
    let seen = world.call("order", r#"{"item":"bolts","count":1.5}"#).await;
    assert_eq!(code(&seen), "AG-APPROVAL-PENDING", "{}", seen.text());
    assert_eq!(world.story().await[0], "refusal prohibited - AG-AUTHORITY-UNMAPPED");
}

#[tokio::test]
async fn a_policy_that_fails_refuses_the_call() {
    let world = World::start(with(
        r#"@id("fails") forbid (principal, action == Action::"call", resource == Tool::"up/look") when { context.args.n > 5 };"#,
    ))
    .await;
    let reply = world.call("look", TEXT).await;
    assert_eq!(code(&reply), "AG-AUTHORITY-POLICY-ERROR", "{}", reply.text());
    assert!(!reply.text().contains("fails"), "no words of the policy: {}", reply.text());
    assert_eq!(text(&world.call("look", r#"{"text":"t","n":1}"#).await), "done");
    assert_eq!(text(&world.call("note", TEXT).await), "done", "other tools have nothing to do with it");
}

#[tokio::test]
async fn an_entity_escape_in_arguments_is_only_text() {
    let world = World::start(with(
        r#"@id("chief") forbid (principal, action == Action::"call", resource == Tool::"up/note") when { context.args has who && context.args.who == Role::"agent" };"#,
    ))
    .await;
    let reply = world.call("note", r#"{"text":"t","who":{"__entity":{"type":"Role","id":"agent"}}}"#).await;
    assert_eq!(code(&reply), "-", "it is a record and no entity: {}", reply.text());
}

#[tokio::test]
async fn without_leave_to_run_unattended_a_person_is_asked() {
    let world = World::start(with(
        r#"@id("attended") forbid (principal, action == Action::"call_unattended", resource == Tool::"up/note");"#,
    ))
    .await;
    let pending = world.call("note", TEXT).await;
    assert_eq!(code(&pending), "AG-APPROVAL-PENDING");
    world.decide(&approval(&pending), "approve").await;
    assert_eq!(text(&world.call("note", TEXT).await), "done");
    assert_eq!(world.up.calls("note").len(), 1);
}

#[tokio::test]
async fn a_policy_relaxes_only_what_the_registry_lets_it() {
    let world = World::start(|config| config.entry("order").policy_may_relax = true).await;
    assert_eq!(text(&world.call("order", r#"{"item":"bolts"}"#).await), "done", "this one");
    assert_eq!(
        code(&world.call("reorder", r#"{"item":"bolts"}"#).await),
        "AG-APPROVAL-PENDING",
        "not that one"
    );
    assert_eq!(world.story().await[..2], ["intent automatic - -", "outcome automatic complete -"]);
}

#[tokio::test]
async fn a_policy_sees_the_answers_of_a_round() {
    let world = World::start(|config| {
        config.up().may_ask = vec![MayAsk::Form];
        config.policy.push_str(r#"@id("sizes") forbid (principal, action == Action::"call", resource == Tool::"up/note") when { context.responses has size && context.responses.size has content && context.responses.size.content has size && context.responses.size.content.size > 5 };"#);
    })
    .await;
    let schema = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    world.up.does("note", Behaviour::asking(Behaviour::form("size", "Which?", &schema), "noted"));
    let note = Call::tool("note", TEXT).with_forms();
    let asked = world.send(&note).await;
    let answer = |size: u32| {
        let answer = json!({"size": {"action": "accept", "content": {"size": size}}});
        note.clone().id("2").state(&state(&asked)).answering(answer)
    };
    assert_eq!(code(&world.send(&answer(6)).await), "AG-AUTHORITY-FORBIDDEN");
    assert_eq!(world.up.calls("note").len(), 1);
    assert_eq!(text(&world.send(&answer(5)).await), "noted");
}

#[tokio::test]
async fn who_watches_sees_what_is_stored() {
    let mut world = World::plain().await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    world.call("look", TEXT).await;
    world.decide(&approval(&world.send(&order).await), "approve").await;
    world.send(&order).await;
    world.call("export", "{}").await;
    let mut watched = Vec::new();
    while let Ok(row) = world.events().try_recv() {
        watched.push((row.call.to_string(), row.kind.as_str().to_owned()));
    }
    let stored = world.rows().await;
    let stored: Vec<_> = stored
        .iter()
        .map(|row| (row["call"].as_str().unwrap().to_owned(), row["kind"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(watched, stored);
    assert_eq!(stored.len(), 8);
}

#[tokio::test]
async fn a_ruling_that_is_kept_is_what_would_come_out_anew() {
    let mut world = World::start(with(
        r#"@id("not-others") forbid (principal == Service::"default/config#other", action == Action::"call", resource == Tool::"up/look");"#,
    ))
    .await;
    let look = Call::tool("look", TEXT);
    let mut first = Vec::new();
    for _ in 0..3 {
        let mut told = Vec::new();
        for who in ["agent", "other", "chief", "approver"] {
            let reply = world.client(who).send(&look).await.unwrap();
            told.push((who, code(&reply)));
        }
        // Each principal has a ruling of its own, and keeps it.
        let expected = ["-", "AG-AUTHORITY-FORBIDDEN", "-", "AG-AUTHORITY-NOT-PERMITTED"];
        assert_eq!(told.iter().map(|(_, code)| code.as_str()).collect::<Vec<_>>(), expected);
        first.push(told);
    }
    let rows = world.rows().await;
    let explained: Vec<_> = rows
        .iter()
        .filter(|row| row["kind"] == "intent" && row["principal"]["subject"] == "agent")
        .map(|row| &row["explanation"])
        .collect();
    assert_eq!(explained.len(), 3);
    assert!(
        explained.iter().all(|one| *one == explained[0] && one["verdict"] == "automatic"),
        "{explained:?}"
    );
    // A reload forgets them all.
    world.configure(|config| {
        config.policy.push_str(
            r#"@id("nobody") forbid (principal, action == Action::"call", resource == Tool::"up/look");"#,
        );
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    assert_eq!(code(&world.send(&look).await), "AG-AUTHORITY-FORBIDDEN");
    world
        .restart(|config| config.entry("look").authority = aldgate_authority::Authority::RequiresApproval)
        .await;
    assert_eq!(code(&world.send(&look).await), "AG-APPROVAL-PENDING");
}
