//! `prompts/get`

use aldgate_authority::Authority;
use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call};
use serde_json::json;

use super::{library, shelves};
use crate::fake;
use crate::rounds::question;
use crate::world::{World, code, rpc, state};

#[tokio::test]
async fn a_prompt_is_got_under_its_entry_and_its_visible_name() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.prompts[0].1.expose_as = Some("say_hello".to_owned());
    })
    .await;
    let reply = world.send(&Call::prompt("say_hello", &json!({"who": "Ada"}))).await;
    assert_eq!(reply.result().unwrap()["messages"][0]["content"]["text"], "Hello");
    let sent = world.up.seen().into_iter().rfind(|seen| seen.method == "prompts/get").unwrap();
    assert_eq!((sent.params["name"].as_str(), sent.header("mcp-name")), (Some("greet"), "greet"));
    assert_eq!(sent.params["arguments"], json!({"who": "Ada"}));
    let unknown = world.send(&Call::prompt("greet", &json!({"who": "Ada"}))).await;
    assert_eq!((rpc(&unknown), code(&unknown).as_str()), (-32602, "AG-PROMPT-UNKNOWN"));
    let rows = world.rows().await;
    assert!(rows.iter().any(|row| row["tool"] == "prompt:up/greet" && row["kind"] == "outcome"), "{rows:?}");
}

#[tokio::test]
async fn arguments_are_those_that_the_contract_names() {
    let world = library().await;
    for (what, arguments) in [
        ("a required one is missing", json!({"how": "loud"})),
        ("one that is not named", json!({"who": "Ada", "to": "all"})),
        ("a number", json!({"who": 7})),
        ("null", json!({"who": null})),
    ] {
        let reply = world.send(&Call::prompt("greet", &arguments)).await;
        assert_eq!(rpc(&reply), -32602, "{what}: {}", reply.text());
    }
    assert!(!world.up.seen().iter().any(|seen| seen.method == "prompts/get"), "nothing was sent");
}

#[tokio::test]
async fn a_result_without_messages_is_not_passed_on() {
    let world = library().await;
    for odd in [json!({}), json!({"messages": {}}), json!({"messages": ["hello"]})] {
        world.up.answers("prompts/get", Behaviour::result(&odd));
        let reply = world.send(&Call::prompt("greet", &json!({"who": "Ada"}))).await;
        assert_eq!(code(&reply), "AG-UPSTREAM-ANSWER", "{odd}: {}", reply.text());
    }
}

#[tokio::test]
async fn a_prompt_can_wait_for_a_person_and_ask_in_rounds() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.prompts[0].1.authority = Authority::RequiresApproval;
        config.up().may_ask = vec![MayAsk::Form];
    })
    .await;
    let message = json!({"role": "user", "content": {"type": "text", "text": "Hello, size 3"}});
    let last = Behaviour::result(&json!({"resultType": "complete", "messages": [message]}));
    world.up.answers("prompts/get", Behaviour::Rounds(vec![question()], Box::new(last)));
    let get = Call::prompt("greet", &json!({"who": "Ada"})).with_forms();
    let notice = world.send(&get).await;
    let result = notice.result().unwrap();
    let approval = result["_meta"]["io.github.aldgate/refusal"]["approval"].as_str().unwrap().to_owned();
    world.decide(&approval, "approve").await;
    let asked = world.send(&get.clone().id("2").state(&state(&notice))).await;
    assert_eq!(asked.result().unwrap()["inputRequests"]["size"]["params"]["message"], "[up] Which size?");
    let answer = json!({"size": {"action": "accept", "content": {"size": 3}}});
    let done = world.send(&get.clone().id("3").state(&state(&asked)).answering(answer.clone())).await;
    assert_eq!(done.result().unwrap()["messages"][0]["content"]["text"], "Hello, size 3", "{}", done.text());
    // Each state was good for one round, one method and one name.
    let replayed = world.send(&get.id("4").state(&state(&asked)).answering(answer)).await;
    assert_eq!((rpc(&replayed), code(&replayed).as_str()), (-32602, "AG-STATE"), "{}", replayed.text());
    let elsewhere = world.send(&Call::tool("look", r#"{"text":"t"}"#).state(&state(&asked))).await;
    assert_eq!((rpc(&elsewhere), code(&elsewhere).as_str()), (-32602, "AG-STATE"));
}
