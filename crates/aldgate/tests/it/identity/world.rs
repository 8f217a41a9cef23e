//! A gateway with an authorization server, people with accounts, and the field-service servers behind it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;

use crate::clients::python;
use crate::host::{principal, serve};
use crate::running::{aldgate, json_of};

const DEMO: &str = include_str!("../../../../../demo/aldgate.toml");

const POLICIES: &str = r#"
@id("agents-work")
permit (principal in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("approvers-decide")
permit (principal is Person in Role::"approver", action == Action::"decide", resource);
@id("operators-look")
permit (principal in Role::"operator", action in [Action::"audit", Action::"operate"], resource is Gateway);
"#;

/// Everybody may grant reading; the rest is for roles.
const SERVER: &str = r#"
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
        let (servers, of_servers, base) = field_service();
        let folder = tempfile::tempdir().expect("a folder");
        let (auditor, entry) = principal(&["auditor", "--role", "operator"]);
        let mut config =
            String::from("[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n");
        config.push_str(&format!("[policy]\nfiles = [\"p.cedar\"]\n{entry}\n{SERVER}\n"));
        for name in ["tickets", "parts", "manuals"] {
            let lines = format!("kind = \"http\"\nurl = \"{base}/{name}/mcp\"\nlock = \"{name}.json\"\n");
            config.push_str(&format!("[upstreams.{name}]\n{lines}"));
        }
        let (_, registry) = DEMO.split_once("\n[registry.").expect("the demonstration has a registry");
        config.push_str(&format!("\n[registry.{registry}"));
        std::fs::write(folder.path().join("aldgate.toml"), config).expect("written");
        std::fs::write(folder.path().join("p.cedar"), POLICIES).expect("written");
        let pinned = aldgate().current_dir(&folder).args(["contracts", "pin"]).output().expect("it runs");
        assert!(pinned.status.success(), "{pinned:?}");
        let (gateway, of_gateway, url, admin) = serve(folder.path());
        Self { servers, gateway, _said: (of_servers, of_gateway), folder, url, admin, auditor }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command beside the gateway, in its folder.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        aldgate().current_dir(&self.folder).args(arguments).output().expect("the binary runs")
    }

    /// Makes an account.
    pub(super) fn person(&self, name: &str, roles: &[&str]) -> Someone<'_> {
        let mut arguments = vec!["users", "add", name, "--json"];
        arguments.extend(roles.iter().flat_map(|role| ["--role", *role]));
        let made = json(&self.run(&arguments));
        let password = made["one_time_password"].as_str().expect("a password").to_owned();
        Someone { world: self, name: name.to_owned(), password, home: tempfile::tempdir().expect("a folder") }
    }

    /// Rows of evidence of this kind.
    pub(super) fn rows(&self, kind: &str) -> Vec<Value> {
        let mut command = aldgate();
        command.env("ALDGATE_ADMIN_URL", &self.admin).env("ALDGATE_TOKEN", &self.auditor);
        let output = command.args(["audit", "list", "--kind", kind, "--limit", "500", "--json"]).output();
        let found = json(&output.expect("the binary runs"));
        found["rows"].as_array().or(found.as_array()).expect("rows").clone()
    }
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

    /// Where this person's tokens are kept.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }
}
