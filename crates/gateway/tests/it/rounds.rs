//! A call that goes several rounds, because its upstream asks for input.

use aldgate_authority::Authority;
use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Reply};
use serde_json::{Value, json};

use crate::world::{Config, World, approval, call_id, code, rpc, state, text};

fn schema() -> Value {
    json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}, "required": ["size"]})
}

pub(crate) fn question() -> Value {
    Behaviour::form("size", "Which size?", &schema())
}

pub(crate) fn relaying(config: &mut Config) {
    config.up().may_ask = vec![MayAsk::Form];
}

fn note() -> Call {
    Call::tool("note", r#"{"text":"t"}"#).with_forms()
}

fn answer(call: &Call, asked: &Reply, size: Value) -> Call {
    call.clone()
        .id("2")
        .state(&state(asked))
        .answering(json!({"size": {"action": "accept", "content": {"size": size}}}))
}

#[tokio::test]
async fn a_form_is_relayed_as_the_upstreams_and_its_answer_is_passed_on() {
    let world = World::start(relaying).await;
    let mut form = question();
    form["size"]["params"]["x-more"] = json!(1.5);
    world.up.does("note", Behaviour::Rounds(vec![form], Box::new(Behaviour::text("noted"))));
    let asked = world.send(&note()).await;
    let result = asked.result().unwrap();
    let params =
        json!({"mode": "form", "message": "[up] Which size?", "requestedSchema": schema(), "x-more": 1.5});
    assert_eq!(result["inputRequests"], json!({"size": {"method": "elicitation/create", "params": params}}));
    assert!(!asked.text().contains("round 1"), "the upstream's state is sealed");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "aldgate");

    let done = world.send(&answer(&note(), &asked, json!(3))).await;
    assert_eq!(text(&done), "noted");
    assert_eq!(call_id(&asked), call_id(&done), "one call over its rounds");
    let calls = world.up.calls("note");
    let [first, second] = calls.as_slice() else { panic!("{calls:?}") };
    let declared = json!({"elicitation": {"form": {}}});
    assert_eq!(first.meta("io.modelcontextprotocol/clientCapabilities"), Some(&declared));
    assert_eq!(
        second.params["inputResponses"],
        json!({"size": {"action": "accept", "content": {"size": 3}}})
    );
    assert_eq!(second.params["requestState"], "round 1");
    assert_eq!(second.params["arguments"], first.params["arguments"]);
}

#[tokio::test]
async fn every_round_is_a_row_of_one_call() {
    let world = World::start(relaying).await;
    world
        .up
        .does("note", Behaviour::Rounds(vec![question(), question()], Box::new(Behaviour::text("noted"))));
    let first = world.send(&note()).await;
    let second = world.send(&answer(&note(), &first, json!(3))).await;
    let third = world.send(&answer(&note(), &second, json!(4))).await;
    assert_eq!(text(&third), "noted");
    let rows = world.rows().await;
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["round"].as_u64().unwrap(),
                row["kind"].as_str().unwrap(),
                row["outcome"].as_str().unwrap_or("-"),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (0, "intent", "-"),
            (0, "outcome", "input_required"),
            (1, "intent", "-"),
            (1, "outcome", "input_required"),
            (2, "intent", "-"),
            (2, "outcome", "complete"),
        ]
    );
    let call = call_id(&third);
    assert!(rows.iter().all(|row| row["call"] == call.as_str()), "{rows:?}");
    let digested: Vec<_> =
        rows.iter().filter(|row| row["kind"] == "intent").map(|row| row["responses"].is_string()).collect();
    assert_eq!(digested, [false, true, true], "answers are digested");
    assert!(!rows.iter().any(|row| row.to_string().contains("\"size\"")), "and not kept");
}

#[tokio::test]
async fn answers_must_fit_the_form_that_was_asked_with() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    let with = |responses: Value| answer(&note(), &asked, json!(1)).answering(responses);
    for (what, responses) in [
        ("too small", json!({"size": {"action": "accept", "content": {"size": 0}}})),
        ("another type", json!({"size": {"action": "accept", "content": {"size": "3"}}})),
        ("nothing in it", json!({"size": {"action": "accept"}})),
        ("no action", json!({"size": {"content": {"size": 3}}})),
        ("an unknown action", json!({"size": {"action": "perhaps"}})),
        ("no object", json!({"size": 3})),
    ] {
        let reply = world.send(&with(responses)).await;
        assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-PARAMS"), "{what}: {}", reply.text());
    }
    assert_eq!(world.up.calls("note").len(), 1, "none of them was passed on");
    let done = world.send(&with(json!({"size": {"action": "accept", "content": {"size": 3}}, "more": {"action": "accept", "content": {}}}))).await;
    assert_eq!(text(&done), "noted", "the round was not used up by them");
    let passed = world.up.calls("note").remove(1).params["inputResponses"].clone();
    assert_eq!(
        passed,
        json!({"size": {"action": "accept", "content": {"size": 3}}}),
        "what was not asked for is dropped"
    );
}

#[tokio::test]
async fn a_refusal_of_the_user_is_passed_on() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "left out"));
    let asked = world.send(&note()).await;
    let declined = json!({"size": {"action": "decline"}});
    let done = world.send(&answer(&note(), &asked, json!(1)).answering(declined.clone())).await;
    assert_eq!(text(&done), "left out");
    assert_eq!(world.up.calls("note").remove(1).params["inputResponses"], declined);
}

#[tokio::test]
async fn a_round_of_what_changes_something_is_taken_once() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    assert_eq!(text(&world.send(&answer(&note(), &asked, json!(3))).await), "noted");
    for size in [3, 4] {
        let replay = world.send(&answer(&note(), &asked, json!(size))).await;
        assert_eq!((rpc(&replay), code(&replay).as_str()), (-32602, "AG-STATE"), "{}", replay.text());
    }
    assert_eq!(world.up.calls("note").len(), 2);
    assert_eq!(world.story().await[4..], ["refusal automatic - AG-STATE", "refusal automatic - AG-STATE"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_rounds_make_one_call() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    let repeated = answer(&note(), &asked, json!(3));
    let replies = futures::future::join_all((0..20).map(|_| world.send(&repeated))).await;
    assert_eq!(replies.iter().filter(|reply| code(reply) == "-").count(), 1);
    assert_eq!(world.up.calls("note").len(), 2);
}

#[tokio::test]
async fn a_round_of_what_only_reads_may_be_repeated() {
    let world = World::start(relaying).await;
    world.up.does("look", Behaviour::asking(question(), "seen"));
    let look = Call::tool("look", r#"{"text":"t"}"#).with_forms();
    let asked = world.send(&look).await;
    for _ in 0..2 {
        assert_eq!(text(&world.send(&answer(&look, &asked, json!(3))).await), "seen");
    }
    assert_eq!(world.up.calls("look").len(), 3);
}

#[tokio::test]
async fn a_rounds_state_is_good_for_its_call_alone() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    let elsewhere = |call: Call| answer(&call.with_forms(), &asked, json!(3));
    for (what, who, call) in [
        ("another principal", "other", elsewhere(note())),
        ("another tool", "agent", elsewhere(Call::tool("look", r#"{"text":"t"}"#))),
        ("other arguments", "agent", elsewhere(Call::tool("note", r#"{"text":"u"}"#))),
    ] {
        let reply = world.client(who).send(&call).await.unwrap();
        assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-STATE"), "{what}: {}", reply.text());
    }
    assert_eq!(world.up.calls("note").len(), 1);
}

/// An upstream's question ends the call and the caller is told why.
pub(crate) async fn ends(what: &str, change: impl Fn(&mut Config), declares: bool, asks: Value, says: &str) {
    let world = World::start(change).await;
    for (tool, expected) in [("look", "AG-UPSTREAM-ASKS"), ("note", "AG-OUTCOME-UNKNOWN")] {
        world.up.does(tool, Behaviour::asking(asks.clone(), "never"));
        let call = Call::tool(tool, r#"{"text":"t"}"#);
        let reply = world.send(&if declares { call.with_forms() } else { call }).await;
        assert_eq!(code(&reply), expected, "{what}: {}", reply.text());
        assert!(text(&reply).contains(says), "{what}: {}", text(&reply));
        assert_eq!(world.up.calls(tool).len(), 1);
    }
}

#[tokio::test]
async fn what_the_client_did_not_declare_is_not_asked() {
    ends("not declared", relaying, false, question(), "the client did not declare it").await;
}

#[tokio::test]
async fn what_the_host_does_not_allow_is_not_asked() {
    ends("not in `may_ask`", |_| {}, true, question(), "`may_ask` does not allow it").await;
}

#[tokio::test]
async fn answers_that_come_with_the_first_request_are_used_if_they_are_asked_for_and_fit() {
    let world = World::start(relaying).await;
    let early = |answers: Value| note().answering(answers);
    let fits = json!({"size": {"action": "accept", "content": {"size": 3}}});
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let reply = world.send(&early(fits.clone())).await;
    assert_eq!(text(&reply), "noted", "{}", reply.text());
    let seen = world.up.calls("note");
    assert_eq!(seen.len(), 2);
    assert!(seen[0].params.get("inputResponses").is_none(), "answers to what was not asked yet");
    assert_eq!(seen[1].params["inputResponses"], fits);
    // What does not fit, or was not asked for, is asked for in the ordinary way.
    for other in [
        json!({"size": {"action": "accept", "content": {"size": "large"}}}),
        json!({"colour": {"action": "accept", "content": {"size": 3}}}),
    ] {
        world.up.does("note", Behaviour::asking(question(), "noted"));
        let asked = world.send(&early(other)).await;
        assert!(!state(&asked).is_empty(), "{}", asked.text());
    }
    // Nobody approved answers that came along with what was approved.
    world.up.does("order", Behaviour::asking(question(), "ordered"));
    let order = Call::tool("order", r#"{"item":"bolts"}"#).with_forms().answering(fits);
    let notice = world.send(&order).await;
    world.decide(&approval(&notice), "approve").await;
    let asked = world.send(&order.id("2").state(&state(&notice))).await;
    assert!(asked.text().contains("[up] Which size?"), "{}", asked.text());
}

#[tokio::test]
async fn a_call_asks_sixteen_times_at_most() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::Rounds(vec![question(); 20], Box::new(Behaviour::text("never"))));
    let mut asked = world.send(&note()).await;
    for _ in 1..16 {
        asked = world.send(&answer(&note(), &asked, json!(3))).await;
        assert!(!state(&asked).is_empty());
    }
    let last = world.send(&answer(&note(), &asked, json!(3))).await;
    assert_eq!(code(&last), "AG-OUTCOME-UNKNOWN", "{}", last.text());
    assert!(text(&last).contains("more than 16 rounds"), "{}", text(&last));
    assert_eq!(world.up.calls("note").len(), 17);
}

#[tokio::test]
async fn a_question_that_is_not_one_ends_the_call() {
    let own = json!({"a": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {}, "_meta": {"io.github.aldgate/x": 1}}}});
    let request = json!({"a": {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "m", "requestedSchema": {}}}});
    let unknown = json!({"a": {"method": "tools/call", "params": {}}});
    for asks in [own, request, unknown] {
        let world = World::start(relaying).await;
        world.up.does("look", Behaviour::asking(asks.clone(), "never"));
        let reply = world.send(&Call::tool("look", r#"{"text":"t"}"#).with_forms()).await;
        assert_eq!(code(&reply), "AG-UPSTREAM-ANSWER", "{asks}: {}", reply.text());
    }
}

#[tokio::test]
async fn an_approval_covers_the_rounds_of_its_call() {
    let world = World::start(relaying).await;
    world.up.does("order", Behaviour::asking(question(), "ordered"));
    let order = Call::tool("order", r#"{"item":"bolts"}"#).with_forms();
    let notice = world.send(&order).await;
    world.decide(&approval(&notice), "approve").await;
    let asked = world.send(&order.clone().id("2").state(&state(&notice))).await;
    assert!(asked.text().contains("[up] Which size?"), "{}", asked.text());
    let last = answer(&order, &asked, json!(3));
    assert_eq!(text(&world.send(&last).await), "ordered");
    assert_eq!(code(&world.send(&last).await), "AG-STATE", "the round is used up");
    assert_eq!(world.up.calls("order").len(), 2);
    assert_eq!(world.approvals().await.len(), 1, "nobody was asked again");
    let calls: std::collections::BTreeSet<_> = world
        .rows()
        .await
        .iter()
        .filter(|row| row["kind"] != "approval_decided")
        .map(|row| row["call"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(calls.len(), 1, "one call id from the first request to the last");
}

#[tokio::test]
async fn each_round_is_ruled_anew() {
    let mut world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    let forbid = r#"@id("later") forbid (principal, action == Action::"call", resource == Tool::"up/note");"#;
    world
        .restart(|config| {
            relaying(config);
            config.policy.push_str(forbid);
        })
        .await;
    assert_eq!(code(&world.send(&answer(&note(), &asked, json!(3))).await), "AG-AUTHORITY-FORBIDDEN");
    world
        .restart(|config| {
            relaying(config);
            config.entry("note").authority = Authority::RequiresApproval;
        })
        .await;
    let reply = world.send(&answer(&note(), &asked, json!(3))).await;
    assert_eq!(code(&reply), "AG-STATE", "it needs an approval now: {}", reply.text());
    assert_eq!(world.up.calls("note").len(), 1);
}

#[tokio::test]
async fn an_approval_that_was_never_redeemed_covers_no_round() {
    let mut world = World::start(relaying).await;
    world.up.does("order", Behaviour::asking(question(), "ordered"));
    let order = Call::tool("order", r#"{"item":"bolts"}"#).with_forms();
    let notice = world.send(&order).await;
    // The host lets it run by itself for a while, and the call that waited goes on without the approval.
    world
        .restart(|config| {
            relaying(config);
            config.entry("order").authority = Authority::Automatic;
        })
        .await;
    let asked = world.send(&order.clone().id("2").state(&state(&notice))).await;
    assert!(asked.text().contains("[up] Which size?"), "{}", asked.text());
    world.restart(relaying).await;
    let reply = world.send(&answer(&order, &asked, json!(3))).await;
    assert_eq!(code(&reply), "AG-STATE", "nobody approved: {}", reply.text());
    assert_eq!(world.up.calls("order").len(), 1);
}

#[tokio::test]
async fn a_round_that_comes_back_without_its_answers_is_asked_again() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "noted"));
    let asked = world.send(&note()).await;
    // Its state and nothing else: what the upstream makes of that is its own, and here it asks again.
    let asks =
        json!({"resultType": "input_required", "inputRequests": question(), "requestState": "round 1"});
    world.up.does_first("note", [Behaviour::result(&asks)]);
    let again = world.send(&note().id("2").state(&state(&asked)).answering(json!({}))).await;
    assert_eq!(again.result().unwrap()["resultType"], "input_required", "{}", again.text());
    assert_ne!(state(&again), state(&asked), "each round has its own state");
    let done = world.send(&answer(&note(), &again, json!(3)).id("3")).await;
    assert_eq!(text(&done), "noted", "{}", done.text());
}
