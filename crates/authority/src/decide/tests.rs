use expect_test::{Expect, expect};

use super::*;
use crate::aliases::Aliases;
use crate::rule::tests::{authorizer, principal};

const POLICIES: &str = r#"
@id("deciders") permit(principal in Role::"approver", action == Action::"decide", resource is Tool);
@id("auditors") permit(principal in Role::"approver", action == Action::"audit", resource == Gateway::"aldgate");
"#;

fn check(policies: &str, approver: &Principal, caller: &Principal, tool: &str, expected: Expect) {
    let item = Item::tool("u", tool, "sha256:c");
    let shown = match authorizer(policies).may_decide(approver, caller, &item) {
        Decide::Allowed { policies } => {
            format!("allowed by {:?}", policies.iter().map(|p| p.id.as_str()).collect::<Vec<_>>())
        }
        Decide::Refused { reasons } => reasons
            .iter()
            .map(|r| format!("{} {}: {}", r.code, r.rule, r.message))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn another_person_of_the_tenant_decides() {
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    let ada = principal(PrincipalKind::Person, "ada", "approver");
    check(POLICIES, &ada, &bot, "ask", expect![[r#"allowed by ["deciders"]"#]]);
    check(
        POLICIES,
        &ada,
        &ada,
        "ask",
        expect![
            "AG-DECIDE-SELF decide.self: the caller cannot decide its own call; the registry does not say `self_approval = true`"
        ],
    );
    check(POLICIES, &ada, &ada, "own", expect![[r#"allowed by ["deciders"]"#]]);
    let mut renamed = principal(PrincipalKind::Person, "ada", "observer");
    renamed.name = "Someone Else".to_owned();
    renamed.client = "other".to_owned();
    check(
        POLICIES,
        &ada,
        &renamed,
        "ask",
        expect![
            "AG-DECIDE-SELF decide.self: the caller cannot decide its own call; the registry does not say `self_approval = true`"
        ],
    );
    check(
        POLICIES,
        &principal(PrincipalKind::Service, "robot", "approver"),
        &bot,
        "ask",
        expect!["AG-DECIDE-PERSON decide.person: only a person decides, not a service"],
    );
    check(
        POLICIES,
        &principal(PrincipalKind::Person, "eve", "observer"),
        &bot,
        "ask",
        expect!["AG-AUTHORITY-NOT-PERMITTED policy.no_permit: no policy permits `decide`"],
    );
    let foreign = Principal { tenant: "other".to_owned(), ..ada.clone() };
    check(
        POLICIES,
        &foreign,
        &bot,
        "ask",
        expect!["AG-DECIDE-TENANT decide.tenant: the call is another tenant's"],
    );
    check(
        POLICIES,
        &ada,
        &bot,
        "never",
        expect!["AG-AUTHORITY-PROHIBITED registry.prohibited: the registry prohibits the tool"],
    );
    check(
        POLICIES,
        &ada,
        &bot,
        "unknown",
        expect!["AG-AUTHORITY-UNREGISTERED registry.absent: the tool is not in the registry"],
    );
}

#[test]
fn another_name_of_the_caller_is_the_caller() {
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    let ada = principal(PrincipalKind::Person, "ada", "approver");
    let lena = principal(PrincipalKind::Person, "lena", "approver");
    let mut aliases = Aliases::default();
    aliases.add("ada", [&bot, &ada].map(|one| (one.issuer.clone(), one.subject.clone()))).unwrap();
    let authorizer = authorizer(POLICIES).with_aliases(aliases);
    let codes = |approver: &Principal, caller: &Principal, tool: &str| match authorizer.may_decide(
        approver,
        caller,
        &Item::tool("u", tool, "sha256:c"),
    ) {
        Decide::Allowed { .. } => Vec::new(),
        Decide::Refused { reasons } => reasons.iter().map(|reason| reason.code).collect(),
    };
    assert_eq!(codes(&ada, &bot, "ask"), ["AG-DECIDE-SELF"]);
    assert!(codes(&ada, &bot, "own").is_empty(), "the registry lets the caller decide");
    assert!(codes(&lena, &bot, "ask").is_empty());
    // Somebody else's call that one of them makes.
    let through = Principal { actors: vec!["app".to_owned(), "bot".to_owned()], ..lena.clone() };
    assert_eq!(codes(&ada, &through, "ask"), ["AG-DECIDE-SELF"]);
    // And a decision that somebody makes in another's name.
    let third = principal(PrincipalKind::Service, "third", "agent");
    let for_her = Principal { actors: vec!["app".to_owned()], ..lena };
    assert_eq!(codes(&for_her, &third, "ask"), ["AG-DECIDE-PERSON"]);
    let for_her = Principal { actors: vec!["bot".to_owned()], ..for_her };
    assert_eq!(codes(&for_her, &ada, "ask"), ["AG-DECIDE-PERSON", "AG-DECIDE-SELF"]);
}

#[test]
fn policies_can_look_at_the_caller() {
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    let ada = principal(PrincipalKind::Person, "ada", "approver");
    let never_agents = format!(
        "{POLICIES} @id(\"no\") forbid(principal, action == Action::\"decide\", resource) when {{ context.caller.roles.contains(\"agent\") && context.caller.kind == \"service\" }};"
    );
    check(
        &never_agents,
        &ada,
        &bot,
        "ask",
        expect!["AG-AUTHORITY-FORBIDDEN policy.forbid: `decide` is forbidden by `no`"],
    );
    let failing = format!(
        "{POLICIES} @id(\"bad\") forbid(principal, action == Action::\"decide\", resource) when {{ context.args.x }};"
    );
    check(
        &failing,
        &ada,
        &bot,
        "ask",
        expect![
            "AG-AUTHORITY-POLICY-ERROR policy.error: policy `bad`: record does not have the attribute `args`"
        ],
    );
}

#[test]
fn auditing_and_operating_are_asked_apart() {
    let authorizer = authorizer(POLICIES);
    let ada = principal(PrincipalKind::Person, "ada", "approver");
    assert_eq!(authorizer.may(&ada, Action::Audit), Ok(()));
    assert_eq!(authorizer.may(&ada, Action::Operate).unwrap_err()[0].rule, "policy.no_permit");
    assert_eq!(authorizer.may(&ada, Action::Call).unwrap_err()[0].rule, "action.unfit");
    let eve = principal(PrincipalKind::Person, "eve", "observer");
    assert_eq!(authorizer.may(&eve, Action::Audit).unwrap_err()[0].code, "AG-AUTHORITY-NOT-PERMITTED");
}

#[test]
fn reads_and_prompts_are_decided_by_the_same_rules() {
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    let ada = principal(PrincipalKind::Person, "ada", "approver");
    let decides = |policies: &str, item: Item<'_>, caller: &Principal| {
        matches!(authorizer(policies).may_decide(&ada, caller, &item), Decide::Allowed { .. })
    };
    let policies = r#"
        permit(principal in Role::"approver", action == Action::"decide", resource is Resource);
        permit(principal in Role::"approver", action == Action::"decide", resource == Prompt::"u/asking");
    "#;
    let (resource, prompt) = (Item::resource("u", "ask://{a}/{+b}", "c"), Item::prompt("u", "asking", "c"));
    assert!(decides(policies, resource, &bot) && decides(policies, prompt, &bot));
    assert!(!decides(policies, resource, &ada), "its own");
    assert!(!decides(policies, Item::resource("u", "never://{a}", "c"), &bot), "prohibited");
    assert!(!decides(policies, Item::resource("u", "absent:x", "c"), &bot), "not registered");
    assert!(!decides(POLICIES, resource, &bot) && !decides(POLICIES, prompt, &bot), "policy is about tools");
}
