//! What a request may take, where a test elsewhere does not show it already.

use std::time::{Duration, Instant};

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Latch};
use serde_json::json;

use crate::fake;
use crate::library::{library, shelves};
use crate::rounds::question;
use crate::world::{Config, World, code, eventually, state};

const TEXT: &str = r#"{"text":"t"}"#;

fn comments(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with(':')).count()
}

#[tokio::test]
async fn a_head_over_the_limit_is_refused() {
    let world = World::start(|config| config.settings.bounds.header_bytes = 8 << 10).await;
    let large = Call::tool("look", TEXT).header("x-large", &"x".repeat(10_000));
    assert_eq!(world.send(&large).await.status, 431);
    let small = Call::tool("look", TEXT).header("x-large", &"x".repeat(4_000));
    assert_eq!(code(&world.send(&small).await), "-");
}

#[tokio::test]
async fn an_upstream_asks_for_as_many_rounds_as_it_may() {
    let world = World::start(|config| {
        config.up().may_ask = vec![MayAsk::Form];
        config.settings.bounds.rounds = 2;
    })
    .await;
    let rounds = vec![question(), question(), question()];
    world.up.does("look", Behaviour::Rounds(rounds, Box::new(Behaviour::text("never"))));
    let look = Call::tool("look", TEXT).with_forms();
    let answer = json!({"size": {"action": "accept", "content": {"size": 3}}});
    let mut reply = world.send(&look).await;
    for id in ["2", "3"] {
        reply = world.send(&look.clone().id(id).state(&state(&reply)).answering(answer.clone())).await;
    }
    assert_eq!(code(&reply), "AG-UPSTREAM-ASKS", "{}", reply.text());
    assert!(reply.text().contains("more than 2 rounds"), "{}", reply.text());
}

#[tokio::test]
async fn a_list_with_more_than_it_may_have_is_not_read_to_its_end() {
    let endless = json!({"resultType": "complete", "prompts": [], "nextCursor": "more"});
    for (limit, page, expected) in [
        // Nine tools on one page.
        ((8, 100), None, "lists more than 8 tools, 100 pages"),
        ((9, 100), None, "-"),
        ((20_000, 3), Some(endless), "lists more than 20000 prompts, 3 pages"),
    ] {
        let up = fake::library();
        if let Some(page) = page {
            up.answers("prompts/list", Behaviour::result(&page));
        }
        let world = World::start_with(up, |config| {
            shelves(config);
            (config.settings.bounds.list_items, config.settings.bounds.list_pages) = limit;
        })
        .await;
        let called = code(&world.call("look", TEXT).await);
        assert_eq!(called, if expected == "-" { "-" } else { "AG-UPSTREAM-UNREACHABLE" }, "{expected}");
        let status = world.look("/v1/status").await;
        let why = status["upstreams"][0]["unreachable"].as_str().unwrap_or("-").to_owned();
        assert!(why.contains(expected), "{why}");
    }
}

#[tokio::test]
async fn resources_that_cannot_be_listed_take_nothing_else_away() {
    let world = library().await;
    world.up.answers("resources/list", Behaviour::error(-32603, "the shelf broke"));
    world.up.ears().were_opened(1).await;
    world.up.ears().tell("notifications/resources/list_changed", &json!({}));
    let status = eventually("the failure is told", async || {
        let status = world.look("/v1/status").await["upstreams"][0].clone();
        status["resources_unlisted"].is_string().then_some(status)
    })
    .await;
    assert!(status["unreachable"].is_null(), "{status}");
    assert_eq!(code(&world.call("look", TEXT).await), "-");
    let listed = world.send(&Call::method("resources/list")).await.result().unwrap();
    assert_eq!(listed["resources"][0]["uri"], "note://a", "the last that is known stays");
}

#[tokio::test]
async fn a_tool_has_a_time_of_its_own() {
    let world = World::start(|config| config.entry("look").timeout_s = Some(1)).await;
    world.up.does("look", Behaviour::Hang);
    let begun = Instant::now();
    let reply = world.call("look", TEXT).await;
    assert_eq!(code(&reply), "AG-UPSTREAM-TIMEOUT", "{}", reply.text());
    assert!(begun.elapsed() < Duration::from_secs(30), "not the minute of the others");
}

/// A stream that tells of progress when its doors open, and ends when the last one does.
fn going_on(doors: &[Latch]) -> Behaviour {
    let told = |at: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":%ID%,"progress":{at}}}}}"#
        )
    };
    let done = r#"{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","content":[]}}"#.to_owned();
    let events = doors.iter().enumerate().map(|(at, door)| (door.clone(), told(at)));
    Behaviour::Slow(events.collect(), done)
}

fn patient(seconds: u64) -> impl FnOnce(&mut Config) {
    move |config| {
        config.settings.bounds.call_timeout = Duration::from_secs(2);
        config.settings.bounds.longest_call = Duration::from_secs(seconds);
    }
}

#[tokio::test]
async fn progress_renews_the_time_and_the_longest_time_holds_in_spite_of_it() {
    for (longest, expected) in [(60, "-"), (1, "AG-UPSTREAM-TIMEOUT")] {
        let world = World::start(patient(longest)).await;
        let doors: Vec<Latch> = (0..5).map(|_| Latch::new()).collect();
        world.up.does("look", going_on(&doors));
        let opening = tokio::spawn(async move {
            for door in doors {
                tokio::time::sleep(Duration::from_millis(600)).await;
                door.open();
            }
        });
        let call = Call::tool("look", TEXT).meta("progressToken", json!("p"));
        let mut events = world.client("agent").listen(&call).await.unwrap();
        let mut last = json!(null);
        while let Some(message) = events.next().await {
            last = message;
        }
        let found = last["error"]["data"]["code"].as_str().unwrap_or("-").to_owned();
        assert_eq!(found, expected, "longest {longest} s: {last}");
        opening.abort();
    }
}

#[tokio::test]
async fn a_stream_on_which_nothing_happens_is_kept_alive_by_comments() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.keep_alive = Duration::from_millis(50);
    })
    .await;
    // A call without an answer yet, and without a notification.
    let door = Latch::new();
    world.up.does("look", Behaviour::text("done").after(&door));
    let waiting = world.client("agent");
    let call = Call::tool("look", TEXT);
    let opening = async {
        world.up.was_called("look", 1).await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        door.open();
    };
    let (reply, ()) = tokio::join!(waiting.send(&call), opening);
    let reply = reply.unwrap();
    assert_eq!(reply.header("content-type"), "text/event-stream");
    assert!(comments(&reply.text()) >= 2, "{}", reply.text());
    let data = reply.text().lines().filter(|line| line.starts_with("data: ")).count();
    assert_eq!(data, 1, "one answer: {}", reply.text());
    // A subscription.
    let listening = Call::listen(json!({"toolsListChanged": true}));
    let events = world.client("agent").listen(&listening).await.unwrap();
    let text = tokio::time::timeout(Duration::from_millis(500), events.rest());
    assert!(text.await.is_err(), "it goes on");
    let mut world = world;
    let events = world.client("agent").listen(&listening).await.unwrap();
    let (text, ()) = tokio::join!(events.rest(), async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        world.stop().await;
    });
    assert!(comments(&text) >= 2, "{text}");
}

#[tokio::test]
async fn a_header_that_an_upstream_does_not_take_is_looked_into_and_the_call_made_once_more() {
    let world = library().await;
    let refusal = Behaviour::error(-32020, "header mismatch");
    world.up.does_first("note", [refusal.clone()]);
    let before = world.up.seen().iter().filter(|seen| seen.method == "tools/list").count();
    let reply = world.call("note", TEXT).await;
    assert_eq!(code(&reply), "-", "{}", reply.text());
    let calls = world.up.calls("note");
    let ids: Vec<_> = calls
        .iter()
        .map(|seen| serde_json::from_str::<serde_json::Value>(&seen.body).unwrap()["id"].clone())
        .collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "a new id: {ids:?}");
    let after = world.up.seen().iter().filter(|seen| seen.method == "tools/list").count();
    assert_eq!(after, before + 1, "listed again");
    // A second refusal is the answer.
    world.up.does_first("note", [refusal.clone(), refusal.clone()]);
    assert_eq!(code(&world.call("note", TEXT).await), "AG-UPSTREAM-ANSWER");
    assert_eq!(world.up.calls("note").len(), 4);
    // A contract that is another one by now is not called.
    world.up.does_first("note", [refusal]);
    let changed = fake::NOTE.replace("Notes.", "Notes well.");
    let others = fake::TOOLS.iter().filter(|(name, _)| *name != "note").map(|(_, definition)| *definition);
    let definitions: Vec<&str> = others.chain([changed.as_str()]).collect();
    world.up.lists(&definitions).unwrap();
    let reply = world.call("note", TEXT).await;
    assert_eq!(code(&reply), "AG-CONTRACT-CHANGED", "{}", reply.text());
    assert_eq!(world.up.calls("note").len(), 5, "it was not made once more");
}
