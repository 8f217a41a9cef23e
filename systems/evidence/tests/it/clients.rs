//! The official TypeScript and Python clients, in both eras, over HTTP and over stdio, at a real store.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_evidence::{Kind, Row};
use aldgate_evidence_server::{Bounds, Doors, Endpoint, EvidenceServer, Shelf, Stored};
use aldgate_store::{Durability, Store};
use axum::Router;
use axum::extract::Request;
use serde_json::json;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

use crate::world::{TOKEN_A, Tokens, shelves};

const TOOL: &str = "desk/get_ticket";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn typescript() -> Command {
    let folder = root().join("clients/typescript");
    assert!(folder.join("node_modules").is_dir(), "run `make test`, which installs the TypeScript SDK first");
    let mut command = Command::new("node");
    command.arg(folder.join("evidence.mjs"));
    command
}

fn python() -> Command {
    let interpreter = root().join(".venv/bin/python");
    assert!(interpreter.is_file(), "run `make test`, which installs the Python SDK first");
    let mut command = Command::new(interpreter);
    command.arg(root().join("clients/python/evidence.py"));
    command
}

/// A store with one call and one event of drift of [`TOOL`], and the id of the call.
async fn recorded(folder: &Path) -> (Store, String) {
    let principal = Arc::new(Principal {
        issuer: "host".to_owned(),
        subject: "agent".to_owned(),
        tenant: "acme".to_owned(),
        kind: PrincipalKind::Service,
        roles: std::collections::BTreeSet::new(),
        name: "Agent".to_owned(),
        client: "agent".to_owned(),
        actors: Vec::new(),
    });
    let row = |kind, call: u8| {
        let call = CallId::from_random([call; 16]);
        let mut row = Row::new(kind, Timestamp(1_700_000_000_000), call, principal.clone(), "tools/call");
        row.tool = Some(TOOL.into());
        row.contract_version = Some(2);
        row
    };
    let mut drift = row(Kind::Drift, 2);
    let digest = |letter: &str| format!("sha256:{}", letter.repeat(64));
    let change = json!({ "severity": "breaking", "path": "/inputSchema", "what": "more is required" });
    let said = json!({
        "event": "quarantined", "severity": "breaking", "before": digest("a"), "after": digest("b"),
        "diff": [change],
    });
    drift.drift = Some(to_raw_value(&said).unwrap().into());
    let rows = [row(Kind::Intent, 1), row(Kind::Outcome, 1), drift];
    let rows: Vec<_> = rows.iter().map(|row| row.to_stored(None).unwrap()).collect();
    let store = Store::open(folder).await.unwrap();
    store.append(&rows, Durability::Group).await.unwrap();
    (store, CallId::from_random([1; 16]).to_string())
}

fn succeeds(output: std::io::Result<Output>, calls: usize) {
    let output = output.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let counted: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(counted["calls"], calls);
}

/// Calls of each client in both eras.
const CALLS: usize = 18;

async fn over_http(mut client: Command) {
    let folder = TempDir::new().unwrap();
    let (store, call) = recorded(folder.path()).await;
    let source = Arc::new(Stored::new(Arc::new(store)));
    let server = Arc::new(EvidenceServer::new(source, shelves(), None).unwrap());
    let endpoint = Arc::new(Endpoint::new(server, Arc::new(Tokens), Doors::default(), Bounds::default()));
    let served = move |request: Request| {
        let endpoint = endpoint.clone();
        async move { endpoint.respond(request).await.map(axum::body::Body::new) }
    };
    let router = Router::new().route("/evidence/mcp", axum::routing::any(served));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/evidence/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    client.args([TOOL, &call, &url, TOKEN_A.trim_start_matches("Bearer ")]);
    let output = tokio::task::spawn_blocking(move || client.output()).await.unwrap();
    serving.abort();
    succeeds(output, CALLS);
}

/// The example program, built if it is not there yet.
fn example() -> PathBuf {
    let build =
        ["build", "--quiet", "--offline", "--locked", "-p", "aldgate-evidence-server", "--example", "serve"];
    let built = Command::new(env!("CARGO")).args(build).current_dir(root()).status().unwrap();
    assert!(built.success());
    let tests = std::env::current_exe().unwrap();
    let target = tests.ancestors().nth(3).unwrap();
    target.join("debug/examples/serve")
}

async fn over_stdio(mut client: Command) {
    let folder = TempDir::new().unwrap();
    let (_running, call) = recorded(folder.path()).await;
    let mut locks = Vec::new();
    for Shelf { lock, .. } in shelves() {
        let path = folder.path().join(format!("{}.json", lock.upstream.name));
        std::fs::write(&path, lock.to_pretty_json()).unwrap();
        locks.push(path);
    }
    client.args([TOOL, &call, "--stdio"]).arg(example()).arg("acme").arg(folder.path()).args(locks);
    let output = tokio::task::spawn_blocking(move || client.output()).await.unwrap();
    succeeds(output, CALLS);
}

#[tokio::test]
async fn the_typescript_client_over_http() {
    over_http(typescript()).await;
}

#[tokio::test]
async fn the_python_client_over_http() {
    over_http(python()).await;
}

#[tokio::test]
async fn the_typescript_client_over_stdio() {
    over_stdio(typescript()).await;
}

#[tokio::test]
async fn the_python_client_over_stdio() {
    over_stdio(python()).await;
}
