//! A gateway with its upstream, its store and the people around it.

mod principals;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::SealKey;
use aldgate_authority::{Aliases, Authority, Entry, PolicySet, Prompts, Registry, Resources};
use aldgate_evidence::Row;
use aldgate_gateway::settings::{
    Credential, OnDrift, Pins, Settings, Signatures, Transport, UpstreamSettings,
};
use aldgate_gateway::{ConfigurationSource, Configured, Gateway, Parts};
use aldgate_identity::Authenticator;
use aldgate_store::Store;
use aldgate_telemetry::Telemetry;
use aldgate_testkit::{Call, Client, Reply, Serving, Upstream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;

use crate::fake;
pub(crate) use principals::{principals, token};

pub(crate) use crate::reading::{approval, call_id, code, rpc, state, text, told};

/// Who may do what, unless a test says otherwise.
pub(crate) const POLICY: &str = r#"
@id("agents-call") permit (principal in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("approvers-decide") permit (principal in Role::"approver", action == Action::"decide", resource is Tool);
@id("approvers-look") permit (principal is Person in Role::"approver", action in [Action::"audit", Action::"operate"], resource == Gateway::"aldgate");
"#;

/// The gateway's credential at the fake.
pub(crate) const UPSTREAM_TOKEN: &str = "token-of-the-gateway";

/// What a gateway is started with.
pub(crate) struct Config {
    pub(crate) entries: Vec<(String, Entry)>,
    pub(crate) resources: Vec<(String, Entry)>,
    pub(crate) prompts: Vec<(String, Entry)>,
    /// What a tool may do that no entry names; by default it is not served.
    pub(crate) otherwise: Option<Authority>,
    pub(crate) policy: String,
    pub(crate) settings: Settings,
    pub(crate) upstreams: Vec<UpstreamSettings>,
    pub(crate) secret: [u8; 32],
    /// From when on the tokens of agents are good no more.
    pub(crate) expires_at: Option<time::OffsetDateTime>,
    /// What the token of a principal may be used for, where it is not everything.
    pub(crate) scopes: Vec<(&'static str, &'static str)>,
    /// Which principals are one person.
    pub(crate) aliases: Aliases,
    /// The issuers whose tokens are taken.
    pub(crate) issuers: Vec<String>,
    /// Who says who calls, where it is not the table of the tokens.
    pub(crate) identity: Option<Arc<dyn Authenticator>>,
    pub(crate) telemetry: Telemetry,
    pub(crate) signatures: Signatures,
}

impl Config {
    /// The registry entry of a tool of the upstream `up`.
    pub(crate) fn entry(&mut self, tool: &str) -> &mut Entry {
        let key = format!("up/{tool}");
        self.entries.iter_mut().find(|(name, _)| *name == key).map(|(_, entry)| entry).unwrap()
    }

    fn registry(&self) -> Registry {
        let registry = fake::registry(&self.entries)
            .with_resources(Resources::new(self.resources.iter().cloned()).unwrap())
            .with_prompts(Prompts::new(self.prompts.iter().cloned()).unwrap());
        match self.otherwise {
            Some(authority) => registry.with_default(authority).unwrap(),
            None => registry,
        }
    }

    fn configured(self) -> Configured {
        Configured {
            registry: self.registry(),
            policies: PolicySet::parse(&[("test.cedar".to_owned(), self.policy)]).unwrap(),
            upstreams: self.upstreams,
            identity: self.identity.unwrap_or_else(|| Arc::new(principals(self.expires_at, &self.scopes))),
            aliases: self.aliases,
            issuers: self.issuers,
            tenants: ["default".to_owned(), "elsewhere".to_owned()].into(),
            signatures: self.signatures,
        }
    }

    /// The settings of the upstream `up`.
    pub(crate) fn up(&mut self) -> &mut UpstreamSettings {
        &mut self.upstreams[0]
    }
}

/// The settings of a further upstream that serves the fake's tools under a prefix.
pub(crate) fn settings_of(name: &str, prefix: &str, transport: Transport) -> UpstreamSettings {
    UpstreamSettings {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
        tenants: None,
        transport,
        credential: Credential::Bearer(UPSTREAM_TOKEN.to_owned()),
        pins: Pins::Locked(fake::lock(name)),
        may_ask: Vec::new(),
        ask_origins: Vec::new(),
        verify_every: Duration::from_secs(300),
        on_drift: OnDrift::default(),
    }
}

pub(crate) fn http(url: &str) -> Transport {
    Transport::Http(url.parse().unwrap())
}

/// What the gateway finds when it reads its configuration again; nothing there is a file that cannot be read.
#[derive(Clone, Default)]
struct Next(Arc<std::sync::Mutex<Option<Configured>>>);

#[async_trait::async_trait]
impl ConfigurationSource for Next {
    async fn read(&self) -> Result<Configured, String> {
        self.0.lock().unwrap().take().ok_or_else(|| "the file cannot be read".to_owned())
    }
}

struct Running {
    next: Next,
    agents: SocketAddr,
    admin: SocketAddr,
    unknown: usize,
    events: broadcast::Receiver<Row>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

/// A running gateway and all around it.
pub(crate) struct World {
    pub(crate) up: Upstream,
    pub(crate) serving: Serving,
    folder: tempfile::TempDir,
    running: Option<Running>,
}

impl World {
    /// Starts with the fake as the upstream `up`, and whatever the test changes.
    pub(crate) async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::start_with(fake::upstream(), change).await
    }

    /// Starts with this fake as the upstream `up`.
    pub(crate) async fn start_with(up: Upstream, change: impl FnOnce(&mut Config)) -> Self {
        let serving = up.serve().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self { up, serving, folder, running: None };
        world.run(change).await;
        world
    }

    /// With nothing changed.
    pub(crate) async fn plain() -> Self {
        Self::start(|_| {}).await
    }

    /// Stops the gateway and starts it anew on the same store.
    pub(crate) async fn restart(&mut self, change: impl FnOnce(&mut Config)) {
        self.stop().await;
        self.run(change).await;
    }

    /// Stops the gateway; its store stays.
    pub(crate) async fn stop(&mut self) {
        let running = self.running.take().unwrap();
        running.stop.send(()).unwrap();
        running.served.await.unwrap();
    }

    /// Starts the gateway again, with nothing changed.
    pub(crate) async fn start_again(&mut self) {
        self.run(|_| {}).await;
    }

    /// The gateway died with the runtime that it ran in.
    pub(crate) fn is_dead(&mut self) {
        self.running = None;
    }

    /// Where the gateway listens for agents.
    pub(crate) fn agents(&self) -> SocketAddr {
        self.running.as_ref().unwrap().agents
    }

    /// Where it listens for the admin API.
    pub(crate) fn admin_address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().admin
    }

    /// What the gateway finds when it reads its configuration the next time.
    pub(crate) fn configure(&self, change: impl FnOnce(&mut Config)) {
        let mut config = self.config();
        change(&mut config);
        *self.running.as_ref().unwrap().next.0.lock().unwrap() = Some(config.configured());
    }

    /// Lets a gateway read this world's configuration again; there is none before what is given back was called.
    pub(crate) fn next_for(&self, gateway: &Gateway) -> impl Fn() {
        let next = Next::default();
        gateway.reads_again_from(Arc::new(next.clone()));
        move || *next.0.lock().unwrap() = Some(self.config().configured())
    }

    /// Has the gateway read its configuration again, as `who`.
    pub(crate) async fn reload_as(&self, who: &str) -> Reply {
        self.admin(who).post("/v1/reload", &json!({})).await.unwrap()
    }

    /// The folder of the store.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The configuration that a gateway of this world starts with.
    pub(crate) fn config(&self) -> Config {
        let mut settings = Settings { decide_hint: "the test's admin API".to_owned(), ..Settings::default() };
        // A retry looks once and comes back; tests of the wait say how long it is.
        settings.approvals.hold = Duration::ZERO;
        Config {
            entries: fake::entries("up"),
            resources: Vec::new(),
            prompts: Vec::new(),
            otherwise: None,
            policy: POLICY.to_owned(),
            settings,
            upstreams: vec![settings_of("up", "", http(&self.serving.url()))],
            secret: [7; 32],
            expires_at: None,
            scopes: Vec::new(),
            aliases: Aliases::default(),
            issuers: Vec::new(),
            identity: None,
            telemetry: Telemetry::off(),
            signatures: Signatures::default(),
        }
    }

    async fn run(&mut self, change: impl FnOnce(&mut Config)) {
        let mut config = self.config();
        change(&mut config);
        self.running = Some(serve(parts(config, self.folder.path()).await).await);
    }

    /// Calls whose outcome nobody knew when the gateway started.
    pub(crate) fn unknown_calls(&self) -> usize {
        self.running.as_ref().unwrap().unknown
    }

    /// Rows of evidence as the gateway announced them since it started.
    pub(crate) fn events(&mut self) -> &mut broadcast::Receiver<Row> {
        &mut self.running.as_mut().unwrap().events
    }

    /// A client of the endpoint for agents with this principal's token.
    pub(crate) fn client(&self, who: &str) -> Client {
        Client::new(self.running.as_ref().unwrap().agents, Some(&token(who)))
    }

    /// One that shows no token.
    pub(crate) fn nobody(&self) -> Client {
        Client::new(self.running.as_ref().unwrap().agents, None)
    }

    /// A client of the admin API with this principal's token.
    pub(crate) fn admin(&self, who: &str) -> Client {
        Client::new(self.running.as_ref().unwrap().admin, Some(&token(who)))
    }

    /// Sends a call as `agent`.
    pub(crate) async fn send(&self, call: &Call) -> Reply {
        self.client("agent").send(call).await.unwrap()
    }

    /// Calls a tool as `agent`.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Reply {
        self.send(&Call::tool(tool, arguments)).await
    }

    /// Takes a decision as `approver` and expects that it is taken.
    pub(crate) async fn decide(&self, approval: &str, decision: &str) -> Value {
        let reply = self.decide_as("approver", approval, decision).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json().unwrap()
    }

    /// Tries to take a decision.
    pub(crate) async fn decide_as(&self, who: &str, approval: &str, decision: &str) -> Reply {
        let path = format!("/v1/approvals/{approval}/decision");
        self.admin(who).post(&path, &json!({"decision": decision})).await.unwrap()
    }

    /// What the admin API says at a path to `approver`.
    pub(crate) async fn look(&self, path: &str) -> Value {
        let reply = self.admin("approver").get(path).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json().unwrap()
    }

    /// The state of an approval.
    pub(crate) async fn state_of(&self, approval: &str) -> String {
        let shown = self.look(&format!("/v1/approvals/{approval}")).await;
        shown["state"].as_str().unwrap().to_owned()
    }

    /// All approvals, oldest first.
    pub(crate) async fn approvals(&self) -> Vec<Value> {
        self.look("/v1/approvals").await["approvals"].as_array().unwrap().clone()
    }

    /// The last 500 rows of evidence, in order.
    pub(crate) async fn rows(&self) -> Vec<Value> {
        self.look("/v1/evidence?limit=500").await["rows"].as_array().unwrap().clone()
    }

    /// The rows of one call.
    pub(crate) async fn rows_of(&self, call: &str) -> Vec<Value> {
        let rows = self.rows().await;
        rows.into_iter().filter(|row| row["call"] == call).collect()
    }

    /// Rows as `kind ruling outcome code`, `-` for what a row does not say.
    pub(crate) async fn story(&self) -> Vec<String> {
        self.rows().await.iter().map(told).collect()
    }
}

/// What a gateway with this configuration and a store in this folder is made of.
pub(crate) async fn parts(config: Config, folder: &std::path::Path) -> Parts {
    Parts {
        settings: config.settings.clone(),
        telemetry: config.telemetry.clone(),
        seal: SealKey::derive(&config.secret).unwrap(),
        configured: config.configured(),
        store: Store::open(folder).await.unwrap(),
    }
}

/// Starts a gateway on free ports.
async fn serve(parts: Parts) -> Running {
    let (gateway, recovered) = Gateway::start(parts).await.unwrap();
    let events = gateway.watch();
    let next = Next::default();
    gateway.reads_again_from(Arc::new(next.clone()));
    let agents = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let admin = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addresses = (agents.local_addr().unwrap(), admin.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(gateway.serve(agents, admin, async {
        let _ = stopped.await;
    }));
    Running {
        next,
        agents: addresses.0,
        admin: addresses.1,
        unknown: recovered.unknown_calls,
        events,
        stop,
        served,
    }
}

/// Looks again and again until something is there; fails after half a minute.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let until = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(std::time::Instant::now() < until, "{what} did not happen within 30 s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
