//! Members of definitions other than schemas.

use expect_test::expect;
use serde_json::json;

use super::{check, told};
use crate::diff::diff_identity;
use crate::kind::Kind;
use crate::{Fingerprint, UpstreamIdentity, fingerprint};

#[test]
fn members_of_a_tool() {
    let before = json!({
        "name": "t", "title": "T", "description": "Reads a ticket.", "icons": [],
        "annotations": {"title": "T", "readOnlyHint": true},
        "execution": {"taskSupport": "optional"}, "_meta": {"a": 1}, "inputSchema": {},
    });
    let after = json!({
        "name": "t", "title": "Tickets", "description": "Reads one ticket.", "icons": [{"src": "https://a.example/i.png"}],
        "annotations": {"title": "Tickets", "readOnlyHint": false, "openWorldHint": true},
        "execution": {"taskSupport": "forbidden"}, "_meta": {"a": 2}, "inputSchema": {}, "price": 1,
    });
    check(
        Kind::Tool,
        &before,
        &after,
        &expect![[r#"
        cosmetic /title: `title` has other words
        behavioural /description: `description` has other words
        cosmetic /icons: `icons` was `[]` and is `[{"src":"https://a.example/i.png"}]`
        cosmetic /annotations/title: `title` has other words
        behavioural /annotations/readOnlyHint: `readOnlyHint` was `true` and is `false`
        behavioural /annotations/openWorldHint: `openWorldHint` is new: `true`
        breaking /execution/taskSupport: calls as a task are no longer accepted
        behavioural /_meta: `_meta` was `{"a":1}` and is `{"a":2}`
        breaking /price: what `price` means is not known, so its change cannot be shown to be harmless
    "#]],
    );
    check(
        Kind::Tool,
        &after,
        &json!({"name": "other", "inputSchema": {}}),
        &expect![[r#"
        breaking /name: it is another item
        cosmetic /title: `title` is gone
        behavioural /description: `description` is gone
        cosmetic /icons: `icons` is gone: `[{"src":"https://a.example/i.png"}]`
        cosmetic /annotations/title: `title` is gone
        behavioural /annotations/readOnlyHint: `readOnlyHint` is gone: `false`
        behavioural /annotations/openWorldHint: `openWorldHint` is gone: `true`
        compatible /execution/taskSupport: calls without and with a task are accepted as before
        behavioural /_meta: `_meta` is gone: `{"a":2}`
        breaking /price: what `price` means is not known, so its change cannot be shown to be harmless
    "#]],
    );
    check(
        Kind::Tool,
        &json!({"name": "t", "annotations": {}, "execution": {}}),
        &json!({"name": "t"}),
        &expect![[r#"
            cosmetic /annotations: `annotations` is gone: `{}`
            compatible /execution: how it runs is said in another way
        "#]],
    );
    check(
        Kind::Tool,
        &json!({"name": "t", "annotations": 1, "execution": 1, "description": null}),
        &json!({"name": "t", "annotations": {"x": 1}, "execution": {"x": 1}, "description": "d"}),
        &expect![[r#"
            behavioural /annotations: `annotations` was `1` and is `{"x":1}`
            breaking /execution: how it runs changed
            behavioural /description: `description` was `null` and is `"d"`
        "#]],
    );
}

#[test]
fn how_a_tool_runs() {
    let support = |word: Option<&str>| match word {
        Some(word) => json!({"name": "t", "execution": {"taskSupport": word}}),
        None => json!({"name": "t"}),
    };
    let words = [None, Some("forbidden"), Some("optional"), Some("required"), Some("often")];
    let mut table = String::new();
    for before in words {
        for after in words.into_iter().filter(|after| *after != before) {
            let found = super::compared(Kind::Tool, &support(before), &support(after));
            let severity = found.severity().map_or("none", super::super::Severity::word);
            table += &format!("{} => {}: {severity}\n", before.unwrap_or("-"), after.unwrap_or("-"));
        }
    }
    expect![[r#"
        - => forbidden: compatible
        - => optional: compatible
        - => required: breaking
        - => often: breaking
        forbidden => -: compatible
        forbidden => optional: compatible
        forbidden => required: breaking
        forbidden => often: breaking
        optional => -: breaking
        optional => forbidden: breaking
        optional => required: breaking
        optional => often: breaking
        required => -: breaking
        required => forbidden: breaking
        required => optional: compatible
        required => often: breaking
        often => -: breaking
        often => forbidden: breaking
        often => optional: breaking
        often => required: breaking
    "#]]
    .assert_eq(&table);
}

#[test]
fn members_of_a_resource_template() {
    let before = json!({"uriTemplate": "t:{a}", "name": "n", "mimeType": "text/plain", "annotations": {"priority": 1}});
    let after = json!({"uriTemplate": "t:{a}", "name": "m", "title": "M", "annotations": {"priority": 0.5}, "inputSchema": {}});
    check(
        Kind::ResourceTemplate,
        &before,
        &after,
        &expect![[r#"
        behavioural /name: `name` has other words
        breaking /mimeType: contents are of another media type
        behavioural /annotations/priority: `priority` was `1` and is `0.5`
        cosmetic /title: `title` is new
        breaking /inputSchema: what `inputSchema` means is not known, so its change cannot be shown to be harmless
    "#]],
    );
    check(
        Kind::ResourceTemplate,
        &before,
        &json!({"uriTemplate": "t:{b}"}),
        &expect![[r#"
        breaking /uriTemplate: it is another item
        behavioural /name: `name` is gone
        breaking /mimeType: contents are of another media type
        behavioural /annotations/priority: `priority` is gone: `1`
    "#]],
    );
}

#[test]
fn arguments_of_a_prompt() {
    let prompt = |arguments: serde_json::Value| json!({"name": "p", "arguments": arguments});
    let before = prompt(json!([
        {"name": "a", "description": "First."}, {"name": "b", "required": true}, {"name": "c"}, {"name": "d", "required": false},
    ]));
    let after = prompt(json!([
        {"name": "b"}, {"name": "a", "description": "The first.", "title": "A", "required": true},
        {"name": "d", "type": "x"}, {"name": "e", "required": true}, {"name": "f"},
    ]));
    check(
        Kind::Prompt,
        &before,
        &after,
        &expect![[r#"
        behavioural /arguments/1/description: `description` has other words
        behavioural /arguments/1/title: `title` is new
        breaking /arguments/1/required: `a` is required now
        compatible /arguments/0/required: `b` may be left out
        breaking /arguments/2: `c` is no longer among the arguments
        compatible /arguments/2/required: `d` may be left out
        breaking /arguments/2/type: what `type` of an argument means is not known, or not what it was
        breaking /arguments/3: `e` is new and required
        compatible /arguments/4: `f` is new and may be left out
    "#]],
    );
    let (one, two) =
        (prompt(json!([{"name": "a"}, {"name": "b"}])), prompt(json!([{"name": "b"}, {"name": "a"}])));
    check(
        Kind::Prompt,
        &one,
        &two,
        &expect![[r#"
        compatible /arguments: the arguments are in another order
    "#]],
    );
    check(
        Kind::Prompt,
        &one,
        &prompt(json!([{"name": "a"}, {"name": "a"}])),
        &expect![[r#"
        breaking /arguments: the arguments are not each an object with a name of its own
    "#]],
    );
    check(
        Kind::Prompt,
        &json!({"name": "p"}),
        &prompt(json!([{"name": "a"}])),
        &expect![[r#"
        compatible /arguments/0: `a` is new and may be left out
    "#]],
    );
    check(
        Kind::Prompt,
        &json!({"name": "p", "title": "x"}),
        &json!({"name": "p", "annotations": {}}),
        &expect![[r#"
            cosmetic /title: `title` is gone
            breaking /annotations: what `annotations` means is not known, so its change cannot be shown to be harmless
        "#]],
    );
}

#[test]
fn another_spelling_is_no_change() {
    let text =
        r#"{"name": "t", "inputSchema": {"type": "object", "maxProperties": 10, "x": {"b": 1, "a": 2}}}"#;
    let other =
        r#"{ "inputSchema":{"x":{"a":2.0,"b":1e0},"maxProperties":1e1,"type":"\u006fbject"},"name":"t" }"#;
    expect!["no change\n"].assert_eq(&told(&crate::diff::diff(Kind::Tool, text, other).unwrap()));
    assert!(crate::diff::diff(Kind::Tool, text, "[]").is_err());
    assert!(crate::diff::diff(Kind::Tool, r#"{"a": 1, "a": 2}"#, text).is_err());
}

#[test]
fn other_names_for_the_same_are_behavioural() {
    let named = |key: &str, name: &str| {
        json!({"name": "t", "inputSchema": {
            "anyOf": [{(key): name, "type": "string"}, {"type": "null"}],
            "properties": {"p": {"$ref": format!("#{name}")}},
        }})
    };
    for key in ["$anchor", "$dynamicAnchor"] {
        check(
            Kind::Tool,
            &named(key, "a"),
            &named(key, "b"),
            &expect![[r#"
                behavioural /inputSchema: names within it, which a model reads, are others: `b`
            "#]],
        );
    }
}

/// The canonical form merges integers above 2^53; the comparison does not.
#[test]
fn large_integers_are_told_apart() {
    let tool = |limit: u64| json!({"name": "t", "inputSchema": {"properties": {"n": {"type": "integer", "maximum": limit}}}});
    let (before, after) = (tool(9_007_199_254_740_993), tool(9_007_199_254_740_992));
    let jcs =
        |tool: &serde_json::Value| fingerprint(&tool.to_string()).map(|Fingerprint { jcs, .. }| jcs).unwrap();
    assert_eq!(jcs(&before), jcs(&after));
    check(
        Kind::Tool,
        &before,
        &after,
        &expect![[r#"
        breaking /inputSchema/properties/n/maximum: a number above 9007199254740992 may no longer be accepted
    "#]],
    );
}

#[test]
fn another_upstream() {
    let identity = |endpoint: &str, server: Option<&str>| UpstreamIdentity {
        name: "u".to_owned(),
        endpoint: endpoint.to_owned(),
        server: server.map(str::to_owned),
    };
    let before = identity("https://a.example/mcp", Some("a"));
    expect!["no change\n"].assert_eq(&told(&diff_identity(&before, &before)));
    expect![[r#"
        breaking /endpoint: it is at another place
        breaking /server: the server gives another name of itself
    "#]]
    .assert_eq(&told(&diff_identity(&before, &identity("https://b.example/mcp", None))));
    let renamed = UpstreamIdentity { name: "v".to_owned(), ..before.clone() };
    expect![[r#"
        breaking /name: the host calls it by another name
    "#]]
    .assert_eq(&told(&diff_identity(&before, &renamed)));
}
