//! `completion/complete`

use aldgate_authority::Authority;
use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use super::{library, shelves};
use crate::fake;
use crate::world::{World, code, rpc};

fn complete(reference: Value, argument: Value) -> Call {
    Call::method("completion/complete").param("ref", reference).param("argument", argument)
}

fn of_prompt() -> Value {
    json!({"type": "ref/prompt", "name": "greet"})
}

fn of_template() -> Value {
    json!({"type": "ref/resource", "uri": "note://{id}"})
}

#[tokio::test]
async fn arguments_of_prompts_and_templates_are_completed() {
    let world = library().await;
    let call = complete(of_prompt(), json!({"name": "who", "value": "A", "x": 1}))
        .param("context", json!({"arguments": {"how": "loud"}}));
    let result = world.send(&call).await.result().unwrap();
    assert_eq!(result["completion"], json!({"values": ["Ada", "Alan"], "total": 2, "hasMore": false}));
    let sent = world.up.seen().into_iter().rfind(|seen| seen.method == "completion/complete").unwrap();
    assert_eq!(sent.params["ref"], of_prompt());
    assert_eq!(sent.params["argument"], json!({"name": "who", "value": "A"}));
    assert_eq!(sent.params["context"], json!({"arguments": {"how": "loud"}}));
    assert_eq!(sent.header("mcp-name"), "");
    let result = world.send(&complete(of_template(), json!({"name": "id", "value": ""}))).await.result();
    assert_eq!(result.unwrap()["completion"]["total"], 2);
    let rows = world.rows().await;
    let told: Vec<_> = rows.iter().filter(|row| row["kind"] == "outcome").map(|row| &row["tool"]).collect();
    assert_eq!(told, [&json!("prompt:up/greet"), &json!("resource:up/note://{id}")]);
}

#[tokio::test]
async fn nothing_is_completed_that_the_contracts_do_not_name() {
    let world = library().await;
    for (what, reference, argument) in [
        (
            "an unknown prompt",
            json!({"type": "ref/prompt", "name": "x"}),
            json!({"name": "who", "value": ""}),
        ),
        (
            "an unknown template",
            json!({"type": "ref/resource", "uri": "x://{y}"}),
            json!({"name": "y", "value": ""}),
        ),
        ("an unknown argument", of_prompt(), json!({"name": "whom", "value": ""})),
        ("an unknown variable", of_template(), json!({"name": "name", "value": ""})),
        ("another type", json!({"type": "ref/tool", "name": "look"}), json!({"name": "text", "value": ""})),
        ("no value", of_prompt(), json!({"name": "who"})),
        ("a number", of_prompt(), json!({"name": "who", "value": 1})),
    ] {
        let reply = world.send(&complete(reference, argument)).await;
        assert_eq!(rpc(&reply), -32602, "{what}: {}", reply.text());
    }
    assert!(!world.up.seen().iter().any(|seen| seen.method == "completion/complete"), "nothing was sent");
}

#[tokio::test]
async fn a_completion_waits_for_nobody() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.prompts[0].1.authority = Authority::RequiresApproval;
    })
    .await;
    let reply = world.send(&complete(of_prompt(), json!({"name": "who", "value": ""})).with_forms()).await;
    assert_eq!(rpc(&reply), 7403, "{}", reply.text());
    let other =
        world.client("approver").send(&complete(of_template(), json!({"name": "id", "value": ""}))).await;
    assert_eq!(rpc(&other.unwrap()), 7403, "no policy permits it");
}

#[tokio::test]
async fn a_result_that_is_no_completion_is_not_passed_on() {
    let world = library().await;
    let many: Vec<_> = (0..101).map(|number| number.to_string()).collect();
    for odd in [
        json!({"resultType": "complete"}),
        json!({"resultType": "complete", "completion": {"values": "Ada"}}),
        json!({"resultType": "complete", "completion": {"values": [1]}}),
        json!({"resultType": "complete", "completion": {"values": many}}),
        json!({"resultType": "input_required", "requestState": "s"}),
    ] {
        world.up.answers("completion/complete", Behaviour::result(&odd));
        let reply = world.send(&complete(of_prompt(), json!({"name": "who", "value": ""}))).await;
        assert_eq!(code(&reply), "AG-UPSTREAM-ANSWER", "{odd}: {}", reply.text());
    }
    // A server that completes nothing says so.
    world.up.answers("completion/complete", Behaviour::error(-32601, "no completions here"));
    let reply = world.send(&complete(of_prompt(), json!({"name": "who", "value": ""}))).await;
    assert_eq!((reply.status, rpc(&reply)), (200, -32601));
}
