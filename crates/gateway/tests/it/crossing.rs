//! Several upstreams that ask at once: what belongs to one never gets to another.

use aldgate_gateway::settings::{MayAsk, UpstreamSettings};
use aldgate_testkit::{Behaviour, Call, Reply, Upstream};
use serde_json::{Value, json};

use crate::fake;
use crate::rounds::question;
use crate::world::{World, code, http, rpc, settings_of, state, text};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn asking(name: &str) -> Upstream {
    let up = fake::upstream();
    let last = Behaviour::text(&format!("done by {name}"));
    up.does("look", Behaviour::Rounds(vec![question(), question()], Box::new(last)));
    up
}

fn look(name: &str) -> Call {
    Call::tool(&format!("{name}_look"), r#"{"text":"t"}"#).with_forms()
}

fn answering(call: &Call, id: u32, asked: &Reply, size: u32) -> Call {
    let answer = json!({"size": {"action": "accept", "content": {"size": size}}});
    call.clone().id(&id.to_string()).state(&state(asked)).answering(answer)
}

#[tokio::test]
async fn rounds_of_several_upstreams_go_on_side_by_side_and_their_states_cannot_be_swapped() {
    let ups = NAMES.map(asking);
    let mut served = Vec::new();
    let mut settings: Vec<UpstreamSettings> = Vec::new();
    for (name, up) in NAMES.iter().zip(&ups) {
        let serving = up.serve().await.unwrap();
        let one = settings_of(name, &format!("{name}_"), http(&serving.url()));
        settings.push(UpstreamSettings { may_ask: vec![MayAsk::Form], ..one });
        served.push(serving);
    }
    let world = World::start(|config| {
        config.upstreams.extend(settings);
        config.entries.extend(NAMES.iter().flat_map(|name| fake::entries(name)));
    })
    .await;
    let calls = NAMES.map(look);
    let (a, b, c) = tokio::join!(world.send(&calls[0]), world.send(&calls[1]), world.send(&calls[2]));
    let mut asked = [a, b, c];
    for (name, reply) in NAMES.iter().zip(&asked) {
        let message = &reply.result().unwrap()["inputRequests"]["size"]["params"]["message"];
        assert_eq!(message, &Value::from(format!("[{name}] Which size?")));
    }
    // Each with the state of its neighbour.
    for (index, call) in calls.iter().enumerate() {
        let neighbours = &asked[(index + 1) % 3];
        let reply = world.send(&answering(call, 9, neighbours, 3)).await;
        assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-STATE"), "{}", reply.text());
    }
    for round in 0..2 {
        let next: Vec<Call> = calls
            .iter()
            .zip(&asked)
            .zip(1..)
            .map(|((call, reply), size)| answering(call, 20 + round, reply, size))
            .collect();
        let (a, b, c) = tokio::join!(world.send(&next[0]), world.send(&next[1]), world.send(&next[2]));
        asked = [a, b, c];
    }
    for ((name, reply), (up, size)) in NAMES.iter().zip(&asked).zip(ups.iter().zip(1..)) {
        assert_eq!(text(reply), format!("done by {name}"), "{}", reply.text());
        let seen = up.calls("look");
        assert_eq!(seen.len(), 3, "the swapped ones did not arrive");
        let given: Vec<_> = seen[1..]
            .iter()
            .map(|one| one.params["inputResponses"]["size"]["content"]["size"].clone())
            .collect();
        assert_eq!(given, [json!(size), json!(size)], "{name} got its own answers");
    }
}
