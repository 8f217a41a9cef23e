//! The commands, against the built-in configuration and against a gateway that serves.

use serde_json::{Value, json};

use crate::running::{Serving, aldgate, json_of, run};

fn contracts() -> Vec<Value> {
    let file: Value = serde_json::from_str(aldgate_field_service::CONTRACTS).expect("JSON");
    let servers = file["servers"].as_array().expect("servers").clone();
    servers.iter().flat_map(|server| server["tools"].as_array().expect("tools").clone()).collect()
}

#[test]
fn the_matrix_equals_what_the_contract_file_says() {
    let matrix = json_of(&run(&["policy", "matrix", "--json"]));
    let rows = matrix.as_array().expect("a list");
    let contracts = contracts();
    assert_eq!(rows.iter().filter(|row| row["kind"] == "tool").count(), contracts.len());
    for contract in contracts {
        let row = rows.iter().find(|row| row["tool"] == contract["name"]).expect("a row for each tool");
        assert_eq!(row["implied"], contract["_implied"], "{}", contract["name"]);
        assert_eq!(row["registry"], contract["_registry"], "{}", contract["name"]);
    }
}

#[test]
fn the_matrix_is_the_golden_one() {
    let output = run(&["policy", "matrix"]);
    expect_test::expect_file!["matrix.txt"].assert_eq(&String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_matrix_loses_no_principal_of_the_same_role() {
    let folder = tempfile::tempdir().expect("a folder");
    let principal = |name: &str, kind: &str, tenant: &str| {
        let hash = format!("sha256:{:064x}", name.len());
        format!(
            "[[principals]]\nname = \"{name}\"\nkind = \"{kind}\"\ntenant = \"{tenant}\"\nroles = [\"agent\"]\ntoken_sha256 = \"{hash}\"\n"
        )
    };
    let all = [
        principal("a", "service", "one"),
        principal("bb", "person", "one"),
        principal("ccc", "service", "two"),
    ];
    let config = folder.path().join("aldgate.toml");
    let demo = std::path::Path::new(crate::running::root()).join("demo");
    let lock = demo.join("contracts/manuals.json");
    let rest = "[policy]\nfiles = [\"p.cedar\"]\n[registry.\"manuals/search_manual\"]\nauthority = \"automatic\"\nlabels = []\nread_only = true\n";
    let upstream = format!(
        "[upstreams.manuals]\nkind = \"http\"\nurl = \"http://127.0.0.1:7310/manuals/mcp\"\nlock = {lock:?}\ntenants = [\"one\"]\n"
    );
    std::fs::write(&config, format!("{}{upstream}{rest}", all.concat())).expect("written");
    let policy = "permit (principal, action in [Action::\"call\", Action::\"call_unattended\"], resource) when { principal is Service };";
    std::fs::write(folder.path().join("p.cedar"), policy).expect("written");
    let config = config.to_str().expect("UTF-8");

    let matrix = json_of(&run(&["policy", "matrix", "--config", config, "--json"]));
    let ruled = |kind: &str, tenant: &str, ruling: &str| json!({"role": "agent", "kind": kind, "tenant": tenant, "ruling": ruling});
    let mut expected = [
        ruled("person", "one", "prohibited"),
        ruled("service", "one", "automatic"),
        ruled("service", "two", "prohibited"),
    ];
    let mut found = matrix[0]["roles"].as_array().expect("columns").clone();
    found.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(found, expected);

    // For whom the upstream does not serve there is nothing to rule on.
    let explain = |who| run(&["policy", "explain", "search_manual", "--config", config, "--as", who]);
    assert!(explain("a").status.success());
    let refused = explain("ccc");
    let said = String::from_utf8_lossy(&refused.stderr).replace("\n  │", "");
    assert!(!refused.status.success() && said.contains("does not serve the tenant `two`"), "{said}");

    let table = run(&["policy", "matrix", "--config", config]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    for heading in ["agent (person, one)", "agent (service, one)", "agent (service, two)"] {
        assert!(table.contains(heading), "{table}");
    }
    let row = table.lines().nth(1).expect("a row");
    assert_eq!((row.matches("automatic").count(), row.matches("prohibited").count()), (3, 2), "{table}");
}

#[test]
fn an_approver_sees_that_there_is_something_to_see() {
    let serving = Serving::start(&["--no-run"]);
    let hidden = "AC250\u{202e}1S-VT\u{200b}";
    let arguments = json!({"part_no": hidden, "quantity": 3, "ticket_id": "SR-20031"}).to_string();
    let mut call = aldgate()
        .args(["call", "raise_parts_order", "--json", "--args", &arguments])
        .env("ALDGATE_URL", &serving.url)
        .env("ALDGATE_TOKEN", &serving.agent)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary starts");
    let id = pending(&serving, 3);
    let shown = serving.run_as(&serving.approver, &["approvals", "show", &id]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(r"AC250\u{202e}1S-VT\u{200b}"), "{shown}");
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown}");
    let shown = serving.run_as(&serving.approver, &["approvals", "show", &id, "--json"]);
    assert_eq!(json_of(&shown)["arguments"]["part_no"], hidden);
    assert!(shown.stdout.is_ascii());
    call.kill().expect("killed");
    call.wait().expect("it ends");
}

#[test]
fn the_built_in_configuration_is_good() {
    assert!(run(&["config", "check"]).status.success());
    let output = run(&["policy", "check"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_ruling_is_explained() {
    let explained = json_of(&run(&[
        "policy",
        "explain",
        "export_service_records",
        "--as",
        "agent",
        "--json",
        "--args",
        r#"{"recipient": "a@b.example", "model_variant": "AC-250-S"}"#,
    ]));
    assert_eq!(explained["verdict"], "prohibited");
    assert_eq!(explained["rule"], "registry.prohibited");
    assert_eq!(explained["implied"], "prohibited");
}

#[test]
fn a_pinned_contract_that_differs_is_told_by_exit_code() {
    let serving = FieldService::start();
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("aldgate.toml");
    std::fs::write(
        &config,
        format!(
            "[upstreams.parts]\nkind = \"http\"\nurl = \"{}/parts/mcp\"\nlock = \"parts.json\"\n",
            serving.base
        ),
    )
    .expect("written");
    let config = config.to_str().expect("UTF-8");
    let pinned = run(&["contracts", "pin", "--config", config, "--json"]);
    assert!(pinned.status.success(), "{pinned:?}");
    assert_eq!(json_of(&pinned)[0]["tools"].as_array().expect("tools").len(), 3);
    let same = run(&["contracts", "verify", "--config", config]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");

    let path = folder.path().join("parts.json");
    let lock = std::fs::read_to_string(&path).expect("a lock");
    std::fs::write(&path, lock.replace("Read only.", "Read mostly.")).expect("written");
    let edited = run(&["contracts", "verify", "--config", config]);
    assert!(!edited.status.success());
    let said = String::from_utf8_lossy(&edited.stderr).into_owned();
    assert!(said.contains("check_availability"), "{said}");
}

/// Field-service without a gateway.
pub(crate) struct FieldService {
    child: std::process::Child,
    pub(crate) base: String,
}

impl FieldService {
    pub(crate) fn start() -> Self {
        use std::io::BufRead as _;
        let mut child = aldgate()
            .args(["serve", "field-service", "--tickets", "150", "--listen", "127.0.0.1:0"])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let said = std::io::BufReader::new(child.stderr.take().expect("its messages"));
        let first =
            said.lines().map_while(Result::ok).find(|line| line.starts_with("http://")).expect("an address");
        Self { child, base: first.trim_end_matches("/tickets/mcp").to_owned() }
    }
}

impl Drop for FieldService {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn tools_are_shown_with_what_they_say_and_what_the_host_says() {
    let serving = Serving::start(&["--no-run"]);
    let shown = serving.run_as(&serving.agent, &["tools", "show", "post_ticket_update"]);
    expect_test::expect_file!["tools-show.txt"].assert_eq(&String::from_utf8_lossy(&shown.stdout));

    let order = json_of(&serving.run_as(&serving.agent, &["tools", "show", "raise_parts_order", "--json"]));
    assert_eq!(order["implied"], "prohibited");
    assert_eq!(order["registry"], "requires_approval");
    assert_eq!(order["host_disagrees"], true);

    // What is prohibited is in nobody's list; an operator sees it, the agent does not.
    let hidden = serving.run_as(&serving.agent, &["tools", "show", "export_service_records"]);
    assert!(!hidden.status.success());
    let seen = json_of(&serving.as_approver(&["tools", "show", "export_service_records", "--json"]));
    assert_eq!(seen["registry"], "prohibited");

    let listed = json_of(&serving.run_as(&serving.agent, &["tools", "list", "--json"]));
    let names: Vec<_> = listed.as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    let expected = [
        "check_availability",
        "find_part",
        "get_ticket",
        "post_ticket_update",
        "raise_parts_order",
        "search_manual",
        "search_tickets",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_call_waits_for_the_decision_that_is_made_from_another_terminal() {
    let serving = Serving::start(&["--no-run"]);
    let arguments = json!({"part_no": "AC250-TV-S1", "quantity": 2, "ticket_id": "SR-20031"}).to_string();
    let mut call = aldgate()
        .args(["call", "raise_parts_order", "--json", "--args", &arguments])
        .env("ALDGATE_URL", &serving.url)
        .env("ALDGATE_TOKEN", &serving.agent)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary starts");
    let id = pending(&serving, 2);

    // The agent may not decide its own call, and what it asked for is shown before the decision.
    let own = serving.run_as(&serving.agent, &["approvals", "approve", &id]);
    assert!(!own.status.success());
    let shown = json_of(&serving.run_as(&serving.approver, &["approvals", "show", &id, "--json"]));
    assert_eq!(shown["arguments"]["quantity"], 2);
    assert!(call.try_wait().expect("a state").is_none(), "the call went on without a decision");

    let decided = serving.decides(&["approvals", "approve", &id, "--note", "two, please", "--json"]);
    assert_eq!(json_of(&decided)["state"], "approved");
    let output = call.wait_with_output().expect("it ends");
    let answer = json_of(&output);
    assert_eq!(answer["isError"], false, "{answer}");
    assert_eq!(answer["structuredContent"]["quantity"], 2);

    let call = answer["call"].as_str().expect("a call id").to_owned();
    let rows = json_of(&serving.run_as(&serving.approver, &["audit", "show", &call, "--json"]));
    let kinds: Vec<_> =
        rows["rows"].as_array().expect("rows").iter().map(|row| row["kind"].clone()).collect();
    assert!(kinds.contains(&json!("intent")) && kinds.contains(&json!("outcome")), "{kinds:?}");
    let twice = serving.decides(&["approvals", "deny", &id]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("redeemed"), "{twice:?}");
}

/// The approval that waits with this quantity.
pub(crate) fn pending(serving: &Serving, quantity: u64) -> String {
    for _ in 0..600 {
        let found = json_of(&serving.run_as(&serving.approver, &["approvals", "list", "--json"]));
        let approvals = found["approvals"].as_array().expect("approvals").clone();
        if let Some(one) = approvals.iter().find(|one| one["arguments"]["quantity"] == quantity) {
            return one["id"].as_str().expect("an id").to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no approval was asked for");
}

#[test]
fn status_needs_a_principal_that_may_operate() {
    let serving = Serving::start(&["--no-run"]);
    let status = json_of(&serving.run_as(&serving.approver, &["status", "--json"]));
    assert_eq!(status["upstreams"].as_array().expect("upstreams").len(), 3);
    assert!(!serving.run_as(&serving.agent, &["status"]).status.success());
    assert!(!serving.run_as("nobody", &["status"]).status.success());
    assert!(!serving.run_as(&serving.agent, &["audit", "list"]).status.success());
}

#[test]
fn the_agent_works_the_ticket_from_the_command_line_and_waits_for_the_person() {
    let serving = Serving::start(&["--no-run"]);
    let agent = aldgate()
        .args(["agent", "run", "work ticket SR-20031", "--json"])
        .env("ALDGATE_URL", &serving.url)
        .env("ALDGATE_TOKEN", &serving.agent)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary starts");
    let id = pending(&serving, 1);
    assert!(serving.decides(&["approvals", "approve", &id]).status.success());
    let events = crate::running::events_of(&agent.wait_with_output().expect("it ends"));
    let results = crate::running::named(&events, "result");
    let ordered = results.iter().find(|event| event["tool"] == "raise_parts_order").expect("an order");
    assert_eq!(ordered["is_error"], false, "{ordered}");
    assert_eq!(serving.rows("outcome", "parts/raise_parts_order").len(), 1);
}

#[test]
fn without_a_gateway_the_error_says_what_to_do() {
    let output = run(&["status", "--admin", "http://127.0.0.1:1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("no gateway answers") && said.contains("aldgate demo"), "{said}");
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    use std::io::Read as _;
    let mut child = aldgate()
        .args(["config", "schema"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("messages").read_to_string(&mut said).expect("UTF-8");
    assert!(child.wait().expect("it ends").success(), "{said}");
}
