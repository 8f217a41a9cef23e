//! `aldgate contracts`: what is pinned, what differs, and what to do.

mod accepting;
mod comparing;
mod signing;
mod telling;

use std::path::{Path, PathBuf};
use std::process::Output;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::running::{json_of, run};
use crate::upstream::{Upstream, tool};

/// A configuration with one upstream.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!("[upstreams.a]\nkind = \"http\"\nurl = \"{url}\"\nlock = \"a.json\"\n");
        std::fs::write(folder.path().join("aldgate.toml"), text).expect("written");
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file into it; its path.
    fn file(&self, name: &str, content: impl std::fmt::Display) -> String {
        std::fs::write(self.path(name), content.to_string()).expect("written");
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Adds to the configuration.
    fn configure(&self, more: &str) {
        let path = self.path("aldgate.toml");
        let text = std::fs::read_to_string(&path).expect("a configuration");
        std::fs::write(path, format!("{text}\n{more}")).expect("written");
    }

    fn lock(&self) -> Value {
        let text = std::fs::read_to_string(self.path("a.json")).expect("a lock");
        serde_json::from_str(&text).expect("JSON")
    }

    fn contracts(&self, arguments: &[&str]) -> Output {
        let config = self.path("aldgate.toml");
        run(&[&["contracts"], arguments, &["--config", config.to_str().expect("UTF-8")]].concat())
    }
}

/// What went wrong, in one line.
fn failure(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// What is printed, without the folder's name.
fn check(output: &Output, folder: &Path, code: i32, expected: &Expect) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stdout);
    expected.assert_eq(&printed.replace(&format!("{}/", folder.display()), ""));
}

#[test]
fn a_change_is_shown_with_the_old_text_and_the_new() {
    let schema = |most: u32| {
        let k = json!({"type": "integer", "maximum": most});
        json!({"name": "find", "description": "Finds.", "inputSchema": {"type": "object", "properties": {"k": k}}})
    };
    let upstream =
        Upstream::start(&[schema(5), tool("look", "Looks, and changes nothing."), tool("old", "")]);
    let folder = Folder::of(&upstream.url);
    let shown = |arguments: &[&str], code: i32, expected: Expect| {
        check(&folder.contracts(arguments), folder.0.path(), code, &expected);
    };
    shown(
        &["pin"],
        0,
        expect![[r#"
            a: 3 tools pinned in `a.json`
              find: new, version 1
              look: new, version 1
              old: new, version 1
            a gateway that runs uses this after `aldgate reload`
        "#]],
    );
    shown(
        &["pin"],
        0,
        expect![[r#"
            a: 3 tools pinned in `a.json`
              find: unchanged, version 1
              look: unchanged, version 1
              old: unchanged, version 1
        "#]],
    );
    upstream.serve(&[schema(50), tool("look", "Looks, and sends it on."), tool("more", "")]);
    shown(
        &["verify"],
        2,
        expect![[r#"
            a/find: changed: compatible
                compatible   /inputSchema/properties/k/maximum: `maximum` was `5` and is `50`
                  - 5
                  + 50
            a/look: changed: behavioural
                behavioural  /description: `description` has other words
                  Looks, and [-changes-]{+sends+} [-nothing-]{+it on+}.
            a/more: new: not pinned, not offered
            a/old: missing: pinned, but not served any more
            what is breaking or behavioural is refused until it is accepted: review it, then `aldgate contracts accept` and `aldgate reload`
        "#]],
    );
    let found = json_of(&folder.contracts(&["verify", "--json"]));
    let look = found[0]["findings"].as_array().expect("findings").iter().find(|one| one["tool"] == "look");
    let change = &look.expect("a finding")["changes"][0];
    assert_eq!((&change["path"], &change["severity"]), (&json!("/description"), &json!("behavioural")));
    assert_eq!(change["before"], "Looks, and changes nothing.");
    assert_eq!(change["after"], "Looks, and sends it on.");
    let again = folder.path("again.json");
    std::fs::copy(folder.path("a.json"), &again).expect("copied");
    // Nothing that changed for callers or models is pinned unreviewed.
    shown(
        &["pin"],
        1,
        expect![[r#"
        a.json -> a: breaking
          find: compatible
            compatible   /inputSchema/properties/k/maximum: `maximum` was `5` and is `50`
              - 5
              + 50
            to accept: `aldgate contracts accept a/find --digest sha256:1cd8bc13fe5c266e7714982b5ebd575e5d557f6c812605b0b71766307da70c4f`
          look: behavioural
            behavioural  /description: `description` has other words
              Looks, and [-changes-]{+sends+} [-nothing-]{+it on+}.
            to accept: `aldgate contracts accept a/look --digest sha256:494c96d8eed37c879d34c44a1cb126b4b06a05f5550bea11ebc6ebf741d2569b`
          more: new
            to accept: `aldgate contracts accept a/more --digest sha256:4482a3e84da61797a57185d4ee8421c6bb3fc7b3853521e5da6aeccf0a188c3e`
          old: gone
            to accept: `aldgate contracts accept a/old`
    "#]],
    );
    let refused = folder.contracts(&["pin", "--json"]);
    let (said, told) = (failure(&refused), json_of(&refused));
    assert!(said.contains("AG-CLI-ACCEPT") && said.contains("`--all`"), "{said}");
    assert_eq!(
        (&told[0]["written"], &told[0]["tools"][1]["compared"]["severity"]),
        (&json!(false), &json!("behavioural"))
    );
    assert_eq!(folder.lock()["tools"]["look"]["version"], 1);
    shown(
        &["pin", "--all"],
        0,
        expect![[r#"
            a: 3 tools pinned in `a.json`
              find: changed: compatible; version 1 -> 2
                  compatible   /inputSchema/properties/k/maximum: `maximum` was `5` and is `50`
                    - 5
                    + 50
              look: changed: behavioural; version 1 -> 2
                  behavioural  /description: `description` has other words
                    Looks, and [-changes-]{+sends+} [-nothing-]{+it on+}.
              more: new, version 1
              old: removed: the upstream does not list it any more
            a gateway that runs uses this after `aldgate reload`
        "#]],
    );
    std::fs::rename(again, folder.path("a.json")).expect("renamed");
    let pinned = json_of(&folder.contracts(&["pin", "--all", "--json"]));
    let states: Vec<_> = pinned[0]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| (tool["tool"].clone(), tool["state"].clone(), tool["previous"]["version"].clone()))
        .collect();
    let expected = [
        (json!("find"), json!("changed"), json!(1)),
        (json!("look"), json!("changed"), json!(1)),
        (json!("more"), json!("new"), Value::Null),
        (json!("old"), json!("removed"), json!(1)),
    ];
    assert_eq!(states, expected);
    assert!(folder.contracts(&["verify"]).status.success());
}

#[test]
fn an_edited_lock_is_written_anew_only_by_force() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    let lock = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    std::fs::write(folder.path("a.json"), lock.replace("Looks.", "Looks!")).expect("written");
    for arguments in [["pin"], ["verify"]] {
        let refused = folder.contracts(&arguments);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("AG-CONFIG-LOCK"), "{said}");
        assert!(said.contains("`look`") && said.contains("--force"), "{said}");
    }
    assert!(folder.contracts(&["pin", "--force"]).status.success());
    assert!(folder.contracts(&["verify"]).status.success());
}

#[test]
fn a_lock_is_written_through_no_link_that_lies_beside_it() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    std::fs::write(folder.path("victim"), "mine").expect("written");
    for beside in ["a.json.new", "a.json"] {
        std::os::unix::fs::symlink(folder.path("victim"), folder.path(beside)).expect("a link");
    }
    assert!(folder.contracts(&["pin", "--force"]).status.success());
    assert_eq!(std::fs::read_to_string(folder.path("victim")).expect("a file"), "mine");
    assert!(folder.contracts(&["verify"]).status.success());
    assert!(std::fs::symlink_metadata(folder.path("a.json")).expect("a lock").is_file());
}

#[test]
fn what_cannot_be_asked_or_is_not_there_is_told_as_that() {
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let said = |arguments: &[&str]| {
        let output = folder.contracts(arguments);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
    };
    let missing = said(&["verify"]);
    assert!(missing.contains("AG-CONFIG-LOCK") && missing.contains("`aldgate contracts pin`"), "{missing}");
    let down = said(&["pin"]);
    assert!(down.contains("could not be asked") && !down.contains("first use"), "{down}");
    std::fs::write(folder.path("aldgate.toml"), "").expect("written");
    let empty = said(&["verify"]);
    assert!(empty.contains("the configuration has no upstreams"), "{empty}");
}

#[test]
fn what_is_new_or_compatible_is_pinned_and_another_server_is_not() {
    let titled = |title: &str| {
        let mut look = tool("look", "Looks.");
        look["title"] = json!(title);
        look
    };
    let upstream = Upstream::start(&[titled("Look")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    upstream.serve(&[titled("Looking"), tool("more", "")]);
    assert!(folder.contracts(&["pin"]).status.success());
    assert_eq!(folder.lock()["tools"]["look"]["version"], 2);
    let lock = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    for (from, to) in [("\"changing\"", "\"another\""), (upstream.url.as_str(), "http://127.0.0.1:1/mcp")] {
        std::fs::write(folder.path("a.json"), lock.replace(from, to)).expect("written");
        let said = failure(&folder.contracts(&["pin"]));
        assert!(said.contains("AG-CLI-ACCEPT") && said.contains("the lock is of"), "{said}");
        assert!(folder.contracts(&["pin", "--all"]).status.success());
        assert_eq!(folder.contracts(&["verify"]).status.code(), Some(0));
    }
}
