//! One message a line, as strict as HTTP.

use std::time::Duration;

use aldgate_field_service::{FieldService, ServerName};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::site::{OPEN_TICKET, copied_store, meta, options, request};

/// A server at the other end of a pipe.
struct Pipe {
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
    done: tokio::task::JoinHandle<()>,
    service: FieldService,
    _folder: tempfile::TempDir,
}

async fn pipe(server: ServerName) -> Pipe {
    let (folder, store) = copied_store();
    let service = FieldService::open(options(Some(store))).await.unwrap();
    let (input, theirs) = tokio::io::duplex(1 << 20);
    let (ours, output) = tokio::io::duplex(1 << 20);
    let serving = service.clone();
    let done = tokio::spawn(async move { serving.lines(server, theirs, ours).await.unwrap() });
    Pipe { input, output: BufReader::new(output).lines(), done, service, _folder: folder }
}

impl Pipe {
    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.output.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&request(json!(1), method, params).to_string()).await;
        self.next().await
    }
}

#[tokio::test]
async fn each_server_answers_and_ends_with_its_input() {
    for server in ServerName::ALL {
        let mut pipe = pipe(server).await;
        let discovered = pipe.ask("server/discover", json!({})).await;
        assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
        let listed = pipe.ask("tools/list", json!({})).await;
        assert!(!listed["result"]["tools"].as_array().unwrap().is_empty());
        let info = &listed["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(info["name"], json!(format!("atlas.field-service.{server}")));
        drop(pipe.input);
        tokio::time::timeout(Duration::from_secs(60), pipe.done).await.expect("ends with its input").unwrap();
    }
}

#[tokio::test]
async fn faults_have_the_same_codes_as_over_http() {
    let mut pipe = pipe(ServerName::Tickets).await;
    let call = |params: Value| request(json!(1), "tools/call", params).to_string();
    let mut without_meta = request(json!(1), "tools/list", json!({}));
    without_meta["params"] = json!({});
    let mut old = request(json!(1), "tools/list", json!({}));
    old["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": { "a": "b".repeat(400_000) } });
    for (line, code) in [
        ("{".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (json!({ "jsonrpc": "2.0", "id": 1 }).to_string(), -32600),
        (without_meta.to_string(), -32602),
        (old.to_string(), -32022),
        (call(json!({ "arguments": {} })), -32602),
        (call(json!({ "name": "get_ticket", "arguments": [1] })), -32602),
        (call(json!({ "name": "nope", "arguments": {} })), -32602),
        (request(json!(1), "initialize", json!({})).to_string(), -32601),
        (long.to_string(), -32600),
    ] {
        pipe.send(&line).await;
        let answer = pipe.next().await;
        assert_eq!(answer["error"]["code"], json!(code), "{}", line.chars().take(200).collect::<String>());
    }
    // Non-ASCII names take the same way as others.
    let answer = pipe.ask("resources/read", json!({ "uri": "ticket://SR-20031" })).await;
    assert!(answer["result"]["contents"].is_array());
    pipe.send(&call(json!({ "name": "Überprüfung", "arguments": {} }))).await;
    let answer = pipe.next().await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    assert!(answer["error"]["message"].as_str().unwrap().contains("Überprüfung"));
}

#[tokio::test]
async fn a_listen_is_told_and_can_be_cancelled() {
    let mut pipe = pipe(ServerName::Tickets).await;
    let listen = json!({ "notifications": { "resourceSubscriptions": ["ticket://SR-20031"], "toolsListChanged": true } });
    pipe.send(&request(json!("L"), "subscriptions/listen", listen).to_string()).await;
    let first = pipe.next().await;
    assert_eq!(first["method"], json!("notifications/subscriptions/acknowledged"));
    let note =
        json!({ "name": "post_ticket_update", "arguments": { "ticket_id": OPEN_TICKET, "note": "x" } });
    pipe.send(&request(json!(2), "tools/call", note.clone()).to_string()).await;
    let both = [pipe.next().await, pipe.next().await];
    assert!(both.iter().any(|message| message["id"] == json!(2)), "{both:?}");
    assert!(
        both.iter().any(|message| message["method"] == json!("notifications/resources/updated")),
        "{both:?}"
    );
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "L" } });
    pipe.send(&cancel.to_string()).await;
    // The line after the cancellation is read after it, so its answer is the next message.
    let answer = pipe.ask("tools/call", note).await;
    assert_eq!(answer["id"], json!(1), "{answer}");
    pipe.service.announce_lists(ServerName::Tickets);
    drop(pipe.input);
    assert_eq!(pipe.output.next_line().await.unwrap(), None, "nothing follows a cancelled listen");
}

#[tokio::test]
async fn a_secret_of_the_http_side_is_not_asked_of_the_parent_process() {
    let (_folder, store) = copied_store();
    let access = aldgate_field_service::Access::Bearer("s".to_owned());
    let service =
        FieldService::open(aldgate_field_service::Options { access, ..options(Some(store)) }).await.unwrap();
    let line = request(json!(1), "tools/list", json!({ "_meta": meta(json!({})) })).to_string() + "\n";
    let (ours, output) = tokio::io::duplex(1 << 20);
    service.lines(ServerName::Parts, line.as_bytes(), ours).await.unwrap();
    let mut lines = BufReader::new(output).lines();
    let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert!(answer["result"]["tools"].is_array());
}
