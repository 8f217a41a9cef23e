//! What a person reads when a command fails: words, what to do, and a stable code.

use std::path::Path;

use crate::running::run;

/// The stable codes in what a command says.
fn codes(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.is_empty(), "{arguments:?} said nothing");
    said
}

fn check(arguments: &[&str], code: &str) {
    let said = codes(arguments);
    assert!(said.lines().any(|line| line.trim() == code), "{arguments:?}: {said}");
}

#[test]
fn what_stands_on_the_command_line_and_cannot_be_used_has_a_code() {
    check(&["call", "get_ticket", "--args", "[1]"], "AG-CLI-USAGE");
    check(&["call", "get_ticket", "--args", "{"], "AG-CLI-USAGE");
    check(&["approvals", "list", "--state", "odd"], "AG-CLI-USAGE");
    check(&["approvals", "show", "a/b"], "AG-CLI-USAGE");
    check(&["audit", "show", ""], "AG-CLI-USAGE");
    check(&["dev", "--upstream", "http://127.0.0.1:1/mcp", "--listen", "0.0.0.0:0"], "AG-CLI-USAGE");
    check(&["dev", "--upstream", "http://[", "--listen", "127.0.0.1:0"], "AG-CLI-USAGE");
    check(&["policy", "explain", "get_ticket", "--as", "agent", "--args", "7"], "AG-CLI-USAGE");
    check(&["policy", "explain", "no_such_tool", "--as", "agent"], "AG-CLI-UNKNOWN");
    check(&["policy", "explain", "get_ticket", "--as", "nobody"], "AG-CLI-UNKNOWN");
    check(&["agent", "run", "t", "--model", "m"], "AG-CLI-USAGE");
    let http = "http://models.example.org";
    check(&["agent", "run", "t", "--planner", "openai", "--base-url", http], "AG-MODEL-ADDRESS");
    check(&["dev", "--upstream", "http://127.0.0.1:1/mcp", "--bearer-env", "ALDGATE_NO_SUCH"], "AG-CLI-ENV");
    check(
        &["serve", "field-service", "--listen", "127.0.0.1:0", "--bearer-env", "ALDGATE_NO_SUCH"],
        "AG-CLI-ENV",
    );
}

#[test]
fn what_the_configuration_does_not_have_or_allow_has_a_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    let config = path.to_str().expect("UTF-8");
    let lock = folder.path().join("a.json");
    let upstream = |kind: &str| {
        std::fs::write(&path, format!("[upstreams.a]\n{kind}\nlock = \"a.json\"\n")).expect("written");
    };
    upstream("kind = \"inproc\"\nsystem = \"field-service/parts\"");
    check(&["contracts", "pin", "--config", config], "AG-CLI-CONFIG");
    upstream("kind = \"http\"\nurl = \"http://127.0.0.1:1/mcp\"");
    check(&["contracts", "pin", "b", "--config", config], "AG-CLI-UNKNOWN");
    check(&["contracts", "pin", "--config", config], "AG-CLI-UPSTREAM");
    check(&["contracts", "verify", "--config", config], "AG-CONFIG-LOCK");
    std::fs::write(&lock, "{}").expect("written");
    check(&["contracts", "verify", "--config", config], "AG-CONFIG-LOCK");
    std::fs::remove_file(&lock).expect("removed");
    std::fs::create_dir(&lock).expect("made");
    check(&["contracts", "verify", "--config", config], "AG-CLI-FILE");
    upstream("kind = \"http\"\nurl = \"ftp://127.0.0.1:1/mcp\"");
    std::fs::remove_dir(&lock).expect("removed");
    check(&["contracts", "pin", "--config", config], "AG-CONFIG-UPSTREAM");

    // Without a configuration there is nothing to serve or to pin.
    for arguments in [["serve", "gateway"], ["contracts", "pin"]] {
        check(&arguments, "AG-CLI-CONFIG");
    }
}

#[test]
fn what_the_machine_does_not_give_has_a_code() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    check(&["demo", "--once", "--deny", "--listen", &address], "AG-CLI-LISTEN");
    let demo = ["demo", "--once", "--deny", "--listen", "127.0.0.1:0", "--admin-listen", &address];
    let said = codes(&demo);
    assert!(said.contains("--admin-listen ADDR") && said.contains("ARGS="), "{said}");
    let serve = ["serve", "field-service", "--tickets", "150", "--listen", &address];
    check(&serve, "AG-CLI-LISTEN");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("written");
    let below = file.join("state");
    let demo = ["demo", "--once", "--deny", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let below: Vec<&str> = [&demo[..], &["--state-dir", path(&below)]].concat();
    check(&below, "AG-CLI-FILE");
    let few: Vec<&str> = [&demo[..], &["--tickets", "1"]].concat();
    check(&few, "AG-CLI-SYSTEM");
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
