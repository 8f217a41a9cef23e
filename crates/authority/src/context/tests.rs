use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::{Action, Item};

fn principal() -> Principal {
    Principal {
        issuer: "host".to_owned(),
        subject: "s".to_owned(),
        tenant: "t".to_owned(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::from(["agent".to_owned()]),
        name: "S".to_owned(),
        client: "c".to_owned(),
        actors: Vec::new(),
    }
}

fn build(
    arguments: &str,
    responses: Option<&str>,
    schema: &serde_json::Value,
) -> Result<Built, ContextFault> {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let (arguments, responses) = (raw(arguments), responses.map(raw));
    let question = Question {
        principal: &principal(),
        action: Action::Call,
        target: Item::tool("u", "t", "sha256:c").into(),
        uri: None,
        argument: None,
        arguments: Some(&arguments),
        input_responses: responses.as_deref(),
        client: "cli",
    };
    of_request(&question, "sha256:c", &Shape::of(schema), None)
}

fn check(arguments: &str, expected: Expect) {
    let schema =
        json!({"type": "object", "properties": {"price": {"type": "number"}, "n": {"type": "integer"}}});
    let shown = match build(arguments, None, &schema) {
        Ok(built) => {
            let pointers =
                |paths: &[Path]| paths.iter().map(|p| reads::pointer(p)).collect::<Vec<_>>().join(" ");
            let args = built.context.get("args").unwrap();
            format!("{args}\nnull: {}\nunmapped: {}", pointers(&built.nulls), pointers(&built.unmapped))
        }
        Err(fault) => fault.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn values_keep_their_meaning() {
    check(
        r#"{"s":"x\u0041","b":true,"i":-5,"l":["b","a","b"],"o":{"k":{}}}"#,
        expect![[r#"
        {"b": true, "i": -5, "l": ["a", "b"], "o": {"k": {}}, "s": "xA"}
        null: 
        unmapped: "#]],
    );
    check(
        r#"{"price":5,"n":7.0,"other":7.0}"#,
        expect![[r#"
        {"n": 7, "other": decimal("7.0000"), "price": decimal("5.0000")}
        null: 
        unmapped: "#]],
    );
    check(
        "{}",
        expect![[r#"
        {}
        null: 
        unmapped: "#]],
    );
}

#[test]
fn escapes_of_cedars_json_stay_plain_records() {
    check(
        r#"{"who":{"__entity":{"type":"Person","id":"t/host#admin"}}}"#,
        expect![[r#"
        {"who": {"__entity": {"id": "t/host#admin", "type": "Person"}}}
        null: 
        unmapped: "#]],
    );
    check(
        r#"{"n":{"__extn":{"fn":"decimal","arg":"1.0"}},"e":{"__expr":"principal"}}"#,
        expect![[r#"
        {"e": {"__expr": "principal"}, "n": {"__extn": {"arg": "1.0", "fn": "decimal"}}}
        null: 
        unmapped: "#]],
    );
}

#[test]
fn what_cedar_cannot_hold_is_absent_and_listed() {
    check(
        r#"{"a":null,"b":[1,null,2],"c":{"d/e~":null}}"#,
        expect![[r#"
        {"b": [1, 2], "c": {}}
        null: /args/a /args/b/1 /args/c/d~1e~0
        unmapped: "#]],
    );
    check(
        r#"{"a":18446744073709551615,"b":[0.00001],"c":{"d":1e400}}"#,
        expect![[r#"
        {"b": [], "c": {}}
        null: 
        unmapped: /args/a /args/b/0 /args/c/d"#]],
    );
}

#[test]
fn odd_arguments_are_refused_or_unmapped() {
    check("[1]", expect!["`/args` is not an object; send the members by name"]);
    check("null", expect!["`/args` is not an object; send the members by name"]);
    check(
        r#"{"a":1,"a":2}"#,
        expect!["`/args` cannot be read as JSON; expected one value without duplicate keys"],
    );
    check(
        r#"{"a":{"b":1,"\u0062":2}}"#,
        expect!["`/args/a` cannot be read as JSON; expected one value without duplicate keys"],
    );
    check(
        r#"{"a":"\ud800"}"#,
        expect!["`/args/a` cannot be read as JSON; expected one value without duplicate keys"],
    );
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(1000), "]".repeat(1000));
    let built = build(&deep, None, &json!({})).unwrap();
    assert_eq!(built.unmapped.len(), 1);
    assert_eq!(built.unmapped[0].len(), MAX_DEPTH + 1);
}

#[test]
fn an_argument_with_too_many_gaps_is_unmapped_as_a_whole() {
    let nulls = vec!["null"; MAX_GAPS + 1].join(",");
    check(
        &format!("{{\"a\":[{nulls}],\"b\":null}}"),
        expect![[r#"
        {}
        null: /args/b
        unmapped: /args/a"#]],
    );
}

#[test]
fn the_context_has_the_documented_members() {
    let built =
        build(r#"{"a":null}"#, Some(r#"{"ask":{"action":"accept","content":{"x":1}}}"#), &json!({})).unwrap();
    expect![[r#"{args: {}, client: "cli", contract: "sha256:c", null_paths: ["/args/a"], responses: {ask: {action: "accept", content: {x: 1}}}, unmapped: []}"#]].assert_eq(&built.context.to_string());
    let decision = of_decision(&principal(), &principal(), "sha256:c").unwrap();
    expect![[r#"{caller: {client: "c", issuer: "host", kind: "service", roles: ["agent"], subject: "s", tenant: "t"}, client: "c", contract: "sha256:c"}"#]].assert_eq(&decision.to_string());
}
