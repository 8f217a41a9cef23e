//! What was ruled under one contract is looked at once more before it is sent.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use super::LOOK;
use crate::fake;
use crate::observing::Watched;
use crate::world::{World, call_id, code, eventually, told};

/// The server calls itself this, and is compared: a reload does that at once.
async fn is_called(world: &World, server: &str) {
    world.up.is_called(server);
    world.configure(|_| {});
    assert_eq!(world.reload_as("approver").await.status, 200);
    eventually("the comparison", async || {
        let stranger = world.look("/v1/status").await["upstreams"][0]["stranger"].clone();
        (stranger.is_null() == (server == fake::SERVER)).then_some(())
    })
    .await;
}

/// Between its ruling and its dispatch the call waits for its intent to be on the disk, here for as long as another program
/// writes to the store. Meanwhile the server turns into a stranger. That it was one before is told of already, so that this
/// needs no row and is known while the store still waits.
#[tokio::test]
async fn a_contract_that_changes_while_the_intent_is_written_is_not_called() {
    let watched = Watched::plain().await;
    let world = &watched.world;
    is_called(world, "impostor").await;
    is_called(world, fake::SERVER).await;
    let options = SqliteConnectOptions::new().filename(world.folder().join("aldgate.sqlite"));
    let mut writer = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut writer).await.unwrap();
    let changing = async {
        eventually("the ruling", async || {
            watched.spans().iter().any(|span| span.name == "ruling").then_some(())
        })
        .await;
        is_called(world, "impostor").await;
        sqlx::raw_sql("COMMIT").execute(&mut writer).await.unwrap();
    };
    let (reply, ()) = tokio::join!(watched.call("note", LOOK), changing);
    assert_eq!(code(&reply), "AG-CONTRACT-CHANGED", "{}", reply.text());
    assert_eq!(world.up.calls("note").len(), 0);
    let rows = world.rows_of(&call_id(&reply)).await;
    let story = ["intent automatic - -", "outcome automatic failed AG-CONTRACT-CHANGED"];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), story, "it was ruled before");
}
