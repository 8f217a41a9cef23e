//! Resources, prompts, completion and listening.

use expect_test::{Expect, expect};
use serde_json::value::RawValue;

use super::{authorizer, principal, question};
use crate::{Action, Argument, Item, Principal, PrincipalKind, Question, Ruling, Target};

/// Permits everything that requests do, unattended too.
const ALL: &str = "permit(principal, action in [Action::\"read\", Action::\"get_prompt\", Action::\"complete\", Action::\"listen\", Action::\"call_unattended\"], resource);";

fn bot() -> Principal {
    principal(PrincipalKind::Service, "bot", "agent")
}

fn shown(ruling: &Ruling) -> String {
    let reasons: Vec<&str> = ruling.reasons().iter().map(|reason| reason.message.as_str()).collect();
    let code = ruling.code().unwrap_or("-");
    format!("{:?} {} {code}: {}", ruling.verdict(), ruling.rule(), reasons.join(" | "))
}

fn ruled(policies: &str, ask: impl Fn(Question<'_>) -> Question<'_>) -> Ruling {
    let bot = bot();
    authorizer(policies).rule(&ask(question(&bot, Action::Read, Target::Gateway)))
}

fn read(policies: &str, template: &str, uri: &str, expected: Expect) {
    let bot = bot();
    let item = Item::resource("u", template, "sha256:c");
    let ruling =
        authorizer(policies).rule(&Question { uri: Some(uri), ..question(&bot, Action::Read, item) });
    expected.assert_eq(&shown(&ruling));
}

fn got(policies: &str, prompt: &str, arguments: &str, expected: Expect) {
    let (bot, arguments) = (bot(), RawValue::from_string(arguments.to_owned()).unwrap());
    let item = Item::prompt("u", prompt, "sha256:c");
    let ruling = authorizer(policies)
        .rule(&Question { arguments: Some(&arguments), ..question(&bot, Action::GetPrompt, item) });
    expected.assert_eq(&shown(&ruling));
}

#[test]
fn reads_are_ruled_in_the_same_order() {
    read(
        ALL,
        "doc://{a}",
        "doc://1",
        expect!["Automatic automatic -: registry and policy let the read run by itself"],
    );
    read(
        ALL,
        "ask://{a}/{+b}",
        "ask://1/2/3",
        expect!["RequiresApproval registry.requires_approval -: the registry wants a person to decide"],
    );
    read(
        ALL,
        "relaxable:one",
        "relaxable:one",
        expect!["Automatic policy.relaxed -: the registry lets policy relax the resource, and it does"],
    );
    read(
        ALL,
        "never://{a}",
        "never://1",
        expect![
            "Prohibited registry.prohibited AG-AUTHORITY-PROHIBITED: the registry prohibits the resource"
        ],
    );
    read(
        ALL,
        "other://{a}",
        "other://1",
        expect!["Prohibited registry.absent AG-AUTHORITY-UNREGISTERED: the resource is not in the registry"],
    );
    read(
        "",
        "doc://{a}",
        "doc://1",
        expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `read`"],
    );
    let attended = "permit(principal, action == Action::\"read\", resource);";
    read(
        attended,
        "doc://{a}",
        "doc://1",
        expect![
            "RequiresApproval policy.attended -: a person must decide: no policy permits `call_unattended`"
        ],
    );
    let calls = "permit(principal, action in [Action::\"call\", Action::\"call_unattended\"], resource);";
    read(
        calls,
        "doc://{a}",
        "doc://1",
        expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `read`"],
    );
}

#[test]
fn a_uri_that_is_not_the_entrys_refuses() {
    read(
        ALL,
        "doc://{a}",
        "doc://1/2",
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: the URI is not one that `doc://{a}` stands for"
        ],
    );
    read(
        ALL,
        "doc://{a}",
        "ask://1",
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: the URI is not one that `doc://{a}` stands for"
        ],
    );
    read(
        ALL,
        "doc://{a}",
        "doc://%2e%2e",
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: the URI cannot be ruled on: it must not have `.` or `..` as a segment, nor hide one by encoding"
        ],
    );
    let nowhere = ruled(ALL, |question| Question {
        target: Item::resource("u", "doc://{a}", "sha256:c").into(),
        ..question
    });
    expect!["Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: a resource must be named by its URI"]
        .assert_eq(&shown(&nowhere));
}

#[test]
fn policies_see_the_uri_and_its_variables() {
    let policies = format!(
        "{ALL} @id(\"one\") forbid(principal, action == Action::\"read\", resource == Resource::\"u/doc://{{a}}\")
         when {{ context.args.a == \"S 1\" }};
         @id(\"two\") forbid(principal, action == Action::\"read\", resource is Resource in Upstream::\"u\")
         when {{ context.uri like \"doc://X*\" }};"
    );
    read(
        &policies,
        "doc://{a}",
        "doc://S%201",
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `read` is forbidden by `one`"],
    );
    read(
        &policies,
        "doc://{a}",
        "doc://%53%201",
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `read` is forbidden by `one`"],
    );
    read(
        &policies,
        "doc://{a}",
        "doc://S",
        expect!["Automatic automatic -: registry and policy let the read run by itself"],
    );
    read(
        &policies,
        "doc://{a}",
        "DOC://%581",
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `read` is forbidden by `two`"],
    );
    let attributes = format!(
        "{ALL} @id(\"attributes\") forbid(principal, action == Action::\"read\", resource) when {{ resource.upstream == \"u\"
         && resource.name == \"doc://{{a}}\" && resource.read_only && resource.authority == \"automatic\" }};"
    );
    read(
        &attributes,
        "doc://{a}",
        "doc://1",
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `read` is forbidden by `attributes`"],
    );
}

#[test]
fn prompts_are_ruled_by_their_arguments() {
    let policies = format!(
        "{ALL} @id(\"code\") forbid(principal, action == Action::\"get_prompt\", resource == Prompt::\"u/auto\")
         when {{ context.args has code && context.args.code == \"E7\" }};"
    );
    got(
        &policies,
        "auto",
        r#"{"code":"E1"}"#,
        expect!["Automatic automatic -: registry and policy let the prompt run by itself"],
    );
    got(
        &policies,
        "auto",
        r#"{"code":"E7"}"#,
        expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `get_prompt` is forbidden by `code`"],
    );
    got(
        &policies,
        "asking",
        "{}",
        expect!["RequiresApproval registry.requires_approval -: the registry wants a person to decide"],
    );
    got(
        &policies,
        "never",
        "{}",
        expect!["Prohibited registry.prohibited AG-AUTHORITY-PROHIBITED: the registry prohibits the prompt"],
    );
    got(
        &policies,
        "ask",
        "{}",
        expect!["Prohibited registry.absent AG-AUTHORITY-UNREGISTERED: the prompt is not in the registry"],
    );
    got(
        &policies,
        "auto",
        "[]",
        expect![
            "Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: `/args` is not an object; send the members by name"
        ],
    );
    // A policy about the tool of the same name says nothing of the prompt.
    let tool = format!("{ALL} forbid(principal, action, resource == Tool::\"u/auto\");");
    got(
        &tool,
        "auto",
        "{}",
        expect!["Automatic automatic -: registry and policy let the prompt run by itself"],
    );
}

#[test]
fn what_cannot_wait_never_asks_a_person() {
    let argument = Argument { name: "a", value: "1" };
    let complete = |policies: &str, item: Item<'static>| {
        let bot = bot();
        let ruling = authorizer(policies)
            .rule(&Question { argument: Some(argument), ..question(&bot, Action::Complete, item) });
        shown(&ruling)
    };
    let template = Item::resource("u", "doc://{a}", "sha256:c");
    let allowed = "Automatic automatic -: registry and policy allow `complete`";
    assert_eq!(complete(ALL, template), allowed);
    // The policy need not permit `call_unattended`: there is no other way to complete.
    let alone = "permit(principal, action == Action::\"complete\", resource);";
    assert_eq!(complete(alone, template), allowed);
    assert_eq!(complete(alone, Item::prompt("u", "auto", "sha256:c")), allowed);
    expect!["Prohibited registry.cannot_wait AG-AUTHORITY-CANNOT-WAIT: the registry wants a person to decide on the prompt, and `complete` cannot wait for one"]
        .assert_eq(&complete(ALL, Item::prompt("u", "asking", "sha256:c")));
    assert_eq!(
        complete("", template),
        "Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `complete`"
    );
    let seen = format!(
        "{alone} @id(\"guess\") forbid(principal, action == Action::\"complete\", resource)
         when {{ context.argument.name == \"a\" && context.argument.value == \"1\" }};"
    );
    expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `complete` is forbidden by `guess`"]
        .assert_eq(&complete(&seen, template));
    let nothing =
        ruled(ALL, |question| Question { action: Action::Complete, target: template.into(), ..question });
    expect!["Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: a completion must name the argument that it completes"]
        .assert_eq(&shown(&nothing));
    // Relaxing is for what can wait.
    let relaxable = Item::resource("u", "relaxable:one", "sha256:c");
    expect!["Prohibited registry.cannot_wait AG-AUTHORITY-CANNOT-WAIT: the registry wants a person to decide on the resource, and `complete` cannot wait for one"]
        .assert_eq(&complete(ALL, relaxable));
}

#[test]
fn listening_is_ruled_for_each_resource_and_for_the_gateway() {
    let listen = |policies: &str, template: &'static str, uri: &'static str| {
        shown(&ruled(policies, |question| Question {
            action: Action::Listen,
            target: Item::resource("u", template, "sha256:c").into(),
            uri: Some(uri),
            ..question
        }))
    };
    expect!["Automatic automatic -: registry and policy allow `listen`"].assert_eq(&listen(
        ALL,
        "doc://{a}",
        "doc://1",
    ));
    expect!["Prohibited registry.cannot_wait AG-AUTHORITY-CANNOT-WAIT: the registry wants a person to decide on the resource, and `listen` cannot wait for one"]
        .assert_eq(&listen(ALL, "ask://{a}/{+b}", "ask://1/2"));
    expect!["Prohibited context.unreadable AG-AUTHORITY-UNREADABLE: the URI is not one that `doc://{a}` stands for"]
        .assert_eq(&listen(ALL, "doc://{a}", "never://1"));
    let gateway = |policies: &str, action| {
        shown(&ruled(policies, |question| Question { action, target: Target::Gateway, ..question }))
    };
    expect!["Automatic automatic -: policy allows `listen`"].assert_eq(&gateway(ALL, Action::Listen));
    let only = "permit(principal, action == Action::\"listen\", resource is Resource);";
    expect!["Prohibited policy.no_permit AG-AUTHORITY-NOT-PERMITTED: no policy permits `listen`"]
        .assert_eq(&gateway(only, Action::Listen));
    let from = "@id(\"cli\") forbid(principal, action == Action::\"listen\", resource == Gateway::\"aldgate\") when { context.client == \"cli\" };";
    expect!["Prohibited policy.forbid AG-AUTHORITY-FORBIDDEN: `listen` is forbidden by `cli`"]
        .assert_eq(&gateway(&format!("{ALL}{from}"), Action::Listen));
    let broken = "forbid(principal, action == Action::\"listen\", resource) when { resource.read_only };";
    assert!(gateway(&format!("{ALL}{broken}"), Action::Listen).starts_with("Prohibited policy.error"));
    expect!["Prohibited action.unfit AG-AUTHORITY-ACTION: `call` is not asked of the gateway itself"]
        .assert_eq(&gateway("permit(principal, action, resource);", Action::Call));
}

#[test]
fn an_action_that_the_kind_does_not_have_is_refused() {
    let policies = "permit(principal, action, resource);";
    for (item, fit) in [
        (Item::resource("u", "doc://{a}", "c"), &[Action::Read, Action::Complete, Action::Listen][..]),
        (Item::prompt("u", "auto", "c"), &[Action::GetPrompt, Action::Complete]),
        (Item::tool("u", "auto", "c"), &[Action::Call]),
    ] {
        for action in Action::ALL.into_iter().filter(|action| !fit.contains(action)) {
            let ruling = ruled(policies, |question| Question { action, target: item.into(), ..question });
            assert_eq!(ruling.rule(), "action.unfit", "{item:?} {action:?}");
        }
    }
}

#[test]
fn an_explanation_names_the_kind() {
    let bot = bot();
    let item = Item::resource("u", "doc://{a}", "sha256:c");
    let ruling =
        authorizer(ALL).rule(&Question { uri: Some("doc://1"), ..question(&bot, Action::Read, item) });
    let json = serde_json::to_value(ruling.explanation()).unwrap();
    assert_eq!(json["resource"], "u/doc://{a}");
    assert_eq!(json.get("tool"), None);
    let steps: Vec<&str> = ruling.explanation().guardrails.iter().map(|step| step.name).collect();
    assert_eq!(steps, ["registry", "arguments", "policy read", "policy call_unattended"]);
    assert!(ruling.read_only() && ruling.registry_digest().is_some() && ruling.policy_digest().is_some());
    let gateway = ruled(ALL, |question| Question { action: Action::Listen, ..question });
    let json = serde_json::to_value(gateway.explanation()).unwrap();
    assert_eq!((&json["gateway"], &json["registry"]), (&"aldgate".into(), &serde_json::Value::Null));
    assert!(gateway.policy_digest().is_some());
}

#[test]
fn what_an_action_reads_is_its_own() {
    let policies = format!(
        "{ALL} forbid(principal, action == Action::\"read\", resource) when {{ context.uri == \"x\" }};
         forbid(principal, action == Action::\"complete\", resource) when {{ context.argument.value == \"x\" }};"
    );
    let authorizer = authorizer(&policies);
    let (resource, prompt) = (Item::resource("u", "doc://{a}", ""), Item::prompt("u", "auto", ""));
    assert!(authorizer.reads_context(&resource, Action::Read));
    assert!(!authorizer.reads_context(&resource, Action::Listen));
    assert!(!authorizer.reads_context(&prompt, Action::GetPrompt));
    assert!(authorizer.reads_context(&prompt, Action::Complete));
}
