use std::time::{Duration, Instant};

use aldgate_testkit::Call;
use serde_json::json;

use super::{BOLTS, order, retry};
use crate::world::{World, approval, call_id, code, state, text};

#[tokio::test]
async fn a_client_with_forms_gets_a_notice_and_comes_back_with_its_state() {
    let world = World::plain().await;
    let notice = world.send(&order()).await;
    let result = notice.result().unwrap();
    let asked = &result["inputRequests"]["approval"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["mode"], "form");
    assert_eq!(
        asked["params"]["requestedSchema"],
        json!({"type": "object", "properties": {}}),
        "nothing to fill in"
    );
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.contains(&approval(&notice)) && message.contains("the test's admin API"), "{message}");
    assert!(!state(&notice).contains("bolts"), "sealed");
    assert_eq!(world.up.calls("order").len(), 0);

    world.decide(&approval(&notice), "approve").await;
    let done = world.send(&retry(&notice)).await;
    assert_eq!(text(&done), "done");
    assert_eq!(call_id(&done), call_id(&notice), "one call over all its rounds");
    assert_eq!(world.up.calls("order").len(), 1);
    assert_eq!(
        world.story().await,
        [
            "approval_asked requires_approval - -",
            "refusal requires_approval - AG-APPROVAL-PENDING",
            "approval_decided - approve -",
            "intent requires_approval - -",
            "outcome requires_approval complete -",
        ]
    );
    let rows = world.rows().await;
    assert!(rows.iter().all(|row| row["approval"] == approval(&notice)), "{rows:?}");
}

#[tokio::test]
async fn a_retry_while_pending_is_held_and_then_asked_to_come_again() {
    let hold = Duration::from_millis(300);
    let world = World::start(|config| config.settings.approvals.hold = hold).await;
    let begun = Instant::now();
    let notice = world.send(&order()).await;
    let again = world.send(&retry(&notice)).await;
    assert!(begun.elapsed() >= hold, "held for {:?}", begun.elapsed());
    assert_ne!(state(&again), state(&notice), "sealed anew");
    assert_eq!((approval(&again), call_id(&again)), (approval(&notice), call_id(&notice)));
    world.decide(&approval(&notice), "approve").await;
    assert_eq!(text(&world.send(&retry(&again)).await), "done");
    assert_eq!(world.up.calls("order").len(), 1);
}

#[tokio::test]
async fn a_held_retry_goes_on_when_a_person_decides() {
    let hold = Duration::from_secs(120);
    let world = World::start(|config| config.settings.approvals.hold = hold).await;
    let begun = Instant::now();
    let notice = world.send(&order()).await;
    let repeated = retry(&notice);
    let deciding = async {
        // Long enough that the retry waits on most machines; the test holds wherever it comes too late.
        tokio::time::sleep(Duration::from_millis(200)).await;
        world.decide(&approval(&notice), "approve").await
    };
    let (done, _) = tokio::join!(world.send(&repeated), deciding);
    assert_eq!(text(&done), "done");
    assert!(begun.elapsed() < hold, "woken after {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_held_retry_does_not_hold_up_the_end_of_the_gateway() {
    let hold = Duration::from_secs(120);
    let mut world = World::start(|config| config.settings.approvals.hold = hold).await;
    let begun = Instant::now();
    let notice = world.send(&order()).await;
    let (client, repeated) = (world.client("agent"), retry(&notice));
    let waiting = tokio::spawn(async move { client.send(&repeated).await });
    // Long enough that the retry waits on most machines; one that comes too late meets a closed port.
    tokio::time::sleep(Duration::from_millis(300)).await;
    world.stop().await;
    assert!(begun.elapsed() < hold, "stopped after {:?}", begun.elapsed());
    if let Ok(reply) = waiting.await.unwrap() {
        assert!(!state(&reply).is_empty(), "asked to come again: {}", reply.text());
    }
    world.start_again().await;
    assert_eq!(world.state_of(&approval(&notice)).await, "pending");
}

#[tokio::test]
async fn a_client_that_declares_nothing_gets_a_result_that_names_the_approval() {
    let world = World::plain().await;
    let call = Call::tool("order", BOLTS);
    let first = world.send(&call).await;
    assert_eq!(
        (code(&first).as_str(), first.result().unwrap()["isError"].as_bool()),
        ("AG-APPROVAL-PENDING", Some(true))
    );
    assert!(text(&first).contains(&approval(&first)) && text(&first).contains("the test's admin API"));
    let second = world.send(&call).await;
    assert_eq!(approval(&second), approval(&first), "one pending record for one binding");
    assert_eq!(world.approvals().await.len(), 1);

    world.decide(&approval(&first), "approve").await;
    assert_eq!(text(&world.send(&call).await), "done");
    assert_eq!(world.up.calls("order").len(), 1);
    assert_eq!(
        world.story().await,
        [
            "approval_asked requires_approval - -",
            "refusal requires_approval - AG-APPROVAL-PENDING",
            "refusal requires_approval - AG-APPROVAL-PENDING",
            "approval_decided - approve -",
            "intent requires_approval - -",
            "outcome requires_approval complete -",
        ]
    );
}

#[tokio::test]
async fn a_client_that_can_only_open_pages_is_told_by_result() {
    let world = World::plain().await;
    let reply = world.send(&Call::tool("order", BOLTS).declaring(json!({"elicitation": {"url": {}}}))).await;
    assert_eq!(code(&reply), "AG-APPROVAL-PENDING");
    assert_eq!(reply.result().unwrap()["resultType"], "complete");
}

#[tokio::test]
async fn who_declines_the_notice_waits_no_longer() {
    let hold = Duration::from_secs(120);
    let world = World::start(|config| config.settings.approvals.hold = hold).await;
    let begun = Instant::now();
    let notice = world.send(&order()).await;
    for action in ["decline", "cancel"] {
        let left = retry(&notice).answering(json!({"approval": {"action": action}}));
        let reply = world.send(&left).await;
        assert_eq!(
            (code(&reply).as_str(), reply.result().unwrap()["isError"].as_bool()),
            ("AG-APPROVAL-PENDING", Some(true))
        );
    }
    assert!(begun.elapsed() < hold, "after {:?}", begun.elapsed());
    assert_eq!(world.state_of(&approval(&notice)).await, "pending", "the person can still decide");
}

#[tokio::test]
async fn arguments_that_do_not_fit_ask_nobody() {
    let world = World::plain().await;
    assert_eq!(code(&world.call("order", r#"{"count":1}"#).await), "AG-ARGUMENTS");
    assert_eq!(world.approvals().await.len(), 0);
}
