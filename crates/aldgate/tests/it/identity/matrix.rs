//! What Alice (reads and writes), Bob (only reads) and Maya (approves) can do, each with what their own sign-in gave them:
//! role by tool by ruling, in a file that a person can read.

use std::fmt::Write as _;

use aldgate_testkit::{Call, Reply};
use serde_json::{Value, json};

use super::world::{Someone, World, exchange};
use super::{pending, succeeds, text};
use crate::running::json_of;

const PEOPLE: [(&str, &[&str]); 3] =
    [("alice", &["agent", "writer"]), ("bob", &["agent"]), ("maya", &["approver"])];

/// Every tool of the demonstration, and one that there is not.
const TOOLS: [(&str, &str); 9] = [
    ("check_availability", r#"{"part_no": "AC250-TV-S1"}"#),
    ("export_service_records", r#"{"recipient": "x", "model_variant": "AC-250-S"}"#),
    ("find_part", r#"{"model_variant": "AC-250-S", "category": "thermostatic-valve"}"#),
    ("get_ticket", r#"{"ticket_id": "SR-20031"}"#),
    ("post_ticket_update", r#"{"ticket_id": "SR-20031", "note": "looked at it"}"#),
    (
        "raise_parts_order",
        r#"{"ticket_id": "SR-20031", "part_no": "AC250-TV-S1", "quantity": 1, "justification": "the valve leaks"}"#,
    ),
    ("search_manual", r#"{"query": "torque"}"#),
    ("search_tickets", r#"{"model_variant": "AC-250-S"}"#),
    ("launch_missiles", "{}"),
];

/// What came of a request, in the words of the matrix.
fn outcome(reply: &Reply) -> String {
    let body: Value = reply.json().unwrap_or_default();
    let code = ["/error/data/code", "/error/code", "/result/_meta/io.github.aldgate~1refusal/code"]
        .iter()
        .find_map(|path| body.pointer(path).and_then(Value::as_str));
    let challenged = reply.header("www-authenticate").contains("error=\"insufficient_scope\"");
    let ran = body.get("result").is_some_and(|result| result["isError"] != json!(true));
    match (reply.status, code) {
        (200, None) if ran => "allowed".to_owned(),
        (200, Some("AG-APPROVAL-PENDING")) => "needs an approval".to_owned(),
        (200, Some(code @ ("AG-TOOL-UNKNOWN" | "AG-RESOURCE-UNKNOWN" | "AG-PROMPT-UNKNOWN"))) => {
            format!("unknown, {code}")
        }
        (200, Some(code)) => format!("forbidden, {code}"),
        (403, Some("AG-SCOPE")) if challenged => "403 insufficient_scope".to_owned(),
        (401, _) => "401".to_owned(),
        (status, code) => format!("{status} {}", code.unwrap_or("-")),
    }
}

/// Names on the pages of a list.
fn listed(world: &World, token: &str, method: &str, member: &str, name: &str) -> Vec<String> {
    let body = world.sends(token, &Call::method(method)).json().expect("JSON");
    let found = body.pointer(&format!("/result/{member}")).and_then(Value::as_array);
    let found = found.unwrap_or_else(|| panic!("{body}"));
    found.iter().map(|one| one[name].as_str().expect("a name").to_owned()).collect()
}

fn requests() -> Vec<(&'static str, String, Call)> {
    let mut all: Vec<(&str, String, Call)> = Vec::new();
    for (tool, arguments) in TOOLS {
        all.push(("tool", tool.to_owned(), Call::tool(tool, arguments)));
    }
    for (template, uri) in [
        ("ticket://{ticket_id}", "ticket://SR-20031"),
        ("manual://{document}/{revision}/{page}", "manual://FM-AC-250/R2/12"),
        ("secret://{x}", "secret://x"),
    ] {
        all.push(("resource", template.to_owned(), Call::resource(uri)));
    }
    let arguments = json!({"model_variant": "AC-250-S", "symptom": "leaks"});
    for prompt in ["diagnose_fault", "explain_everything"] {
        all.push(("prompt", prompt.to_owned(), Call::prompt(prompt, &arguments)));
    }
    let reference = json!({"type": "ref/prompt", "name": "diagnose_fault"});
    let completion = Call::method("completion/complete")
        .param("ref", reference)
        .param("argument", json!({"name": "model_variant", "value": "AC"}));
    all.push(("completion", "diagnose_fault".to_owned(), completion));
    all
}

/// The other doors: the admin API, the evidence server, and decisions.
fn doors(world: &World, someone: &mut Someone<'_>, approval: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut signed_in = |what, scope: &str| {
        let output = someone.signs_in(&["login", "--admin", "--scope", scope, "--json"]);
        let told = if output.status.success() {
            format!("granted {}", json_of(&output)["scope"].as_str().expect("a scope"))
        } else {
            assert!(text(&output).contains("access_denied"), "{}", text(&output));
            "access_denied".to_owned()
        };
        found.push((what, told));
    };
    signed_in("sign-in for `admin`", "admin");
    signed_in("sign-in for `evidence:read`", "evidence:read");
    signed_in("sign-in for `tools:read`", "tools:read");
    let admin = world.admin.trim_start_matches("http://").to_owned();
    let of_admin = someone.access_token(true);
    for (what, path) in [
        ("read status", "/v1/status"),
        ("read evidence", "/v1/evidence"),
        ("list approvals", "/v1/approvals"),
    ] {
        for (token, with) in [(someone.access_token(false), "MCP token"), (of_admin.clone(), "admin token")] {
            let request = http::Request::get(path).header("host", &admin);
            let request = request.header("authorization", format!("Bearer {token}"));
            let reply = exchange(&admin, request.body(bytes::Bytes::new()).expect("a request"));
            let body: Value = reply.json().unwrap_or_default();
            let mut told = reply.status.to_string();
            if let Some(code) = body.pointer("/error/code").and_then(Value::as_str) {
                let _ = write!(told, " {code}");
            }
            if let Some(seen) = body.get("approvals").and_then(Value::as_array) {
                let _ = write!(told, ", sees {}", seen.len());
            }
            found.push((if with == "MCP token" { what } else { "  with the token for the admin API" }, told));
        }
    }
    let host = world.host();
    let request =
        http::Request::post("/evidence/mcp").header("host", host).header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {}", someone.access_token(false)));
    let reply = exchange(host, request.body("{}".into()).expect("a request"));
    found.push(("evidence server with the MCP token", reply.status.to_string()));
    let decided = someone.signs_in(&["approvals", "approve", approval]);
    let said = text(&decided);
    let told = match said {
        _ if decided.status.success() => "approved",
        said if said.contains("access_denied") => "access_denied",
        said if said.contains("AG-DECIDE-SELF") => "AG-DECIDE-SELF",
        other => panic!("{other}"),
    };
    found.push(("decide Alice's order", told.to_owned()));
    found
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    all.into_iter().map(line).collect()
}

#[test]
fn role_by_tool_by_ruling() {
    let world = World::start();
    let mut people = PEOPLE.map(|(name, roles)| world.person(name, roles));
    let mut tokens = Vec::new();
    let mut granted = vec!["granted".to_owned()];
    for someone in &mut people {
        let signed_in = someone.signs_in(&["login", "--json"]);
        succeeds(&signed_in);
        granted.push(json_of(&signed_in)["scope"].as_str().expect("a scope").to_owned());
        tokens.push(someone.access_token(false));
    }
    let mut rows = vec![granted];
    for (kind, name, call) in requests() {
        let (method, member, key) = match kind {
            "tool" => ("tools/list", "tools", "name"),
            "resource" => ("resources/templates/list", "resourceTemplates", "uriTemplate"),
            _ => ("prompts/list", "prompts", "name"),
        };
        let mut row = vec![format!("{kind} {name}")];
        for token in &tokens {
            let shown = listed(&world, token, method, member, key).contains(&name);
            let shown = if shown { "listed" } else { "hidden" };
            row.push(format!("{shown}; {}", outcome(&world.sends(token, &call))));
        }
        rows.push(row);
    }
    let people_of = ["what", "alice (agent, writer)", "bob (agent)", "maya (approver)"];
    let mut matrix = table(&people_of, &rows);

    // Alice's order waits; Maya signs in where she sees it.
    succeeds(&people[2].signs_in(&["login", "--admin", "--scope", "tools:read"]));
    let id = pending(&people[2]);
    let mut columns = Vec::new();
    for someone in &mut people {
        columns.push(doors(&world, someone, &id));
    }
    let rows: Vec<Vec<String>> = (0..columns[0].len())
        .map(|row| {
            let mut cells = vec![columns[0][row].0.to_owned()];
            cells.extend(columns.iter().map(|column| column[row].1.clone()));
            cells
        })
        .collect();
    let _ = write!(matrix, "\n{}", table(&people_of, &rows));

    // What was refused for want of a scope is in the evidence, by whom and about what.
    let mut audited: Vec<String> = world
        .rows("refusal")
        .iter()
        .filter(|row| row["code"] == "AG-SCOPE")
        .map(|row| {
            let about = row["tool"].as_str().or(row["method"].as_str()).unwrap_or("-");
            format!("{} {about}", row["principal"]["name"].as_str().unwrap_or("-"))
        })
        .collect();
    audited.sort();
    let _ = write!(matrix, "\naudited as AG-SCOPE\n{}\n", audited.join("\n"));
    expect_test::expect_file!["../people.txt"].assert_eq(&matrix);
}
