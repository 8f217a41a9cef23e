//! `aldgate contracts show`, `history`, `repair`: what locks tell without a server.

use expect_test::expect;
use serde_json::{Value, json};

use super::{Folder, check, failure};
use crate::running::{json_of, run};
use crate::upstream::{Upstream, tool};

#[test]
fn a_contract_is_shown_with_the_host_s_word_beside_the_server_s() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    folder.configure("[registry.\"a/look\"]\nauthority = \"automatic\"\nlabels = []\nread_only = true\n");
    assert!(folder.contracts(&["pin"]).status.success());
    let lock = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    let pinned_at = folder.lock()["tools"]["look"]["pinnedAt"].as_str().expect("a time").to_owned();
    std::fs::write(folder.path("a.json"), lock.replace(&pinned_at, "2026-12-01T10:00:00Z")).expect("written");
    check(
        &folder.contracts(&["show", "a/look"]),
        folder.0.path(),
        0,
        &expect![[r#"
            a/look, version 1

            digest         sha256:849e795d3f92d645d5d2196eb873ee08ee1e5dfee51c4c5bd135a5f3fe529d91
            raw digest     sha256:14b6921d5609c5a60cfb2f63762f0f29d11449213d69f505fefef4a11429fc2e
            pinned at      2026-12-01T10:00:00Z
            signature      none; none is required
            registry says  automatic
            annotations    alone would imply prohibited; nothing is decided by them

            fields
              description  sha256:804c4846c40787fb073fca51408120e7e3c29800612260766204201e0d0fefaa
              inputSchema  sha256:a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0
              name         sha256:b3f95c301a7f764b20a608e4750adf1dcb7677df67f3c321aee58bb043040e9d

            definition
            {
              "name": "look",
              "description": "Looks.",
              "inputSchema": {
                "type": "object"
              }
            }
        "#]],
    );
    let told = json_of(&folder.contracts(&["show", "a/look", "--json"]));
    assert_eq!(
        (&told["registry_authority"], &told["implied_authority"]),
        (&json!("automatic"), &json!("prohibited"))
    );
    assert_eq!(told["fields"].as_object().expect("fields").len(), 3);
    assert_eq!(told["definition"], tool("look", "Looks."));
    for (wrong, code) in
        [("a/nothing", "AG-CLI-UNKNOWN"), ("b/look", "AG-CLI-UNKNOWN"), ("look", "AG-CLI-USAGE")]
    {
        for command in ["show", "history"] {
            let said = failure(&folder.contracts(&[command, wrong]));
            assert!(said.contains(code), "{said}");
        }
    }
}

#[test]
fn the_demonstration_s_contracts_are_shown_where_there_is_no_configuration() {
    let told = json_of(&run(&["contracts", "show", "parts/raise_parts_order", "--json"]));
    assert_eq!(told["registry_authority"], "requires_approval");
    let history = json_of(&run(&["contracts", "history", "parts/raise_parts_order", "--json"]));
    assert_eq!((history.as_array().expect("entries").len(), &history[0]["compared"]), (1, &Value::Null));
}

#[test]
fn a_history_says_what_changed_to_each_version() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    for words in ["Looks around.", "Looks around, twice."] {
        upstream.serve(&[tool("look", words)]);
        assert!(folder.contracts(&["accept", "a/look"]).status.success());
    }
    let history = json_of(&folder.contracts(&["history", "a/look", "--json"]));
    let told: Vec<_> = history
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| (entry["version"].clone(), entry["compared"]["severity"].clone()))
        .collect();
    assert_eq!(
        told,
        [(json!(1), Value::Null), (json!(2), json!("behavioural")), (json!(3), json!("behavioural"))]
    );
    let text = String::from_utf8(folder.contracts(&["history", "a/look"]).stdout).expect("UTF-8");
    assert!(text.contains("version 2: look, pinned at ") && text.contains("twice"), "{text}");
}

#[test]
fn arguments_for_an_earlier_contract_are_repaired() {
    let taking = |property: &str| {
        let properties = json!({property: {"type": "string"}, "limit": {"type": "integer"}});
        json!({"name": "get", "inputSchema": {
            "type": "object", "properties": properties, "required": [property], "additionalProperties": false,
        }})
    };
    let upstream = Upstream::start(&[taking("ticket_id")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    upstream.serve(&[taking("ticket")]);
    assert!(folder.contracts(&["accept", "a/get", "--rename", "ticket_id=ticket"]).status.success());
    drop(upstream);
    let old = r#"{"ticket_id": "SR-1", "limit": "5"}"#;
    let repair = |arguments: &[&str]| {
        json_of(&folder.contracts(&[&["repair", "a/get", "--json"], arguments].concat()))
    };
    let fixed = json!({"ticket": "SR-1", "limit": 5});
    let file = format!("@{}", folder.file("args.json", old));
    for arguments in [["--args", old].as_slice(), &["--args", old, "--mode", "strict"], &["--args", &file]] {
        let found = repair(arguments);
        assert_eq!((&found["applied"], &found["args"]), (&json!(true), &fixed), "{found}");
    }
    // Arguments that need no change and those that cannot be helped both come back as they were.
    for (args, applied, valid) in
        [(old, true, true), (r#"{"ticket": "SR-1"}"#, false, true), (r#"{"limit": "many"}"#, false, false)]
    {
        let found = repair(&["--args", args]);
        assert_eq!((&found["applied"], &found["valid"]), (&json!(applied), &json!(valid)), "{found}");
    }
    let observed = repair(&["--args", old, "--mode", "observe"]);
    assert_eq!(
        (&observed["applied"], &observed["args"]),
        (&json!(false), &json!({"ticket_id": "SR-1", "limit": "5"}))
    );
    assert_eq!(observed["changes"].as_array().expect("changes").len(), 2, "{observed}");
    let unpinned = json_of(&folder.contracts(&["repair", "a/none", "--args", old, "--json"]));
    assert_eq!((&unpinned["applied"], &unpinned["valid"]), (&json!(false), &json!(false)));
    let text =
        String::from_utf8(folder.contracts(&["repair", "a/get", "--args", old]).stdout).expect("UTF-8");
    assert!(text.starts_with("repaired: ") && text.contains("rename"), "{text}");
    for (arguments, code) in [
        (["repair", "a/get", "--args", "[]"], "AG-CLI-USAGE"),
        (["repair", "a/get", "--args", r#"{"a":1,"a":2}"#], "AG-CLI-USAGE"),
        (["repair", "a/get", "--args", "@missing"], "AG-CLI-FILE"),
        (["repair", "b/get", "--args", "{}"], "AG-CLI-UNKNOWN"),
        (["repair", "prompt:a/get", "--args", "{}"], "AG-CLI-USAGE"),
    ] {
        let said = failure(&folder.contracts(&arguments));
        assert!(said.contains(code), "{said}");
    }
}
