//! The evidence server beside a running gateway and alone, and what is said of a call from its evidence.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::host::{Host, text, text_of_failure};
use crate::running::{aldgate, json_of};
use crate::upstream::{Upstream, tool};

/// A tool whose argument was renamed in its second version.
fn find(property: &str) -> Value {
    json!({"name": "find", "description": "Finds.", "inputSchema": {
        "type": "object",
        "properties": {property: {"type": "string", "description": "The id of the customer."}},
        "required": [property], "additionalProperties": false,
    }})
}

impl Host {
    /// Calls a tool of the evidence server and gives its bare value.
    fn evidence(&self, tool: &str, arguments: &Value) -> Value {
        let url = self.url.replace("/mcp", "/evidence/mcp");
        let arguments = arguments.to_string();
        let call = ["call", tool, "--args", &arguments, "--url", &url, "--json"];
        let output = self.run_as(&self.approver, &call);
        assert!(output.status.success(), "{}", text(&output));
        json_of(&output)["structuredContent"]["result"].clone()
    }
}

#[test]
fn the_five_tools_answer_from_what_the_gateway_wrote() {
    let upstream = Upstream::start(&[find("customer_id"), tool("look", "Looks.")]);
    let host = Host::start(&upstream, "x_", &["find", "look"]);
    let called = host.run_as(&host.agent, &["call", "x_find", "--args", r#"{"customer_id":"7"}"#, "--json"]);
    let id = json_of(&called)["call"].as_str().expect("an id").to_owned();

    upstream.serve(&[find("client_id"), tool("look", "Looks.")]);
    host.until(&["tools", "show", "x_find", "--json"], |found| !found["refused_now"].is_null());
    let events = host.evidence("query_drift", &json!({"tool": "x_find"}));
    assert_eq!(
        (&events[0]["severity"], &events[0]["tool"]),
        (&json!("breaking"), &json!("a/find")),
        "{events}"
    );
    let rename = ["contracts", "accept", "a/find", "--rename", "customer_id=client_id"];
    let accepted = host.run_as(&host.approver, &rename);
    assert!(accepted.status.success(), "{}", text(&accepted));
    assert!(host.run_as(&host.approver, &["reload"]).status.success());

    let contract = host.evidence("lookup_contract", &json!({"tool": "a/find"}));
    assert_eq!(
        (&contract["version"], &contract["renames"][0]["identityConfirmed"]),
        (&json!("2"), &json!(true))
    );
    assert_eq!(contract["schema"], find("client_id")["inputSchema"]);
    let repaired = host.evidence(
        "simulate_repair",
        &json!({"tool": "x_find", "args": {"customer_id": "7"}, "mode": "strict"}),
    );
    assert_eq!(
        (&repaired["applied"], &repaired["args"]),
        (&json!(true), &json!({"client_id": "7"})),
        "{repaired}"
    );
    let artefact = host.evidence("fetch_audit", &json!({"id": id}));
    let kinds: Vec<_> = artefact["record"].as_array().expect("rows").iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["intent", "outcome"]);
    let coverage = host.evidence("coverage_report", &json!({"tools": ["x_find", "x_none"]}));
    assert_eq!(coverage["status"], "unvalidated");
    let seen: Vec<_> = coverage["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| (&tool["contract"], &tool["observations"]))
        .collect();
    assert_eq!(seen, [(&json!(true), &json!(1)), (&json!(false), &json!(0))]);

    // The same over standard input and output, beside the gateway that runs.
    let mut alone = aldgate()
        .current_dir(&host.folder)
        .args(["serve", "evidence", "--stdio", "--principal", "ann"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "lookup_contract", "arguments": {"tool": "x_find"}}});
    let mut input = alone.stdin.take().expect("its input");
    write!(input, "{hello}\n{call}\n").expect("written");
    drop(input);
    let said = alone.wait_with_output().expect("it ends");
    let lines: Vec<Value> = said
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    assert_eq!(
        lines[1]["result"]["structuredContent"]["result"],
        contract_as(&contract, "x_find"),
        "{said:?}"
    );
}

/// The same contract, asked for by another name.
fn contract_as(contract: &Value, name: &str) -> Value {
    let mut same = contract.clone();
    same["tool"] = name.into();
    same
}

#[test]
fn answers_reach_no_upstream_and_change_no_ruling() {
    let upstream = Upstream::start(&[find("customer_id")]);
    let host = Host::start(&upstream, "", &["find"]);
    let arguments = r#"{"customer_id":"7"}"#;
    let call = || json_of(&host.run_as(&host.agent, &["call", "find", "--args", arguments, "--json"]));
    let first = call();
    let ruling = |reply: &Value| {
        let id = reply["call"].as_str().expect("an id").to_owned();
        json_of(&host.run_as(&host.approver, &["explain", &id, "--json"]))["steps"][0]["explanation"].clone()
    };
    let before = ruling(&first);
    assert_eq!(before["verdict"], "automatic");
    let calls = upstream.calls();
    let id = first["call"].clone();
    host.evidence("lookup_contract", &json!({"tool": "find"}));
    host.evidence("query_drift", &json!({"tool": "find", "limit": 100}));
    host.evidence("fetch_audit", &json!({"id": id}));
    for mode in ["observe", "repair", "strict"] {
        let answer = host
            .evidence("simulate_repair", &json!({"tool": "find", "args": {"customer_id": 7}, "mode": mode}));
        assert_eq!(answer["dispatched"], false);
    }
    host.evidence("coverage_report", &json!({"tools": ["find"]}));
    assert_eq!(upstream.calls(), calls, "an answer reached the upstream");
    assert_eq!(ruling(&call()), before);
    assert_eq!(upstream.calls(), calls + 1);
}

#[test]
fn who_may_not_audit_reads_no_evidence_and_every_reading_leaves_a_row() {
    let upstream = Upstream::start(&[find("customer_id")]);
    let host = Host::start(&upstream, "", &["find"]);
    let url = host.url.replace("/mcp", "/evidence/mcp");
    for (token, code) in
        [(host.agent.as_str(), "AG-EVIDENCE-FORBIDDEN"), ("agt_wrong", "the token is not known here")]
    {
        let refused = text_of_failure(&host.run_as(token, &["tools", "list", "--url", &url]));
        let said = refused.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(said.contains(code), "{refused}");
    }
    let alone = aldgate()
        .current_dir(&host.folder)
        .args(["serve", "evidence", "--stdio", "--principal", "agent"])
        .output()
        .expect("the binary runs");
    assert!(text_of_failure(&alone).contains("AG-CLI-PRINCIPAL"), "{}", text(&alone));
    host.evidence("coverage_report", &json!({"tools": ["find"]}));
    let rows = json_of(&host.run_as(&host.approver, &["audit", "list", "--json"]))["rows"].clone();
    let of = |name: &str, kind: &str| {
        let rows = rows.as_array().expect("rows").iter();
        rows.filter(|row| {
            row["method"] == "evidence" && row["kind"] == kind && row["principal"]["subject"] == name
        })
        .count()
    };
    assert!(of("ann", "answer") > 0 && of("agent", "refusal") > 0, "{rows}");
}

#[test]
fn a_call_is_explained_from_its_record_alone() {
    let upstream = Upstream::start(&[find("customer_id")]);
    let host = Host::start(&upstream, "", &["find"]);
    let reply =
        json_of(&host.run_as(&host.agent, &["call", "find", "--args", r#"{"customer_id":"7"}"#, "--json"]));
    let id = reply["call"].as_str().expect("an id").to_owned();
    // What is on the disk now decides nothing of what was said then.
    std::fs::write(host.folder.path().join("p.cedar"), "forbid (principal, action, resource);")
        .expect("written");
    let said = text(&host.run_as(&host.approver, &["explain", &id]));
    for part in [
        "find, by agent of tenant",
        "contract  sha256:",
        " version 1",
        "ruled automatic, by",
        "because",
        "registry  automatic",
        "implied   prohibited by the annotations alone",
        "policy    agents-call (permit call) in p.cedar:",
        "outcome: complete",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let none = text_of_failure(&host.run_as(&host.approver, &["explain", "c_none"]));
    assert!(none.contains("AG-ADMIN-CALL"), "{none}");
}

#[test]
fn a_quarantine_is_shown_with_the_command_that_ends_it() {
    let upstream = Upstream::start(&[find("customer_id")]);
    let host = Host::start(&upstream, "", &["find"]);
    upstream.serve(&[find("client_id")]);
    host.until(&["status", "--json"], |found| found["upstreams"][0]["quarantined"][0]["name"] == "find");
    let said = text(&host.run_as(&host.approver, &["status"]));
    assert!(said.contains("quarantined a/find since 20") && said.contains("(breaking)"), "{said}");
    assert!(said.contains("aldgate contracts accept a/find"), "{said}");
}

#[test]
fn the_document_s_command_over_stdio_prints_what_it_shows() {
    let document = include_str!("../../../../docs/evidence.md");
    let (_, rest) = document.split_once("```bash\n").expect("a command");
    let (command, rest) = rest.split_once("```\n").expect("its end");
    let (_, rest) = rest.split_once("```json\n").expect("what it prints");
    let shown: Value = serde_json::from_str(rest.split_once("```\n").expect("its end").0).expect("JSON");
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let host = Host::start(&upstream, "", &["look"]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_aldgate")).parent().expect("its folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = std::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", command])
        .current_dir(&host.folder)
        .env("PATH", format!("{}:{path}", binary.display()))
        .output()
        .expect("bash runs");
    assert!(output.status.success(), "{output:?}");
    let mut found = json_of(&output);
    found["result"]["content"][0]["text"] = json!("…");
    assert_eq!(found, shown);
}
