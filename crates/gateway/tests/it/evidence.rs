//! What every request leaves behind.

use aldgate_testkit::{Behaviour, Call, Latch};
use serde_json::{Value, json};

use crate::world::{World, approval, call_id, code, eventually, text, told};

const TEXT: &str = r#"{"text":"t"}"#;

fn kinds(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_call_leaves_an_intent_and_an_outcome_that_name_all_that_mattered() {
    let world = World::plain().await;
    let reply = world.call("note", TEXT).await;
    let rows = world.rows_of(&call_id(&reply)).await;
    let [intent, outcome] = rows.as_slice() else { panic!("{rows:?}") };
    for row in [intent, outcome] {
        assert_eq!(
            (&row["method"], &row["tool"], &row["round"]),
            (&json!("tools/call"), &json!("up/note"), &json!(0))
        );
        assert_eq!(row["principal"]["subject"], "agent");
        assert_eq!(row["contract"], crate::fake::lock("up").tools["note"].digest.to_string());
        assert!(row["arguments"].as_str().unwrap().starts_with("hmac-sha256:"), "{row}");
    }
    assert_eq!(intent["arguments"], outcome["arguments"], "one key for one call");
    assert_eq!(intent["explanation"]["verdict"], "automatic");
    assert!(
        outcome["result"].as_str().unwrap().starts_with("hmac-sha256:") && outcome["took_ms"].is_u64(),
        "{outcome}"
    );
    let again = world.rows_of(&call_id(&world.call("note", TEXT).await)).await;
    assert_ne!(again[0]["arguments"], intent["arguments"], "another key for another call");
}

#[tokio::test]
async fn answers_of_the_host_are_recorded_too() {
    let world = World::plain().await;
    world.send(&Call::method("server/discover")).await;
    world.send(&Call::method("tools/list")).await;
    let rows = world.rows().await;
    assert_eq!(kinds(&rows), ["answer", "answer"]);
    assert_eq!((&rows[0]["method"], &rows[1]["method"]), (&json!("server/discover"), &json!("tools/list")));
}

#[tokio::test]
async fn the_intent_is_stored_before_the_upstream_sees_the_call() {
    let world = World::plain().await;
    let latch = Latch::new();
    for tool in ["note", "order"] {
        world.up.does(tool, Behaviour::text("done").after(&latch));
    }
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    world.decide(&approval(&world.send(&order).await), "approve").await;
    let note = Call::tool("note", TEXT);
    let calls = async { tokio::join!(world.send(&note), world.send(&order)) };
    let looking = async {
        for tool in ["note", "order"] {
            world.up.was_called(tool, 1).await;
        }
        let rows = world.rows().await;
        latch.open();
        rows
    };
    let (_, rows) = tokio::join!(calls, looking);
    for tool in ["up/note", "up/order"] {
        let stored: Vec<_> =
            rows.iter().filter(|row| row["tool"] == tool).map(|row| row["kind"].as_str().unwrap()).collect();
        assert_eq!(stored.last(), Some(&"intent"), "{tool}: {stored:?}");
    }
    assert_eq!(world.story().await.iter().filter(|row| row.starts_with("outcome")).count(), 2);
}

#[tokio::test]
async fn a_client_that_leaves_gives_a_read_up_and_loses_no_outcome_of_a_change() {
    let world = World::plain().await;
    for (tool, outcome) in [("look", "cancelled"), ("note", "complete")] {
        let latch = Latch::new();
        world.up.does(tool, Behaviour::text("late").after(&latch));
        let client = world.client("agent");
        client.send_and_leave(&Call::tool(tool, TEXT), world.up.was_called(tool, 1)).await.unwrap();
        let key = format!("up/{tool}");
        let of_tool = async || {
            let rows = world.rows().await;
            rows.into_iter().filter(|row| row["tool"] == key.as_str()).collect::<Vec<_>>()
        };
        if outcome == "complete" {
            eventually("the intent", async || (kinds(&of_tool().await) == ["intent"]).then_some(())).await;
            latch.open();
        }
        // The read ends though its upstream never answers.
        let rows = eventually("the outcome", async || {
            let rows = of_tool().await;
            (rows.len() == 2).then_some(rows)
        })
        .await;
        assert_eq!((&rows[1]["kind"], &rows[1]["outcome"]), (&json!("outcome"), &json!(outcome)));
        assert_eq!(world.up.calls(tool).len(), 1);
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_a_person_decides_leaves_a_row() {
    let world =
        World::start(|config| config.settings.approvals.hold = std::time::Duration::from_secs(120)).await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#).with_forms();
    let notice = world.send(&order).await;
    let client = world.client("agent");
    let repeated = order.id("2").state(&crate::world::state(&notice));
    // Whether a retry has begun to wait cannot be seen from outside, so that it comes and leaves until one has.
    let row = eventually("the row", async || {
        let leaving = tokio::time::sleep(std::time::Duration::from_millis(100));
        client.send_and_leave(&repeated, leaving).await.unwrap();
        world.rows().await.into_iter().find(|row| row["code"] == "AG-CLIENT-LEFT")
    })
    .await;
    assert_eq!(told(&row), "refusal requires_approval - AG-CLIENT-LEFT");
    assert_eq!((&row["approval"], &row["call"]), (&json!(approval(&notice)), &json!(call_id(&notice))));
    assert_eq!(world.state_of(&approval(&notice)).await, "pending");
    world.decide(&approval(&notice), "approve").await;
    assert_eq!(text(&world.send(&repeated).await), "done", "it may come back");
    assert_eq!(world.up.calls("order").len(), 1);
}

#[tokio::test]
async fn a_gateway_that_is_stopped_lets_calls_end() {
    let mut world = World::plain().await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let client = world.client("agent");
    let calling = tokio::spawn(async move { client.send(&Call::tool("note", TEXT)).await });
    world.up.was_called("note", 1).await;
    let opening = async {
        tokio::task::yield_now().await;
        latch.open();
    };
    tokio::join!(world.stop(), opening);
    assert_eq!(text(&calling.await.unwrap().unwrap()), "late");
    world.start_again().await;
    assert_eq!(world.unknown_calls(), 0);
    assert_eq!(world.story().await, ["intent automatic - -", "outcome automatic complete -"]);
}

#[test]
fn a_call_that_was_open_when_the_gateway_died_is_closed_as_unknown() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (outer, inner) = (runtime(), runtime());
    let mut world = outer.block_on(World::plain());
    outer.block_on(world.stop());
    inner.block_on(world.start_again());
    for tool in ["look", "note"] {
        world.up.does(tool, Behaviour::Hang);
        let client = world.client("agent");
        outer.spawn(async move { client.send(&Call::tool(tool, TEXT)).await });
    }
    outer.block_on(eventually("both intents", async || {
        (kinds(&world.rows().await) == ["intent", "intent"]).then_some(())
    }));
    // As a crash does: every task of the gateway stops where it is.
    inner.shutdown_timeout(std::time::Duration::from_secs(30));
    world.is_dead();
    outer.block_on(async {
        world.start_again().await;
        assert_eq!(world.unknown_calls(), 2);
        let rows = world.rows().await;
        let outcomes: Vec<_> = rows.iter().filter(|row| row["kind"] == "outcome").collect();
        assert_eq!(outcomes.len(), 2);
        for outcome in outcomes {
            assert_eq!(told(outcome), "outcome automatic unknown AG-OUTCOME-UNKNOWN");
            assert!(
                outcome["detail"].as_str().unwrap().contains("executed or unknown, do not retry"),
                "{outcome}"
            );
            assert_eq!(kinds(&world.rows_of(outcome["call"].as_str().unwrap()).await), ["intent", "outcome"]);
        }
        world.restart(|_| {}).await;
        assert_eq!(world.unknown_calls(), 0, "closed once");
    });
}

#[tokio::test]
async fn who_is_not_known_is_counted_on_both_listeners() {
    let world = World::plain().await;
    assert_eq!(world.nobody().send(&Call::tool("look", TEXT)).await.unwrap().status, 401);
    assert_eq!(world.admin("nobody").get("/v1/evidence").await.unwrap().status, 401);
    assert_eq!(world.look("/v1/status").await["counted"]["unauthenticated"], 2);
    assert_eq!(world.rows().await, Vec::<Value>::new());
}

#[tokio::test]
async fn refused_decisions_leave_a_row() {
    let world = World::plain().await;
    let id =
        approval(&world.client("chief").send(&Call::tool("order", r#"{"item":"bolts"}"#)).await.unwrap());
    for (who, status) in [("chief", 403), ("robot", 404), ("approver", 200), ("approver", 409)] {
        assert_eq!(world.decide_as(who, &id, "deny").await.status, status, "{who}");
    }
    let rows = world.rows().await;
    let decisions: Vec<_> = rows
        .iter()
        .filter(|row| row["method"] == "approvals/decide")
        .map(|row| (row["principal"]["subject"].as_str().unwrap(), told(row)))
        .collect();
    assert_eq!(
        decisions,
        [
            ("chief", "refusal - - AG-DECIDE-SELF".to_owned()),
            ("robot", "refusal - - AG-ADMIN-APPROVAL".to_owned()),
            ("approver", "approval_decided - deny -".to_owned()),
            ("approver", "refusal - - AG-ADMIN-DECIDED".to_owned()),
        ]
    );
    assert!(
        rows.iter()
            .filter(|row| row["method"] == "approvals/decide")
            .all(|row| row["approval"] == id.as_str())
    );
}

/// The files of the store, its log of writes among them, read as they are.
fn stored(world: &World) -> Vec<u8> {
    let files = std::fs::read_dir(world.folder()).unwrap();
    files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn arguments_and_results_are_kept_as_digests_only() {
    let world = World::start(|config| {
        config.up().may_ask = vec![aldgate_gateway::settings::MayAsk::Form];
        // A policy that reads the arguments.
        config.policy.push_str(r#"@id("reads") forbid (principal, action == Action::"call", resource == Tool::"up/look") when { context.args has text && context.args.text == "never" };"#);
    })
    .await;
    let marked = |what: &str| format!("marked-{what}-8d41f0");
    world.up.does("look", Behaviour::text(&marked("result")));
    assert_eq!(code(&world.call("look", &format!(r#"{{"text":"{}"}}"#, marked("argument"))).await), "-");
    let refused = format!(r#"{{"text":"t","n":"{}"}}"#, marked("refused"));
    assert_eq!(code(&world.call("look", &refused).await), "AG-ARGUMENTS");
    world.up.does("measure", Behaviour::structured(&json!({"celsius": marked("misfit")})));
    assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    world.up.does("note", Behaviour::error(4711, &marked("error")));
    assert_eq!(code(&world.call("note", TEXT).await), "AG-OUTCOME-UNKNOWN");
    world.up.does("look", Behaviour::error(4711, &marked("error")));
    assert_eq!(code(&world.call("look", TEXT).await), "AG-UPSTREAM-ERROR");
    let order = Call::tool("order", &format!(r#"{{"item":"{}"}}"#, marked("order")));
    world.decide(&approval(&world.send(&order).await), "approve").await;
    assert_eq!(code(&world.send(&order).await), "-");
    let form = Behaviour::form(
        "size",
        &marked("question"),
        &json!({"type": "object", "properties": {"size": {"type": "integer"}}}),
    );
    world.up.does("note", Behaviour::asking(form, "noted"));
    let note = Call::tool("note", TEXT).with_forms();
    let asked = world.send(&note).await;
    let wrong = json!({"size": {"action": "accept", "content": {"size": marked("answer")}}});
    let reply = world.send(&note.id("2").state(&crate::world::state(&asked)).answering(wrong)).await;
    assert_eq!(code(&reply), "AG-PARAMS");
    let bytes = stored(&world);
    assert!(holds(&bytes, "up/look") && holds(&bytes, "AG-ARGUMENTS"), "the rows are there");
    for what in ["argument", "result", "refused", "misfit", "error", "order", "question", "answer"] {
        assert!(!holds(&bytes, &marked(what)), "the {what} stands in the store");
    }
    assert!(!holds(&bytes, "secret-token-of-"), "no token stands in the store");
}
