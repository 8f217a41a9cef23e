//! The trace of a demonstration: each attribute that it is to have, and where it stands.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect_file;
use serde_json::Value;

use crate::running::{Serving, events_of, named, run};

/// What a trace is to record. A second name stands below the first.
const ROWS: [&str; 22] = [
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.system",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.tool.description",
    "gen_ai.tool.type",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
    "gen_ai.conversation.id",
    "error.type",
    "mcp.method.name",
    "mcp.protocol.version",
    "mcp.request.id",
    "jsonrpc.request.id",
    "skill.name",
    "skill.version",
    "skill.invocation_source",
    "guardrail.name",
    "guardrail.decision",
    "atlas.mcp.transport",
];
/// Letters of a value that are shown.
const SHOWN: usize = 40;

fn spans(more: &[&str]) -> Vec<Value> {
    let listens = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let run =
        run(&[&["demo", "--once", "--json", "--approve", "--tickets", "400"], &listens[..], more].concat());
    let events = events_of(&run);
    let trace = named(&events, "trace");
    assert_eq!((trace.len(), &trace[0]["content"]), (1, &Value::Bool(true)), "it says that content is in it");
    let connected = &named(&events, "connected")[0];
    assert_eq!(trace[0]["trace"], connected["trace"]);
    let spans = trace[0]["spans"].as_array().expect("spans").clone();
    for span in &spans {
        let said = |name: &str| span["attributes"].get(name);
        assert_eq!(said("gen_ai.provider.name"), said("gen_ai.system"), "{span}");
        assert_eq!(said("jsonrpc.request.id"), said("mcp.request.id"), "{span}");
        if let Some(conversation) = said("gen_ai.conversation.id") {
            assert_eq!(conversation, &connected["conversation"], "one run, one conversation: {span}");
        }
    }
    spans
}

/// Which kind of span it is: the service, and the name without what varies.
fn place(span: &Value) -> String {
    let [service, name, kind] = ["service", "name", "kind"].map(|key| span[key].as_str().expect("a word"));
    let name = match name.split_once(' ') {
        Some((first, _)) => format!("{first} …"),
        None => name.to_owned(),
    };
    format!("{service}: {name} ({kind})")
}

/// A value without what differs from run to run.
fn value(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match name {
        "gen_ai.conversation.id" => "RUN".to_owned(),
        "jsonrpc.request.id" | "mcp.request.id" => {
            assert!(text.parse::<u64>().is_ok(), "{text}");
            "NUMBER".to_owned()
        }
        _ if text.chars().count() > SHOWN => text.chars().take(SHOWN).chain(['…']).collect(),
        _ => text,
    }
}

fn table(spans: &[Value]) -> String {
    let mut text = String::new();
    for name in ROWS {
        text.push_str(&format!("{name}\n"));
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for span in spans {
            if let Some(found) = span["attributes"].get(name) {
                places.entry(place(span)).or_default().insert(value(name, found));
            }
        }
        if places.is_empty() {
            // The crate `telemetry` has a test of its own for what such a run sets.
            assert!(name.starts_with("skill."), "no span has {name}");
            text.push_str("    on a run that works by a skill; none is shipped yet\n");
        }
        for (place, values) in places {
            text.push_str(&format!("    {place}\n"));
            for value in values {
                text.push_str(&format!("        {value}\n"));
            }
        }
    }
    text
}

#[test]
fn every_attribute_is_in_the_trace_of_a_demonstration() {
    expect_file!["trace.txt"].assert_eq(&table(&spans(&[])));
}

#[test]
fn servers_in_the_process_say_so() {
    let of = |spans: &[Value], service: &str, kind: &str| -> BTreeSet<String> {
        let spans = spans.iter().filter(|span| span["service"] == service && span["kind"] == kind);
        spans
            .map(|span| span["attributes"]["atlas.mcp.transport"].as_str().unwrap_or("-").to_owned())
            .collect()
    };
    let spans = spans(&["--inproc"]);
    assert_eq!(of(&spans, "aldgate", "server"), ["http".to_owned()].into());
    assert_eq!(of(&spans, "aldgate", "client"), ["inproc".to_owned()].into());
    assert_eq!(of(&spans, "field-service", "server"), ["inproc".to_owned()].into());
}

fn traces(serving: &Serving, arguments: &[&str]) -> (bool, String) {
    let output = serving.run_as(&serving.approver, &[&["trace"], arguments].concat());
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn the_last_traces_are_listed_and_shown_from_memory() {
    let serving = Serving::start(&["--no-run"]);
    for ticket in ["SR-20031", "SR-1"] {
        let arguments = format!(r#"{{"ticket_id": "{ticket}"}}"#);
        serving.run_as(&serving.agent, &["call", "get_ticket", "--args", &arguments]);
    }
    let (listed, text) = traces(&serving, &["list"]);
    assert!(listed && text.starts_with("TRACE ") && text.contains("tools/call get_ticket"), "{text}");
    let (_, text) = traces(&serving, &["list", "--limit", "200", "--json"]);
    let listed: Value = serde_json::from_str(&text).expect("JSON");
    let found = listed["traces"].as_array().expect("traces").clone();
    let of_calls: Vec<&Value> =
        found.iter().filter(|trace| trace["name"] == "tools/call get_ticket").collect();
    assert_eq!(of_calls.len(), 2, "{text}");
    let id = of_calls[1]["trace_id"].as_str().expect("an id");
    for given in [id, id.get(..12).expect("its beginning")] {
        let (shown, text) = traces(&serving, &["show", given]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(shown && lines.len() >= 4, "{text}");
        assert!(
            lines[0].starts_with("tools/call get_ticket  ") && lines[0].ends_with("server  [aldgate]"),
            "{text}"
        );
        assert!(text.contains("automatic: allow") && text.contains("server  [field-service]"), "{text}");
    }
    let (shown, text) = traces(&serving, &["show"]);
    assert!(shown && text.contains("[aldgate]"), "the newest, where none is named: {text}");
    let (shown, text) = traces(&serving, &["show", "0af7651916cd43dd8448eb211c80319c"]);
    assert!(!shown && text.contains("AG-ADMIN-NO-TRACE"), "{text}");
    let (shown, text) = traces(&serving, &["show", "zzz"]);
    assert!(!shown && text.contains("`zzz` is not the beginning of a trace's id"), "{text}");
    let (shown, text) = traces(&serving, &["show", "0af7651916cd"]);
    assert!(!shown && text.contains("begins with `0af7651916cd`"), "{text}");
    let forbidden = serving.run_as(&serving.agent, &["trace", "list"]);
    assert!(!forbidden.status.success());
    // Its token is for the MCP endpoint alone.
    assert!(String::from_utf8_lossy(&forbidden.stderr).contains("AG-IDENTITY"));
}
