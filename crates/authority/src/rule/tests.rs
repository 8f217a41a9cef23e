mod arguments;
mod kinds;

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use serde_json::value::RawValue;

use crate::{
    Action, Authority, Authorizer, Entry, Item, PolicySet, Principal, PrincipalKind, Prompts, Question,
    Registry, Resources, Ruling, Target,
};

pub(crate) const AGENT: &str = "permit(principal in Role::\"agent\", action in [Action::\"call\", Action::\"call_unattended\"], resource is Tool);";

pub(crate) fn principal(kind: PrincipalKind, subject: &str, role: &str) -> Principal {
    Principal {
        issuer: "host".to_owned(),
        subject: subject.to_owned(),
        tenant: "demo".to_owned(),
        kind,
        roles: BTreeSet::from([role.to_owned()]),
        name: subject.to_owned(),
        client: "cli".to_owned(),
        actors: Vec::new(),
    }
}

pub(crate) fn authorizer(policies: &str) -> Authorizer {
    let relaxable = Entry { policy_may_relax: true, ..Entry::of(Authority::RequiresApproval) };
    let registry = Registry::new([
        ("u/auto".to_owned(), Entry { read_only: true, ..Entry::of(Authority::Automatic) }),
        ("u/ask".to_owned(), Entry::of(Authority::RequiresApproval)),
        ("u/relaxable".to_owned(), relaxable),
        ("u/own".to_owned(), Entry { self_approval: true, ..Entry::of(Authority::RequiresApproval) }),
        ("u/never".to_owned(), Entry::of(Authority::Prohibited)),
    ])
    .unwrap()
    .with_resources(resources())
    .with_prompts(prompts());
    Authorizer::new(registry, PolicySet::parse(&[("p.cedar".to_owned(), policies.to_owned())]).unwrap())
        .unwrap()
}

fn resources() -> Resources {
    let relaxable = Entry { policy_may_relax: true, ..Entry::of(Authority::RequiresApproval) };
    Resources::new([
        ("u/doc://{a}".to_owned(), Entry { read_only: true, ..Entry::of(Authority::Automatic) }),
        ("u/ask://{a}/{+b}".to_owned(), Entry::of(Authority::RequiresApproval)),
        ("u/relaxable:one".to_owned(), relaxable),
        ("u/never://{a}".to_owned(), Entry::of(Authority::Prohibited)),
    ])
    .unwrap()
}

/// One has the name of a tool.
fn prompts() -> Prompts {
    Prompts::new([
        ("u/auto".to_owned(), Entry::of(Authority::Automatic)),
        ("u/asking".to_owned(), Entry::of(Authority::RequiresApproval)),
        ("u/never".to_owned(), Entry::of(Authority::Prohibited)),
    ])
    .unwrap()
}

/// A question of the demonstration's agent, with nothing but its target.
pub(crate) fn question<'a>(
    principal: &'a Principal,
    action: Action,
    target: impl Into<Target<'a>>,
) -> Question<'a> {
    Question {
        principal,
        action,
        target: target.into(),
        uri: None,
        arguments: None,
        argument: None,
        input_responses: None,
        client: "cli",
    }
}

fn rule(policies: &str, tool: &str, arguments: &str) -> Ruling {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    authorizer(policies).rule(&Question {
        principal: &principal(PrincipalKind::Service, "bot", "agent"),
        action: Action::Call,
        target: Item::tool("u", tool, "sha256:c").into(),
        uri: None,
        argument: None,
        arguments: Some(&arguments),
        input_responses: None,
        client: "cli",
    })
}

fn check(policies: &str, tool: &str, arguments: &str, expected: Expect) {
    let ruling = rule(policies, tool, arguments);
    let reasons: Vec<&str> = ruling.reasons().iter().map(|reason| reason.message.as_str()).collect();
    let code = ruling.code().unwrap_or("-");
    expected.assert_eq(&format!("{:?} {} {code}: {}", ruling.verdict(), ruling.rule(), reasons.join(" | ")));
}

#[test]
fn the_registry_is_the_ceiling() {
    let all = "permit(principal, action, resource);";
    check(
        all,
        "auto",
        "{}",
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
    check(
        all,
        "ask",
        "{}",
        expect!["RequiresApproval registry.requires_approval -: the registry wants a person to decide"],
    );
    check(
        all,
        "relaxable",
        "{}",
        expect!["Automatic policy.relaxed -: the registry lets policy relax the tool, and it does"],
    );
    check(
        all,
        "never",
        "{}",
        expect!["Prohibited registry.prohibited AG-AUTHORITY-PROHIBITED: the registry prohibits the tool"],
    );
    check(
        all,
        "unknown",
        "{}",
        expect!["Prohibited registry.absent AG-AUTHORITY-UNREGISTERED: the tool is not in the registry"],
    );
}

#[test]
fn policy_can_only_tighten() {
    check(
        "",
        "auto",
        "{}",
        expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `call`"],
    );
    check(
        "permit(principal, action == Action::\"call\", resource);",
        "auto",
        "{}",
        expect![
            "RequiresApproval policy.attended -: a person must decide: no policy permits `call_unattended`"
        ],
    );
    check(
        "permit(principal, action == Action::\"call\", resource);",
        "relaxable",
        "{}",
        expect!["RequiresApproval registry.requires_approval -: the registry wants a person to decide"],
    );
    check(
        "permit(principal, action == Action::\"call_unattended\", resource);",
        "auto",
        "{}",
        expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `call`"],
    );
    let attended =
        format!("{AGENT} @id(\"slow\") forbid(principal, action == Action::\"call_unattended\", resource);");
    check(
        &attended,
        "auto",
        "{}",
        expect![
            "RequiresApproval policy.attended -: a person must decide: `call_unattended` is forbidden by `slow`"
        ],
    );
    let forbidden = format!(
        "{AGENT} @id(\"no\") forbid(principal, action == Action::\"call\", resource) when {{ context.args has x && context.args.x > 3 }};"
    );
    check(
        &forbidden,
        "auto",
        r#"{"x":3}"#,
        expect!["Automatic automatic -: registry and policy let the call run by itself"],
    );
    check(
        &forbidden,
        "auto",
        r#"{"x":4}"#,
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `call` is forbidden by `no`"],
    );
}

#[test]
fn other_actions_are_refused() {
    let authorizer = authorizer("permit(principal, action, resource);");
    for action in Action::ALL.into_iter().filter(|action| *action != Action::Call) {
        let ruling = authorizer.rule(&Question {
            principal: &principal(PrincipalKind::Service, "bot", "agent"),
            action,
            target: Item::tool("u", "auto", "sha256:c").into(),
            uri: None,
            argument: None,
            arguments: None,
            input_responses: None,
            client: "cli",
        });
        assert_eq!(ruling.rule(), "action.unfit", "{action:?}");
        assert_eq!(ruling.code(), Some("AG-AUTHORITY-ACTION"));
    }
}

#[test]
fn an_explanation_holds_everything() {
    let policies = format!(
        "{AGENT}\n@id(\"slow\") @owner(\"ops\")\nforbid(principal, action == Action::\"call_unattended\", resource) when {{ context.args has x }};"
    );
    let ruling = rule(&policies, "auto", r#"{"x":1,"n":null,"u":1e-9}"#).with_implied(Authority::Prohibited);
    assert!(ruling.read_only());
    let json = serde_json::to_string_pretty(ruling.explanation()).unwrap();
    expect![[r#"
        {
          "tool": "u/auto",
          "contract": "sha256:c",
          "verdict": "requires_approval",
          "rule": "policy.attended",
          "registry": {
            "authority": "automatic",
            "labels": [],
            "digest": "sha256:20a2e8d6ebd8ad898860936d85f9f9717992646bc0d72ccbbea04e290492bca8"
          },
          "implied": "prohibited",
          "policies": [
            {
              "id": "p.cedar:1:1",
              "file": "p.cedar",
              "line": 1,
              "effect": "permit",
              "action": "call",
              "annotations": {}
            },
            {
              "id": "slow",
              "file": "p.cedar",
              "line": 2,
              "effect": "forbid",
              "action": "call_unattended",
              "annotations": {
                "id": "slow",
                "owner": "ops"
              }
            }
          ],
          "policy_digest": "sha256:e967a72a7baae8db1a59e9dec678ddfc2cf208daef9719251b834a9f9195386d",
          "null_paths": [
            "/args/n"
          ],
          "unmapped": [
            "/args/u"
          ],
          "guardrails": [
            {
              "name": "registry",
              "decision": "allow"
            },
            {
              "name": "arguments",
              "decision": "allow"
            },
            {
              "name": "policy call",
              "decision": "allow"
            },
            {
              "name": "policy call_unattended",
              "decision": "require_approval"
            }
          ],
          "reasons": [
            {
              "code": "AG-AUTHORITY-APPROVAL",
              "rule": "policy.attended",
              "message": "a person must decide: `call_unattended` is forbidden by `slow`"
            }
          ]
        }"#]]
    .assert_eq(&json);
}

#[test]
fn digests_follow_what_could_match() {
    let digest = |policies: &str, tool: &str| rule(policies, tool, "{}").policy_digest().unwrap().to_owned();
    let other = format!("// comment\n\n{AGENT} forbid(principal, action, resource == Tool::\"u/ask\");");
    assert_eq!(digest(AGENT, "auto"), digest(&other, "auto"));
    assert_ne!(digest(AGENT, "ask"), digest(&other, "ask"));
    assert!(rule(AGENT, "auto", "{}").registry_digest().is_some());
    assert_eq!(rule(AGENT, "unknown", "{}").registry_digest(), None);
}

#[test]
fn a_slice_knows_whether_it_reads_the_context() {
    let reads = |policies: &str, tool: &str| {
        authorizer(policies).reads_context(&Item::tool("u", tool, ""), Action::Call)
    };
    let policies = format!(
        "{AGENT} forbid(principal, action == Action::\"call\", resource == Tool::\"u/ask\") when {{ context.args has x }}; forbid(principal, action, resource) when {{ context.client == \"evil\" }};"
    );
    assert!(!reads(&policies, "auto"), "client and contract are the same for a kept ruling");
    assert!(reads(&policies, "ask"));
    assert!(reads(&policies, "unknown"));
    assert!(reads("forbid(principal, action, resource) when { context == {} };", "auto"));
    assert!(reads(
        "forbid(principal, action == Action::\"call_unattended\", resource) when { context.null_paths.isEmpty() };",
        "auto"
    ));
    assert!(!reads(
        "permit(principal, action == Action::\"decide\", resource) when { context.caller.kind == \"service\" };",
        "auto"
    ));
}

#[test]
fn the_default_of_dev_rules_unlisted_tools() {
    let registry = Registry::default().with_default(Authority::Automatic).unwrap();
    let policies = PolicySet::parse(&[("p".to_owned(), AGENT.to_owned())]).unwrap();
    let authorizer = Authorizer::new(registry, policies).unwrap();
    let ask = |upstream: &str| {
        authorizer.rule(&Question {
            principal: &principal(PrincipalKind::Service, "bot", "agent"),
            action: Action::Call,
            target: Item::tool(upstream, "any/thing", "sha256:c").into(),
            uri: None,
            argument: None,
            arguments: None,
            input_responses: None,
            client: "cli",
        })
    };
    assert_eq!(ask("new").rule(), "automatic");
    assert_eq!(ask("new/er").rule(), "registry.absent");
}
