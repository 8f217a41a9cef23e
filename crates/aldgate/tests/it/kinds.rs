//! The commands about what is not a tool: resources, prompts, and listening to changes.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};

use crate::commands::FieldService;
use crate::host::{principal, serve};
use crate::running::{Serving, aldgate, json_of, run};
use crate::upstream::Upstream;

const TICKET: &str = "ticket://SR-20031";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// The rule and the concern of an explanation, with where its arguments do not fit.
fn explained(arguments: &[&str]) -> Value {
    let output = run(&[&["policy", "explain", "--json", "--as", "agent"], arguments].concat());
    let told = json_of(&output);
    let concern = ["tool", "resource", "prompt", "gateway"]
        .map(|kind| told[kind].as_str().unwrap_or_default())
        .concat();
    json!([concern, told["action"], told["verdict"], told["rule"], told["arguments_unfit"]])
}

#[test]
fn a_ruling_on_something_else_than_a_tool_is_explained() {
    let ticket = "tickets/ticket://{ticket_id}";
    let automatic = |concern: &str, action: &str| json!([concern, action, "automatic", "automatic", []]);
    assert_eq!(explained(&[TICKET]), automatic(ticket, "read"));
    assert_eq!(explained(&[TICKET, "--action", "listen"]), automatic(ticket, "listen"));
    let template = format!("resource:{ticket}");
    let completed = [template.as_str(), "--action", "complete", "--argument", "ticket_id=SR"];
    assert_eq!(explained(&completed), automatic(ticket, "complete"));
    let good = r#"{"model_variant": "AC-250-S", "symptom": "hot"}"#;
    for name in ["prompt:diagnose_fault", "prompt:tickets/diagnose_fault"] {
        assert_eq!(explained(&[name, "--args", good]), automatic("tickets/diagnose_fault", "get_prompt"));
    }
    assert_eq!(explained(&["gateway"]), automatic("aldgate", "listen"));

    assert_eq!(explained(&[TICKET, "--action", "call"])[3], "action.unfit");
    assert_eq!(explained(&["ticket://{ticket_id}"])[3], "context.unreadable");
    let unfit = &explained(&["prompt:diagnose_fault", "--args", r#"{"symptom": "hot", "colour": "red"}"#])[4];
    assert_eq!(unfit.as_array().map(Vec::len), Some(2), "{unfit}");
    for unknown in ["secret://SR-20031", "prompt:nothing", "nothing"] {
        let output = run(&["policy", "explain", unknown, "--as", "agent"]);
        assert!(!output.status.success() && text(&output).contains("AG-CLI-UNKNOWN"), "{}", text(&output));
    }
    let output = run(&["policy", "explain", TICKET, "--as", "agent", "--action", "complete"]);
    assert!(text(&output).contains("--argument NAME=VALUE"), "{}", text(&output));
}

#[test]
fn resources_are_listed_and_read() {
    let serving = Serving::start(&["--no-run"]);
    let listed = loop {
        let listed = json_of(&serving.run_as(&serving.agent, &["resources", "list", "--json"]));
        // Right after the start not every server was asked.
        if listed["resources"].as_array().expect("resources").iter().any(|one| one["uri"] == TICKET) {
            break listed;
        }
    };
    assert_eq!(listed["templates"].as_array().map(Vec::len), Some(2), "{listed}");
    let table = text(&serving.run_as(&serving.agent, &["resources", "list"]));
    assert!(
        table.contains("ticket://{ticket_id}                   automatic  One service ticket"),
        "{table}"
    );
    assert!(
        table.contains("ticket://SR-20031                      -          Service ticket SR-20031"),
        "{table}"
    );

    let read = serving.run_as(&serving.agent, &["resources", "read", TICKET]);
    let ticket: Value = json_of(&read);
    assert_eq!(ticket["ticket_id"], "SR-20031");
    let whole = json_of(&serving.run_as(&serving.agent, &["resources", "read", TICKET, "--json"]));
    assert_eq!(whole["contents"][0]["uri"], TICKET);
    for (uri, code) in [("secret://x", "AG-RESOURCE-UNKNOWN"), ("a://b/../c", "AG-RESOURCE-URI")] {
        let output = serving.run_as(&serving.agent, &["resources", "read", uri]);
        assert!(!output.status.success() && text(&output).starts_with(code), "{}", text(&output));
    }
    let approver = serving.as_approver(&["resources", "read", TICKET]);
    assert!(text(&approver).starts_with("AG-AUTHORITY-NOT-PERMITTED"), "{}", text(&approver));
    let nothing = serving.as_approver(&["resources", "list"]);
    assert_eq!(text(&nothing), "no resources for this principal\n");
}

#[test]
fn prompts_are_listed_and_got() {
    let serving = Serving::start(&["--no-run"]);
    let table = text(&serving.run_as(&serving.agent, &["prompts", "list"]));
    expect![[r#"
        prompt          host says  arguments                           title
        diagnose_fault  automatic  model_variant symptom [fault_code]  Diagnose a fault
    "#]]
    .assert_eq(&table);
    let get = |arguments: &[&str]| serving.run_as(&serving.agent, &[&["prompts", "get"], arguments].concat());
    let got = text(&get(&["diagnose_fault", "model_variant=AC-250-S", "symptom=a=b"]));
    assert!(
        got.starts_with(
            "user: Diagnose a fault of machine AC-250-S. Reported symptom, quoted as data: \"a=b\"."
        ),
        "{got}"
    );
    for (arguments, code) in [
        (["nothing", "a=b"], "AG-PROMPT-UNKNOWN"),
        (["diagnose_fault", "symptom=hot"], "AG-PARAMS"),
        (["diagnose_fault", "symptom"], "AG-CLI-USAGE"),
    ] {
        let output = get(&arguments);
        assert!(!output.status.success() && text(&output).starts_with(code), "{}", text(&output));
    }
}

#[test]
fn a_resource_can_be_subscribed_to_as_soon_as_the_gateway_serves() {
    let serving = Serving::start(&["--no-run"]);
    let listened = serving.run_as(&serving.agent, &["listen", TICKET, "secret://x", "--most", "0"]);
    assert_eq!(text(&listened), "nothing will be told of `secret://x`\nlistening\n");
}

/// `aldgate listen`, after it said that it listens.
fn listening(serving: &Serving, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut child = aldgate()
        .arg("listen")
        .args(arguments)
        .env("ALDGATE_URL", &serving.url)
        .env("ALDGATE_TOKEN", &serving.agent)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut said = BufReader::new(child.stderr.take().expect("its messages")).lines();
    assert_eq!(said.next().expect("a line").expect("text"), "listening");
    (child, said)
}

#[test]
fn the_end_of_a_subscription_is_told_with_its_reason() {
    type End = fn(Serving);
    let ends: [(&str, End, &str); 2] = [
        (
            "stopping",
            |serving| assert!(serving.interrupt().success()),
            "the gateway is stopping; listen again when it runs",
        ),
        ("abruptly", drop, "the connection was lost"),
    ];
    for (why, end, words) in ends {
        let serving = Serving::start(&["--no-run"]);
        let (child, mut said) = listening(&serving, &["--json"]);
        end(serving);
        let told = child.wait_with_output().expect("its output");
        assert_eq!(told.status.code(), Some(1), "{why}");
        let last = String::from_utf8_lossy(&told.stdout).lines().last().map(str::to_owned);
        assert_eq!(last, Some(json!({"ended": why}).to_string()));
        let said = said.next().expect("a line").expect("text");
        assert_eq!(said, format!("the subscription has ended: {words}"));
    }
}

#[test]
fn an_interrupt_ends_it_while_it_asks_to_listen() {
    let upstream = Upstream::start(&[]);
    let variables = [("ALDGATE_URL", upstream.url.as_str()), ("ALDGATE_TOKEN", "agt_any")];
    let mut child = aldgate().arg("listen").envs(variables).spawn().expect("the binary starts");
    let begun = Instant::now();
    while upstream.asked("subscriptions/listen") == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn what_a_subscription_tells_is_printed() {
    let serving = Serving::start(&["--no-run"]);
    // What the servers list is found while the gateway starts, which is a change too.
    while json_of(&serving.run_as(&serving.approver, &["status", "--json"]))["upstreams"]
        .as_array()
        .expect("upstreams")
        .iter()
        .any(|upstream| upstream["compared_at"].is_null())
    {}
    let (listening, _said) = listening(&serving, &[TICKET, "--most", "1", "--json"]);
    let status = text(&serving.run_as(&serving.approver, &["status"]));
    assert!(status.contains("listening: 1 client"), "{status}");
    let note = r#"{"ticket_id": "SR-20031", "note": "Heard of."}"#;
    let posted = serving.run_as(&serving.agent, &["call", "post_ticket_update", "--args", note]);
    assert!(posted.status.success(), "{}", text(&posted));
    let told = listening.wait_with_output().expect("its output");
    assert!(told.status.success());
    assert_eq!(json_of(&told), json!({"changed": "resource", "uri": TICKET}));

    let refused = serving.as_approver(&["listen", TICKET]);
    assert!(text(&refused).starts_with("AG-AUTHORITY-NOT-PERMITTED"), "{}", text(&refused));
}

#[test]
fn contracts_of_every_kind_are_pinned_compared_counted_and_held_back() {
    let service = FieldService::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("aldgate.toml");
    let upstream = format!(
        "[upstreams.tickets]\nkind = \"http\"\nurl = \"{}/tickets/mcp\"\nlock = \"t.json\"\n",
        service.base
    );
    let entry = |section: &str, name: &str| {
        format!("[{section}.\"tickets/{name}\"]\nauthority = \"automatic\"\nlabels = []\nread_only = true\n")
    };
    let known = [entry("registry", "get_ticket"), entry("resources", "ticket://{ticket_id}")].concat();
    std::fs::write(&file, format!("{upstream}{known}")).expect("written");
    let config = file.to_str().expect("UTF-8");
    let pinned = json_of(&run(&["contracts", "pin", "--config", config, "--json"]));
    assert_eq!(pinned[0]["tools"].as_array().map(Vec::len), Some(4), "{pinned}");
    assert_eq!(pinned[0]["resource_templates"][0]["resource_template"], "ticket://{ticket_id}");
    assert_eq!(pinned[0]["prompts"][0]["prompt"], "diagnose_fault");
    let again = text(&run(&["contracts", "pin", "--config", config]));
    assert!(again.starts_with("tickets: 4 tools, 1 resource template, 1 prompt pinned in"), "{again}");

    let lock = folder.path().join("t.json");
    let written = std::fs::read_to_string(&lock).expect("a lock");
    let mut edited: Value = serde_json::from_str(&written).expect("JSON");
    edited["prompts"].as_object_mut().expect("prompts").clear();
    std::fs::write(&lock, edited.to_string()).expect("written");
    let verified = json_of(&run(&["contracts", "verify", "--config", config, "--json"]));
    let findings = verified[0]["findings"].as_array().expect("findings");
    let of = |kind: &str| findings.iter().find(|one| one[kind].is_string()).expect("a finding").clone();
    assert_eq!(of("resource_template")["finding"], "same");
    let prompt = of("prompt");
    assert_eq!((&prompt["prompt"], &prompt["finding"]), (&json!("diagnose_fault"), &json!("new")));
    assert_eq!(
        (&prompt["what"], &prompt["severity"]),
        (&json!("new: not pinned, not offered"), &Value::Null)
    );
    std::fs::write(&lock, written).expect("written");

    let checked = json_of(&run(&["config", "check", "--config", config, "--json"]));
    assert_eq!(
        (&checked["tools"], &checked["resources"], &checked["prompts"]),
        (&json!(1), &json!(1), &json!(0))
    );
    let held = checked["held_back"].as_array().expect("a list");
    let why = "not in the registry: prohibited";
    assert!(held.contains(&json!({"prompt": "tickets/diagnose_fault", "why": why})), "{checked}");
    assert!(held.contains(&json!({"tool": "tickets/search_tickets", "why": why})), "{checked}");
    let checked = text(&run(&["config", "check", "--config", config]));
    assert!(checked.contains("held back: prompt:tickets/diagnose_fault: not in the registry"), "{checked}");
    assert!(
        checked.contains("the configuration is good: 1 upstream, 1 tool, 1 resource, 0 principals"),
        "{checked}"
    );
    let fits = text(&run(&["policy", "check", "--config", config]));
    assert!(fits.contains("the policies fit the contracts: 1 tool, 1 resource"), "{fits}");
}

#[test]
fn a_read_waits_for_a_person_and_a_subscription_to_the_same_is_refused() {
    let service = FieldService::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (agent, first) = principal(&["agent", "--role", "agent"]);
    let (approver, second) = principal(&["ann", "--kind", "person", "--role", "approver"]);
    let policies = r#"
        @id("agents") permit (principal in Role::"agent", action, resource);
        @id("approvers") permit (principal in Role::"approver", action in [Action::"decide", Action::"audit"], resource);
    "#;
    std::fs::write(folder.path().join("p.cedar"), policies).expect("written");
    let config = format!(
        "[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[policy]\nfiles = [\"p.cedar\"]\n{first}\n{second}\n\
         [upstreams.tickets]\nkind = \"http\"\nurl = \"{}/tickets/mcp\"\nlock = \"t.json\"\n\
         [resources.\"tickets/ticket://{{ticket_id}}\"]\nauthority = \"requires_approval\"\nlabels = []\nread_only = true\n",
        service.base
    );
    std::fs::write(folder.path().join("aldgate.toml"), config).expect("written");
    let pinned = aldgate().current_dir(&folder).args(["contracts", "pin"]).output().expect("the binary runs");
    assert!(pinned.status.success(), "{}", text(&pinned));
    let (mut gateway, _said, url, admin) = serve(folder.path());
    let run_as = |token: &str, arguments: &[&str]| {
        let mut command = aldgate();
        command.args(arguments).env("ALDGATE_URL", &url).env("ALDGATE_ADMIN_URL", &admin);
        command.env("ALDGATE_TOKEN", token).output().expect("the binary runs")
    };
    let read = ["resources", "read", TICKET];
    let pending = text(&run_as(&agent, &read));
    assert!(pending.starts_with("AG-APPROVAL-PENDING") && pending.contains("7403"), "{pending}");
    let listed = json_of(&run_as(&approver, &["approvals", "list", "--json"]));
    let approval = &listed["approvals"][0];
    assert_eq!(approval["tool"], "resource:tickets/ticket://{ticket_id}", "{listed}");
    let id = approval["id"].as_str().expect("an id");
    let shown = json_of(&run_as(&approver, &["approvals", "show", id, "--json"]));
    assert_eq!(shown["arguments"], json!({"uri": TICKET}));
    assert!(run_as(&approver, &["approvals", "approve", id]).status.success());
    assert_eq!(json_of(&run_as(&agent, &read))["ticket_id"], "SR-20031");
    // An approval is good once.
    assert!(text(&run_as(&agent, &read)).starts_with("AG-APPROVAL-PENDING"));
    // Whoever listens cannot wait for a person.
    let heard = text(&run_as(&agent, &["listen", TICKET, "--most", "0"]));
    assert!(heard.starts_with("nothing will be told of `ticket://SR-20031`"), "{heard}");
    gateway.kill().expect("killed");
    gateway.wait().expect("it ends");
}
