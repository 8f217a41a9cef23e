//! Instructions of the hot path. `make check` compares them with `instructions.json`.
#![expect(missing_docs, reason = "the macros make items without")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot go on has nothing to report")]

use std::hint::black_box;

use aldgate_authority::{
    Action, Authority, Authorizer, Entry, Item, Kind, Principal, PrincipalKind, Question, Registry, Ruling,
};
use aldgate_benches::{Size, USUAL, World, policies};
use aldgate_wire::guard::Limits;
use aldgate_wire::request::{Incoming, Method, Rejection, accept};
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use http::HeaderMap;
use serde_json::value::RawValue;

/// Governed requests in one count.
const TIMES: usize = 20;

#[library_benchmark]
#[bench::usual(args = (USUAL), setup = World::start)]
#[bench::policies_50(args = (Size { policies: 50, ..USUAL }), setup = World::start)]
fn call(world: World) -> World {
    world.calls(TIMES);
    world
}

#[library_benchmark]
#[bench::usual(args = (USUAL), setup = World::start)]
#[bench::tools_100(args = (Size { tools: 100, ..USUAL }), setup = World::start)]
fn list(world: World) -> World {
    world.lists(TIMES);
    world
}

const BODY: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","#,
    r#""params":{"name":"lookup_00009","arguments":{"key":"key-1","limit":3},"#,
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}"#,
);

fn headers() -> HeaderMap {
    let named = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "lookup_00009"),
    ];
    let headers = named
        .map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_static(value)));
    HeaderMap::from_iter(headers)
}

// The guard, the envelope, and the headers compared with it.
#[library_benchmark]
#[bench::call(headers())]
fn received(headers: HeaderMap) -> (Result<Incoming, Rejection>, HeaderMap) {
    let limits = Limits { max_bytes: 1 << 20, max_depth: 64 };
    let read = accept(&headers, black_box(BODY.as_bytes()), &limits, &[Method::CallTool], &["2026-07-28"]);
    assert!(read.is_ok());
    (read, headers)
}

struct Asked {
    authorizer: Authorizer,
    principal: Principal,
    arguments: Box<RawValue>,
}

fn asked(count: usize) -> Asked {
    let entry = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
    let registry =
        Registry::new([("echo0/lookup_00009".to_owned(), entry)]).expect("the registry can be read");
    Asked {
        authorizer: Authorizer::new(registry, policies(count)).expect("the policies can be set up"),
        principal: Principal {
            tenant: "default".to_owned(),
            issuer: "aldgate".to_owned(),
            subject: "agent".to_owned(),
            name: "agent".to_owned(),
            kind: PrincipalKind::Service,
            roles: ["agent".to_owned()].into(),
            client: "agent".to_owned(),
            actors: Vec::new(),
        },
        arguments: RawValue::from_string(r#"{"key":"key-1","limit":3}"#.to_owned()).expect("this is JSON"),
    }
}

// The ruling on one call.
#[library_benchmark]
#[bench::usual(args = (3), setup = asked)]
#[bench::policies_50(args = (50), setup = asked)]
fn ruled(asked: Asked) -> (Ruling, Asked) {
    let ruling = asked.authorizer.rule(black_box(&Question {
        principal: &asked.principal,
        action: Action::Call,
        target: Item { upstream: "echo0", kind: Kind::Tool, name: "lookup_00009", contract: "sha256:00" }
            .into(),
        uri: None,
        arguments: Some(&asked.arguments),
        argument: None,
        input_responses: None,
        client: "agent",
    }));
    assert_eq!(ruling.verdict(), aldgate_authority::Verdict::Automatic);
    (ruling, asked)
}

library_benchmark_group!(name = requests, benchmarks = [call, list]);
library_benchmark_group!(name = steps, benchmarks = [received, ruled]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = [requests, steps]
);
