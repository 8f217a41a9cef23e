//! How subscriptions end.

use aldgate_testkit::Call;
use serde_json::{Value, json};

use super::{everything, listen, next, within};
use crate::library::library;
use crate::world::{World, code, eventually};

/// What the last message says of why it is the last.
pub(super) fn why(last: &Value) -> &str {
    last["result"]["_meta"]["io.github.aldgate/ended"]["why"].as_str().unwrap_or("-")
}

async fn listening(world: &World) -> u64 {
    world.look("/v1/status").await["listening"].as_u64().unwrap()
}

#[tokio::test]
async fn a_gateway_that_stops_ends_each_with_the_answer_to_its_request() {
    let mut world = library().await;
    let mut first = listen(&world, r#""L1""#, everything()).await;
    let mut second = listen(&world, "2", json!({"toolsListChanged": true})).await;
    next(&mut first).await;
    next(&mut second).await;
    within(world.stop()).await;
    for (events, id) in [(&mut first, json!("L1")), (&mut second, json!(2))] {
        let last = next(events).await;
        assert_eq!((&last["id"], &last["result"]["resultType"]), (&id, &json!("complete")), "{last}");
        assert_eq!(why(&last), "stopping");
        assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(within(events.next()).await, None, "then the stream ends");
    }
}

#[tokio::test]
async fn a_client_that_leaves_gives_its_place_back() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    assert_eq!(listening(&world).await, 1);
    eventually("the upstream is asked for the resource", async || {
        let wants = world.up.ears().wants();
        wants.iter().any(|one| one["resourceSubscriptions"] == json!(["note://a"])).then_some(())
    })
    .await;
    drop(events);
    eventually("the place is free", async || (listening(&world).await == 0).then_some(())).await;
    eventually("the upstream is not asked for the resource any more", async || {
        let wants = world.up.ears().wants();
        (wants.len() == 1 && wants[0].get("resourceSubscriptions").is_none()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn credentials_that_expire_end_it() {
    let soon = time::OffsetDateTime::now_utc() + time::Duration::seconds(2);
    let world = World::start_with(crate::fake::library(), |config| {
        crate::library::shelves(config);
        config.expires_at = Some(soon);
    })
    .await;
    let mut events = listen(&world, "1", json!({"toolsListChanged": true})).await;
    next(&mut events).await;
    let last = next(&mut events).await;
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(why(&last), "expired");
    assert!(time::OffsetDateTime::now_utc() >= soon, "not before the time");
    assert_eq!(within(events.next()).await, None);
    let again = world.send(&Call::method("tools/list")).await;
    assert_eq!(again.status, 401, "{}", again.text());
}

#[tokio::test]
async fn credentials_that_are_taken_away_end_it() {
    let world = library().await;
    let mut events = listen(&world, "1", json!({"toolsListChanged": true})).await;
    next(&mut events).await;
    world.configure(|config| {
        crate::library::shelves(config);
        config.expires_at = Some(time::OffsetDateTime::now_utc() - time::Duration::seconds(1));
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    let last = next(&mut events).await;
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(why(&last), "not_authenticated");
}

#[tokio::test]
async fn a_template_that_changed_ends_it() {
    let world = library().await;
    let mut events = listen(&world, "1", json!({"resourceSubscriptions": ["note://a"]})).await;
    next(&mut events).await;
    world.up.offers("resources/templates/list", &[&crate::fake::TEMPLATE.replace("plain", "html")]).unwrap();
    world.up.ears().tell("notifications/resources/list_changed", &json!({}));
    let last = next(&mut events).await;
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(why(&last), "contract_changed");
    let again = world.send(&Call::listen(json!({"resourceSubscriptions": ["note://a"]}))).await;
    assert_eq!(code(&again), "AG-CONTRACT-CHANGED", "{}", again.text());
}

#[tokio::test]
async fn a_server_that_calls_itself_otherwise_is_not_listened_to() {
    let world = library().await;
    let mut events = listen(&world, "1", everything()).await;
    next(&mut events).await;
    world.up.is_called("somebody-else");
    world.up.ears().tell("notifications/tools/list_changed", &json!({}));
    let mut last = next(&mut events).await;
    while last["method"].is_string() {
        last = next(&mut events).await;
    }
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    eventually("its stream is closed", async || world.up.ears().wants().is_empty().then_some(())).await;
}

#[tokio::test]
async fn a_body_that_comes_late_is_worked_under_what_holds_then() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = library().await;
    let body = Call::listen(json!({"toolsListChanged": true})).text();
    let mut socket = tokio::net::TcpStream::connect(world.agents()).await.unwrap();
    socket.write_all(raw_head("1.1", body.len()).as_bytes()).await.unwrap();
    // The head is read under the configuration that there is; the body comes under another one.
    eventually("the request is worked on", async || {
        (world.look("/v1/status").await["in_flight"] == 1).then_some(())
    })
    .await;
    world.configure(|config| {
        crate::library::shelves(config);
        config.expires_at = Some(time::OffsetDateTime::now_utc() - time::Duration::seconds(1));
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    socket.write_all(body.as_bytes()).await.unwrap();
    let mut all = vec![0; 4096];
    let read = within(socket.read(&mut all)).await.unwrap();
    let all = String::from_utf8_lossy(&all[..read]).into_owned();
    assert!(all.starts_with("HTTP/1.1 401 ") && all.contains("AG-IDENTITY"), "{all}");
}

#[tokio::test]
async fn a_client_that_talks_without_end_is_not_listened_to() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = library().await;
    let body = Call::listen(json!({"toolsListChanged": true})).text();
    let mut socket = tokio::net::TcpStream::connect(world.agents()).await.unwrap();
    socket.write_all(format!("{}{body}", raw_head("1.1", body.len())).as_bytes()).await.unwrap();
    let mut piece = [0; 4096];
    assert!(within(socket.read(&mut piece)).await.unwrap() > 0);
    let junk = [b'x'; 4096];
    within(async { while socket.write_all(&junk).await.is_ok() {} }).await;
    eventually("its place is free", async || (listening(&world).await == 0).then_some(())).await;
    assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "-");
}

/// The head of a listen as it stands on the wire.
fn raw_head(version: &str, length: usize) -> String {
    let token = crate::world::token("agent");
    format!(
        "POST /mcp HTTP/{version}\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// One request as it stands on the wire, and all that comes back.
async fn raw(world: &World, version: &str, extra: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let body = Call::listen(json!({"toolsListChanged": true})).text();
    let head = raw_head(version, body.len());
    let mut socket = tokio::net::TcpStream::connect(world.agents()).await.unwrap();
    socket.write_all(format!("{head}{body}{extra}").as_bytes()).await.unwrap();
    let mut all = Vec::new();
    within(async {
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&all).contains("acknowledged") {
            let read = socket.read(&mut piece).await.unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&all));
            all.extend_from_slice(&piece[..read]);
        }
    })
    .await;
    // Nothing more is written on this side.
    socket.shutdown().await.unwrap();
    within(socket.read_to_end(&mut all)).await.unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn a_subscription_is_the_last_thing_on_its_connection() {
    let world = library().await;
    let text = raw(&world, "1.1", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    for header in
        ["content-type: text/event-stream", "connection: close", "transfer-encoding: chunked", "date: "]
    {
        assert!(text.contains(&format!("\r\n{header}")), "{header}: {text}");
    }
    assert_eq!(text.matches("HTTP/1.1").count(), 1, "what was sent behind it is not answered: {text}");
    assert_eq!(listening(&world).await, 0, "a client that closes its side has left");
    // A client that does not know chunks.
    let text = raw(&world, "1.0", "").await;
    assert!(text.starts_with("HTTP/1.0 200 OK\r\n") && !text.contains("chunked"), "{text}");
}
