//! Clients whose heads and bodies two readers could read as different requests.

use aldgate_testkit::{Call, Client};

use super::meanwhile;
use crate::world::{World, code};

/// A call as bytes, with one part of its text replaced.
fn replaced(client: &Client, from: &str, to: &str) -> Vec<u8> {
    let text = wire(client, &Call::tool("note", r#"{"text":"good"}"#));
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    text.replacen(from, to, 1).into_bytes()
}

fn wire(client: &Client, call: &Call) -> String {
    String::from_utf8(client.wire(call).unwrap()).unwrap()
}

/// A second request, as it would follow on the connection.
fn smuggled(client: &Client) -> String {
    wire(client, &Call::tool("note", r#"{"text":"smuggled"}"#)).replace("connection: close\r\n", "")
}

/// The statuses of the responses in what came back.
fn statuses(back: &str) -> Vec<&str> {
    let lines = back.lines().filter_map(|line| line.split_once("HTTP/1.1 ").map(|(_, status)| status));
    lines.filter_map(|status| status.get(..3)).collect()
}

/// Sends these bytes while another client is served; at most one response comes back, with this status.
async fn check(world: &World, what: &str, bytes: &[u8], status: &str) {
    let client = world.client("other");
    let back = meanwhile(world, client.send_bytes(bytes)).await.unwrap();
    assert_eq!(statuses(&back), [status], "{what}: {back}");
}

/// What reached the upstream, by the argument of each call.
fn arguments(world: &World) -> Vec<String> {
    let text = |seen: aldgate_testkit::Seen| seen.params["arguments"]["text"].as_str().unwrap().to_owned();
    world.up.calls("note").into_iter().map(text).collect()
}

#[tokio::test]
async fn a_head_with_two_readings_is_refused() {
    let world = World::plain().await;
    let client = world.client("other");
    let length = format!("content-length: {}\r\n", Call::tool("note", r#"{"text":"good"}"#).text().len());
    let name = "mcp-name: note\r\n";
    let cases = [
        ("two lengths", &*length, format!("{length}content-length: 3\r\n"), "400"),
        ("the same length twice, in one header", &length, length.replace("\r\n", ", 3\r\n"), "400"),
        ("a signed length", &length, length.replace(": ", ": +"), "400"),
        ("a negative length", &length, "content-length: -1\r\n".to_owned(), "400"),
        ("a length that overflows", &length, "content-length: 18446744073709551616\r\n".to_owned(), "400"),
        ("a length in hexadecimal", &length, "content-length: 0x10\r\n".to_owned(), "400"),
        ("a folded header", name, "mcp-name: no\r\n te\r\n".to_owned(), "400"),
        (
            "a folded header before the first",
            "connection: close\r\n",
            " x: y\r\nconnection: close\r\n".to_owned(),
            "400",
        ),
        ("a space before the colon", name, "mcp-name : note\r\n".to_owned(), "400"),
        ("no colon", name, "mcp-name note\r\n".to_owned(), "400"),
        ("no name", name, ": note\r\n".to_owned(), "400"),
        ("a carriage return in a value", name, "mcp-name: no\rte\r\n".to_owned(), "400"),
        ("NUL in a value", name, "mcp-name: note\0\r\n".to_owned(), "400"),
        (
            "a line feed that ends a header",
            name,
            "x: y\nmcp-name: look\r\nmcp-name: note\r\n".to_owned(),
            "400",
        ),
        ("a coding that is not the last", &length, "transfer-encoding: chunked, gzip\r\n".to_owned(), "400"),
        ("an unknown coding", &length, "transfer-encoding: xchunked\r\n".to_owned(), "400"),
        ("a coding after a tab", &length, "transfer-encoding:\tchunked\u{b}\r\n".to_owned(), "400"),
        ("another version", "HTTP/1.1", "HTTP/9.9".to_owned(), "400"),
        ("a version twice", "HTTP/1.1", "HTTP/1.1 HTTP/1.1".to_owned(), "400"),
        ("another host in the target", "POST /mcp", "POST http://evil.example/mcp".to_owned(), "403"),
        ("a target without a path", "POST /mcp", "POST mcp".to_owned(), "404"),
        ("another path", "POST /mcp", "POST /mcp/../admin".to_owned(), "404"),
        ("a path in other letters", "POST /mcp", "POST /%6dcp".to_owned(), "404"),
        ("a method of small letters", "POST", "post".to_owned(), "405"),
    ];
    for (what, from, to, status) in &cases {
        check(&world, what, &replaced(&client, from, to), status).await;
    }
    let many = (0..200).map(|number| format!("x-{number}: y\r\n")).collect::<String>();
    check(&world, "many headers", &replaced(&client, name, &format!("{many}{name}")), "431").await;
    let long = format!("x: {}\r\n{name}", "y".repeat(300_000));
    check(&world, "a long header", &replaced(&client, name, &long), "431").await;
    let newer = client.send_bytes(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(meanwhile(&world, newer).await.unwrap(), "", "another protocol");
    check(&world, "TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400").await;
    assert_eq!(arguments(&world), Vec::<String>::new());
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

/// A body by chunks, with what `between` the chunks' sizes and line ends.
fn chunked(client: &Client, extension: &str, more_headers: &str, after: &str) -> Vec<u8> {
    let call = Call::tool("note", r#"{"text":"good"}"#);
    let text = wire(client, &call);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let length = format!("content-length: {}", body.len());
    let head = head.replace(&length, &format!("transfer-encoding: chunked{more_headers}"));
    let head = head.replace("connection: close\r\n", "");
    format!("{head}\r\n\r\n{:x}{extension}\r\n{body}\r\n0\r\n{after}", body.len()).into_bytes()
}

#[tokio::test]
async fn what_follows_a_body_in_chunks_is_nobodys_request() {
    let world = World::plain().await;
    let client = world.client("other");
    let next = format!("\r\n{}", smuggled(&client));
    for (what, more) in [
        ("chunks alone", ""),
        ("a length after the coding", "\r\ncontent-length: 4"),
        ("a length after the coding that covers everything", "\r\ncontent-length: 4000"),
    ] {
        check(&world, what, &chunked(&client, "", more, &next), "200").await;
    }
    let before = chunked(&client, "", "", &next);
    let before = String::from_utf8(before).unwrap();
    let before = before.replace("transfer-encoding", "content-length: 4\r\ntransfer-encoding");
    check(&world, "a length before the coding", before.as_bytes(), "200").await;
    assert_eq!(arguments(&world), ["good"; 4]);
}

#[tokio::test]
async fn what_stands_beside_the_chunks_is_not_read() {
    let world = World::plain().await;
    let client = world.client("other");
    let trailer = "mcp-name: look\r\nauthorization: Bearer x\r\n\r\n";
    check(&world, "an extension", &chunked(&client, ";note=\"a\"", "", "\r\n"), "200").await;
    check(&world, "trailers", &chunked(&client, "", "\r\ntrailer: mcp-name", trailer), "200").await;
    assert_eq!(arguments(&world), ["good"; 2]);
    let long = format!(";a={}", "b".repeat(50_000));
    check(&world, "a long extension", &chunked(&client, &long, "", "\r\n"), "400").await;
    check(&world, "a line feed in an extension", &chunked(&client, ";a\nb", "", "\r\n"), "400").await;
    check(&world, "a size that is none", &chunked(&client, "g", "", "\r\n"), "400").await;
    check(&world, "a size that is negative", &chunked(&client, "\r\n\r\n-1", "", "\r\n"), "400").await;
    assert_eq!(arguments(&world).len(), 2);
}

#[tokio::test]
async fn what_follows_a_request_is_another_request() {
    let world = World::plain().await;
    let client = world.client("other");
    // Shorter than the body: the rest of it begins the next request, which is none.
    let length = Call::tool("note", r#"{"text":"good"}"#).text().len();
    let short = replaced(&client, &format!("content-length: {length}"), "content-length: 10");
    check(&world, "a length that is too short", &short, "400").await;
    assert_eq!(arguments(&world), Vec::<String>::new());
}

#[tokio::test]
async fn names_and_arguments_split_no_request_of_the_gateway() {
    let world = World::plain().await;
    let split = "look\r\nauthorization: Bearer stolen\r\n\r\nPOST /mcp HTTP/1.1";
    let quoted = serde_json::to_string(split).unwrap();
    let encoded = aldgate_wire::header::encode_value(split);
    assert!(encoded.starts_with("=?base64?"));
    // The name as a name: there is no such tool.
    let named = Call::tool("look", r#"{"text":"t"}"#);
    let body = named.text().replace(r#""name":"look""#, &format!(r#""name":{quoted}"#));
    let named = named.body(body).without("mcp-name").header("mcp-name", &encoded);
    let reply = meanwhile(&world, world.send(&named)).await;
    assert_eq!(code(&reply), "AG-TOOL-UNKNOWN", "{}", reply.text());
    // The header as the header of another name.
    let other = Call::tool("look", r#"{"text":"t"}"#).without("mcp-name").header("mcp-name", &encoded);
    assert_eq!(code(&meanwhile(&world, world.send(&other)).await), "AG-WIRE-HEADER");
    // A value that goes on to the upstream in a header.
    let region =
        Call::tool("region", &format!(r#"{{"region":{quoted}}}"#)).header("mcp-param-region", &encoded);
    let reply = meanwhile(&world, world.send(&region)).await;
    assert_eq!(code(&reply), "-", "{}", reply.text());
    let seen = world.up.calls("region").pop().unwrap();
    assert_eq!(seen.header("mcp-param-region"), encoded);
    assert!(!seen.header("authorization").contains("stolen"), "{seen:?}");
    assert_eq!(world.up.seen().iter().filter(|seen| seen.mentions("stolen")).count(), 1);
}
