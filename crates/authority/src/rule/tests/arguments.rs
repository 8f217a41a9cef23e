//! What policies read of arguments, and cannot read.

use super::*;

#[test]
fn a_policy_that_fails_refuses() {
    let unguarded = format!(
        "{AGENT} @id(\"bad\") permit(principal, action == Action::\"call\", resource) when {{ context.args.x > 3 }};"
    );
    check(
        &unguarded,
        "auto",
        r#"{"x":4}"#,
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
    check(
        &unguarded,
        "auto",
        "{}",
        expect![
            "Prohibited policy.error AG-AUTHORITY-POLICY-ERROR: policy `bad`: record does not have the attribute `x`"
        ],
    );
    check(
        &unguarded,
        "auto",
        r#"{"x":null}"#,
        expect![
            "Prohibited policy.error AG-AUTHORITY-POLICY-ERROR: policy `bad`: record does not have the attribute `x`"
        ],
    );
    check(
        &unguarded,
        "auto",
        r#"{"x":"4"}"#,
        expect![
            "Prohibited policy.error AG-AUTHORITY-POLICY-ERROR: policy `bad`: type error: expected long, got string"
        ],
    );
    let later = unguarded.replace("Action::\"call\", resource)", "Action::\"call_unattended\", resource)");
    check(
        &later,
        "auto",
        "{}",
        expect![
            "Prohibited policy.error AG-AUTHORITY-POLICY-ERROR: policy `bad`: record does not have the attribute `x`"
        ],
    );
    check(
        &later,
        "ask",
        "{}",
        expect![
            "Prohibited policy.error AG-AUTHORITY-POLICY-ERROR: policy `bad`: record does not have the attribute `x`"
        ],
    );
}

#[test]
fn a_policy_that_reads_what_it_cannot_see_refuses() {
    let forbid = format!(
        "{AGENT} @id(\"cap\") forbid(principal, action == Action::\"call\", resource) when {{ context.args has x && context.args.x > 3 }};"
    );
    check(
        &forbid,
        "auto",
        r#"{"x":99999999999999999999}"#,
        expect![
            "Prohibited context.unmapped AG-AUTHORITY-UNMAPPED: policy `cap` reads `/args/x`, whose value Cedar cannot represent exactly"
        ],
    );
    check(
        &forbid,
        "auto",
        r#"{"y":99999999999999999999}"#,
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
    let others = forbid.replace("forbid(principal,", "forbid(principal is Person,");
    check(
        &others,
        "auto",
        r#"{"x":99999999999999999999}"#,
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
    let whole = forbid.replace("context.args has x && context.args.x > 3", "context.args == {}");
    check(
        &whole,
        "auto",
        r#"{"x":{"deep":[0.00001]}}"#,
        expect![
            "Prohibited context.unmapped AG-AUTHORITY-UNMAPPED: policy `cap` reads `/args/x/deep/0`, whose value Cedar cannot represent exactly"
        ],
    );
    check(
        AGENT,
        "auto",
        r#"{"x":99999999999999999999}"#,
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
}

#[test]
fn arguments_that_cannot_be_read_refuse_where_policies_read_them() {
    let reads = format!(
        "{AGENT} forbid(principal, action == Action::\"call\", resource) when {{ context.args has x }};"
    );
    check(
        &reads,
        "auto",
        r#"{"x":1,"x":2}"#,
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: `/args` cannot be read as JSON; expected one value without duplicate keys: duplicate key `x` at line 1 column 13"
        ],
    );
    check(
        &reads,
        "auto",
        "[]",
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: `/args` is not an object; send the members by name"
        ],
    );
}

#[test]
fn an_entity_escape_in_arguments_is_no_entity() {
    let policy = "permit(principal, action in [Action::\"call\", Action::\"call_unattended\"], resource) when { context.args has who && context.args.who == Person::\"demo/host#boss\" };";
    check(
        policy,
        "auto",
        r#"{"who":{"__entity":{"type":"Person","id":"demo/host#boss"}}}"#,
        expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `call`"],
    );
}

#[test]
fn a_contract_makes_every_spelling_of_a_number_one_type() {
    let policies = format!(
        "{AGENT} @id(\"cap\") forbid(principal, action == Action::\"call\", resource) when {{ context.args.price.greaterThan(decimal(\"9.5\")) || context.args.count > 3 }};"
    );
    let schema = serde_json::json!({"type": "object", "properties": {
        "price": {"type": "number"}, "count": {"type": "integer"}}});
    let contract = crate::ToolContract { upstream: "u", tool: "auto", input_schema: &schema };
    let (plain, typed) = (authorizer(&policies), authorizer(&policies).with_contracts(&[contract]).unwrap());
    let rule = |authorizer: &Authorizer, arguments: &str| {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        let ruling = authorizer.rule(&Question {
            principal: &principal(PrincipalKind::Service, "bot", "agent"),
            action: Action::Call,
            target: Item::tool("u", "auto", "sha256:c").into(),
            uri: None,
            argument: None,
            arguments: Some(&arguments),
            input_responses: None,
            client: "cli",
        });
        ruling.rule()
    };
    for (arguments, expected) in [
        (r#"{"price":10,"count":1}"#, "policy.forbid"),
        (r#"{"price":10.0,"count":1}"#, "policy.forbid"),
        (r#"{"price":9,"count":4.0}"#, "policy.forbid"),
        (r#"{"price":9,"count":3.0}"#, "automatic"),
    ] {
        assert_eq!(rule(&typed, arguments), expected, "{arguments}");
    }
    assert_eq!(rule(&plain, r#"{"price":10,"count":1}"#), "policy.error");
}
