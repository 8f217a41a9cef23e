//! Clients that stop at any byte of a request.

use aldgate_testkit::Call;
use futures::future::join_all;
use tokio::io::AsyncReadExt as _;

use super::{GOOD, HANG, MANY_CONNECTIONS, in_the_end, look};
use crate::world::{World, eventually, text};

/// Requests that hang at once. Each takes two descriptors.
const AT_ONCE: usize = 240;

#[tokio::test]
async fn requests_that_stop_at_any_byte_stop_no_other() {
    let _many = MANY_CONNECTIONS.lock().await;
    let world = World::start(|config| config.settings.bounds.call_timeout = HANG).await;
    let client = world.client("other");
    let whole = client.wire(&Call::tool("note", r#"{"text":"t"}"#)).unwrap();
    let body = whole.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    let places: Vec<usize> = (0..whole.len()).collect();
    for places in places.chunks(AT_ONCE) {
        let open = join_all(places.iter().map(|place| client.open(whole.get(..*place).unwrap()))).await;
        assert_eq!(text(&look(&world).await), GOOD, "others are not served");
        for (place, stream) in places.iter().zip(open) {
            let mut stream = stream.unwrap();
            // A head that does not come has more time, and is given up with its client here.
            if *place >= body {
                let mut back = String::new();
                in_the_end(stream.read_to_string(&mut back)).await.unwrap();
                assert!(back.starts_with("HTTP/1.1 400") && back.contains("AG-HEAD-BODY"), "{place}: {back}");
            }
        }
    }
    assert_eq!(world.up.calls("note").len(), 0);
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_is_a_request() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::plain().await;
    let client = world.client("other");
    let whole = client.wire(&Call::tool("note", r#"{"text":"t"}"#)).unwrap();
    let slow = async {
        let mut stream = client.open(b"").await.unwrap();
        for byte in &whole {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        let mut back = String::new();
        stream.read_to_string(&mut back).await.unwrap();
        back
    };
    let back = super::meanwhile(&world, slow).await;
    assert!(back.starts_with("HTTP/1.1 200") && back.contains(GOOD), "{back}");
}

#[tokio::test]
async fn clients_that_send_without_an_end_stop_no_other() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::start(|config| config.settings.bounds.body_bytes = 100_000).await;
    let client = world.client("other");
    let text_of = |call: &Call| String::from_utf8(client.wire(call).unwrap()).unwrap();
    let call = Call::tool("note", r#"{"text":"t"}"#);
    let whole = text_of(&call);
    let (head, _) = whole.split_once("\r\n\r\n").unwrap();
    let length = format!("content-length: {}", call.text().len());
    let chunked = head.replace(&length, "transfer-encoding: chunked");
    let floods = [
        ("a request line", String::new(), "POST ".to_owned()),
        ("headers", head.to_owned(), "\r\nx-more: and more".to_owned()),
        ("chunks", format!("{chunked}\r\n\r\n"), "4\r\n[[[[\r\n".to_owned()),
        ("extensions", format!("{chunked}\r\n\r\n4;a="), "more".to_owned()),
        ("trailers", format!("{chunked}\r\n\r\n1\r\n[\r\n0\r\n"), "x-more: and more\r\n".to_owned()),
        ("requests after it", whole.clone(), whole.clone()),
    ];
    let attacks = join_all(floods.iter().map(|(what, once, again)| {
        let client = &client;
        async move {
            let mut stream = client.open(once.as_bytes()).await.unwrap();
            let again = again.repeat(64);
            // The server closes it; how it says so differs.
            while stream.write_all(again.as_bytes()).await.is_ok() {}
            *what
        }
    }));
    let ended = super::meanwhile(&world, attacks).await;
    assert_eq!(ended.len(), floods.len());
    eventually("the one whole request being called", async || {
        (world.up.calls("note").len() == 1).then_some(())
    })
    .await;
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

#[tokio::test]
async fn who_is_refused_before_the_body_came_is_told_that_the_connection_ends() {
    let world = World::plain().await;
    let client = world.nobody();
    let whole = client.wire(&Call::tool("note", r#"{"text":"t"}"#)).unwrap();
    let whole = String::from_utf8(whole).unwrap();
    let (head, _) = whole.split_once("\r\n\r\n").unwrap();
    // A client that sends head and body one after the other would use the connection again.
    let mut stream = client.open(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
    let mut back = String::new();
    in_the_end(stream.read_to_string(&mut back)).await.unwrap();
    assert!(back.starts_with("HTTP/1.1 401") && back.contains("\r\nconnection: close\r\n"), "{back}");
}
