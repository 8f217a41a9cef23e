//! `aldgate contracts`: what is pinned, what differs, and what to do.

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

    fn contracts(&self, arguments: &[&str]) -> Output {
        let config = self.path("aldgate.toml");
        run(&[&["contracts"], arguments, &["--config", config.to_str().expect("UTF-8")]].concat())
    }
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
        1,
        expect![[r#"
            a/find: changed: inputSchema
                /inputSchema/properties/k/maximum
                  - 5
                  + 50
            a/look: changed: description
                /description
                  - "Looks, and changes nothing."
                  + "Looks, and sends it on."
            a/more: new: not pinned, not offered
            a/old: missing: pinned, but not served any more
            what differs is refused until it is pinned: review it, then `aldgate contracts pin` and `aldgate reload`
        "#]],
    );
    let found = json_of(&folder.contracts(&["verify", "--json"]));
    let look = found[0]["findings"].as_array().expect("findings").iter().find(|one| one["tool"] == "look");
    assert_eq!(
        look.expect("a finding")["changed"],
        json!({"description": {"pinned": "Looks, and changes nothing.", "live": "Looks, and sends it on."}})
    );
    let again = folder.path("again.json");
    std::fs::copy(folder.path("a.json"), &again).expect("copied");
    shown(
        &["pin"],
        0,
        expect![[r#"
            a: 3 tools pinned in `a.json`
              find: changed: inputSchema; version 1 -> 2
                  /inputSchema/properties/k/maximum
                    - 5
                    + 50
              look: changed: description; version 1 -> 2
                  /description
                    - "Looks, and changes nothing."
                    + "Looks, and sends it on."
              more: new, version 1
              old: removed: the upstream does not list it any more
            a gateway that runs uses this after `aldgate reload`
        "#]],
    );
    std::fs::rename(again, folder.path("a.json")).expect("renamed");
    let pinned = json_of(&folder.contracts(&["pin", "--json"]));
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
