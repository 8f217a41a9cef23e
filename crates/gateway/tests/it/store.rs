//! A store that fails: nothing fails open.

use aldgate_testkit::{Behaviour, Call, Latch};
use sqlx::{Connection as _, Executor as _, SqliteConnection};

use crate::world::{World, approval, code, rpc, text};

const TEXT: &str = r#"{"text":"t"}"#;

/// Takes a table away under the running gateway.
async fn breaks(world: &World, table: &str) {
    let url = format!("sqlite://{}", world.folder().join("aldgate.sqlite").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    connection.execute(sqlx::AssertSqlSafe(format!("ALTER TABLE {table} RENAME TO gone"))).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_changes_something_is_not_sent_where_its_intent_cannot_be_written() {
    let world = World::plain().await;
    breaks(&world, "evidence").await;
    let reply = world.call("note", TEXT).await;
    assert_eq!(
        (reply.status, rpc(&reply), code(&reply).as_str()),
        (500, 7500, "AG-EVIDENCE"),
        "{}",
        reply.text()
    );
    assert_eq!(world.up.calls("note").len(), 0);
}

#[tokio::test]
async fn a_result_is_withheld_where_its_evidence_cannot_be_written() {
    let world = World::plain().await;
    world.up.does("look", Behaviour::text("marked-result"));
    breaks(&world, "evidence").await;
    let reply = world.call("look", TEXT).await;
    assert_eq!((reply.status, code(&reply).as_str()), (500, "AG-EVIDENCE"), "{}", reply.text());
    assert!(!reply.text().contains("marked-result"), "{}", reply.text());
    let list = world.send(&Call::method("tools/list")).await;
    assert_eq!((list.status, code(&list).as_str()), (500, "AG-EVIDENCE"), "{}", list.text());
}

#[tokio::test]
async fn a_call_whose_outcome_cannot_be_written_is_unknown() {
    let world = World::plain().await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("marked-result").after(&latch));
    let breaking = async {
        world.up.was_called("note", 1).await;
        breaks(&world, "evidence").await;
        latch.open();
    };
    let (reply, ()) = tokio::join!(world.call("note", TEXT), breaking);
    assert_eq!((rpc(&reply), code(&reply).as_str()), (7504, "AG-OUTCOME-UNKNOWN"), "{}", reply.text());
    assert!(!reply.text().contains("marked-result"));
}

#[tokio::test]
async fn nothing_is_sent_where_approvals_cannot_be_read() {
    let world = World::plain().await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    let id = approval(&world.send(&order).await);
    world.decide(&id, "approve").await;
    breaks(&world, "approvals").await;
    let reply = world.send(&order).await;
    assert_eq!((reply.status, code(&reply).as_str()), (500, "AG-STORE"), "{}", reply.text());
    let decision = world.decide_as("approver", &id, "deny").await;
    assert_eq!((decision.status, code(&decision).as_str()), (500, "AG-STORE"));
    assert!(!decision.text().contains("approvals\""), "no words of the database: {}", decision.text());
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(text(&world.call("look", TEXT).await), "done", "what needs no approval goes on");
}

#[tokio::test]
async fn a_redemption_and_its_intent_are_one() {
    let world = World::plain().await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    let id = approval(&world.send(&order).await);
    world.decide(&id, "approve").await;
    breaks(&world, "rounds").await;
    let reply = world.send(&order).await;
    assert_eq!((reply.status, code(&reply).as_str()), (500, "AG-STORE"), "{}", reply.text());
    assert_eq!(world.state_of(&id).await, "approved", "taken back together");
    assert_eq!(world.up.calls("order").len(), 0);
    let intents = world.story().await.iter().filter(|row| row.starts_with("intent")).count();
    assert_eq!(intents, 0);
}
