//! Traces at a real collector: Rotel takes them from every process of a run and relays them to this test.

mod relay;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aldgate_testkit::{Call, Client};
use serde_json::{Value, json};

use crate::clients::python;
use crate::host::{principal, serve};
use crate::running::{COLLECTOR, Dev, Serving, aldgate, events_of, named};
use relay::{Relay, Relayed};

const DEMO: [&str; 10] = [
    "demo",
    "--once",
    "--json",
    "--approve",
    "--tickets",
    "400",
    "--listen",
    "127.0.0.1:0",
    "--admin-listen",
    "127.0.0.1:0",
];

/// The only span of this service, name and kind.
fn one<'a>(spans: &'a [Relayed], service: &str, name: &str, kind: &str) -> &'a Relayed {
    let found: Vec<_> = spans
        .iter()
        .filter(|span| span.service == service && span.name == name && span.kind == kind)
        .collect();
    assert_eq!(found.len(), 1, "{service} {name} {kind}: {spans:#?}");
    found[0]
}

#[test]
fn a_collector_takes_the_trace_of_a_demonstration_as_it_is_shown() {
    let relay = Relay::start();
    let output = aldgate().args(DEMO).env(COLLECTOR, &relay.collector).output().expect("the binary runs");
    let events = events_of(&output);
    let shown = named(&events, "trace")[0];
    let (trace, shown) = (shown["trace"].as_str().expect("an id"), shown["spans"].as_array().expect("spans"));
    let spans = relay.trace(trace, |spans| spans.len() >= shown.len());
    assert_eq!(spans.len(), shown.len());
    for expected in shown {
        let span = spans.iter().find(|span| span.span_id == expected["span_id"]).expect("the span");
        assert_eq!(&span.as_shown(), expected);
        assert_eq!(span.repeated, Vec::<String>::new(), "each attribute stands once");
    }
    let roots: Vec<_> = spans.iter().filter(|span| span.parent_id.is_none()).collect();
    assert_eq!(roots.len(), 1, "one trace has one beginning: {roots:#?}");
    assert_eq!((roots[0].name.as_str(), roots[0].kind.as_str()), ("invoke_agent aldgate", "internal"));
    for span in spans.iter().filter(|span| span.parent_id.is_some()) {
        let above = spans.iter().find(|other| Some(&other.span_id) == span.parent_id.as_ref());
        let above = above.unwrap_or_else(|| panic!("no parent of {span:#?}"));
        let served = (above.kind.as_str(), span.kind.as_str());
        assert!(span.kind != "server" || served == ("client", "server"), "{above:#?} {span:#?}");
        assert!(span.service == above.service || served == ("client", "server"), "{above:#?} {span:#?}");
    }
    let refused = one(&spans, "aldgate", "tools/call export_service_records", "server");
    assert!(refused.error.is_some(), "{refused:#?}");
    assert_eq!(refused.attributes["error.type"], "tool_error");
    assert_eq!(refused.attributes["aldgate.refusal.code"], "AG-AUTHORITY-PROHIBITED");
    assert_eq!(
        spans.iter().filter(|span| span.error.is_some()).count(),
        3,
        "the agent, its request, the gateway"
    );
    for span in &spans {
        assert_eq!(span.schema, "https://opentelemetry.io/schemas/gen-ai/1.42.0");
    }
    let metrics = relay.metrics(|metrics| metrics.contains("aldgate.rulings"));
    for name in ["mcp.server.operation.duration", "mcp.client.operation.duration", "aldgate.rulings"] {
        assert!(metrics.contains(name), "{name}: {metrics:?}");
    }
}

#[test]
fn a_collector_that_never_answers_keeps_no_program_from_its_end() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    // What connects stays in the system's queue and is never answered.
    let begun = Instant::now();
    let output = aldgate().args(DEMO).env(COLLECTOR, &endpoint).output().expect("the binary runs");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(named(&events_of(&output), "trace").len(), 1, "the trace is shown all the same");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the last spans were not sent"), "{output:?}");
}

#[test]
fn a_request_within_another_is_linked_to_it() {
    let relay = Relay::start();
    let mut command = aldgate();
    command.env(COLLECTOR, &relay.collector);
    let serving = Serving::start_as(command, &["--no-run"]);
    let (of_message, around) = ("0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736");
    let call = Call::tool("get_ticket", r#"{"ticket_id":"SR-20031"}"#)
        .meta("traceparent", json!(format!("00-{of_message}-b7ad6b7169203331-01")))
        .header("traceparent", &format!("00-{around}-00f067aa0ba902b7-01"));
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let client = Client::new(address.parse().expect("an address"), Some(&serving.agent));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    assert_eq!(runtime.block_on(client.send(&call)).expect("a reply").status, 200);
    let spans = relay.trace(of_message, |spans| spans.len() >= 4);
    let served = one(&spans, "aldgate", "tools/call get_ticket", "server");
    assert_eq!(served.parent_id.as_deref(), Some("b7ad6b7169203331"));
    assert_eq!(served.links, [format!("{around}-00f067aa0ba902b7")]);
    let sent = one(&spans, "aldgate", "tools/call get_ticket", "client");
    assert_eq!(sent.parent_id.as_ref(), Some(&served.span_id));
    let below = one(&spans, "field-service", "tools/call get_ticket", "server");
    assert_eq!((below.parent_id.as_ref(), below.links.len()), (Some(&sent.span_id), 0));
}

#[test]
fn a_gateway_sends_where_its_file_says_and_what_its_file_says() {
    let relay = Relay::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (token, principal) = principal(&["agent", "--role", "agent"]);
    let config = format!(
        "[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n{principal}\n\
         [telemetry]\notlp_endpoint = \"{}\"\nsample_ratio = 0.0\n",
        relay.collector
    );
    std::fs::write(folder.path().join("aldgate.toml"), config).expect("written");
    let (mut gateway, said, url, _) = serve(folder.path());
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let client = Client::new(address.parse().expect("an address"), Some(&token));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let list = Call::method("tools/list");
    let sampled = list.clone().meta("traceparent", json!(format!("00-{trace}-b7ad6b7169203331-01")));
    for call in [&list, &sampled, &list] {
        assert_eq!(runtime.block_on(client.send(call)).expect("a reply").status, 200);
    }
    let sent = Command::new("kill").args(["-INT", &gateway.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    // Whoever writes must find somebody who reads until the end.
    let rest: Vec<String> = said.lines().map_while(Result::ok).collect();
    assert!(gateway.wait().expect("it ends").success(), "{rest:?}");
    let spans = relay.trace(trace, |spans| !spans.is_empty());
    assert_eq!((spans[0].service.as_str(), spans[0].name.as_str()), ("aldgate", "tools/list"));
    assert_eq!(spans[0].parent_id.as_deref(), Some("b7ad6b7169203331"));
    relay.metrics(|metrics| metrics.contains("mcp.server.operation.duration"));
    assert_eq!(relay.spans().len(), 1, "a ratio of 0 keeps only what a client keeps: {:#?}", relay.spans());
}

/// A Python program that serves until this is dropped.
struct PythonServer {
    child: Child,
    url: String,
}

impl PythonServer {
    fn start(relay: &Relay) -> Self {
        let mut command = python("traced_server.py");
        let mut child = command
            .env(COLLECTOR, &relay.collector)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("its address");
        Self { child, url: said["url"].as_str().expect("a URL").to_owned() }
    }
}

impl Drop for PythonServer {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_python_sdks_own_spans_are_in_the_same_trace_on_both_sides_of_the_gateway() {
    let relay = Relay::start();
    let server = PythonServer::start(&relay);
    let mut command = aldgate();
    command.env(COLLECTOR, &relay.collector);
    let dev = Dev::start_as(command, &server.url);
    let mut client = python("traced_client.py");
    let output =
        client.args([&dev.url, &dev.token]).env(COLLECTOR, &relay.collector).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let trace = said["trace"].as_str().expect("an id");
    let chains = |spans: &[Relayed]| -> Vec<Vec<Relayed>> {
        let served = spans.iter().filter(|span| span.service == "python-server");
        served.map(|span| up(spans, span)).collect()
    };
    let spans = relay.trace(trace, |spans| {
        let whole = chains(spans).iter().filter(|chain| chain.len() == 5).count();
        whole == 2
    });
    for (chain, failed) in chains(&spans).iter().zip([false, true]) {
        let seen: Vec<_> =
            chain.iter().map(|span| format!("{} {} {}", span.service, span.name, span.kind)).collect();
        assert_eq!(
            seen,
            [
                "python-server tools/call add server",
                "aldgate tools/call add client",
                "aldgate tools/call add server",
                "python-client MCP send tools/call add client",
                "python-client invoke_agent python internal",
            ]
        );
        for span in &chain[1..=2] {
            assert_eq!(span.error.is_some(), failed, "{span:#?}");
            assert_eq!(span.attributes.get("error.type"), failed.then(|| json!("tool_error")).as_ref());
        }
    }
}

/// A span and all that it is a part of, from the inside out.
fn up(spans: &[Relayed], span: &Relayed) -> Vec<Relayed> {
    let mut chain = vec![span.clone()];
    while let Some(last) = chain.last()
        && let Some(above) = spans.iter().find(|other| Some(&other.span_id) == last.parent_id.as_ref())
    {
        chain.push(above.clone());
    }
    chain
}
