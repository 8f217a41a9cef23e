use aldgate_testkit::{Call, Reply};

use super::{BOLTS, approved, order, retry};
use crate::world::{World, code, rpc, state, text};

/// A state that is not accepted is a JSON-RPC error, and nothing is sent.
fn check(what: &str, reply: &Reply) {
    let told = (reply.status, rpc(reply), code(reply));
    assert_eq!(told, (200, -32602, "AG-STATE".to_owned()), "{what}: {}", reply.text());
}

#[tokio::test]
async fn an_altered_state_is_refused() {
    let world = World::plain().await;
    let (notice, _) = approved(&world).await;
    let good = state(&notice);
    for at in [0, 3, 4, 10, good.len() / 2, good.len() - 1] {
        let mut bytes = good.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(bytes).unwrap();
        check(&format!("letter {at}"), &world.send(&order().state(&altered)).await);
    }
    for altered in [
        "",
        "ag1.",
        good.get(1..).unwrap(),
        good.get(..good.len() - 4).unwrap(),
        &format!("{good}AAAA"),
        &good.repeat(2),
    ] {
        check(altered, &world.send(&order().state(altered)).await);
    }
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(text(&world.send(&retry(&notice)).await), "done", "the good one is still good");
}

#[tokio::test]
async fn a_state_is_good_for_its_caller_alone() {
    let world = World::plain().await;
    let (notice, _) = approved(&world).await;
    for who in ["other", "chief", "stranger"] {
        check(who, &world.client(who).send(&retry(&notice)).await.unwrap());
    }
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn a_state_is_good_for_its_arguments_and_its_tool_alone() {
    let world = World::plain().await;
    let (notice, _) = approved(&world).await;
    let with = |tool: &str, arguments: &str| Call::tool(tool, arguments).with_forms().state(&state(&notice));
    check("more", &world.send(&with("order", r#"{"item":"bolts","count":13}"#)).await);
    check("one member more", &world.send(&with("order", r#"{"item":"bolts","count":12,"x":null}"#)).await);
    check("another tool", &world.send(&with("reorder", BOLTS)).await);
    check("one that needs nobody", &world.send(&with("note", r#"{"text":"t"}"#)).await);
    for tool in ["order", "reorder", "note"] {
        assert_eq!(world.up.calls(tool).len(), 0);
    }
}

#[tokio::test]
async fn a_state_of_another_gateway_is_refused() {
    let (one, two) = (World::plain().await, World::plain().await);
    let (notice, _) = approved(&one).await;
    // The key is the same, the store is not.
    check("of another store", &two.send(&retry(&notice)).await);
    assert_eq!(two.up.calls("order").len(), 0);
}

#[tokio::test]
async fn a_replayed_state_is_refused() {
    let world = World::plain().await;
    let (notice, _) = approved(&world).await;
    assert_eq!(text(&world.send(&retry(&notice)).await), "done");
    for _ in 0..2 {
        check("replayed", &world.send(&retry(&notice)).await);
    }
    assert_eq!(world.up.calls("order").len(), 1);
}
