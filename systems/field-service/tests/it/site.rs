//! A running site for a test: a copy of one generated store, served on a free port of the loopback interface.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use aldgate_field_service::{Access, FieldService, Options, ServerName};
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const VERSION: &str = "2026-07-28";
pub(crate) const OPEN_TICKET: &str = "SR-20031";

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) service: FieldService,
    pub(crate) store: PathBuf,
    folder: TempDir,
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {self:?}"))
    }

    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let answer = self.json();
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }
}

pub(crate) fn options(store: Option<PathBuf>) -> Options {
    Options { store, tickets: 2000, seed: 20_031, access: Access::Open, state_key: [7; 32] }
}

/// A store of the default size and seed, generated once for all tests.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, file) = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("template.sqlite");
        let store = file.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                FieldService::open(options(Some(store))).await.unwrap().close().await;
            });
        })
        .join()
        .unwrap();
        (folder, file)
    });
    file
}

/// A copy of the template in a folder of its own.
pub(crate) fn copied_store() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("copy.sqlite");
    std::fs::copy(template(), &store).unwrap();
    (folder, store)
}

pub(crate) async fn start() -> Site {
    start_with(Access::Open).await
}

pub(crate) async fn start_with(access: Access) -> Site {
    let (folder, store) = copied_store();
    let service = FieldService::open(Options { access, ..options(Some(store.clone())) }).await.unwrap();
    let address = serve(service.router()).await;
    Site { address, service, store, folder }
}

pub(crate) async fn serve(router: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// The `_meta` of a request, with the capabilities given.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// A well-formed request of any method.
pub(crate) fn request(id: Value, method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(json!({}));
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The headers that a body implies.
pub(crate) fn headers(body: &Value) -> Vec<(String, String)> {
    let mut headers = vec![
        ("Content-Type".to_owned(), "application/json".to_owned()),
        ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ("MCP-Protocol-Version".to_owned(), VERSION.to_owned()),
    ];
    if let Some(method) = body["method"].as_str() {
        headers.push(("Mcp-Method".to_owned(), method.to_owned()));
        let name = match method {
            "tools/call" | "prompts/get" => &body["params"]["name"],
            "resources/read" => &body["params"]["uri"],
            _ => &Value::Null,
        };
        if let Some(name) = name.as_str() {
            headers.push(("Mcp-Name".to_owned(), name.to_owned()));
        }
    }
    headers
}

/// Writes one HTTP/1.1 request as text and reads the answer to the end of the connection.
pub(crate) async fn raw(address: SocketAddr, line: &str, headers: &[(String, String)], body: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that refuses a long body early may close before all of it is written.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    parse(&answer)
}

fn parse(answer: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
        dechunk(body)
    } else {
        body.to_owned()
    };
    Reply { status, head: head.to_owned(), body }
}

fn dechunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        if length == 0 {
            break;
        }
        let (chunk, rest) = rest.split_at(length);
        whole.push_str(chunk);
        body = rest.strip_prefix("\r\n").unwrap();
    }
    whole
}

impl Site {
    pub(crate) fn of(address: SocketAddr, service: FieldService, store: PathBuf, folder: TempDir) -> Site {
        Site { address, service, store, folder }
    }

    /// Closes the service and keeps the folder of its store.
    pub(crate) async fn stop(self) -> TempDir {
        self.service.close().await;
        self.folder
    }

    /// Posts a body with the headers given.
    pub(crate) async fn post(&self, server: ServerName, headers: &[(String, String)], body: &[u8]) -> Reply {
        raw(self.address, &format!("POST /{server}/mcp"), headers, body).await
    }

    /// Posts a well-formed request.
    pub(crate) async fn send(&self, server: ServerName, body: &Value) -> Reply {
        self.post(server, &headers(body), body.to_string().as_bytes()).await
    }

    /// A request of any method with parameters.
    pub(crate) async fn ask(&self, server: ServerName, method: &str, params: Value) -> Reply {
        self.send(server, &request(json!(1), method, params)).await
    }

    /// The result of a tool call.
    pub(crate) async fn call(&self, server: ServerName, tool: &str, arguments: Value) -> Value {
        self.ask(server, "tools/call", json!({ "name": tool, "arguments": arguments })).await.result()
    }

    /// The structured content of a tool call that must succeed.
    pub(crate) async fn done(&self, server: ServerName, tool: &str, arguments: Value) -> Value {
        let result = self.call(server, tool, arguments).await;
        assert_ne!(result["isError"], json!(true), "{result}");
        result["structuredContent"].clone()
    }

    /// The text of a tool call that must be refused with `isError`.
    pub(crate) async fn refused(&self, server: ServerName, tool: &str, arguments: Value) -> String {
        let result = self.call(server, tool, arguments).await;
        assert_eq!(result["isError"], json!(true), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// A valid tool call of each server, for checks that need one.
pub(crate) fn sample(server: ServerName) -> Value {
    let params = match server {
        ServerName::Tickets => json!({ "name": "get_ticket", "arguments": { "ticket_id": "SR-20031" } }),
        ServerName::Parts => {
            json!({ "name": "check_availability", "arguments": { "part_no": "AC250-TV-S1" } })
        }
        ServerName::Manuals => {
            json!({ "name": "search_manual", "arguments": { "query": "belt tension", "k": 2 } })
        }
    };
    request(json!("call-1"), "tools/call", params)
}

pub(crate) fn without(headers: &[(String, String)], name: &str) -> Vec<(String, String)> {
    headers.iter().filter(|(known, _)| !known.eq_ignore_ascii_case(name)).cloned().collect()
}

pub(crate) fn with(headers: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let mut changed = without(headers, name);
    changed.push((name.to_owned(), value.to_owned()));
    changed
}

pub(crate) async fn send_with(
    site: &Site,
    server: ServerName,
    change: impl Fn(&[(String, String)]) -> Vec<(String, String)>,
) -> Reply {
    let body = sample(server);
    site.post(server, &change(&headers(&body)), body.to_string().as_bytes()).await
}
