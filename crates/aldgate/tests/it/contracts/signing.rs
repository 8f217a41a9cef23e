//! `aldgate contracts key` and `sign`, and what signatures do to `verify` and `accept`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Folder, failure};
use crate::running::{json_of, run};
use crate::upstream::{Upstream, tool};

/// Makes a key in the folder; its file and the line for the configuration.
fn key(folder: &Folder, name: &str) -> (String, String) {
    let path = folder.path(name).to_str().expect("UTF-8").to_owned();
    let output = run(&["contracts", "key", "new", "--out", &path, "--kid", name]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let line =
        text.lines().find_map(|line| line.strip_prefix("keys = [")).expect("a line for the configuration");
    (path, line.trim_end_matches(']').to_owned())
}

fn pinned() -> (Upstream, Folder) {
    let upstream = Upstream::start(&[tool("look", "Looks."), tool("find", "Finds.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    (upstream, folder)
}

/// How `verify` finds the signature of a tool, and its exit code.
fn verified(folder: &Folder, tool: &str) -> (Value, i32) {
    let output = folder.contracts(&["verify", "--json"]);
    let told = json_of(&output);
    let findings = told[0]["findings"].as_array().expect("findings");
    let found = findings.iter().find(|found| found["tool"] == tool).expect("the tool");
    (found["signature"].clone(), output.status.code().expect("a code"))
}

#[test]
fn a_key_is_its_owner_s_alone() {
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let (path, _) = key(&folder, "ann.jwk");
    let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let private: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a key")).expect("JSON");
    let public = run(&["contracts", "key", "public", &path, "--json"]);
    let printed = json_of(&public);
    assert_eq!(
        (&printed["kid"], &printed["x"], &printed["d"]),
        (&json!("ann.jwk"), &private["x"], &Value::Null)
    );
    let secret = private["d"].as_str().expect("a secret");
    let new = run(&["contracts", "key", "new", "--out", folder.path("b").to_str().expect("UTF-8")]);
    for output in [&public, &new] {
        let all = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(!String::from_utf8_lossy(&all).contains(secret));
        assert!(!String::from_utf8_lossy(&all).contains("\"d\""));
    }
    // What is there is never written over.
    let again = failure(&run(&["contracts", "key", "new", "--out", &path]));
    assert!(again.contains("AG-CLI-FILE"), "{again}");
    let odd = failure(&run(&["contracts", "key", "new", "--out", "unused", "--kid", "a b"]));
    assert!(odd.contains("AG-CLI-KEY"), "{odd}");
    let none = folder.file("none.jwk", "{}");
    let none = failure(&run(&["contracts", "key", "public", &none]));
    assert!(none.contains("AG-CLI-KEY"), "{none}");
}

#[test]
fn signing_needs_no_server_and_verifying_finds_who_signed() {
    let (upstream, folder) = pinned();
    let (path, line) = key(&folder, "ann");
    assert_eq!(verified(&folder, "look"), (json!({"state": "none"}), 0));
    drop(upstream);
    let signed = json_of(&folder.contracts(&["sign", "a/look", "--key", &path, "--json"]));
    assert_eq!((&signed[0]["signed"], &signed[0]["kid"]), (&json!(1), &json!("ann")));
    let lock = folder.lock();
    assert!(lock["tools"]["look"]["signature"].as_str().expect("one").contains(".."));
    assert_eq!(lock["tools"]["find"]["signature"], Value::Null);
    let shown = json_of(&folder.contracts(&["show", "a/look", "--json"]));
    assert_eq!(shown["signature"], json!({"state": "unchecked"}));
    folder.configure(&format!("[contracts]\nkeys = [{line}]\n"));
    let shown = json_of(&folder.contracts(&["show", "a/look", "--json"]));
    assert_eq!(shown["signature"], json!({"state": "good", "kid": "ann"}));
    let rest = json_of(&folder.contracts(&["sign", "a", "--key", &path, "--json"]));
    assert_eq!((&rest[0]["signed"], &rest[0]["already"]), (&json!(1), &json!(1)));
    let nothing = failure(&folder.contracts(&["sign", "a/nothing", "--key", &path]));
    assert!(nothing.contains("AG-CLI-UNKNOWN") && nothing.contains("`find`"), "{nothing}");
}

#[test]
fn what_is_required_refuses_and_what_is_revoked_never_counts() {
    let (upstream, folder) = pinned();
    let (ann, ann_line) = key(&folder, "ann");
    let (bob, _) = key(&folder, "bob");
    let config = std::fs::read_to_string(folder.path("aldgate.toml")).expect("a configuration");
    let with = |contracts: &str| {
        std::fs::write(folder.path("aldgate.toml"), format!("{config}\n[contracts]\n{contracts}\n"))
            .expect("written");
    };
    with(&format!("keys = [{ann_line}]\nrequire_signature = true"));
    assert_eq!(verified(&folder, "look"), (json!({"state": "missing"}), 2));
    let steps = || {
        let said = String::from_utf8(folder.contracts(&["verify"]).stdout).expect("UTF-8");
        ["until it is accepted", "`aldgate contracts sign --key FILE`", "restore the lock"]
            .map(|step| said.contains(step))
    };
    assert_eq!(steps(), [false, true, false]);
    assert!(folder.contracts(&["sign", "--key", &ann]).status.success());
    assert_eq!(verified(&folder, "look"), (json!({"state": "good", "kid": "ann"}), 0));
    assert_eq!(steps(), [false; 3]);
    // A signature of something else invites nobody to sign unread.
    let good = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    let mut altered = folder.lock();
    altered["tools"]["look"]["signature"] = altered["tools"]["find"]["signature"].clone();
    folder.file("a.json", &altered);
    assert_eq!(steps(), [false, false, true]);
    folder.file("a.json", good);
    // A new version has no signature.
    upstream.serve(&[tool("look", "Looks around."), tool("find", "Finds.")]);
    let accepted = folder.contracts(&["accept", "a/look"]);
    let noted = String::from_utf8_lossy(&accepted.stderr).into_owned();
    assert!(
        accepted.status.success() && noted.contains("`aldgate contracts sign a/look --key FILE`"),
        "{noted}"
    );
    assert_eq!(verified(&folder, "look"), (json!({"state": "missing"}), 2));
    let history = json_of(&folder.contracts(&["history", "a/look", "--json"]));
    assert_eq!(history[0]["signature"], json!({"state": "good", "kid": "ann"}));
    // A key that is not listed does not count, required or not.
    let noted = folder.contracts(&["sign", "a/look", "--key", &bob]);
    assert!(String::from_utf8_lossy(&noted.stderr).contains("has no key `bob`"), "{noted:?}");
    for required in [true, false] {
        with(&format!("keys = [{ann_line}]\nrequire_signature = {required}"));
        let (found, code) = verified(&folder, "look");
        assert_eq!((&found["state"], code), (&json!("refused"), 2), "{found}");
    }
    // Nor does one that is revoked.
    assert!(folder.contracts(&["sign", "--key", &ann]).status.success());
    with(&format!("keys = [{ann_line}]\nrevoked = [\"ann\"]"));
    let (found, code) = verified(&folder, "look");
    assert!(found["why"].as_str().expect("why").contains("revoked") && code == 2, "{found}");
    with(&format!("keys = [{ann_line}]\nrevoked = [\"ann\"]\nrequire_signature = true"));
    let noted = folder.contracts(&["sign", "--key", &ann]);
    let noted = String::from_utf8_lossy(&noted.stderr).into_owned();
    assert!(noted.contains("the key `ann` is revoked") && !noted.contains("has no key"), "{noted}");
    let check = run(&["config", "check", "--config", folder.path("aldgate.toml").to_str().expect("UTF-8")]);
    let said = String::from_utf8_lossy(&[&check.stdout[..], &check.stderr[..]].concat()).into_owned();
    assert!(check.status.success() && said.contains("no key in `contracts.keys` counts"), "{said}");
    assert!(!said.contains("`contracts.revoked` names"), "{said}");
    // What is held back is said once, and that nothing is left; so is a slip.
    let entry = |name: &str| {
        format!("[registry.\"a/{name}\"]\nauthority = \"automatic\"\nlabels = []\nread_only = true\n")
    };
    let entries = [entry("look"), entry("find")].concat();
    with(&format!("keys = [{ann_line}]\nrevoked = [\"ann\", \"anne\"]\n{entries}"));
    let check = run(&["config", "check", "--config", folder.path("aldgate.toml").to_str().expect("UTF-8")]);
    let said = String::from_utf8_lossy(&[&check.stdout[..], &check.stderr[..]].concat()).into_owned();
    assert!(check.status.success() && said.matches("is revoked").count() == 2, "{said}");
    assert!(said.contains("warning: nothing is offered: all that the registry names is held back"), "{said}");
    assert!(said.contains("fits together, and nothing is offered: 1 upstream, 0 tools"), "{said}");
    assert!(said.contains("names `anne`, which is neither id nor thumbprint"), "{said}");
}

#[test]
fn keys_that_cannot_be_used_are_an_error_of_the_configuration() {
    let (_upstream, folder) = pinned();
    let (ann, line) = key(&folder, "ann");
    let config = std::fs::read_to_string(folder.path("aldgate.toml")).expect("a configuration");
    let public = json_of(&run(&["contracts", "key", "public", &ann, "--json"]));
    folder.file("ann.public.jwk", &public);
    for (keys, code) in [
        ("\"ann\"".to_owned(), "AG-CONFIG-KEYS"),
        ("\"missing.jwk\"".to_owned(), "AG-CONFIG-FILE"),
        ("{ kty = \"RSA\" }".to_owned(), "AG-CONFIG-KEYS"),
        (format!("{line}, \"ann.public.jwk\""), "AG-CONFIG-KEYS"),
    ] {
        std::fs::write(folder.path("aldgate.toml"), format!("{config}\n[contracts]\nkeys = [{keys}]\n"))
            .expect("written");
        let path = folder.path("aldgate.toml");
        for arguments in [["contracts", "verify"], ["config", "check"]] {
            let output = run(&[&arguments[..], &["--config", path.to_str().expect("UTF-8")]].concat());
            let said = failure(&output);
            assert!(said.contains(code), "{keys}: {said}");
        }
    }
    std::fs::write(
        folder.path("aldgate.toml"),
        format!("{config}\n[contracts]\nkeys = [\"ann.public.jwk\"]\n"),
    )
    .expect("written");
    assert!(folder.contracts(&["verify"]).status.success());
}

#[test]
fn a_signed_manifest_confirms_renames_of_these_contracts_alone() {
    let taking = |property: &str| {
        let schema = json!({"type": "string", "description": "The number of the ticket."});
        json!({"name": "get", "inputSchema": {"type": "object", "properties": {property: schema}}})
    };
    let upstream = Upstream::start(&[taking("ticket_id")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    let (ann, line) = key(&folder, "ann");
    folder.configure(&format!("[contracts]\nkeys = [{line}]\n"));
    upstream.serve(&[taking("ticket")]);
    let told = json_of(&folder.contracts(&["diff", "a", "--json"]));
    let digest = &told[0]["items"][0]["digest"];
    let renames = json!([{"from": "ticket_id", "to": "ticket"}]);
    let manifest = |before: &Value, after: &Value| {
        let text = json!({"tool": "get", "before": before, "after": after, "renames": renames});
        let path = folder.file("manifest.json", text);
        let signed = folder.contracts(&["sign", "--manifest", &path, "--key", &ann]);
        assert!(signed.status.success(), "{signed:?}");
        folder.file("manifest.jws", String::from_utf8(signed.stdout).expect("UTF-8"))
    };
    let other = manifest(&digest["after"], &digest["before"]);
    let refused = failure(&folder.contracts(&["accept", "a/get", "--manifest", &other]));
    assert!(refused.contains("AG-CLI-RENAME") && refused.contains("other contracts"), "{refused}");
    let good = manifest(&digest["before"], &digest["after"]);
    let altered = std::fs::read_to_string(&good).expect("a manifest").replacen("ey", "eX", 1);
    let altered = folder.file("altered.jws", altered);
    let refused = failure(&folder.contracts(&["accept", "a/get", "--manifest", &altered]));
    assert!(refused.contains("AG-CLI-MANIFEST"), "{refused}");
    assert_eq!(folder.lock()["tools"]["get"]["version"], 1);
    assert!(folder.contracts(&["accept", "a/get", "--manifest", &good]).status.success());
    assert_eq!(folder.lock()["tools"]["get"]["renames"], renames);
    let none = folder.file("none.json", "{}");
    let none = failure(&folder.contracts(&["sign", "--manifest", &none, "--key", &ann]));
    assert!(none.contains("AG-CLI-MANIFEST"), "{none}");
}
