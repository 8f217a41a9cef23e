//! The one answer that the gateway gives by itself: to a tool's own confirmation, under a redeemed approval.

use aldgate_authority::{Answer, Authority};
use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Reply};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{BOLTS, order, retry};
use crate::world::{Config, World, approval, code, state, text};

fn schema() -> Value {
    json!({"type": "object", "properties": {"approver": {"type": "string"}, "note": {"type": "string"}}, "required": ["approver"]})
}

fn confirm() -> Value {
    Behaviour::form("confirm", "Sure?", &schema())
}

/// The gateway may answer `confirm` with this schema.
fn answering(config: &mut Config) {
    let canonical = serde_json_canonicalizer::to_vec(&schema()).unwrap();
    let filled =
        [("approver", json!("${approver.name}")), ("note", json!("${approval.note} (${approval.id})"))];
    config.entry("order").answer = Some(Answer {
        key: "confirm".to_owned(),
        requested_schema: format!("sha256:{}", hex::encode(Sha256::digest(canonical))),
        fill: filled.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    });
}

/// The same, and the upstream's other questions may be relayed.
fn relaying(config: &mut Config) {
    answering(config);
    config.up().may_ask = vec![MayAsk::Form];
}

/// Approves an order and redeems it.
async fn redeemed(world: &World, call: &Call) -> (Reply, String) {
    let id = approval(&world.send(call).await);
    let body = json!({"decision": "approve", "note": "needed"});
    let path = format!("/v1/approvals/{id}/decision");
    assert_eq!(world.admin("approver").post(&path, &body).await.unwrap().status, 200);
    (world.send(call).await, id)
}

#[tokio::test]
async fn the_pinned_question_is_answered_for_the_person_who_decided() {
    let world = World::start(answering).await;
    world.up.does("order", Behaviour::asking(confirm(), "ordered"));
    let (reply, id) = redeemed(&world, &Call::tool("order", BOLTS)).await;
    assert_eq!(text(&reply), "ordered");
    let calls = world.up.calls("order");
    let [first, second] = calls.as_slice() else { panic!("{calls:?}") };
    for call in [first, second] {
        let declared = call.meta("io.modelcontextprotocol/clientCapabilities").unwrap();
        assert_eq!(declared, &json!({"elicitation": {"form": {}}}));
    }
    let answer = json!({"confirm": {"action": "accept", "content": {"approver": "approver", "note": format!("needed ({id})")}}});
    assert_eq!(second.params["inputResponses"], answer);
    assert_eq!(second.params["requestState"], "round 1");
    assert_eq!(second.params["arguments"], first.params["arguments"]);
    assert_eq!(
        world.story().await[3..],
        ["intent requires_approval - -", "outcome requires_approval complete -"]
    );
}

/// Questions that are not the pinned one.
fn other_questions() -> Vec<(&'static str, Value)> {
    let mut looser = schema();
    looser["required"] = json!([]);
    let url = json!({"confirm": {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "https://example.com"}}});
    let mut two = confirm();
    two["more"] = confirm()["confirm"].clone();
    vec![
        ("another schema", Behaviour::form("confirm", "Sure?", &looser)),
        ("another key", Behaviour::form("approve", "Sure?", &schema())),
        ("another mode", url),
        ("two questions", two),
    ]
}

#[tokio::test]
async fn every_other_question_ends_the_call_where_nothing_may_be_relayed() {
    for (what, question) in other_questions() {
        let world = World::start(answering).await;
        world.up.does("order", Behaviour::asking(question, "ordered"));
        let (reply, _) = redeemed(&world, &order().id("5")).await;
        assert_eq!(code(&reply), "AG-OUTCOME-UNKNOWN", "{what}: {}", reply.text());
        assert_eq!(world.up.calls("order").len(), 1, "{what}: not answered");
    }
}

#[tokio::test]
async fn every_other_form_is_relayed_where_that_is_allowed() {
    for (what, question) in other_questions().into_iter().filter(|(what, _)| *what != "another mode") {
        let world = World::start(relaying).await;
        world.up.does("order", Behaviour::asking(question, "ordered"));
        let (reply, _) = redeemed(&world, &order()).await;
        assert!(!state(&reply).is_empty(), "{what}");
        let asked = reply.result().unwrap()["inputRequests"].clone();
        assert!(asked.to_string().contains("[up] Sure?"), "{what}: {asked}");
        assert_eq!(world.up.calls("order").len(), 1, "{what}: not answered");
    }
}

#[tokio::test]
async fn the_question_is_answered_once_and_then_relayed() {
    let world = World::start(relaying).await;
    world
        .up
        .does("order", Behaviour::Rounds(vec![confirm(), confirm()], Box::new(Behaviour::text("ordered"))));
    let (asked, _) = redeemed(&world, &order()).await;
    assert_eq!(world.up.calls("order").len(), 2);
    let answers = json!({"confirm": {"action": "accept", "content": {"approver": "somebody"}}});
    let done = world.send(&order().id("9").state(&state(&asked)).answering(answers.clone())).await;
    assert_eq!(text(&done), "ordered");
    let calls = world.up.calls("order");
    let last = calls.last().unwrap();
    assert_eq!(
        (calls.len(), &last.params["inputResponses"], &last.params["requestState"]),
        (3, &answers, &json!("round 2"))
    );
}

#[tokio::test]
async fn the_question_is_answered_once_and_then_ends_the_call() {
    let world = World::start(answering).await;
    world
        .up
        .does("order", Behaviour::Rounds(vec![confirm(), confirm()], Box::new(Behaviour::text("ordered"))));
    let (reply, _) = redeemed(&world, &order()).await;
    assert_eq!(code(&reply), "AG-OUTCOME-UNKNOWN");
    assert_eq!(world.up.calls("order").len(), 2);
}

#[tokio::test]
async fn without_an_approval_nothing_is_answered() {
    let world = World::start(|config| {
        answering(config);
        config.entry("order").authority = Authority::Automatic;
    })
    .await;
    world.up.does("order", Behaviour::asking(confirm(), "ordered"));
    let reply = world.send(&order()).await;
    assert_eq!(code(&reply), "AG-OUTCOME-UNKNOWN", "{}", reply.text());
    let calls = world.up.calls("order");
    let [only] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(
        only.meta("io.modelcontextprotocol/clientCapabilities"),
        Some(&json!({})),
        "nothing is declared"
    );
}

#[tokio::test]
async fn a_connection_that_fails_after_the_question_leaves_the_outcome_unknown() {
    let world = World::start(answering).await;
    world.up.ends_connections();
    let latch = aldgate_testkit::Latch::new();
    world.up.does("order", Behaviour::asking(confirm(), "ordered").after(&latch));
    let notice = world.send(&order()).await;
    world.decide(&approval(&notice), "approve").await;
    let repeated = retry(&notice);
    let client = world.client("agent");
    let sending = tokio::spawn(async move { client.send(&repeated).await.unwrap() });
    world.up.was_called("order", 1).await;
    world.serving.refuse().await;
    latch.open();
    let reply = sending.await.unwrap();
    assert_eq!(code(&reply), "AG-OUTCOME-UNKNOWN", "the first request was sent: {}", reply.text());
    assert_eq!(world.up.calls("order").len(), 1);
}
