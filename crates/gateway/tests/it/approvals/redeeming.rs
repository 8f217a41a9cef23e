use std::collections::BTreeMap;

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Latch};
use futures::future::join_all;
use serde_json::json;

use super::{BOLTS, approved, order, retry};
use crate::world::{World, approval, call_id, code, rpc, state, text};

#[tokio::test]
async fn what_is_sent_are_the_bytes_that_were_approved() {
    let world = World::plain().await;
    let (notice, _) = approved(&world).await;
    let other = Call::tool("order", r#"{ "count": 1.2e1, "item": "\u0062olts" }"#).with_forms();
    assert_eq!(text(&world.send(&other.id("2").state(&state(&notice))).await), "done");
    let seen = world.up.calls("order").remove(0);
    assert!(seen.body.contains(&format!(r#""arguments":{BOLTS}"#)), "{}", seen.body);
}

#[tokio::test]
async fn the_bytes_that_were_approved_are_sent_in_every_round() {
    let world = World::start(|config| config.up().may_ask = vec![MayAsk::Form]).await;
    let form = Behaviour::form("sure", "Sure?", &json!({"type": "object", "properties": {}}));
    world.up.does("order", Behaviour::asking(form, "ordered"));
    let (notice, _) = approved(&world).await;
    let asked = world.send(&retry(&notice)).await;
    let other = Call::tool("order", r#"{ "count": 12.0, "item": "\u0062olts" }"#).with_forms();
    let answer = json!({"sure": {"action": "accept", "content": {}}});
    assert_eq!(text(&world.send(&other.id("3").state(&state(&asked)).answering(answer)).await), "ordered");
    let calls = world.up.calls("order");
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|seen| seen.body.contains(&format!(r#""arguments":{BOLTS}"#))), "{calls:?}");
}

#[tokio::test]
async fn another_sealing_key_opens_nothing_and_uses_nothing_up() {
    let mut world = World::plain().await;
    let (notice, id) = approved(&world).await;
    world.restart(|config| config.secret = [8; 32]).await;
    let reply = world.send(&retry(&notice)).await;
    assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-STATE"));
    let fresh = world.call("order", BOLTS).await;
    assert_eq!((fresh.status, code(&fresh).as_str()), (500, "AG-STORE"), "{}", fresh.text());
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(world.state_of(&id).await, "approved");
    world.restart(|_| {}).await;
    assert_eq!(text(&world.send(&retry(&notice)).await), "done", "the key is back");
}

#[tokio::test]
async fn a_repeat_after_the_redemption_asks_anew() {
    let world = World::plain().await;
    let (notice, id) = approved(&world).await;
    assert_eq!(text(&world.send(&retry(&notice)).await), "done");
    assert_eq!(world.state_of(&id).await, "redeemed");
    let anew = world.call("order", BOLTS).await;
    assert_eq!(code(&anew), "AG-APPROVAL-PENDING");
    assert_ne!(approval(&anew), id);
    assert_eq!(world.up.calls("order").len(), 1);
}

/// The codes of replies, counted; `-` is a call that was made.
async fn race(world: &World, call: &Call, times: usize) -> BTreeMap<String, usize> {
    let replies = join_all((0..times).map(|_| world.send(call))).await;
    let mut counted = BTreeMap::new();
    for reply in &replies {
        *counted.entry(code(reply)).or_default() += 1;
    }
    counted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_racing_redemptions_and_a_replay_make_one_call() {
    let world = World::plain().await;
    let (notice, id) = approved(&world).await;
    let counted = race(&world, &retry(&notice), 50).await;
    assert_eq!(counted.get("-"), Some(&1), "{counted:?}");
    let lost = ["AG-APPROVAL-SPENT", "AG-STATE"].iter().filter_map(|code| counted.get(*code)).sum::<usize>();
    assert_eq!(lost, 49, "{counted:?}");
    let replay = world.send(&retry(&notice)).await;
    assert_eq!((rpc(&replay), code(&replay).as_str()), (-32602, "AG-STATE"));
    assert_eq!(world.up.calls("order").len(), 1);
    assert_eq!(world.state_of(&id).await, "redeemed");
    let story = world.story().await;
    assert_eq!(story.iter().filter(|row| row.starts_with("intent")).count(), 1, "{story:?}");
    assert_eq!(story.iter().filter(|row| row.starts_with("refusal")).count(), 51, "every loser left a row");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_racing_calls_without_a_state_make_one_call_and_ask_once_more() {
    let world = World::plain().await;
    let call = Call::tool("order", BOLTS);
    world.decide(&approval(&world.send(&call).await), "approve").await;
    let counted = race(&world, &call, 50).await;
    assert_eq!(counted.get("-"), Some(&1), "{counted:?}");
    assert_eq!(world.up.calls("order").len(), 1);
    assert!(world.approvals().await.len() <= 2, "those that came later share one new approval");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_racing_requests_for_one_approval_share_it() {
    let world = World::plain().await;
    let counted = race(&world, &order(), 50).await;
    assert_eq!(counted, BTreeMap::from([("AG-APPROVAL-PENDING".to_owned(), 50)]));
    assert_eq!(world.approvals().await.len(), 1);
    let asked = world.story().await.iter().filter(|row| row.starts_with("approval_asked")).count();
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn a_failed_send_uses_the_approval_up_and_says_so() {
    let world = World::plain().await;
    world.up.does("order", Behaviour::Close);
    let (notice, id) = approved(&world).await;
    let failed = world.send(&retry(&notice)).await;
    assert_eq!((rpc(&failed), code(&failed).as_str()), (7504, "AG-OUTCOME-UNKNOWN"));
    assert!(text(&failed).starts_with("executed or unknown, do not retry"), "{}", text(&failed));
    assert_eq!(world.state_of(&id).await, "redeemed");
    let anew = world.send(&order()).await;
    assert_ne!(approval(&anew), id);
    assert_eq!(world.up.calls("order").len(), 1);
    // Who is asked again is told that it may have been done.
    let shown = world.look(&format!("/v1/approvals/{}", approval(&anew))).await;
    let earlier = shown["earlier"].as_array().unwrap();
    assert_eq!(earlier.len(), 1, "{shown}");
    assert_eq!(
        (earlier[0]["approval"].as_str(), earlier[0]["outcome"].as_str()),
        (Some(&*id), Some("unknown"))
    );
    assert_eq!(earlier[0]["call"], call_id(&failed));
    assert_eq!(world.look(&format!("/v1/approvals/{id}")).await["earlier"], json!([]));
    let other = world.call("order", r#"{"item": "nuts", "count": 1}"#).await;
    let shown = world.look(&format!("/v1/approvals/{}", approval(&other))).await;
    assert_eq!(shown["earlier"], json!([]), "another action");
}

#[tokio::test]
async fn a_contract_that_changes_while_a_retry_waits_is_refused() {
    let hold = std::time::Duration::from_secs(120);
    let world = World::start(|config| {
        config.settings.approvals.hold = hold;
        config.up().verify_every = std::time::Duration::from_secs(1);
    })
    .await;
    let notice = world.send(&order()).await;
    let left = Latch::new();
    let waiting = async {
        let reply = world.send(&retry(&notice)).await;
        left.open();
        reply
    };
    let changing = async {
        world.up.lists(&[]).unwrap();
        crate::world::eventually("the change being found", async || {
            let status = world.look("/v1/status").await;
            let quarantined = status["upstreams"][0]["quarantined"].as_array().cloned().unwrap_or_default();
            quarantined.iter().any(|item| item["name"] == "order").then_some(())
        })
        .await;
        world.decide(&approval(&notice), "approve").await;
        left.opened().await;
    };
    let (reply, ()) = tokio::join!(waiting, changing);
    assert_eq!(code(&reply), "AG-CONTRACT-CHANGED", "{}", reply.text());
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(world.state_of(&approval(&notice)).await, "approved", "not used up");
}
