//! Real clients: the TypeScript and the Python SDK, each through the gateway and at each server directly. `rmcp` is what
//! the demonstration's own agent is built on.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::running::{Serving, root};

fn typescript(script: &str) -> Command {
    let folder = Path::new(root()).join("clients/typescript");
    assert!(folder.join("node_modules").is_dir(), "run `make test`, which installs the TypeScript SDK first");
    let mut command = Command::new("node");
    command.arg(folder.join(script));
    command
}

fn python(script: &str) -> Command {
    let interpreter: PathBuf = Path::new(root()).join(".venv/bin/python");
    assert!(interpreter.is_file(), "run `make test`, which installs the Python SDK first");
    let mut command = Command::new(interpreter);
    command.arg(Path::new(root()).join("clients/python").join(script));
    command
}

fn works_the_ticket(mut client: Command) {
    let serving = Serving::start(&["--no-run"]);
    let orders_before = serving.rows("outcome", "parts/raise_parts_order").len();
    assert_eq!(orders_before, 0);
    let output = client
        .args([&serving.url, &serving.agent, &serving.approver, &serving.admin])
        .output()
        .expect("the client runs");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
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

fn uses_each_server(client: fn(&str) -> Command, script: &str) {
    for server in ["tickets", "parts", "manuals"] {
        let service = crate::commands::FieldService::start();
        let output =
            client(script).arg(format!("{}/{server}/mcp", service.base)).output().expect("the client runs");
        assert!(
            output.status.success(),
            "{server}: {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
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
