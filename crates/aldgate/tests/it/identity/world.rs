//! A gateway with an authorization server, people with accounts, and the field-service servers behind it.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use aldgate_testkit::{Call, Client, Reply};
use serde_json::Value;

use crate::clients::python;
use crate::host::{principal, try_to_serve};
use crate::running::{aldgate, json_of};

const DEMO: &str = include_str!("../../../../../demo/aldgate.toml");

const POLICIES: &str = r#"
@id("agents-work")
permit (principal in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("agents-read")
permit (principal in Role::"agent", action in [Action::"read", Action::"get_prompt", Action::"call_unattended", Action::"complete", Action::"listen"], resource)
when { resource is Resource || resource is Prompt || resource is Gateway };
@id("engineers-work")
permit (principal is Person in Role::"engineer", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("approvers-decide")
permit (principal is Person in Role::"approver", action == Action::"decide", resource);
@id("operators-look")
permit (principal in Role::"operator", action in [Action::"audit", Action::"operate"], resource is Gateway);
"#;

/// Everybody may grant reading; the rest is for roles.
pub(super) const SERVER: &str = r#"
[identity.server]
dynamic_registration = true
everybody = ["tools:read"]
[identity.server.roles]
writer = ["tools:write"]
approver = ["approvals:decide"]
operator = ["admin", "evidence:read"]
"#;

/// All of it, ended when it is dropped.
pub(super) struct World {
    servers: Child,
    gateway: Child,
    _said: (BufReader<ChildStderr>, BufReader<ChildStderr>),
    folder: tempfile::TempDir,
    pub(super) url: String,
    pub(super) admin: String,
    /// A token of the configuration, for whoever reads the evidence.
    auditor: String,
}

/// A person with an account, and a folder for what `aldgate login` keeps.
pub(super) struct Someone<'a> {
    world: &'a World,
    name: String,
    pub(super) password: String,
    home: tempfile::TempDir,
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    json_of(output)
}

/// A listening server, and the address that it says.
fn field_service() -> (Child, BufReader<ChildStderr>, String) {
    let mut child = aldgate()
        .args(["serve", "field-service", "--listen", "127.0.0.1:0", "--tickets", "400"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the servers start");
    let mut said = BufReader::new(child.stderr.take().expect("their messages"));
    let mut line = String::new();
    while !line.contains("/manuals/mcp") {
        line.clear();
        if said.read_line(&mut line).unwrap_or_default() == 0 {
            break;
        }
    }
    let base = line.trim().strip_suffix("/manuals/mcp").unwrap_or_default().to_owned();
    (child, said, base)
}

impl World {
    pub(super) fn start() -> Self {
        Self::with(SERVER)
    }

    /// With this part of the configuration; what its files are is made in the folder beforehand.
    pub(super) fn with(identity: &str) -> Self {
        Self::in_folder(tempfile::tempdir().expect("a folder"), identity)
    }

    pub(super) fn in_folder(folder: tempfile::TempDir, identity: &str) -> Self {
        Self::made(folder, identity, |config| config)
    }

    /// With another configuration.
    pub(super) fn start_with(change: impl FnOnce(String) -> String) -> Self {
        Self::made(tempfile::tempdir().expect("a folder"), SERVER, change)
    }

    /// Known by a name, without which a browser has no passkeys.
    pub(super) fn at_localhost() -> Self {
        // Not one of those that systems give to connections. Somebody else may have it before the gateway does: then another one.
        for _ in 0..10 {
            let port = 20_000 + RandomState::new().build_hasher().finish() % 10_000;
            let gateway = format!("listen = \"127.0.0.1:{port}\"\npublic_url = \"http://localhost:{port}\"");
            let change = |config: String| config.replacen("listen = \"127.0.0.1:0\"", &gateway, 1);
            match Self::tried(tempfile::tempdir().expect("a folder"), SERVER, change) {
                Ok(mut made) => {
                    made.url = format!("http://localhost:{port}/mcp");
                    return made;
                }
                Err(said) => assert!(said.contains("in use"), "{said}"),
            }
        }
        panic!("no port is free");
    }

    fn made(folder: tempfile::TempDir, identity: &str, change: impl FnOnce(String) -> String) -> Self {
        Self::tried(folder, identity, change).expect("it serves")
    }

    /// What the gateway said, where it does not serve.
    fn tried(
        folder: tempfile::TempDir,
        identity: &str,
        change: impl FnOnce(String) -> String,
    ) -> Result<Self, String> {
        let (mut servers, of_servers, base) = field_service();
        let (auditor, entry) = principal(&["auditor", "--role", "operator"]);
        let mut config =
            String::from("[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n");
        config.push_str(&format!("[policy]\nfiles = [\"p.cedar\"]\n{entry}\n{identity}\n"));
        for name in ["tickets", "parts", "manuals"] {
            let lines = format!("kind = \"http\"\nurl = \"{base}/{name}/mcp\"\nlock = \"{name}.json\"\n");
            config.push_str(&format!("[upstreams.{name}]\n{lines}"));
        }
        let (_, registry) = DEMO.split_once("\n[registry.").expect("the demonstration has a registry");
        config.push_str(&format!("\n[registry.{registry}"));
        std::fs::write(folder.path().join("aldgate.toml"), change(config)).expect("written");
        std::fs::write(folder.path().join("p.cedar"), POLICIES).expect("written");
        let pinned = aldgate().current_dir(&folder).args(["contracts", "pin"]).output().expect("it runs");
        assert!(pinned.status.success(), "{pinned:?}");
        match try_to_serve(folder.path()) {
            Ok((gateway, of_gateway, url, admin)) => {
                Ok(Self { servers, gateway, _said: (of_servers, of_gateway), folder, url, admin, auditor })
            }
            Err(said) => {
                // One that has ended already cannot be killed; that is fine.
                let _ = servers.kill();
                let _ = servers.wait();
                Err(said)
            }
        }
    }

    /// Sends a call with a token.
    pub(super) fn sends(&self, token: &str, call: &Call) -> Reply {
        let address = self.host().parse().expect("an address");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(Client::new(address, Some(token)).send(call)).expect("a reply")
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command beside the gateway, in its folder.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        aldgate().current_dir(&self.folder).args(arguments).output().expect("the binary runs")
    }

    /// The same with a token.
    pub(super) fn run_as(&self, token: &str, arguments: &[&str]) -> Output {
        self.command_as(token, arguments).output().expect("the binary runs")
    }

    /// Begins a command with a token.
    pub(super) fn begins_as(&self, token: &str, arguments: &[&str]) -> Child {
        let mut command = self.command_as(token, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// Runs a command as who may read the evidence and operate the gateway.
    pub(super) fn operates(&self, arguments: &[&str]) -> Output {
        self.run_as(&self.auditor, arguments)
    }

    fn command_as(&self, token: &str, arguments: &[&str]) -> Command {
        let mut command = aldgate();
        command.current_dir(&self.folder).args(arguments);
        command.env("ALDGATE_URL", &self.url).env("ALDGATE_ADMIN_URL", &self.admin);
        command.env("ALDGATE_TOKEN", token);
        command
    }

    /// What the authorization server answers to a request for a token.
    pub(super) fn token(&self, form: &[(&str, &str)]) -> Value {
        let reply = self.asks_for_a_token(form, &[]);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json().expect("JSON")
    }

    /// The reply to a request for a token, with further headers.
    pub(super) fn asks_for_a_token(&self, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let host = self.host();
        let mut request = http::Request::post("/oauth/token")
            .header("host", host)
            .header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        exchange(host, request.body(body.into()).expect("a request"))
    }

    /// Where the gateway listens.
    pub(super) fn host(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Adds to the configuration, and has the gateway read it again.
    pub(super) fn reload_with(&self, more: &str) -> Output {
        let path = self.folder().join("aldgate.toml");
        let config = std::fs::read_to_string(&path).expect("a configuration");
        std::fs::write(path, format!("{config}\n{more}\n")).expect("written");
        self.operates(&["reload"])
    }

    /// Makes an account.
    pub(super) fn person(&self, name: &str, roles: &[&str]) -> Someone<'_> {
        self.person_with(name, roles, &[])
    }

    /// The same with further options.
    pub(super) fn person_with(&self, name: &str, roles: &[&str], more: &[&str]) -> Someone<'_> {
        let mut arguments = vec!["users", "add", name, "--json"];
        arguments.extend(more);
        arguments.extend(roles.iter().flat_map(|role| ["--role", *role]));
        let made = json(&self.run(&arguments));
        let password = made["one_time_password"].as_str().expect("a password").to_owned();
        Someone { password, ..self.stranger(name) }
    }

    /// Somebody without an account.
    pub(super) fn stranger(&self, name: &str) -> Someone<'_> {
        let home = tempfile::tempdir().expect("a folder");
        Someone { world: self, name: name.to_owned(), password: String::new(), home }
    }

    /// Rows of evidence of this kind.
    pub(super) fn rows(&self, kind: &str) -> Vec<Value> {
        let found = json(&self.operates(&["audit", "list", "--kind", kind, "--limit", "500", "--json"]));
        found["rows"].as_array().or(found.as_array()).expect("rows").clone()
    }
}

/// The first text of this name, however deep.
fn member<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    match value {
        Value::Object(members) => match members.get(name) {
            Some(Value::String(found)) => Some(found),
            _ => members.values().find_map(|inner| member(inner, name)),
        },
        Value::Array(elements) => elements.iter().find_map(|inner| member(inner, name)),
        _ => None,
    }
}

/// Sends one request to one of the listeners of a gateway.
pub(super) fn exchange(host: &str, request: http::Request<bytes::Bytes>) -> Reply {
    let address = host.parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(Client::new(address, None).exchange(request)).expect("a reply")
}

impl Drop for World {
    fn drop(&mut self) {
        for child in [&mut self.gateway, &mut self.servers] {
            // One that has ended already cannot be killed; that is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Someone<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = aldgate();
        command.current_dir(self.world.folder()).args(arguments).env("XDG_STATE_HOME", self.home.path());
        command.env("ALDGATE_URL", &self.world.url).env("ALDGATE_ADMIN_URL", &self.world.admin);
        // No browser is started: the one of the test is told the address.
        command.env("PATH", "/nonexistent");
        command
    }

    /// Runs a command with what this person's `aldgate login` kept.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// Begins a command that waits for others.
    pub(super) fn begins(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// Runs a command that has the person sign in on its way.
    pub(super) fn signs_in(&mut self, arguments: &[&str]) -> Output {
        let mut child = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut said = BufReader::new(child.stderr.take().expect("its messages"));
        let mut told = String::new();
        let url = loop {
            let mut line = String::new();
            if said.read_line(&mut line).expect("a line") == 0 {
                break None;
            }
            told.push_str(&line);
            if let Some((_, url)) = line.trim().split_once(" open ").filter(|_| line.starts_with("sign in:"))
            {
                break Some(url.to_owned());
            }
        };
        if let Some(url) = url {
            let browser =
                python("browser.py").args([&url, &self.name, &self.password]).output().expect("it runs");
            if browser.status.success() {
                self.password = json_of(&browser)["password"].as_str().expect("a password").to_owned();
            } else {
                let _ = child.kill();
                panic!("{}", String::from_utf8_lossy(&browser.stderr));
            }
        }
        let mut output = child.wait_with_output().expect("it ends");
        said.read_to_string(&mut told).expect("its messages");
        output.stderr = told.into_bytes();
        output
    }

    /// What this person signs in with.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The access token for the MCP endpoint, or for the admin API, that `aldgate login` keeps.
    pub(super) fn access_token(&self, admin: bool) -> String {
        let entries = std::fs::read_dir(self.home.path().join("aldgate")).expect("a folder");
        let mut kept = entries.filter_map(|entry| {
            let text = std::fs::read_to_string(entry.ok()?.path()).ok()?;
            let of_admin = text.contains(&format!("{}/v1", self.world.admin));
            let kept: Value = serde_json::from_str(&text).ok().filter(|_| of_admin == admin)?;
            member(&kept, "access_token").map(str::to_owned)
        });
        kept.next().expect("an access token")
    }

    /// What this person does in a browser whose address somebody gave.
    pub(super) fn browses(&self, url: &str) {
        let browser = python("browser.py").args([url, &self.name, &self.password]).output().expect("it runs");
        assert!(browser.status.success(), "{}", String::from_utf8_lossy(&browser.stderr));
    }

    /// Where this person's tokens are kept.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }
}
