//! A gateway with people, an upstream that tells each of them apart, and the upstream's own authorization server.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

use aldgate_testkit::{Behaviour, Client, Seen, Serving, Upstream};
use serde_json::{Value, json};

use crate::clients::{issuer, python};
use crate::host::{principal, serve};
use crate::running::{aldgate, json_of};

pub(super) const LOOK: &str = r#"{"name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}"#;
/// The gateway's own at the upstream, for comparing contracts.
pub(super) const OWN: &str = "canary-own-of-the-gateway";

const POLICIES: &str = r#"
@id("agents-call")
permit (principal in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("operators-look")
permit (principal in Role::"operator", action in [Action::"audit", Action::"operate"], resource is Gateway);
"#;

/// The upstream's authorization server.
pub(super) struct Accounts {
    child: Child,
    input: ChildStdin,
    said: BufReader<ChildStdout>,
    pub(super) issuer: String,
    pub(super) secret: String,
    pub(super) machine_secret: String,
}

impl Accounts {
    fn start(gateway: &str, resource: &str, life: u32) -> Self {
        let mut child = issuer("accounts.mjs")
            .args([&format!("{gateway}/connections/up/callback"), resource, &life.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js runs");
        let input = child.stdin.take().expect("its input");
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let text = |name: &str| told[name].as_str().expect("a text").to_owned();
        let [issuer, secret, machine_secret] = ["issuer", "client_secret", "machine_secret"].map(text);
        Self { child, input, said, issuer, secret, machine_secret }
    }

    /// All tokens that it gave to the gateway.
    pub(super) fn given(&mut self) -> Vec<String> {
        writeln!(self.input, "given").expect("written");
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("texts")
    }

    /// Takes back what an account has granted.
    pub(super) fn revoke(&mut self, account: &str) {
        writeln!(self.input, "revoke {account}").expect("written");
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), format!("revoke {account}"));
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the gateway is started with.
#[derive(Default)]
pub(super) struct Start<'a> {
    /// What it shows the upstream: the section, in which `ISSUER` stands for the upstream's authorization server, `GATEWAY` for
    /// the gateway's own, `UPSTREAM` for the upstream.
    pub(super) credential: &'a str,
    /// Where the upstream is, where it is not the one of the world.
    pub(super) url: Option<&'a str>,
    /// How long access tokens of the upstream are good, in seconds.
    pub(super) life: u32,
    /// Further lines of `[gateway]`.
    pub(super) gateway: &'a str,
    /// Further sections, with the same names.
    pub(super) more: &'a str,
    /// Variables of its environment.
    pub(super) env: &'a [(&'a str, &'a str)],
}

/// All of it, ended when it is dropped.
pub(super) struct World {
    pub(super) gateway: Child,
    pub(super) accounts: Accounts,
    pub(super) exchange_secret: String,
    pub(super) up: Upstream,
    _serving: Serving,
    pub(super) folder: tempfile::TempDir,
    pub(super) base: String,
    pub(super) url: String,
    pub(super) admin: String,
    /// A token of the configuration, of a service that calls and of whoever reads the evidence.
    pub(super) service: String,
    pub(super) operator: String,
    env: Vec<(String, String)>,
    /// All that the gateway said on standard error.
    pub(super) said: std::sync::Arc<std::sync::Mutex<String>>,
}

/// A person with an account.
pub(super) struct Someone {
    pub(super) name: String,
    pub(super) password: String,
    pub(super) token: String,
    /// All that a browser or a client of this person was given to keep: tokens, cookies.
    pub(super) secrets: Vec<String>,
    home: tempfile::TempDir,
}

impl Someone {
    /// Runs a command with what `aldgate login` kept.
    pub(super) fn run(&self, world: &World, arguments: &[&str]) -> Output {
        let mut command = aldgate();
        command.args(arguments).env("XDG_STATE_HOME", self.home.path()).env("ALDGATE_URL", &world.url);
        command.output().expect("the binary runs")
    }
}

/// A port that nobody listens at: the issuer's URL, which stands in the configuration, is known before the gateway is. Not one
/// of those that systems give to connections: another could have it before the gateway does.
fn free_port() -> u16 {
    loop {
        let port =
            10_000 + u16::try_from(RandomState::new().build_hasher().finish() % 10_000).expect("a port");
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            break port;
        }
    }
}

impl World {
    pub(super) async fn start(start: Start<'_>) -> Self {
        let up = Upstream::new("parts").tool("look", LOOK, Behaviour::text("done")).expect("a tool");
        let serving = up.serve().await.expect("it serves");
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let base = format!("http://127.0.0.1:{port}");
        let accounts = Accounts::start(&base, &serving.url(), start.life);
        let (service, agent) = principal(&["robot", "--role", "agent"]);
        let (operator, auditor) = principal(&["auditor", "--role", "operator"]);
        let named = |text: &str| {
            let text = text.replace("ISSUER", &accounts.issuer);
            text.replace("GATEWAY", &base).replace("UPSTREAM", &serving.url())
        };
        let (credential, more) = (named(start.credential), named(start.more));
        let config = format!(
            "[gateway]\nlisten = \"127.0.0.1:{port}\"\n{}\n[admin]\nlisten = \"127.0.0.1:0\"\n[policy]\nfiles = [\"p.cedar\"]\n{agent}\n{auditor}\n\
             [upstreams.up]\nkind = \"http\"\nurl = \"{}\"\nlock = \"up.json\"\n{credential}\n\
             [registry.\"up/look\"]\nauthority = \"automatic\"\nlabels = []\nread_only = true\n{more}\n",
            start.gateway,
            start.url.map_or_else(|| serving.url(), str::to_owned),
        );
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        put("aldgate.toml", &config);
        put("p.cedar", POLICIES);
        put("client-secret", &accounts.secret);
        put("machine-secret", &accounts.machine_secret);
        put("own", OWN);
        put("key", super::canaries::FILE);
        // The gateway as a client of its own authorization server, which exchanges tokens for the upstream.
        let added = aldgate()
            .current_dir(&folder)
            .args(["clients", "add", "exchanger", "--secret", "--json", "--exchange-for", &serving.url()])
            .output()
            .expect("it runs");
        let exchange_secret = json_of(&added)["client_secret"].as_str().expect("a secret").to_owned();
        put("exchange-secret", &exchange_secret);
        let world_env = || start.env.iter().copied();
        let pinned = aldgate().current_dir(&folder).envs(world_env()).args(["contracts", "pin"]).output();
        let pinned = pinned.expect("it runs");
        assert!(pinned.status.success(), "{pinned:?}");
        let (gateway, mut said_by, url, admin) = serve_with(folder.path(), start.env);
        let said = std::sync::Arc::<std::sync::Mutex<String>>::default();
        let kept = said.clone();
        std::thread::spawn(move || {
            let mut line = String::new();
            while said_by.read_line(&mut line).unwrap_or_default() > 0 {
                kept.lock().expect("no panic").push_str(&std::mem::take(&mut line));
            }
        });
        Self {
            gateway,
            accounts,
            exchange_secret,
            up,
            _serving: serving,
            folder,
            base,
            url,
            admin,
            service,
            operator,
            env: start.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            said,
        }
    }

    /// Runs a command in the gateway's folder.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = aldgate();
        command.current_dir(&self.folder).envs(self.env.iter().cloned());
        command.args(arguments).output().expect("the binary runs")
    }

    /// Runs a command with the token of whoever operates the gateway.
    pub(super) fn operate(&self, arguments: &[&str]) -> Output {
        let mut command = aldgate();
        command.env("ALDGATE_ADMIN_URL", &self.admin).env("ALDGATE_TOKEN", &self.operator);
        command.current_dir(&self.folder).args(arguments).output().expect("the binary runs")
    }

    /// A person with an account, who signed in at the gateway with a client.
    pub(super) fn person(&self, name: &str) -> Someone {
        let made = self.run(&["users", "add", name, "--json", "--role", "agent"]);
        assert!(made.status.success(), "{made:?}");
        let password = json_of(&made)["one_time_password"].as_str().expect("a password").to_owned();
        let home = tempfile::tempdir().expect("a folder");
        let mut someone = Someone {
            name: name.to_owned(),
            secrets: vec![password.clone()],
            password,
            token: String::new(),
            home,
        };
        self.sign_in(&mut someone);
        someone
    }

    /// Signs in with `aldgate login`.
    pub(super) fn sign_in(&self, someone: &mut Someone) {
        let mut child = aldgate()
            .args(["login", "--no-browser", "--url", &self.url])
            .env("XDG_STATE_HOME", someone.home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut said = BufReader::new(child.stderr.take().expect("its messages"));
        let url = loop {
            let mut line = String::new();
            assert_ne!(said.read_line(&mut line).expect("a line"), 0, "it ended before it asked");
            if let Some((_, url)) = line.trim().split_once(" open ") {
                break url.to_owned();
            }
        };
        let browser = python("browser.py").args([&url, &someone.name, &someone.password]).output();
        let browser = browser.expect("it runs");
        assert!(browser.status.success(), "{browser:?}");
        json_of(&browser)["password"].as_str().expect("a password").clone_into(&mut someone.password);
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{ended:?}");
        someone.secrets.push(someone.password.clone());
        for entry in std::fs::read_dir(someone.home.path().join("aldgate")).expect("a folder") {
            let text = std::fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default();
            let Ok(kept) = serde_json::from_str::<Value>(&text) else { continue };
            for name in ["access_token", "refresh_token"] {
                let found = kept.pointer(&format!("/{name}")).or(kept.pointer(&format!("/kept/{name}")));
                someone.secrets.extend(found.and_then(Value::as_str).map(str::to_owned));
                if let (Some(token), "access_token") = (found.and_then(Value::as_str), name) {
                    token.clone_into(&mut someone.token);
                }
            }
        }
        assert!(!someone.token.is_empty(), "no token was kept");
    }

    /// What somebody does on the page of the upstream's connection. Gives the pages that were seen.
    pub(super) fn pages(&self, someone: &mut Someone, button: &str, more: &[&str]) -> Vec<Value> {
        let page = format!("{}/connections/up", self.base);
        let arguments = [&[&*page, &*someone.name, &*someone.password, button][..], more].concat();
        let output = python("connect_account.py").args(arguments).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let told = json_of(&output);
        for secret in told["secrets"].as_array().expect("cookies and what addresses carried") {
            someone.secrets.extend(secret.as_str().map(str::to_owned));
        }
        told["pages"].as_array().expect("pages").clone()
    }

    /// The title of the page that came last.
    pub(super) fn connects(&self, someone: &mut Someone, more: &[&str]) -> String {
        let pages = self.pages(someone, "Connect", more);
        pages.last().expect("a page")["title"].as_str().expect("a title").to_owned()
    }

    pub(super) fn client(&self, token: &str) -> Client {
        Client::new(self.address(), Some(token))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.base.trim_start_matches("http://").parse().expect("an address")
    }

    /// What the upstream was called with.
    pub(super) fn calls(&self) -> Vec<Seen> {
        self.up.calls("look")
    }
}

/// As [`serve`], with variables.
fn serve_with(
    folder: &Path,
    env: &[(&str, &str)],
) -> (Child, BufReader<std::process::ChildStderr>, String, String) {
    if env.is_empty() {
        return serve(folder);
    }
    let mut child = aldgate()
        .current_dir(folder)
        .args(["serve", "gateway"])
        .envs(env.iter().copied())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut said = BufReader::new(child.stderr.take().expect("its messages"));
    let mut address = |before: &str| loop {
        let mut line = String::new();
        assert_ne!(said.read_line(&mut line).expect("a line"), 0, "it ended before it served");
        if let Some(found) = line.trim().strip_prefix(before) {
            return found.trim().to_owned();
        }
    };
    let (url, admin) = (address("agents:"), address("admin:"));
    (child, said, url, admin)
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.gateway.kill();
        let _ = self.gateway.wait();
    }
}

/// The claims of a token that an upstream was shown.
pub(super) fn claims(seen: &Seen) -> Value {
    use base64::Engine as _;
    let part = seen.bearer().split('.').nth(1).unwrap_or_default();
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part).expect("base64url");
    serde_json::from_slice(&bytes).expect("claims")
}

pub(super) fn urls() -> Value {
    json!({"elicitation": {"url": {}}})
}
