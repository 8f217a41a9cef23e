//! A configured gateway in front of a server that changes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::running::{aldgate, json_of};
use crate::upstream::{Upstream, tool};

/// `aldgate serve gateway` with two principals, ended when it is dropped.
pub(crate) struct Host {
    child: Child,
    _said: BufReader<ChildStderr>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) url: String,
    admin: String,
    pub(crate) agent: String,
    pub(crate) approver: String,
}

const POLICIES: &str = r#"
@id("agents-call")
permit (principal is Service in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("approvers-look")
permit (principal is Person in Role::"approver", action in [Action::"audit", Action::"operate"], resource is Gateway);
"#;

/// A token and the entry that knows its hash.
pub(crate) fn principal(arguments: &[&str]) -> (String, String) {
    let output = aldgate().args(["token", "new"]).args(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let entry = String::from_utf8(output.stderr).expect("UTF-8");
    (String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned(), entry)
}

/// Starts the gateway of a folder and waits until it serves.
pub(crate) fn serve(folder: &Path) -> Serves {
    try_to_serve(folder).expect("it serves")
}

/// A gateway, its messages from here on, and where agents and operators reach it.
type Serves = (Child, BufReader<ChildStderr>, String, String);

/// What it said, where it ended before it served.
pub(crate) fn try_to_serve(folder: &Path) -> Result<Serves, String> {
    let mut child = aldgate()
        .current_dir(folder)
        .args(["serve", "gateway"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut said = BufReader::new(child.stderr.take().expect("its messages"));
    let mut told = String::new();
    let mut address = |before: &str| {
        loop {
            let mut line = String::new();
            if said.read_line(&mut line).expect("a line") == 0 {
                return None;
            }
            if let Some(found) = line.trim().strip_prefix(before) {
                return Some(found.trim().to_owned());
            }
            told.push_str(&line);
        }
    };
    let Some((url, admin)) = address("agents:").zip(address("admin:")) else {
        child.wait().expect("it ends");
        return Err(told);
    };
    Ok((child, said, url, admin))
}

impl Host {
    pub(crate) fn start(upstream: &Upstream, prefix: &str, tools: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (agent, first) = principal(&["agent", "--role", "agent"]);
        let (approver, second) =
            principal(&["ann", "--kind", "person", "--role", "approver", "--display-name", "Ann \"A\" B"]);
        let mut config = format!(
            "[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[policy]\nfiles = [\"p.cedar\"]\n{first}\n{second}\n\
             [upstreams.a]\nkind = \"http\"\nurl = \"{}\"\nlock = \"a.json\"\nprefix = \"{prefix}\"\nverify_every = \"1s\"\n",
            upstream.url
        );
        for tool in tools {
            let entry = "authority = \"automatic\"\nlabels = []\nread_only = true\n";
            config.push_str(&format!("[registry.\"a/{tool}\"]\n{entry}"));
        }
        std::fs::write(folder.path().join("aldgate.toml"), config).expect("written");
        std::fs::write(folder.path().join("p.cedar"), POLICIES).expect("written");
        let run = |arguments: [&str; 2]| {
            let output = aldgate().current_dir(&folder).args(arguments).output().expect("the binary runs");
            assert!(output.status.success(), "{output:?}");
        };
        run(["contracts", "pin"]);
        run(["config", "check"]);
        let (child, said, url, admin) = serve(folder.path());
        Self { child, _said: said, folder, url, admin, agent, approver }
    }

    /// The same anew, for a configuration that was changed.
    fn again(mut self) -> Self {
        self.child.kill().expect("killed");
        self.child.wait().expect("it ends");
        (self.child, self._said, self.url, self.admin) = serve(self.folder.path());
        self
    }

    fn lock(&self) -> PathBuf {
        self.folder.path().join("a.json")
    }

    pub(crate) fn run_as(&self, token: &str, arguments: &[&str]) -> Output {
        let mut command = aldgate();
        command.current_dir(&self.folder).args(arguments);
        command.env("ALDGATE_URL", &self.url).env("ALDGATE_ADMIN_URL", &self.admin);
        command.env("ALDGATE_TOKEN", token).output().expect("the binary runs")
    }

    /// Runs as the operator until what it prints as JSON is as it should be.
    pub(crate) fn until(&self, arguments: &[&str], good: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let output = self.run_as(&self.approver, arguments);
            let found = json_of(&output);
            if good(&found) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{arguments:?} never said what was waited for");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text_of_failure(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    text(output)
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn a_changed_tool_is_shown_as_refused_until_it_is_reviewed_pinned_and_reloaded() {
    let upstream = Upstream::start(&[tool("look", "Looks."), tool("overlook", "Overlooks.")]);
    let host = Host::start(&upstream, "x_", &["look", "overlook"]);
    let show = ["tools", "show", "x_look", "--json"];
    let before = json_of(&host.run_as(&host.agent, &show));
    assert_eq!(before["refused_now"], Value::Null);

    upstream.serve(&[tool("look", "Looks, and more."), tool("overlook", "Overlooks.")]);
    let refused = host.until(&show, |found| !found["refused_now"].is_null());
    assert_eq!(refused["refused_now"], "1 behavioural: description");
    // The contract is the pinned one all the same, and another tool is not blamed.
    assert_eq!(refused["tool"]["description"], "Looks.");
    let other = json_of(&host.run_as(&host.approver, &["tools", "show", "x_overlook", "--json"]));
    assert_eq!(other["refused_now"], Value::Null);
    let shown = text(&host.run_as(&host.approver, &["tools", "show", "x_look"]));
    assert!(shown.contains("AG-CONTRACT-CHANGED: 1 behavioural: description"), "{shown}");
    let call = text(&host.run_as(&host.agent, &["call", "x_look"]));
    assert!(call.contains("AG-CONTRACT-CHANGED"), "{call}");

    let verified = host.run_as(&host.approver, &["contracts", "verify"]);
    assert_eq!(verified.status.code(), Some(2));
    assert!(text(&verified).contains("and more"), "{}", text(&verified));
    let accepted = text(&host.run_as(&host.approver, &["contracts", "accept", "a/look"]));
    assert!(accepted.contains("accepted, version 2") && accepted.contains("`aldgate reload`"), "{accepted}");
    assert!(std::fs::read_to_string(host.lock()).expect("a lock").contains("Looks, and more."));
    let reloaded = host.run_as(&host.approver, &["reload"]);
    assert!(reloaded.status.success(), "{}", text(&reloaded));
    host.until(&show, |found| found["tool"]["description"] == "Looks, and more.");
    let call = host.run_as(&host.agent, &["call", "x_look"]);
    assert!(call.status.success(), "{}", text(&call));
}

#[test]
fn a_quarantine_is_released_where_the_server_went_back() {
    let look = [tool("look", "Looks.")];
    let upstream = Upstream::start(&look);
    let host = Host::start(&upstream, "", &["look"]);
    let show = ["tools", "show", "look", "--json"];
    upstream.serve(&[tool("look", "Looks, and more.")]);
    host.until(&show, |found| !found["refused_now"].is_null());
    upstream.serve(&look);
    let release = ["contracts", "release", "a/look"];
    let refused = text_of_failure(&host.run_as(&host.agent, &release));
    assert!(refused.contains("AG-ADMIN-FORBIDDEN"), "{refused}");
    let unknown = text_of_failure(&host.run_as(&host.approver, &["contracts", "release", "prompt:a/look"]));
    assert!(unknown.contains("AG-ADMIN-QUARANTINE"), "{unknown}");
    let released = host.run_as(&host.approver, &release);
    assert_eq!(text(&released), "a/look: released\n");
    host.until(&show, |found| found["refused_now"].is_null());
    assert!(host.run_as(&host.agent, &["call", "look"]).status.success());
    let again = host.run_as(&host.approver, &[&release[..], &["--json"]].concat());
    assert_eq!(json_of(&again), serde_json::json!({"released": false}));
    let nowhere =
        aldgate().args(["contracts", "release", "a/look", "--admin", "http://127.0.0.1:1"]).output();
    let nowhere = text_of_failure(&nowhere.expect("the binary runs"));
    assert!(nowhere.starts_with("AG-CLI-UNREACHABLE"), "{nowhere}");
}

#[test]
fn evidence_is_found_by_the_name_of_the_tool_alone() {
    let upstream = Upstream::start(&[tool("look", "Looks."), tool("overlook", "Overlooks.")]);
    let host = Host::start(&upstream, "", &["look", "overlook"]);
    for tool in ["look", "overlook", "look", "look"] {
        assert!(host.run_as(&host.agent, &["call", tool]).status.success());
    }
    let rows = |arguments: &[&str]| {
        let listed = [&["audit", "list", "--json"], arguments].concat();
        json_of(&host.run_as(&host.approver, &listed))["rows"].as_array().expect("rows").clone()
    };
    let bare = rows(&["--tool", "look", "--kind", "outcome"]);
    assert_eq!(bare, rows(&["--tool", "a/look", "--kind", "outcome"]));
    assert_eq!(bare.len(), 3);
    assert_eq!(rows(&["--tool", "look", "--kind", "outcome", "--limit", "2"]), bare[1..]);
    assert_eq!(rows(&["--tool", "nothing"]), Vec::<Value>::new());
}

#[test]
fn a_call_that_is_too_large_is_told_at_once() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let host = Host::start(&upstream, "", &["look"]);
    let config = host.folder.path().join("aldgate.toml");
    let text = std::fs::read_to_string(&config).expect("a configuration");
    std::fs::write(&config, format!("{text}\n[limits]\nbody_bytes = 2048\n")).expect("written");
    let host = host.again();
    let arguments = format!(r#"{{"text": "{}"}}"#, "x".repeat(100_000));
    let said = text_of_failure(&host.run_as(&host.agent, &["call", "look", "--args", &arguments]));
    assert!(said.contains("AG-HEAD-SIZE") && said.contains("2048"), "{said}");
}

#[test]
fn it_is_said_why_there_is_no_connection() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let host = Host::start(&upstream, "", &["look"]);
    for arguments in [["tools", "list"].as_slice(), &["call", "look"], &["listen"]] {
        let refused = text_of_failure(&host.run_as("agt_wrong", arguments));
        assert!(refused.starts_with("AG-AGENT-UNAUTHORIZED"), "{refused}");
        assert!(squeezed(&refused).contains("(thetokenisnotknownhere)"), "{refused}");
        let unreachable = aldgate()
            .args(arguments)
            .args(["--url", "http://127.0.0.1:1/mcp", "--token", "agt_wrong"])
            .output()
            .expect("the binary runs");
        let unreachable = text_of_failure(&unreachable);
        assert!(unreachable.starts_with("AG-AGENT-UNREACHABLE"), "{unreachable}");
        let said = squeezed(&unreachable);
        assert!(said.contains("Connectionrefused") && !said.contains("rmcp"), "{unreachable}");
    }
}

/// Without what a report breaks and indents its lines with.
fn squeezed(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && *letter != '│').collect()
}

#[test]
fn the_apis_own_code_is_the_code_of_the_error() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let host = Host::start(&upstream, "", &["look"]);
    for (token, arguments, code, hint) in [
        ("agt_wrong", ["status"].as_slice(), "AG-IDENTITY", true),
        (&host.agent, &["status"], "AG-ADMIN-FORBIDDEN", true),
        (&host.approver, &["approvals", "show", "ap_none"], "AG-ADMIN-APPROVAL", false),
        (&host.approver, &["audit", "show", "c_none"], "AG-ADMIN-CALL", false),
    ] {
        let said = text(&host.run_as(token, arguments));
        assert_eq!(said.lines().next().map(str::trim), Some(code), "{said}");
        assert_eq!(said.contains("--token"), hint, "{said}");
    }
}

#[test]
fn a_credential_in_a_file_is_exchanged_while_the_gateway_runs() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let host = Host::start(&upstream, "", &["look"]);
    let file = host.folder.path().join("a.token");
    let write = |token: &str| std::fs::write(&file, format!("{token}\n")).expect("written");
    write("first-secret");
    let config = host.folder.path().join("aldgate.toml");
    let text_of = std::fs::read_to_string(&config).expect("a configuration");
    let credential = "[upstreams.a.credential]\nkind = \"header\"\nfile = \"a.token\"\n";
    std::fs::write(&config, format!("{text_of}\n{credential}")).expect("written");
    let host = host.again();
    let call = || {
        let output = host.run_as(&host.agent, &["call", "look"]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(!text(&output).contains("secret"), "{}", text(&output));
    };
    call();
    // Never the caller's own.
    assert_eq!(upstream.shown().as_deref(), Some("Bearer first-secret"));
    write("second-secret");
    let until = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        call();
        if upstream.shown().as_deref() == Some("Bearer second-secret") {
            break;
        }
        assert_eq!(upstream.shown().as_deref(), Some("Bearer first-secret"));
        assert!(std::time::Instant::now() < until, "the new credential is not shown");
        std::thread::sleep(Duration::from_millis(100));
    }
    let evidence = text(&host.run_as(&host.approver, &["audit", "list", "--json", "--limit", "500"]));
    let status = text(&host.run_as(&host.approver, &["status", "--json"]));
    assert!(!evidence.contains("secret") && !status.contains("secret"), "{evidence} {status}");
}
