//! A recognisable secret in every credential, and a look for each of them in all that leaves the process or lies on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aldgate_testkit::Call;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::echo::{Echo, Sink, TOOLS, call};
use super::world::{OWN, Start, World, urls};

const BEARER: &str = "canary-bearer-of-the-environment";
pub(super) const FILE: &str = "canary-key/of+a=file";
const SEAL: &str = "canary-sealing-secret-of-thirty-two-bytes-or-more";

/// The upstreams with their prefixes. `up` has accounts of people.
const UPSTREAMS: [&str; 5] = ["up", "exch", "env", "file", "machine"];

const CREDENTIAL: &str = r#"
prefix = "up_"
[upstreams.up.credential]
kind = "connection"
issuer = "ISSUER"
client_id = "gateway"
client_method = "client_secret_basic"
file = "client-secret"
scopes = ["parts:read"]
resource = "UPSTREAM"
[upstreams.up.own_credential]
kind = "header"
file = "own"
"#;

const MORE: &str = r#"
[upstreams.exch]
kind = "http"
url = "ECHO/exch/mcp"
lock = "exch.json"
prefix = "exch_"
[upstreams.exch.credential]
kind = "token_exchange"
issuer = "GATEWAY"
client_id = "exchanger"
client_method = "client_secret_basic"
file = "exchange-secret"
resource = "UPSTREAM"
[upstreams.env]
kind = "http"
url = "ECHO/env/mcp"
lock = "env.json"
prefix = "env_"
bearer_env = "CANARY_BEARER"
[upstreams.file]
kind = "http"
url = "ECHO/file/mcp"
lock = "file.json"
prefix = "file_"
[upstreams.file.credential]
kind = "header"
header = "x-api-key"
file = "key"
[upstreams.machine]
kind = "http"
url = "ECHO/machine/mcp"
lock = "machine.json"
prefix = "machine_"
[upstreams.machine.credential]
kind = "client_credentials"
issuer = "ISSUER"
client_id = "machine"
client_method = "client_secret_basic"
file = "machine-secret"
resource = "UPSTREAM"
scopes = ["parts:read"]
"#;

/// What was looked through, by its name.
#[derive(Default)]
struct Seen(BTreeMap<String, Vec<u8>>);

impl Seen {
    fn add(&mut self, place: &str, bytes: impl AsRef<[u8]>) {
        self.0.entry(place.to_owned()).or_default().extend_from_slice(bytes.as_ref());
    }

    fn folder(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                self.folder(&path);
            } else {
                self.add(&format!("the file {}", path.display()), std::fs::read(&path).expect("a file"));
            }
        }
    }

    /// Where a secret stands, and what is around it.
    fn found(&self, secret: &str) -> Vec<String> {
        let find = |(place, bytes): (&String, &Vec<u8>)| {
            let at = memchr::memmem::find(bytes, secret.as_bytes())?;
            let around = bytes.get(at.saturating_sub(200)..(at + secret.len() + 40).min(bytes.len()))?;
            Some(format!("{place}: …{}…", String::from_utf8_lossy(around)))
        };
        self.0.iter().filter_map(find).collect()
    }
}

/// The canaries by what they are.
struct Canaries(Vec<(&'static str, String)>);

impl Canaries {
    fn add(&mut self, what: &'static str, secrets: impl IntoIterator<Item = String>) {
        let before = self.0.len();
        self.0.extend(secrets.into_iter().filter(|secret| secret.len() >= 8).map(|secret| (what, secret)));
        assert!(self.0.len() > before, "there is no canary: {what}");
    }

    fn basic(&mut self, what: &'static str, id: &str, secret: &str) {
        let header = STANDARD.encode(format!("{id}:{secret}")).trim_end_matches('=').to_owned();
        self.add(what, [secret.to_owned(), header]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_credential_is_in_a_log_trace_row_error_prompt_or_result() {
    let (echo, sink) = (Echo::default(), Sink::default());
    let (at, collector) = (echo.start().await, sink.start().await);
    let mut more = MORE.replace("ECHO", &at);
    for upstream in UPSTREAMS {
        for tool in TOOLS.iter().filter(|tool| (upstream, **tool) != ("up", "look")) {
            more.push_str(&format!(
                "[registry.\"{upstream}/{tool}\"]\nauthority = \"automatic\"\nlabels = []\nread_only = {}\n",
                *tool != "error"
            ));
        }
    }
    more.push_str(&format!("[telemetry]\notlp_endpoint = \"{collector}\"\ncontent = true\n"));
    let mut world = World::start(Start {
        credential: CREDENTIAL,
        url: Some(&format!("{at}/up/mcp")),
        life: 300,
        gateway: "sealing_key_env = \"CANARY_SEAL\"",
        more: &more,
        env: &[("CANARY_BEARER", BEARER), ("CANARY_SEAL", SEAL), ("ALDGATE_LOG", "trace")],
    })
    .await;
    let mut seen = Seen::default();
    let mut alice = world.person("alice");

    // Asked to connect, an answer that is refused, one that is taken.
    let tokens = [alice.token.clone(), world.service.clone()];
    let calls = async |seen: &mut Seen, world: &World| {
        for (token, upstream) in tokens.iter().flat_map(|token| UPSTREAMS.map(|name| (token, name))) {
            for tool in TOOLS {
                let call = call(&format!("{upstream}_"), tool).declaring(urls());
                let reply = world.client(token).send(&call).await.expect("an answer");
                seen.add("the answers", format!("{} {reply:?} {}", reply.status, reply.text()));
            }
        }
    };
    calls(&mut seen, &world).await;
    for more in [&["anna", "iss"][..], &["anna"]] {
        let pages = world.pages(&mut alice, "Connect", more);
        seen.add("the pages", json!(pages).to_string());
    }
    calls(&mut seen, &world).await;
    for token in ["canary-unknown-token", &format!("{}x", alice.token)] {
        for call in [call("up_", "look"), Call::method("tools/list")] {
            let reply = world.client(token).send(&call).await.expect("an answer");
            assert_eq!(reply.status, 401);
            seen.add("the refusals", format!("{reply:?} {}", reply.text()));
        }
    }
    // Refreshes that fail, and what is told of them.
    world.accounts.revoke("anna");
    calls(&mut seen, &world).await;
    assert!(world.operate(&["reload"]).status.success());
    for arguments in [
        &["audit", "list", "--limit", "500", "--json"][..],
        &["status", "--json"],
        &["trace", "0af7651916cd43dd8448eb211c80319c", "--json"],
        &["contracts", "verify"],
        &["tools", "list", "--json"],
    ] {
        let output = world.operate(arguments);
        seen.add(&format!("aldgate {arguments:?}"), [output.stdout, output.stderr].concat());
    }

    let mut canaries = Canaries(Vec::new());
    canaries.add("callers' tokens, passwords and cookies", alice.secrets.clone());
    canaries.add("tokens of the configuration", [world.service.clone(), world.operator.clone()]);
    canaries.add("a token that nobody knows", ["canary-unknown-token".to_owned()]);
    canaries.add("bearer_env", [BEARER.to_owned()]);
    canaries.add("the file of a header", [FILE.to_owned()]);
    canaries.add("the gateway's own", [OWN.to_owned()]);
    canaries.add("the sealing secret", [SEAL.to_owned()]);
    canaries.basic("the client's secret", "gateway", &world.accounts.secret.clone());
    canaries.basic("the machine's secret", "machine", &world.accounts.machine_secret.clone());
    canaries.basic("the exchanger's secret", "exchanger", &world.exchange_secret.clone());
    let given: BTreeSet<String> = world.accounts.given().into_iter().collect();
    assert!(given.len() >= 3, "an access and a refresh token of the account, one of the machine");
    canaries.add("tokens of the upstream's authorization server", given.clone());
    let shown = echo.shown();
    let exchanged = shown.iter().filter(|one| !given.contains(*one) && one.starts_with("ey")).cloned();
    canaries.add("the exchanged token", exchanged);
    // Each was there to be repeated.
    for secret in [BEARER, FILE, OWN] {
        assert!(shown.contains(secret), "{secret} was not shown");
    }
    assert!(shown.intersection(&given).count() >= 2, "the account's and the machine's");
    assert!(!shown.iter().any(|one| alice.secrets.contains(one) || *one == world.service));

    let _ = world.gateway.kill();
    let _ = world.gateway.wait();
    seen.add("the log", world.said.lock().expect("no panic").clone());
    seen.add("the traces", sink.bytes());
    seen.folder(&world.folder.path().join("var"));
    for (place, least) in [("the log", 100_000), ("the traces", 10_000), ("the answers", 10_000)] {
        assert!(seen.0[place].len() > least, "{place} were not looked through");
    }
    assert!(!seen.found("TRACE").is_empty() && !seen.found("[credential]").is_empty());
    for (what, secret) in &canaries.0 {
        let found = seen.found(secret);
        assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
    }
}
