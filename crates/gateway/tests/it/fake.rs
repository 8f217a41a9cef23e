//! The one upstream that most tests use, and what the host says of its tools.

use aldgate_authority::{Authority, Entry, Registry};
use aldgate_contract::{Kind, Live, Lock, UpstreamIdentity};
use aldgate_testkit::{Behaviour, Upstream};
use serde_json::json;

/// What the fake calls itself.
pub(crate) const SERVER: &str = "fake-server";

/// Reads only, runs by itself.
pub(crate) const LOOK: &str = r#"{"name":"look", "title":"Look", "description":"Looks — closely.",
  "inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"],"additionalProperties":false},
  "annotations":{"readOnlyHint":true,"openWorldHint":false}, "x-odd" : 1.50, "_meta":{"vendor/key":[1]}}"#;
/// Changes something, runs by itself.
pub(crate) const NOTE: &str = r#"{"name":"note","description":"Notes.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#;
/// Changes something, waits for a person.
pub(crate) const ORDER: &str = r#"{"name":"order","description":"Orders.","inputSchema":{"type":"object","properties":{"item":{"type":"string"},"count":{"type":"number"}},"required":["item"]}}"#;
/// The same, another tool.
pub(crate) const REORDER: &str = r#"{"name":"reorder","description":"Orders again.","inputSchema":{"type":"object","properties":{"item":{"type":"string"},"count":{"type":"number"}},"required":["item"]}}"#;
/// Reads only, promises structured content.
pub(crate) const MEASURE: &str = r#"{"name":"measure","description":"Measures.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"celsius":{"type":"number"}},"required":["celsius"]},"annotations":{"readOnlyHint":true}}"#;
/// Changes something, promises structured content.
pub(crate) const SHIP: &str = r#"{"name":"ship","description":"Ships.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"parcel":{"type":"string"}},"required":["parcel"]}}"#;
/// Mirrors an argument in a header.
pub(crate) const REGION: &str = r#"{"name":"region","description":"Looks in a region.","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#;
/// Prohibited by the registry.
pub(crate) const EXPORT: &str =
    r#"{"name":"export","description":"Exports.","inputSchema":{"type":"object"}}"#;
/// Not in the registry.
pub(crate) const HIDDEN: &str =
    r#"{"name":"hidden","description":"Unknown to the host.","inputSchema":{"type":"object"}}"#;

/// Every tool with its definition.
pub(crate) const TOOLS: [(&str, &str); 9] = [
    ("look", LOOK),
    ("note", NOTE),
    ("order", ORDER),
    ("reorder", REORDER),
    ("measure", MEASURE),
    ("ship", SHIP),
    ("region", REGION),
    ("export", EXPORT),
    ("hidden", HIDDEN),
];

/// The fake; every tool answers well.
pub(crate) fn upstream() -> Upstream {
    let mut upstream = Upstream::new(SERVER);
    for (name, definition) in TOOLS {
        let does = match name {
            "measure" => Behaviour::structured(&json!({"celsius": 21.5})),
            "ship" => Behaviour::structured(&json!({"parcel": "p-1"})),
            _ => Behaviour::text("done"),
        };
        upstream = upstream.tool(name, definition, does).unwrap();
    }
    upstream
}

/// The lock of the fake's contracts.
pub(crate) fn lock(upstream: &str) -> Lock {
    Lock::pin(identity(upstream), TOOLS, "2026-11-30T00:00:00Z").unwrap()
}

/// That lock with these tools accepted as the next version of those that changed.
pub(crate) fn accepted<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> Lock {
    lock("up").repin(tools, "2026-12-01T00:00:00Z").unwrap()
}

fn identity(upstream: &str) -> UpstreamIdentity {
    UpstreamIdentity {
        name: upstream.to_owned(),
        endpoint: "http://127.0.0.1/mcp".to_owned(),
        server: Some(SERVER.to_owned()),
    }
}

/// Resources, a template and a prompt besides.
pub(crate) const RESOURCES: [&str; 2] =
    [r#"{"uri":"note://a","name":"a", "x-odd" : 1.50}"#, r#"{"uri":"secret://b","name":"b"}"#];
pub(crate) const TEMPLATE: &str = r#"{"uriTemplate":"note://{id}","name":"note","mimeType":"text/plain"}"#;
pub(crate) const PROMPT: &str =
    r#"{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true},{"name":"how"}]}"#;

/// The same fake with resources and a prompt.
pub(crate) fn library() -> Upstream {
    let upstream = upstream();
    upstream.offers("resources/list", &RESOURCES).unwrap();
    upstream.offers("resources/templates/list", &[TEMPLATE]).unwrap();
    upstream.offers("prompts/list", &[PROMPT]).unwrap();
    upstream.answers("resources/read", Behaviour::result(&contents("note://a", "text of a")));
    let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
    upstream
        .answers("prompts/get", Behaviour::result(&json!({"resultType": "complete", "messages": [message]})));
    let completion = json!({"values": ["Ada", "Alan"], "total": 2, "hasMore": false});
    upstream.answers(
        "completion/complete",
        Behaviour::result(&json!({"resultType": "complete", "completion": completion})),
    );
    upstream
}

/// What a read of a resource gives.
pub(crate) fn contents(uri: &str, text: &str) -> serde_json::Value {
    json!({
        "resultType": "complete",
        "contents": [{"uri": uri, "mimeType": "text/plain", "text": text}],
        "ttlMs": 5000,
        "cacheScope": "public",
    })
}

/// The lock of all that the library serves.
pub(crate) fn whole_lock(upstream: &str) -> Lock {
    let live = Live::from(TOOLS)
        .with(Kind::ResourceTemplate, [("note://{id}", TEMPLATE)])
        .with(Kind::Prompt, [("greet", PROMPT)]);
    Lock::pin(identity(upstream), live, "2026-11-30T00:00:00Z").unwrap()
}

/// What the host says of each tool.
pub(crate) fn entries(upstream: &str) -> Vec<(String, Entry)> {
    let reading = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
    let writing = Entry::of(Authority::Automatic);
    let asking = Entry::of(Authority::RequiresApproval);
    let all = [
        ("look", reading.clone()),
        ("measure", reading.clone()),
        ("region", reading),
        ("note", writing.clone()),
        ("ship", writing),
        ("order", asking.clone()),
        ("reorder", asking),
        ("export", Entry::of(Authority::Prohibited)),
    ];
    all.into_iter().map(|(tool, entry)| (format!("{upstream}/{tool}"), entry)).collect()
}

/// A registry of these entries.
pub(crate) fn registry(entries: &[(String, Entry)]) -> Registry {
    Registry::new(entries.iter().cloned()).unwrap()
}
