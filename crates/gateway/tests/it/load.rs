//! Many at once.

use std::collections::BTreeMap;

use aldgate_testkit::{Behaviour, Call, Latch};
use futures::future::join_all;

use crate::world::{World, call_id, code, eventually, rpc, text};

const TEXT: &str = r#"{"text":"t"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_parallel_calls_complete_each_with_its_own_rows() {
    let world = World::plain().await;
    let tools = ["look", "note"];
    let replies = join_all((0..200).map(|number| {
        let (world, tool) = (&world, tools[number % 2]);
        async move {
            let arguments = format!(r#"{{"text":"{number}"}}"#);
            let reply = world.send(&Call::tool(tool, &arguments).id(&number.to_string())).await;
            assert_eq!(reply.json().unwrap()["id"], number);
            reply
        }
    }))
    .await;
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for reply in &replies {
        assert_eq!(text(reply), "done");
        assert!(calls.insert(call_id(reply), Vec::new()).is_none(), "an id of its own");
    }
    for row in world.rows().await {
        calls.get_mut(row["call"].as_str().unwrap()).unwrap().push(row["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(calls.len(), 200);
    assert!(calls.values().all(|kinds| kinds == &["intent", "outcome"]), "{calls:?}");
    assert_eq!((world.up.calls("look").len(), world.up.calls("note").len()), (100, 100));
}

#[tokio::test]
async fn more_than_the_gateway_works_on_are_told_to_come_again() {
    let world = World::start(|config| config.settings.bounds.in_flight = 2).await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let two = async { tokio::join!(world.call("note", TEXT), world.call("note", TEXT)) };
    let meanwhile = async {
        world.up.was_called("note", 2).await;
        let busy = world.call("look", TEXT).await;
        latch.open();
        busy
    };
    let ((one, other), busy) = tokio::join!(two, meanwhile);
    assert_eq!((busy.status, rpc(&busy), code(&busy).as_str()), (503, 7429, "AG-BUSY"));
    assert_eq!((text(&one).as_str(), text(&other).as_str()), ("late", "late"));
    assert_eq!(text(&world.call("look", TEXT).await), "done", "places are given back");
    assert_eq!(world.up.calls("look").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_that_leave_at_any_moment_break_nothing() {
    let world = World::plain().await;
    // From the first bytes of the request to after the reply, in steps of a fifth of a millisecond.
    join_all((0..200_u64).map(|number| {
        let client = world.client("agent");
        async move {
            let (tool, member) =
                [("note", "text"), ("order", "item"), ("look", "text")][(number % 3) as usize];
            let call = Call::tool(tool, &format!(r#"{{"{member}":"{number}"}}"#)).with_forms();
            let leaving = tokio::time::sleep(std::time::Duration::from_micros(200 * number));
            // Whether the reply came first does not matter.
            let _ = client.send_and_leave(&call, leaving).await;
        }
    }))
    .await;
    assert_eq!(text(&world.call("note", TEXT).await), "done");
    assert_eq!(code(&world.call("order", r#"{"item":"bolts"}"#).await), "AG-APPROVAL-PENDING");
    assert_eq!(world.admin("approver").get("/healthz").await.unwrap().status, 200);
    let calls = world.up.calls("note").len();
    eventually("every call ending", async || {
        let rows = world.rows().await;
        let count = |kind: &str, tool: &str| {
            rows.iter().filter(|row| row["kind"] == kind && row["tool"] == tool).count()
        };
        // A read may be given up before it goes out.
        let ended =
            count("outcome", "up/note") == calls && count("outcome", "up/look") == count("intent", "up/look");
        (ended && count("intent", "up/note") == calls).then_some(())
    })
    .await;
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
    let asked = world.rows().await.iter().filter(|row| row["kind"] == "approval_asked").count();
    assert_eq!(world.approvals().await.len(), asked, "no approval without its row");
}

#[tokio::test]
async fn a_body_that_does_not_come_does_not_keep_its_place() {
    let world = World::start(|config| {
        config.settings.bounds.in_flight = 1;
        config.settings.bounds.call_timeout = std::time::Duration::from_secs(2);
    })
    .await;
    let (client, look) = (world.client("agent"), Call::tool("look", TEXT));
    let reply = tokio::time::timeout(std::time::Duration::from_secs(60), client.send_all_but_a_byte(&look));
    let reply = reply.await.unwrap().unwrap();
    assert_eq!((reply.status, code(&reply).as_str()), (400, "AG-HEAD-BODY"), "{}", reply.text());
    assert_eq!(text(&world.call("look", TEXT).await), "done");
    assert_eq!(world.story().await[0], "refusal - - AG-HEAD-BODY");
}

#[tokio::test]
async fn a_call_whose_client_left_keeps_its_place() {
    let world = World::start(|config| config.settings.bounds.in_flight = 1).await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let client = world.client("agent");
    client.send_and_leave(&Call::tool("note", TEXT), world.up.was_called("note", 1)).await.unwrap();
    // However often one looks: the call is still being worked on.
    for _ in 0..20 {
        assert_eq!(code(&world.call("look", TEXT).await), "AG-BUSY");
    }
    latch.open();
    eventually("the place being given back", async || {
        (code(&world.call("look", TEXT).await) == "-").then_some(())
    })
    .await;
}

#[tokio::test]
async fn one_principal_does_not_take_the_places_of_another() {
    let world = World::start(|config| config.settings.bounds.in_flight_per_principal = 1).await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let client = world.client("agent");
    client.send_and_leave(&Call::tool("note", TEXT), world.up.was_called("note", 1)).await.unwrap();
    let busy = world.call("look", TEXT).await;
    assert_eq!((busy.status, code(&busy).as_str()), (429, "AG-BUSY-PRINCIPAL"), "{}", busy.text());
    let other = world.client("other").send(&Call::tool("look", TEXT)).await.unwrap();
    assert_eq!(code(&other), "-", "{}", other.text());
    latch.open();
    eventually("the place being given back", async || {
        (code(&world.call("look", TEXT).await) == "-").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_busy_upstream_uses_no_approval_up_and_the_others_are_served() {
    let world = World::start(|config| config.settings.bounds.in_flight_per_upstream = 1).await;
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    let id = crate::world::approval(&world.send(&order).await);
    world.decide(&id, "approve").await;
    let latch = Latch::new();
    world.up.does("note", Behaviour::text("late").after(&latch));
    let client = world.client("agent");
    client.send_and_leave(&Call::tool("note", TEXT), world.up.was_called("note", 1)).await.unwrap();
    let busy = world.send(&order).await;
    assert_eq!((busy.status, code(&busy).as_str()), (429, "AG-BUSY-UPSTREAM"), "{}", busy.text());
    assert_eq!(world.state_of(&id).await, "approved");
    latch.open();
    eventually("the order", async || (code(&world.send(&order).await) == "-").then_some(())).await;
    assert_eq!(world.up.calls("order").len(), 1);
}

#[tokio::test]
async fn more_requests_a_second_than_may_be_are_told_so() {
    let world = World::start(|config| config.settings.bounds.requests_per_second = 1).await;
    let mut codes = Vec::new();
    for _ in 0..4 {
        let reply = world.send(&Call::method("tools/list")).await;
        codes.push((reply.status, code(&reply)));
    }
    assert!(codes.iter().take(2).all(|(status, _)| *status == 200), "{codes:?}");
    assert!(codes.contains(&(429, "AG-RATE".to_owned())), "{codes:?}");
}

/// Connections that send half a head and then nothing.
async fn half_heads(address: &str, how_many: usize) -> Vec<tokio::net::TcpStream> {
    use tokio::io::AsyncWriteExt as _;
    let mut open = Vec::new();
    for _ in 0..how_many {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
        open.push(stream);
    }
    open
}

#[tokio::test]
async fn half_open_connections_neither_close_the_door_nor_hold_the_gateway_up() {
    let mut world = World::start(|config| {
        config.settings.bounds.connections = 60;
        config.settings.bounds.call_timeout = std::time::Duration::from_secs(1);
    })
    .await;
    let open = half_heads(&world.agents().to_string(), 50).await;
    assert_eq!(text(&world.call("look", TEXT).await), "done");
    let admin = half_heads(&world.admin_address().to_string(), 20).await;
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
    // It stops though nobody ends them.
    tokio::time::timeout(std::time::Duration::from_secs(30), world.stop()).await.unwrap();
    drop((open, admin));
}

#[tokio::test]
async fn more_connections_than_there_may_be_wait_until_others_end() {
    use tokio::io::AsyncReadExt as _;
    let world = World::start(|config| config.settings.bounds.connections = 4).await;
    let mut open = half_heads(&world.agents().to_string(), 4).await;
    // A head that does not come in time ends its connection, and the next one gets its place.
    assert_eq!(text(&world.call("look", TEXT).await), "done");
    let mut rest = Vec::new();
    open[0].read_to_end(&mut rest).await.unwrap();
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}
