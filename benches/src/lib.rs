//! A gateway whose instructions are counted: one principal with a token, pinned contracts, a registry, policies, evidence in
//! its SQLite file, and an upstream in the same process. All but the store's thread runs on the thread that calls.
#![expect(clippy::expect_used, reason = "a benchmark that cannot go on has nothing to report")]

use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::SealKey;
use aldgate_authority::{Aliases, Authority, Entry, PolicySet, PrincipalKind, Registry};
use aldgate_contract::{Lock, UpstreamIdentity};
use aldgate_gateway::settings::{
    Bounds, Credential, OnDrift, Pins, Settings, Signatures, Transport, UpstreamSettings,
};
use aldgate_gateway::{Configured, Gateway, Parts};
use aldgate_identity::{ConfiguredPrincipal, TokenHash, TokenTable};
use aldgate_store::Store;
use aldgate_telemetry::{Ring, Settings as TelemetrySettings, Telemetry};
use aldgate_testkit::bench::Echo;
use axum::Router;
use axum::body::{Body, Bytes};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

const TOKEN: &str = "token-of-the-agent";
/// The host's policies.
const POLICIES: &str = include_str!("../policies.cedar");

/// How large a gateway is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Tools of each upstream.
    pub tools: usize,
    /// Policies.
    pub policies: usize,
    /// Upstreams.
    pub upstreams: usize,
    /// Contracts that each tool has had.
    pub versions: usize,
    /// Tools of each upstream, from the first on, that are not as pinned.
    pub drifted: usize,
    /// What becomes of them.
    pub on_drift: OnDrift,
    /// How often live contracts are compared with the pinned ones.
    pub verify_every: Duration,
}

/// What most hosts have.
pub const USUAL: Size = Size {
    tools: 10,
    policies: 3,
    upstreams: 1,
    versions: 1,
    drifted: 0,
    on_drift: OnDrift::AllowCompatible,
    // Not while it is counted.
    verify_every: Duration::from_secs(300),
};

/// A gateway that runs, and has answered some requests.
pub struct World {
    runtime: Runtime,
    _gateway: Gateway,
    router: Router,
    echo: Echo,
    size: Size,
    _folder: TempDir,
}

impl World {
    /// Starts one and warms it up.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start(size: Size) -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be had");
        let folder = tempfile::tempdir().expect("a folder can be had");
        let echo = Echo::new(size.tools, 64, 0);
        let (gateway, _) = runtime.block_on(async {
            let store = Store::open(folder.path()).await.expect("the store opens");
            Gateway::start(parts(size, store, &echo)).await.expect("the gateway starts")
        });
        let router = gateway.router();
        let world = Self { runtime, _gateway: gateway, router, echo, size, _folder: folder };
        world.calls(20);
        world.lists(3);
        world
    }

    /// Makes so many governed calls of the last upstream's last tool, one after the other.
    ///
    /// # Panics
    /// Where one is refused.
    pub fn calls(&self, times: usize) {
        let tool = format!("{}{}", prefix(self.size, self.size.upstreams - 1), name(self.size.tools - 1));
        for id in 0..times {
            let params = json!({"name": tool, "arguments": {"key": format!("key-{id}"), "limit": 3}});
            let body = self.ask("tools/call", Some(&tool), params);
            let expected = format!(r#""key":"key-{id}""#);
            assert!(body.windows(expected.len()).any(|part| part == expected.as_bytes()), "{body:?}");
        }
    }

    /// Asks for the list of tools so many times.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn lists(&self, times: usize) {
        for _ in 0..times {
            let body = self.ask("tools/list", None, json!({}));
            // Reading it would be counted too.
            let held_back = if self.size.on_drift == OnDrift::Warn { 0 } else { self.size.drifted };
            let listed = (self.size.tools - held_back) * self.size.upstreams;
            assert!((listed * 100..listed * 2000).contains(&body.len()), "the list has another length");
        }
    }

    /// Does nothing until live contracts were compared so many times more. It begins and ends when an upstream is asked for
    /// its list.
    pub fn comparisons(&self, times: usize) {
        self.runtime.block_on(async {
            for _ in 0..times {
                self.echo.listed().await;
            }
        });
    }

    fn ask(&self, method: &str, name: Option<&str>, mut params: serde_json::Value) -> Bytes {
        if let Some(members) = params.as_object_mut() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            });
            members.insert("_meta".to_owned(), meta);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let request = Request::post("/mcp")
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .header("content-length", body.len())
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header("authorization", format!("Bearer {TOKEN}"));
        let request = match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        };
        let request = request.body(Body::from(body)).expect("the request can be made");
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.expect("a router does not fail");
            let status = response.status();
            let body = response.into_body().collect().await.expect("the body comes").to_bytes();
            assert_eq!(status, StatusCode::OK, "{body:?}");
            body
        })
    }
}

fn name(tool: usize) -> String {
    format!("lookup_{tool:05}")
}

fn prefix(size: Size, upstream: usize) -> String {
    if size.upstreams == 1 { String::new() } else { format!("u{upstream}_") }
}

fn parts(size: Size, store: Store, echo: &Echo) -> Parts {
    let reads = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
    let entries = (0..size.upstreams)
        .flat_map(|upstream| (0..size.tools).map(move |tool| format!("echo{upstream}/{}", name(tool))))
        .map(|key| (key, reads.clone()));
    let principal = ConfiguredPrincipal {
        scopes: None,
        name: "agent".to_owned(),
        display_name: None,
        kind: PrincipalKind::Service,
        tenant: "default".to_owned(),
        roles: ["agent".to_owned()].into(),
        token_sha256: TokenHash::of(TOKEN).to_string(),
        expires_at: None,
    };
    let bounds = Bounds { list_page: 100_000, ..Bounds::default() };
    Parts {
        settings: Settings { bounds, ..Settings::default() },
        configured: Configured {
            upstreams: (0..size.upstreams).map(|upstream| settings(size, upstream, echo)).collect(),
            registry: Registry::new(entries).expect("the registry can be read"),
            policies: policies(size.policies),
            identity: Arc::new(TokenTable::new(&[principal]).expect("the principal can be read")),
            aliases: Aliases::default(),
            issuers: Vec::new(),
            tenants: ["default".to_owned()].into(),
            signatures: Signatures::default(),
        },
        store,
        seal: SealKey::derive(&[7; 32]).expect("the key is long enough"),
        telemetry: telemetry(),
    }
}

fn settings(size: Size, upstream: usize, echo: &Echo) -> UpstreamSettings {
    let identity = UpstreamIdentity {
        name: format!("echo{upstream}"),
        endpoint: "http://127.0.0.1/mcp".to_owned(),
        server: Some("echo".to_owned()),
    };
    let lock = lock(size, identity, echo);
    UpstreamSettings {
        name: format!("echo{upstream}"),
        prefix: prefix(size, upstream),
        transport: Transport::InProcess(echo.router(), "/mcp".to_owned()),
        credential: Credential::None,
        pins: Pins::Locked(lock),
        may_ask: Vec::new(),
        ask_origins: Vec::new(),
        verify_every: size.verify_every,
        tenants: None,
        on_drift: size.on_drift,
    }
}

/// A lock whose earlier contracts, and those of tools that drifted, have a word more.
fn lock(size: Size, identity: UpstreamIdentity, echo: &Echo) -> Lock {
    let reworded = |definition: &str, version: usize| {
        definition.replace("Looks something up", &format!("Looks something up ({version})"))
    };
    let pinned = |version: usize| -> Vec<(&str, String)> {
        let all = echo.tools().iter().enumerate();
        all.map(|(number, (name, definition))| {
            let is_served = version == size.versions && number >= size.drifted;
            (name.as_str(), if is_served { definition.clone() } else { reworded(definition, version) })
        })
        .collect()
    };
    let none = Lock::pin(identity, [], "2026-12-01T00:00:00Z").expect("an empty lock can be made");
    (1..=size.versions).fold(none, |lock, version| {
        let pinned = pinned(version);
        let pinned = pinned.iter().map(|(name, definition)| (*name, definition.as_str()));
        lock.repin(pinned, "2026-12-01T00:00:00Z").expect("the contracts can be pinned")
    })
}

/// So many policies. Those beyond the usual ones are about other teams' upstreams.
///
/// # Panics
/// Where they cannot be read.
#[must_use]
pub fn policies(count: usize) -> PolicySet {
    let usual: Vec<&str> = POLICIES.split_inclusive(";\n").collect();
    let mut text = usual.iter().take(count).copied().collect::<String>();
    for number in usual.len()..count {
        text.push_str(&format!(
            r#"@id("team-{number}-looks-only")
            forbid (principal in Role::"team-{number}", action == Action::"call", resource in Upstream::"system-{number}")
            when {{ !resource.read_only }};
            "#
        ));
    }
    PolicySet::parse(&[("bench.cedar".to_owned(), text)]).expect("the policies can be read")
}

/// Spans as the gateway makes them where nothing else is configured: all of them, into the ring.
fn telemetry() -> Telemetry {
    let settings = TelemetrySettings {
        service: "aldgate",
        destination: None,
        sample_ratio: 1.0,
        content: false,
        ring: Some(Ring::new(2048)),
    };
    Telemetry::start(settings).expect("nothing is sent anywhere")
}
