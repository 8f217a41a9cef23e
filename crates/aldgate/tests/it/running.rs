//! Programs that run while a test goes on, and what they say.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

use crate::clients::python;

/// The binary, in an empty folder: no test depends on an `aldgate.toml` that lies about.
pub(crate) fn aldgate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aldgate"));
    std::fs::create_dir_all(EMPTY).expect("a folder");
    command.current_dir(EMPTY).stdin(Stdio::null()).env("XDG_STATE_HOME", EMPTY);
    for variable in [
        "ALDGATE_URL",
        "ALDGATE_ADMIN_URL",
        "ALDGATE_TOKEN",
        "ALDGATE_LOG",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        COLLECTOR,
    ] {
        command.env_remove(variable);
    }
    command
}

/// Where spans are sent.
pub(crate) const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// A folder in which no test writes.
const EMPTY: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/empty");

/// The root of the repository.
pub(crate) fn root() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..")
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    aldgate().args(arguments).output().expect("the binary runs")
}

/// What a run printed, as JSON.
pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|fault| panic!("not JSON ({fault}): {output:?}"))
}

/// The events of a run that printed one JSON object a line.
pub(crate) fn events_of(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

/// The events of one name.
pub(crate) fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

/// A demonstration that goes on serving; ended when it is dropped.
pub(crate) struct Serving {
    child: Child,
    lines: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) admin: String,
    pub(crate) agent: String,
    pub(crate) approver: String,
    /// The approver's token for decisions.
    pub(crate) decider: String,
    /// What the approver signs in with.
    password: String,
    /// Where what the approver's sign-ins gave is kept.
    home: tempfile::TempDir,
    pub(crate) events: Vec<Value>,
}

impl Serving {
    /// Starts a demonstration and waits until it serves.
    pub(crate) fn start(more: &[&str]) -> Self {
        Self::start_as(aldgate(), more)
    }

    /// The same with another environment.
    pub(crate) fn start_as(mut command: Command, more: &[&str]) -> Self {
        let mut child = command
            .args([
                "demo",
                "--json",
                "--tickets",
                "400",
                "--listen",
                "127.0.0.1:0",
                "--admin-listen",
                "127.0.0.1:0",
            ])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut events: Vec<Value> = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(lines.read_line(&mut line).expect("a line"), 0, "ended before it served: {events:?}");
            let event: Value = serde_json::from_str(&line).expect("a JSON object a line");
            let serves = event["event"] == "serving";
            events.push(event);
            if serves {
                break;
            }
        }
        let stage = named(&events, "stage")[0].clone();
        let word = |key: &str| stage[key].as_str().expect("a word").to_owned();
        Self {
            url: word("url"),
            admin: word("admin"),
            agent: word("agent_token"),
            approver: word("approver_token"),
            decider: word("decider_token"),
            password: stage["approver"]["password"].as_str().expect("a password").to_owned(),
            home: tempfile::tempdir().expect("a folder"),
            events,
            child,
            lines,
        }
    }

    /// Runs a command of the binary against this gateway.
    pub(crate) fn run_as(&self, token: &str, arguments: &[&str]) -> Output {
        aldgate()
            .args(arguments)
            .env("ALDGATE_URL", &self.url)
            .env("ALDGATE_ADMIN_URL", &self.admin)
            .env("ALDGATE_TOKEN", token)
            .output()
            .expect("the binary runs")
    }

    /// Decides as the approver, with the token that is for that alone.
    pub(crate) fn decides(&self, arguments: &[&str]) -> Output {
        self.run_as(&self.decider, arguments)
    }

    /// Runs a command as the approver, who has signed in at the MCP endpoint and at the admin API.
    pub(crate) fn as_approver(&self, arguments: &[&str]) -> Output {
        let command = |arguments: &[&str]| {
            let mut command = aldgate();
            command.args(arguments).env("XDG_STATE_HOME", self.home.path()).env("PATH", "/nonexistent");
            command.env("ALDGATE_URL", &self.url).env("ALDGATE_ADMIN_URL", &self.admin);
            command
        };
        let logins: [&[&str]; 2] =
            [&["login"], &["login", "--admin", "--scope", "admin evidence:read tools:read"]];
        if !self.home.path().join("aldgate").is_dir() {
            for login in logins {
                let mut child = command(login).stderr(Stdio::piped()).spawn().expect("the binary starts");
                let said = BufReader::new(child.stderr.take().expect("its messages"));
                let url = said
                    .lines()
                    .map_while(Result::ok)
                    .find_map(|line| line.split_once(" open ").map(|(_, url)| url.trim().to_owned()));
                let url = url.expect("where to sign in");
                let browser = python("browser.py").args([&url, "approver", &self.password]).output();
                assert!(browser.expect("it runs").status.success());
                assert!(child.wait().expect("it ends").success());
            }
        }
        command(arguments).output().expect("the binary runs")
    }

    /// Rows of evidence.
    pub(crate) fn rows(&self, kind: &str, tool: &str) -> Vec<Value> {
        let output = self.run_as(
            &self.approver,
            &["audit", "list", "--json", "--limit", "500", "--kind", kind, "--tool", tool],
        );
        json_of(&output)["rows"].as_array().expect("rows").clone()
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process as a person at a terminal does, and returns how it ended.
    pub(crate) fn interrupt(mut self) -> std::process::ExitStatus {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut rest).expect("the rest");
        self.child.wait().expect("it ends")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `aldgate dev` in front of a server; ended when it is dropped.
pub(crate) struct Dev {
    child: Child,
    /// What it said until it served.
    pub(crate) said: Vec<String>,
    pub(crate) url: String,
    pub(crate) admin: String,
    pub(crate) token: String,
}

impl Dev {
    /// Starts it and waits until it serves.
    pub(crate) fn start(upstream: &str) -> Self {
        Self::start_as(aldgate(), upstream)
    }

    /// The same with another environment.
    pub(crate) fn start_as(mut command: Command, upstream: &str) -> Self {
        let mut child = command
            .args(["dev", "--upstream", upstream, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(child.stderr.take().expect("its messages")).lines();
        let mut said = Vec::new();
        for line in lines.map_while(Result::ok) {
            let last = line.starts_with("export ");
            said.push(line);
            if last {
                break;
            }
        }
        let exports = said.last().expect("how to connect").trim_start_matches("export ").to_owned();
        let of = |name: &str| {
            let mut pairs = exports.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).unwrap_or_else(|| panic!("no {name}: {said:?}")).1.to_owned()
        };
        let (url, admin, token) = (of("ALDGATE_URL"), of("ALDGATE_ADMIN_URL"), of("ALDGATE_TOKEN"));
        Self { child, said, url, admin, token }
    }

    /// Runs a command of the binary against this gateway.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        aldgate()
            .args(arguments)
            .env("ALDGATE_URL", &self.url)
            .env("ALDGATE_ADMIN_URL", &self.admin)
            .env("ALDGATE_TOKEN", &self.token)
            .output()
            .expect("the binary runs")
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
