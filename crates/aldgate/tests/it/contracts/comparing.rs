//! `aldgate contracts diff` and `verify`, and their exit codes.

use std::process::Output;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Folder, check, failure};
use crate::running::{json_of, run};
use crate::upstream::{Upstream, tool};

/// A tool with a bounded number, a title and these words.
fn find(most: u32, title: &str, description: &str) -> Value {
    json!({
        "name": "find", "title": title, "description": description, "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"k": {"type": "integer", "minimum": 1, "maximum": most}}},
    })
}

fn diff(folder: &Folder, before: &Value, after: &Value) -> Output {
    let (before, after) = (folder.file("before.json", before), folder.file("after.json", after));
    run(&["contracts", "diff", &before, &after])
}

#[test]
fn the_exit_code_is_how_grave_it_is() {
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let before = find(5, "Find", "Finds the parts.");
    let shown = |after: &Value, code: i32, expected: Expect| {
        check(&diff(&folder, &before, after), folder.0.path(), code, &expected);
    };
    shown(
        &before,
        0,
        expect![[r#"
        before.json -> after.json: the same
    "#]],
    );
    shown(
        &find(5, "Finder", "Finds the parts."),
        1,
        expect![[r#"
        before.json -> after.json: cosmetic
          find: cosmetic
            cosmetic     /title: `title` has other words
              [-Find-]{+Finder+}
    "#]],
    );
    shown(
        &find(50, "Find", "Finds the parts."),
        1,
        expect![[r#"
        before.json -> after.json: compatible
          find: compatible
            compatible   /inputSchema/properties/k/maximum: `maximum` was `5` and is `50`
              - 5
              + 50
    "#]],
    );
    shown(
        &find(5, "Find", "Finds all the parts, and orders them."),
        2,
        expect![[r#"
        before.json -> after.json: behavioural
          find: behavioural
            behavioural  /description: `description` has other words
              Finds {+all +}the parts{+, and orders them+}.
    "#]],
    );
    shown(
        &find(4, "Find", "Finds the parts."),
        2,
        expect![[r#"
        before.json -> after.json: breaking
          find: breaking
            breaking     /inputSchema/properties/k/maximum: a number above 4 may no longer be accepted
              - 5
              + 4
    "#]],
    );
    let mut annotated = before.clone();
    annotated["annotations"] = json!({});
    shown(
        &annotated,
        2,
        expect![[r#"
            before.json -> after.json: behavioural
              find: behavioural
                behavioural  /annotations/readOnlyHint: `readOnlyHint` is gone: `true`
                  - true
                annotations alone would imply requires_approval -> prohibited
        "#]],
    );
}

#[test]
fn lists_definitions_and_locks_are_compared_with_each_other() {
    let upstream = Upstream::start(&[tool("look", "Looks."), tool("old", "Old.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    let lock = folder.path("a.json").to_str().expect("UTF-8").to_owned();
    let now = [tool("look", "Looks."), tool("new", "New.")];
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "tools": now}});
    let code = |before: &str, after: &str| {
        let output = run(&["contracts", "diff", before, after, "--json"]);
        let told = json_of(&output);
        let states: Vec<String> = told[0]["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|item| {
                format!("{} {}", item["tool"].as_str().expect("a name"), item["state"].as_str().expect("one"))
            })
            .collect();
        (output.status.code().expect("a code"), states.join(", "))
    };
    let whole = (2, "look same, new new, old gone".to_owned());
    assert_eq!(code(&lock, &folder.file("result.json", &result)), whole);
    assert_eq!(code(&lock, &folder.file("list.json", json!({"tools": now}))), whole);
    assert_eq!(code(&lock, &folder.file("array.json", json!(now))), whole);
    // One definition alone is about itself.
    let one = folder.file("one.json", tool("look", "Looks."));
    assert_eq!(code(&lock, &one), (0, "look same".to_owned()));
    assert_eq!(code(&one, &lock), (0, "look same".to_owned()));
    assert_eq!(code(&lock, &folder.file("new.json", tool("new", "New."))), (1, "new new".to_owned()));
    assert_eq!(code(&one, &folder.file("other.json", tool("other", "Looks."))).0, 2);
    // A server, with no gateway and no configuration.
    assert_eq!(code(&lock, &upstream.url), (0, "look same, old same".to_owned()));
    upstream.serve(&now);
    assert_eq!(code(&lock, &upstream.url), whole);
    let other = Upstream::start(&[tool("look", "Looks."), tool("new", "New."), tool("more", "More.")]);
    assert_eq!(code(&upstream.url, &other.url), (1, "look same, more new, new same".to_owned()));
}

#[test]
fn what_cannot_be_compared_has_a_code_of_its_own() {
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let tool = folder.file("tool.json", tool("look", "Looks."));
    let prompt = json!({"name": "ask", "arguments": [{"name": "what"}]});
    let prompt = folder.file("prompt.json", prompt);
    let twice = folder.file("twice.json", json!({"tools": [{"name": "x"}, {"name": "x"}]}));
    let nameless = folder.file("nameless.json", json!({"tools": [{}]}));
    let missing = folder.path("missing.json").to_str().expect("UTF-8").to_owned();
    for (other, code, what) in [
        (prompt.as_str(), "AG-CLI-COMPARE", "no kind of contract in common"),
        (&twice, "AG-CLI-COMPARE", "two tools `x`"),
        (&nameless, "AG-CLI-COMPARE", "tool number 1 has no `name`"),
        (&folder.file("text.json", "no JSON"), "AG-CLI-COMPARE", "cannot be compared"),
        (&folder.file("doubled.json", r#"{"name":"a","name":"b"}"#), "AG-CLI-COMPARE", "cannot be compared"),
        (&folder.file("none.json", "{}"), "AG-CLI-COMPARE", "it is neither"),
        (&folder.file("edited.json", json!({"format": 1, "upstream": {}})), "AG-CLI-COMPARE", "format"),
        (&missing, "AG-CLI-FILE", "cannot be read"),
        ("http://127.0.0.1:1/mcp", "AG-CLI-UPSTREAM", "could not be asked"),
        ("http://", "AG-CLI-USAGE", "is not a URL"),
    ] {
        for pair in [[tool.as_str(), other], [other, &tool]] {
            let output = run(&[["contracts", "diff"], pair].concat());
            let said = failure(&output);
            assert_eq!(output.status.code(), Some(3), "{said}");
            assert!(said.contains(code) && said.contains(what), "{said}");
        }
    }
    for arguments in [["diff", "nothing"], ["verify", "a"], ["diff", "a"]] {
        let output = folder.contracts(&arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
    }
    // A mistake on the command line is no breaking change.
    for (arguments, code) in [
        (["contracts", "diff", "--wrong"], 3),
        (["contracts", "verify", "--wrong"], 3),
        (["contracts", "pin", "--wrong"], 2),
        (["contracts", "diff", "--help"], 0),
    ] {
        assert_eq!(run(&arguments).status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn an_upstream_is_compared_with_its_lock() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    for arguments in [["diff"].as_slice(), &["diff", "a"], &["verify"], &["verify", "a"]] {
        let output = folder.contracts(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    upstream.serve(&[tool("look", "Looks."), tool("more", "More.")]);
    // What is not pinned is not offered: that is no difference to what is served.
    assert_eq!(folder.contracts(&["verify"]).status.code(), Some(0));
    let diff = folder.contracts(&["diff"]);
    assert_eq!(diff.status.code(), Some(1));
    // The command that is printed accepts just that.
    let text = String::from_utf8(diff.stdout).expect("UTF-8");
    let command = text.lines().find_map(|line| line.trim().strip_prefix("to accept: `aldgate contracts "));
    let command: Vec<&str> = command.expect("a command").trim_end_matches('`').split(' ').collect();
    assert!(command.starts_with(&["accept", "a/more", "--digest"]), "{text}");
    assert!(folder.contracts(&command).status.success());
    assert_eq!(folder.contracts(&["diff"]).status.code(), Some(0));
    upstream.serve(&[tool("look", "Looks."), tool("more", "More."), tool("most", "Most.")]);
    assert_eq!(folder.contracts(&["diff"]).status.code(), Some(1));
    let mut titled = tool("look", "Looks.");
    titled["title"] = json!("Look");
    upstream.serve(&[titled, tool("more", "More.")]);
    assert_eq!(folder.contracts(&["verify"]).status.code(), Some(1));
    upstream.serve(&[]);
    assert_eq!(folder.contracts(&["verify"]).status.code(), Some(2));
    assert_eq!(folder.contracts(&["diff"]).status.code(), Some(2));
}

#[test]
fn another_server_is_not_the_one_that_was_reviewed() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    let lock = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    for (from, to, what) in [
        ("\"changing\"", "\"another\"".to_owned(), "calls itself `changing`"),
        (upstream.url.as_str(), "http://127.0.0.1:1/mcp".to_owned(), "the lock is of the server at"),
    ] {
        std::fs::write(folder.path("a.json"), lock.replace(from, &to)).expect("written");
        let output = folder.contracts(&["verify"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(what), "{text}");
    }
}

#[test]
fn a_renamed_tool_and_a_renamed_property_are_candidates() {
    let taking = |name: &str, property: &str| {
        let schema =
            json!({"type": "string", "description": "The number of the service ticket.", "pattern": "^SR-"});
        json!({
            "name": name, "description": "Reads one service ticket with its history.",
            "inputSchema": {"type": "object", "properties": {property: schema}, "required": [property]},
        })
    };
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let before =
        folder.file("before.json", json!([taking("get_ticket", "ticket_id"), taking("x", "ticket_id")]));
    let after =
        folder.file("after.json", json!([taking("fetch_ticket", "ticket_id"), taking("x", "ticketId")]));
    let output = run(&["contracts", "diff", &before, &after, "--json"]);
    let told = json_of(&output);
    assert_eq!(
        (&told[0]["renames"][0]["from"], &told[0]["renames"][0]["to"]),
        (&json!("get_ticket"), &json!("fetch_ticket"))
    );
    let items = told[0]["items"].as_array().expect("items");
    let x = items.iter().find(|item| item["tool"] == "x").expect("the tool");
    assert_eq!((&x["renames"][0]["from"], &x["renames"][0]["to"]), (&json!("ticket_id"), &json!("ticketId")));
    let text = String::from_utf8(run(&["contracts", "diff", &before, &after]).stdout).expect("UTF-8");
    // Nobody accepts what is in a file.
    let told = "likely renamed: get_ticket -> fetch_ticket, confidence ";
    assert!(
        text.contains("likely renamed: ticket_id -> ticketId, confidence ") && text.contains(told),
        "{text}"
    );
    assert!(!text.contains("--rename") && !text.contains("to accept"), "{text}");
}

#[test]
fn nothing_that_a_server_writes_reaches_the_terminal_as_it_is() {
    let folder = Folder::of("http://127.0.0.1:1/mcp");
    let evil = "\u{1b}[2J\u{202e}gone";
    let after = json!({
        "name": "look", "description": format!("Looks. {evil}"),
        "inputSchema": {"type": "object", "properties": {evil: {"type": "string"}}},
    });
    let output = diff(&folder, &tool("look", "Looks."), &after);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && text.contains("\\u{1b}"), "{text}");
}

#[test]
fn a_tool_that_likely_took_another_s_place_is_one_change_with_one_command() {
    let taking = |name: &str, most: u32| {
        let id = json!({"type": "string", "description": "The number of the order.", "maxLength": most});
        json!({
            "name": name, "description": "Reads one order with its lines.",
            "inputSchema": {"type": "object", "properties": {"order_id": id}, "required": ["order_id"]},
        })
    };
    let upstream = Upstream::start(&[taking("get_order", 20), tool("look", "Looks.")]);
    let folder = Folder::of(&upstream.url);
    assert!(folder.contracts(&["pin"]).status.success());
    let before = std::fs::read_to_string(folder.path("a.json")).expect("a lock");
    upstream.serve(&[taking("read_order", 30), tool("look", "Looks.")]);
    check(
        &folder.contracts(&["diff", "a"]),
        folder.0.path(),
        2,
        &expect![[r#"
        a.json -> a: breaking
          tool likely renamed: get_order -> read_order, confidence 0.91: breaking
            breaking     /name: it is another item
              - "get_order"
              + "read_order"
            compatible   /inputSchema/properties/order_id/maxLength: `maxLength` was `20` and is `30`
              - 20
              + 30
            to accept: `aldgate contracts accept a/read_order --rename get_order=read_order --digest sha256:9ef10ce72aa5494770ebe12b6721082858c395106a0d318b57b3a469f7249e24`
    "#]],
    );
    check(
        &folder.contracts(&["verify"]),
        folder.0.path(),
        2,
        &expect![[r#"
        a/get_order: missing: pinned, but not served any more
        a/look: same
        a/read_order: new: not pinned, not offered
        a: tool likely renamed: get_order -> read_order, confidence 0.91; to accept: `aldgate contracts accept a/read_order --rename get_order=read_order --digest sha256:9ef10ce72aa5494770ebe12b6721082858c395106a0d318b57b3a469f7249e24`
        what is breaking or behavioural is refused until it is accepted: review it, then `aldgate contracts accept` and `aldgate reload`
    "#]],
    );
    let told = json_of(&folder.contracts(&["diff", "a", "--json"]));
    let states: Vec<_> =
        told[0]["items"].as_array().expect("items").iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["gone", "same", "new"]);
    let changes = told[0]["renames"][0]["compared"]["changes"].as_array().expect("changes");
    let paths: Vec<_> = changes.iter().map(|change| &change["path"]).collect();
    assert_eq!(paths, ["/name", "/inputSchema/properties/order_id/maxLength"]);
    let verified = json_of(&folder.contracts(&["verify", "--json"]));
    assert_eq!(verified[0]["renames"][0]["to"], "read_order");
    // Of one item alone the rest is left out, and neither end of the rename is.
    let alone = |item: &str| {
        let output = folder.contracts(&["diff", item, "--json"]);
        let told = json_of(&output);
        let count = |member: &str| told[0][member].as_array().expect("a list").len();
        (output.status.code().expect("a code"), count("items"), count("renames"))
    };
    assert_eq!(alone("a/look"), (0, 1, 0));
    assert_eq!((alone("a/get_order"), alone("a/read_order")), ((2, 2, 1), (2, 2, 1)));
    let nothing = failure(&folder.contracts(&["diff", "prompt:a/look"]));
    assert!(nothing.contains("AG-CLI-UNKNOWN") && nothing.contains("neither served nor pinned"), "{nothing}");

    // Whoever accepts one end alone is told of the other, and can still say it.
    let noted = |arguments: &[&str]| String::from_utf8(folder.contracts(arguments).stderr).expect("UTF-8");
    let command = "aldgate contracts accept a/read_order --rename get_order=read_order --digest sha256:";
    let retired = noted(&["accept", "a/get_order"]);
    assert!(
        retired.contains("`read_order` has likely taken its place") && retired.contains(command),
        "{retired}"
    );
    let whole = ["accept", "a/read_order", "--rename", "get_order=read_order"];
    assert!(folder.contracts(&whole).status.success());
    assert_eq!(folder.lock()["tools"]["read_order"]["version"], 2);
    std::fs::write(folder.path("a.json"), before).expect("written");
    let new = noted(&["accept", "a/read_order"]);
    assert!(new.contains("the place of `get_order`") && new.contains(command), "{new}");
    assert!(folder.contracts(&whole).status.success());
    assert_eq!(folder.lock()["tools"]["read_order"]["renamedFrom"], "get_order");
    assert_eq!(folder.contracts(&["verify"]).status.code(), Some(0));
}
