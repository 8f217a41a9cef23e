//! `subscriptions/listen`: acknowledgement first, changes that were asked for, an orderly end.

use std::time::Duration;

use aldgate_field_service::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::site::{OPEN_TICKET, Site, headers, request, start};

/// An open stream of events.
struct Stream {
    lines: tokio::io::Lines<BufReader<TcpStream>>,
    head: String,
}

impl Stream {
    async fn open(site: &Site, server: ServerName, id: Value, notifications: Value) -> Stream {
        let body = request(id, "subscriptions/listen", json!({ "notifications": notifications }));
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        let text = body.to_string();
        let mut head = format!(
            "POST /{server}/mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n",
            site.address,
            text.len()
        );
        for (name, value) in headers(&body) {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{text}").as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        let mut head = String::new();
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if line.is_empty() {
                break;
            }
            head += &line.to_lowercase();
            head += "\n";
        }
        Stream { lines, head }
    }

    /// The next message, or `None` when the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        let read = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if let Some(data) = line.strip_prefix("data:") {
                    return Some(serde_json::from_str(data.trim()).unwrap());
                }
                if line == "0" {
                    return None;
                }
            }
            None
        };
        tokio::time::timeout(Duration::from_secs(60), read).await.expect("a message in time")
    }
}

#[tokio::test]
async fn the_acknowledgement_comes_first_with_what_is_honoured() {
    let site = start().await;
    let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["ticket://SR-20031", "file:///etc/passwd"] });
    for (server, honoured) in [
        (
            ServerName::Tickets,
            json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["ticket://SR-20031"] }),
        ),
        (ServerName::Parts, json!({ "toolsListChanged": true })),
        (ServerName::Manuals, json!({ "toolsListChanged": true, "resourcesListChanged": true })),
    ] {
        let mut stream = Stream::open(&site, server, json!("L1"), wanted.clone()).await;
        assert!(stream.head.contains("content-type: text/event-stream"), "{}", stream.head);
        assert!(stream.head.contains("x-accel-buffering: no"));
        let first = stream.next().await.unwrap();
        assert_eq!(first["method"], json!("notifications/subscriptions/acknowledged"));
        assert_eq!(first["params"]["notifications"], honoured, "{server}");
        assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!("L1"));
    }
}

#[tokio::test]
async fn a_note_tells_those_who_watch_the_ticket() {
    let site = start().await;
    let watch = json!({ "resourceSubscriptions": ["ticket://SR-20031"] });
    let mut watching = Stream::open(&site, ServerName::Tickets, json!(5), watch).await;
    let mut other = Stream::open(
        &site,
        ServerName::Tickets,
        json!(6),
        json!({ "resourceSubscriptions": ["ticket://SR-20032"], "toolsListChanged": true }),
    )
    .await;
    watching.next().await.unwrap();
    other.next().await.unwrap();
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "news" });
    site.done(ServerName::Tickets, "post_ticket_update", note).await;
    let told = watching.next().await.unwrap();
    assert_eq!(told["method"], json!("notifications/resources/updated"));
    assert_eq!(told["params"]["uri"], json!("ticket://SR-20031"));
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(5));
    // The other stream hears of the lists next: the note was not for it.
    site.service.announce_lists(ServerName::Tickets);
    let told = other.next().await.unwrap();
    assert_eq!(told["method"], json!("notifications/tools/list_changed"));
}

#[tokio::test]
async fn list_changes_are_told_by_kind_and_server() {
    let site = start().await;
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
    let mut tickets = Stream::open(&site, ServerName::Tickets, json!(1), all.clone()).await;
    let mut parts = Stream::open(&site, ServerName::Parts, json!(2), all).await;
    let mut only =
        Stream::open(&site, ServerName::Tickets, json!(3), json!({ "promptsListChanged": true })).await;
    for stream in [&mut tickets, &mut parts, &mut only] {
        stream.next().await.unwrap();
    }
    site.service.announce_lists(ServerName::Tickets);
    for kind in ["tools", "prompts", "resources"] {
        let told = tickets.next().await.unwrap();
        assert_eq!(told["method"], json!(format!("notifications/{kind}/list_changed")));
    }
    assert_eq!(only.next().await.unwrap()["method"], json!("notifications/prompts/list_changed"));
    site.service.announce_lists(ServerName::Parts);
    let told = parts.next().await.unwrap();
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(2));
}

#[tokio::test]
async fn closing_ends_a_listen_with_its_result() {
    let site = start().await;
    let mut stream =
        Stream::open(&site, ServerName::Tickets, json!("L9"), json!({ "toolsListChanged": true })).await;
    stream.next().await.unwrap();
    site.service.close().await;
    let last = stream.next().await.unwrap();
    assert_eq!(last["id"], json!("L9"));
    assert_eq!(last["result"]["resultType"], json!("complete"));
    assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!("L9"));
    assert!(last["result"]["_meta"].get("io.modelcontextprotocol/serverInfo").is_some());
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn listeners_do_not_use_up_the_places_of_calls() {
    let site = start().await;
    let mut streams = Vec::new();
    for id in 0..64 {
        let mut stream =
            Stream::open(&site, ServerName::Parts, json!(id), json!({ "toolsListChanged": true })).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    let full = Stream::open(&site, ServerName::Parts, json!(64), json!({ "toolsListChanged": true })).await;
    assert!(full.head.starts_with("http/1.1 503"), "{}", full.head);
    site.done(ServerName::Parts, "check_availability", json!({ "part_no": "AC250-TV-S1" })).await;
    drop(streams);
    // Closed streams give their places back, as soon as the server has seen that they are closed.
    let again = async {
        loop {
            let stream =
                Stream::open(&site, ServerName::Parts, json!(65), json!({ "toolsListChanged": true })).await;
            if stream.head.starts_with("http/1.1 200") {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("places are free again");
}
