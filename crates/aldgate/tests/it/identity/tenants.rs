//! Two tenants behind one gateway, neither of which can see that the other exists.

use aldgate_testkit::{Call, Reply};
use serde_json::{Value, json};

use super::world::{World, exchange};
use super::{ORDER, pending, succeeds, text};
use crate::host::principal;
use crate::running::json_of;

/// What only the other tenant has, of whoever looks: names and URIs.
struct Other {
    tool: (&'static str, &'static str, &'static str),
    prompt: Option<(&'static str, &'static str)>,
    uri: Option<(&'static str, &'static str)>,
}

fn at(base: &str, token: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
    let host = base.trim_start_matches("http://");
    let mut request = http::Request::builder().method(method).uri(path).header("host", host);
    request = request.header("authorization", format!("Bearer {token}"));
    if body.is_some() {
        request = request.header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    exchange(host, request.body(body.into()).expect("a request"))
}

/// All that somebody is told, but for the time and what it was that they named.
fn told(reply: &Reply, named: &str) -> String {
    let mut headers: Vec<String> = reply
        .headers
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or("-")))
        .collect();
    headers.sort();
    let body = reply.text().replace(named, "NAMED");
    // Each call has an id of its own.
    let own = |text: &str| text.starts_with("c_") && text.len() > 30;
    let body =
        body.split('"').map(|text| if own(text) { "CALL" } else { text }).collect::<Vec<_>>().join("\"");
    format!("{}\n{}\n\n{body}", reply.status, headers.join("\n"))
}

#[track_caller]
fn alike(one: &Reply, named: &str, other: &Reply, unknown: &str) {
    assert_eq!(named.len(), unknown.len(), "lengths are told too");
    assert!(one.text() != other.text() || named == unknown || !one.text().contains(named));
    assert_eq!(told(one, named), told(other, unknown), "`{named}` is not like what there is not");
}

fn call_of(world: &World, token: &str, other: &Other) {
    let Other { tool: (tool, unknown, arguments), prompt, uri } = other;
    for arguments in [*arguments, "{}", r#"{"nonsense": 1}"#] {
        let [one, two] = [tool, unknown].map(|name| world.sends(token, &Call::tool(name, arguments)));
        assert!(one.text().contains("AG-TOOL-UNKNOWN"), "{}", one.text());
        alike(&one, tool, &two, unknown);
    }
    let completion = |reference: Value| {
        let argument = json!({"name": "x", "value": ""});
        Call::method("completion/complete").param("ref", reference).param("argument", argument)
    };
    if let Some((prompt, unknown)) = prompt {
        for arguments in [json!({"model_variant": "AC-250-S", "symptom": "leaks"}), json!({})] {
            let [one, two] =
                [prompt, unknown].map(|name| world.sends(token, &Call::prompt(name, &arguments)));
            alike(&one, prompt, &two, unknown);
        }
        let of = |name: &str| completion(json!({"type": "ref/prompt", "name": name}));
        alike(&world.sends(token, &of(prompt)), prompt, &world.sends(token, &of(unknown)), unknown);
    }
    if let Some((uri, unknown)) = uri {
        let [one, two] = [uri, unknown].map(|uri| world.sends(token, &Call::resource(uri)));
        assert!(one.text().contains("AG-RESOURCE-UNKNOWN"), "{}", one.text());
        alike(&one, uri, &two, unknown);
        let of = |uri: &str| completion(json!({"type": "ref/resource", "uri": uri}));
        alike(&world.sends(token, &of(uri)), uri, &world.sends(token, &of(unknown)), unknown);
        let listen = |uri: &str| Call::listen(json!({"resourceSubscriptions": [uri]}));
        alike(&world.sends(token, &listen(uri)), uri, &world.sends(token, &listen(unknown)), unknown);
    }
}

/// What the admin API and the evidence server tell an operator of one tenant about the other's.
fn doors_of(world: &World, token: &str, theirs: &Theirs<'_>) {
    let get = |path: &str| at(&world.admin, token, "GET", path, None);
    let named = |id: &str| {
        // The same letters in another order: as long, and nothing that there is.
        let (word, rest) = id.split_once('_').expect("an id");
        format!("{word}_{}", rest.chars().rev().collect::<String>())
    };
    for (path, id) in [("/v1/approvals/", theirs.approval), ("/v1/evidence/", theirs.call)] {
        let unknown = named(id);
        alike(&get(&format!("{path}{id}")), id, &get(&format!("{path}{unknown}")), &unknown);
    }
    let decide = |id: &str, decision: &str| {
        let body = json!({"decision": decision});
        at(&world.admin, token, "POST", &format!("/v1/approvals/{id}/decision"), Some(&body))
    };
    let unknown = named(theirs.approval);
    for decision in ["approve", "deny", "nonsense"] {
        alike(&decide(theirs.approval, decision), theirs.approval, &decide(&unknown, decision), &unknown);
    }
    assert_eq!(decide(theirs.approval, "approve").status, 404);
    let (tool, unknown, _) = theirs.has.tool;
    let show = |name: &str| get(&format!("/v1/tools/{name}"));
    alike(&show(tool), tool, &show(unknown), unknown);
    assert_eq!(show(tool).status, 404);
    let release = |name: &str| {
        let body = json!({"upstream": theirs.upstream, "kind": "tool", "name": name});
        at(&world.admin, token, "POST", "/v1/quarantine/release", Some(&body))
    };
    alike(&release(tool), tool, &release(unknown), unknown);
    let by_tool = |name: &str| {
        let reply = get(&format!("/v1/evidence?tool={name}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json().expect("JSON")
    };
    assert_eq!(by_tool(&format!("{}/{tool}", theirs.upstream))["rows"], json!([]));
    for path in ["/v1/status", "/v1/evidence?limit=500", "/v1/approvals", "/v1/traces"] {
        let said = get(path);
        assert_eq!(said.status, 200, "{}", said.text());
        for word in [theirs.people[0], theirs.people[1], theirs.tenant] {
            assert!(!said.text().contains(&format!("\"{word}\"")), "`{word}` at {path}: {}", said.text());
        }
    }
    let upstreams: Vec<Value> =
        get("/v1/status").json().expect("JSON")["upstreams"].as_array().cloned().unwrap_or_default();
    assert_eq!(upstreams.len(), 2, "{upstreams:?}");
    assert!(upstreams.iter().all(|upstream| upstream["name"] != theirs.upstream), "{upstreams:?}");
    let asked = |name: &str, arguments: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        at(world.url.trim_end_matches("/mcp"), token, "POST", "/evidence/mcp", Some(&body))
    };
    for name in ["lookup_contract", "query_drift"] {
        let of = |tool: &str| asked(name, json!({"tool": tool}));
        alike(&of(tool), tool, &of(unknown), unknown);
    }
    let of = |tool: &str| asked("simulate_repair", json!({"tool": tool, "args": {}}));
    alike(&of(tool), tool, &of(unknown), unknown);
    let of = |tool: &str| asked("coverage_report", json!({"tools": [tool]}));
    alike(&of(tool), tool, &of(unknown), unknown);
    let of = |id: &str| asked("fetch_audit", json!({"id": id}));
    let unknown = named(theirs.call);
    alike(&of(theirs.call), theirs.call, &of(&unknown), &unknown);
}

/// What the other tenant has done, and is.
struct Theirs<'a> {
    has: &'a Other,
    upstream: &'a str,
    tenant: &'a str,
    people: [&'a str; 2],
    approval: &'a str,
    call: &'a str,
}

#[test]
fn neither_of_two_tenants_can_see_that_the_other_exists() {
    let of_acme = principal(&[
        "ann-token",
        "--kind",
        "person",
        "--tenant",
        "acme",
        "--role",
        "operator",
        "--role",
        "approver",
    ]);
    let of_globex = principal(&[
        "gus-token",
        "--kind",
        "person",
        "--tenant",
        "globex",
        "--role",
        "operator",
        "--role",
        "approver",
    ]);
    let world = World::start_with(|config| {
        let config = config.replace("dynamic_registration = true", "tenants = [\"acme\", \"globex\"]");
        let config =
            config.replace("lock = \"tickets.json\"", "lock = \"tickets.json\"\ntenants = [\"acme\"]");
        let config = config.replace("lock = \"parts.json\"", "lock = \"parts.json\"\ntenants = [\"globex\"]");
        let both = "lock = \"manuals.json\"\ntenants = [\"acme\", \"globex\"]";
        let config = config.replace("lock = \"manuals.json\"", both);
        format!("{config}\n{}\n{}", of_acme.1, of_globex.1)
    });
    let roles = ["agent", "writer", "approver"];
    let mut ann = world.person_with("ann", &roles, &["--tenant", "acme"]);
    let mut gus = world.person_with("gus", &roles, &["--tenant", "globex"]);
    for someone in [&mut ann, &mut gus] {
        succeeds(&someone.signs_in(&["login"]));
        succeeds(&someone.signs_in(&["login", "--admin", "--scope", "tools:read"]));
    }
    let tokens = [ann.access_token(false), gus.access_token(false)];

    // Each has its own, and what is for both.
    let names = |token: &str, method: &str, member: &str, key: &str| {
        let body = world.sends(token, &Call::method(method)).json().expect("JSON");
        let found = body["result"][member].as_array().expect("a list").clone();
        found.iter().map(|one| one[key].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let lists = |token: &str| {
        let mut all = names(token, "tools/list", "tools", "name");
        all.extend(names(token, "prompts/list", "prompts", "name"));
        all.extend(names(token, "resources/templates/list", "resourceTemplates", "uriTemplate"));
        all.extend(
            names(token, "resources/list", "resources", "uri")
                .into_iter()
                .map(|uri| uri.split_once(':').map_or_else(String::new, |(scheme, _)| format!("{scheme}:"))),
        );
        all.dedup();
        all.join(" ")
    };
    expect_test::expect!["get_ticket post_ticket_update search_manual search_tickets diagnose_fault manual://{document}/{revision}/{page} ticket://{ticket_id} manual: ticket:"].assert_eq(&lists(&tokens[0]));
    expect_test::expect!["check_availability find_part raise_parts_order search_manual manual://{document}/{revision}/{page} manual:"].assert_eq(&lists(&tokens[1]));

    let acme = Other {
        tool: ("get_ticket", "get_tickex", r#"{"ticket_id": "SR-20031"}"#),
        prompt: Some(("diagnose_fault", "diagnose_faulx")),
        uri: Some(("ticket://SR-20031", "tickex://SR-20031")),
    };
    let globex = Other {
        tool: (
            "find_part",
            "find_parx",
            r#"{"model_variant": "AC-250-S", "category": "thermostatic-valve"}"#,
        ),
        prompt: None,
        uri: None,
    };
    call_of(&world, &tokens[0], &globex);
    call_of(&world, &tokens[1], &acme);

    // What they do leaves nothing that the other sees.
    let asked = gus.begins(ORDER);
    let order = pending(&gus);
    let looked = ann.run(&["call", "get_ticket", "--args", r#"{"ticket_id": "SR-20031"}"#, "--json"]);
    succeeds(&looked);
    let none = json_of(&ann.run(&["approvals", "list", "--json"]));
    assert_eq!(none["approvals"], json!([]));
    let unknown = "ap_00000000000000000000000000000000";
    let [one, two] = [order.as_str(), unknown].map(|id| {
        let said = text(&ann.signs_in(&["approvals", "approve", id]));
        let lines = said.lines().filter(|line| !line.starts_with("sign in:"));
        lines.collect::<Vec<_>>().join("\n").replace(id, "ID")
    });
    assert_eq!(one, two);
    let call_id = |token: &str, tool: &str| {
        let path = format!("/v1/evidence?tool={tool}&limit=1");
        let found = at(&world.admin, token, "GET", &path, None).json().expect("JSON");
        found["rows"][0]["call"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned()
    };
    let (by_ann, by_gus) =
        (call_id(&of_acme.0, "tickets/get_ticket"), call_id(&of_globex.0, "parts/raise_parts_order"));
    let explained = |id: &str| {
        let said = text(&world.run_as(&of_acme.0, &["explain", id]));
        said.replace(id, "ID")
    };
    assert_eq!(explained(&by_gus), explained(&format!("c_{}", "0".repeat(by_gus.len() - 2))));
    let people = ["gus", "gus-token"];
    let theirs =
        Theirs { has: &globex, upstream: "parts", tenant: "globex", people, approval: &order, call: &by_gus };
    doors_of(&world, &of_acme.0, &theirs);

    // Acme has nothing that waits; an id of its own is one of nobody's for globex all the same.
    let people = ["ann", "ann-token"];
    let theirs =
        Theirs { has: &acme, upstream: "tickets", tenant: "acme", people, approval: unknown, call: &by_ann };
    doors_of(&world, &of_globex.0, &theirs);

    succeeds(&world.run_as(&of_globex.0, &["approvals", "deny", &order]));
    assert!(!asked.wait_with_output().expect("it ends").status.success());
}
