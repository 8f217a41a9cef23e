//! What holds for all policies and all arguments.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::value::RawValue;

use super::tests::{authorizer, principal, question};
use crate::{
    Action, Argument, Authority, Authorizer, Cell, Column, Entry, Hints, Item, Kind, PolicySet,
    PrincipalKind, Prompts, Question, Registry, Resources, Ruling, Surveyed, Target, Verdict,
};

/// Everything that can be asked for.
const ASKED: [(Action, Kind, &str); 18] = [
    (Action::Call, Kind::Tool, "auto"),
    (Action::Call, Kind::Tool, "ask"),
    (Action::Call, Kind::Tool, "relaxable"),
    (Action::Call, Kind::Tool, "own"),
    (Action::Call, Kind::Tool, "never"),
    (Action::Read, Kind::Resource, "doc://{a}"),
    (Action::Read, Kind::Resource, "ask://{a}/{+b}"),
    (Action::Read, Kind::Resource, "relaxable:one"),
    (Action::Read, Kind::Resource, "never://{a}"),
    (Action::Listen, Kind::Resource, "doc://{a}"),
    (Action::Listen, Kind::Resource, "ask://{a}/{+b}"),
    (Action::Complete, Kind::Resource, "doc://{a}"),
    (Action::GetPrompt, Kind::Prompt, "auto"),
    (Action::GetPrompt, Kind::Prompt, "asking"),
    (Action::GetPrompt, Kind::Prompt, "never"),
    (Action::Complete, Kind::Prompt, "auto"),
    (Action::Complete, Kind::Prompt, "asking"),
    (Action::Call, Kind::Prompt, "auto"),
];

fn any_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(choices)
}

/// The head and conditions of a policy, some of which fail, read the context, or concern another tool.
fn body() -> impl Strategy<Value = String> {
    let principal = any_of(&[
        "principal",
        "principal is Service",
        "principal is Person",
        "principal in Role::\"agent\"",
        "principal is Service in Tenant::\"demo\"",
        "principal == Service::\"demo/host#bot\"",
        "principal in Tenant::\"other\"",
    ]);
    let action = any_of(&[
        "action",
        "action == Action::\"call\"",
        "action == Action::\"call_unattended\"",
        "action in [Action::\"call\", Action::\"call_unattended\"]",
        "action == Action::\"decide\"",
        "action == Action::\"audit\"",
        "action == Action::\"read\"",
        "action in [Action::\"get_prompt\", Action::\"complete\", Action::\"call_unattended\"]",
        "action in [Action::\"read\", Action::\"listen\", Action::\"get_prompt\"]",
    ]);
    let resource = any_of(&[
        "resource",
        "resource is Tool",
        "resource is Gateway",
        "resource in Upstream::\"u\"",
        "resource == Tool::\"u/auto\"",
        "resource in Tool::\"u/relaxable\"",
        "resource is Tool in Upstream::\"elsewhere\"",
        "resource is Resource",
        "resource is Prompt in Upstream::\"u\"",
        "resource == Resource::\"u/doc://{a}\"",
        "resource == Prompt::\"u/auto\"",
        "resource == Gateway::\"aldgate\"",
    ]);
    let condition = any_of(&[
        "",
        "when { resource has read_only && resource.read_only }",
        "when { principal.tenant == \"demo\" }",
        "when { context has args && context.args has a }",
        "unless { context has args.a && context.args.a == 1 }",
        "when { context.args.b > 2 }",
        "when { context.client == \"cli\" }",
        "when { context has null_paths && context.null_paths.contains(\"/args/a\") }",
        "when { 9223372036854775807 + 1 == 0 }",
        "when { context has uri && context.uri like \"doc://a*\" }",
        "when { context.args has a && context.args.a == \"a\" }",
        "when { context.argument.value == \"a\" }",
        "unless { context has argument && context.argument.name == \"a\" }",
        "when { principal.subject == \"bot\" && context has args && context.args has c && context.args.c == {} }",
    ]);
    (principal, action, resource, condition).prop_map(|(principal, action, resource, condition)| {
        format!("({principal}, {action}, {resource}) {condition};")
    })
}

fn policies() -> impl Strategy<Value = String> {
    let effect = any_of(&["permit", "permit", "forbid"]);
    let base = any_of(&["", "permit(principal, action, resource);\n"]);
    (base, vec((effect, body()), 0..5)).prop_map(|(base, bodies)| {
        let lines = bodies.into_iter().map(|(effect, body)| format!("{effect}{body}\n"));
        base.to_owned() + &lines.collect::<String>()
    })
}

/// JSON as a hostile client writes it; names are those that the policies read, and Cedar's own escapes.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        (0..4_i64).prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    scalar.prop_recursive(6, 40, 5, |inner| {
        let name = prop_oneof![
            any_of(&["a", "b", "c", "__entity", "__extn", "__expr", "type", "id", ""])
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            btree_map(name, inner, 0..5).prop_map(object),
        ]
    })
}

fn object(members: std::collections::BTreeMap<String, String>) -> String {
    let members: Vec<String> = members
        .into_iter()
        .map(|(name, value)| format!("{}:{value}", serde_json::to_string(&name).unwrap()))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn arguments() -> impl Strategy<Value = String> {
    btree_map(prop_oneof!["[abc]", any::<String>()], json(), 0..4).prop_map(object)
}

fn rule(authorizer: &Authorizer, asked: (Action, Kind, &str), value: &str, arguments: &str) -> Ruling {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    let (action, kind, name) = asked;
    let uri = name.replace("{a}", value).replace("{+b}", "b/c");
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    let item = Item { upstream: "u", kind, name, contract: "sha256:c" };
    authorizer.rule(&Question {
        uri: Some(&uri),
        arguments: Some(&arguments),
        argument: Some(Argument { name: "a", value }),
        input_responses: Some(&arguments),
        ..question(&bot, action, item)
    })
}

fn listen(authorizer: &Authorizer) -> Ruling {
    let bot = principal(PrincipalKind::Service, "bot", "agent");
    authorizer.rule(&question(&bot, Action::Listen, Target::Gateway))
}

fn value() -> impl Strategy<Value = String> {
    "[abc]{1,2}"
}

/// Whether a ruling rests on the arguments being odd, not on what a policy wants.
fn is_fault(ruling: &Ruling) -> bool {
    matches!(ruling.rule(), "policy.error" | "context.unmapped" | "context.unreadable")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn adding_a_forbid_never_loosens(
        policies in policies(), forbid in body(), value in value(), arguments in arguments(),
    ) {
        let (before, after) = (authorizer(&policies), authorizer(&format!("{policies}forbid{forbid}")));
        for asked in ASKED {
            let ruled = |authorizer| rule(authorizer, asked, &value, &arguments);
            let (before, after) = (ruled(&before), ruled(&after));
            prop_assert!(
                after.verdict() >= before.verdict(),
                "{:?}: {} became {}", asked, before.rule(), after.rule()
            );
        }
        prop_assert!(listen(&after).verdict() >= listen(&before).verdict());
    }

    #[test]
    fn a_stricter_registry_never_loosens(
        policies in policies(), value in value(), arguments in arguments(),
    ) {
        let authorizer = |authority| {
            let entries = |key: &str| [(key.to_owned(), Entry::of(authority))];
            let registry = Registry::new(entries("u/auto")).unwrap()
                .with_resources(Resources::new(entries("u/doc://{a}")).unwrap())
                .with_prompts(Prompts::new(entries("u/auto")).unwrap());
            let policies = PolicySet::parse(&[("p".to_owned(), policies.clone())]).unwrap();
            Authorizer::new(registry, policies).unwrap()
        };
        let ladder = [Authority::Automatic, Authority::RequiresApproval, Authority::Prohibited].map(authorizer);
        for asked in ASKED.into_iter().filter(|(_, _, name)| ["auto", "doc://{a}"].contains(name)) {
            let [automatic, attended, prohibited] =
                ladder.each_ref().map(|authorizer| rule(authorizer, asked, &value, &arguments).verdict());
            prop_assert!(automatic <= attended && attended <= prohibited, "{:?}", asked);
            prop_assert_eq!(prohibited, Verdict::Prohibited);
            prop_assert!(attended != Verdict::Automatic, "{:?}", asked);
        }
    }

    #[test]
    fn sliced_is_full(policies in policies(), value in value(), arguments in arguments()) {
        let (sliced, full) = (authorizer(&policies), authorizer(&policies).unsliced());
        for asked in ASKED {
            let ruled = |authorizer| rule(authorizer, asked, &value, &arguments);
            let (sliced, full) = (ruled(&sliced), ruled(&full));
            prop_assert_eq!(sliced.rule(), full.rule());
            prop_assert_eq!(sliced.reasons(), full.reasons());
            prop_assert_eq!(&sliced.explanation().policies, &full.explanation().policies);
            prop_assert_eq!(&sliced.explanation().guardrails, &full.explanation().guardrails);
        }
    }

    #[test]
    fn a_slice_without_context_rules_all_arguments_alike(
        policies in policies(), values in [value(), value()], one in arguments(), other in arguments(),
    ) {
        let authorizer = authorizer(&policies);
        for asked in ASKED {
            let (action, kind, name) = asked;
            let item = Item { upstream: "u", kind, name, contract: "sha256:c" };
            if !authorizer.reads_context(&item, action) {
                let one = rule(&authorizer, asked, &values[0], &one);
                let other = rule(&authorizer, asked, &values[1], &other);
                prop_assert_eq!(one.explanation(), other.explanation());
            }
        }
    }

    #[test]
    fn nothing_that_cannot_wait_asks_a_person(
        policies in policies(), value in value(), arguments in arguments(),
    ) {
        let authorizer = authorizer(&policies);
        for asked in ASKED.into_iter().filter(|(action, _, _)| !action.may_wait()) {
            let ruling = rule(&authorizer, asked, &value, &arguments);
            prop_assert!(ruling.verdict() != Verdict::RequiresApproval, "{:?}", asked);
        }
        prop_assert!(listen(&authorizer).verdict() != Verdict::RequiresApproval);
    }

    #[test]
    fn the_matrix_and_the_list_tell_the_truth(
        policies in policies(), value in value(), arguments in arguments(),
    ) {
        let authorizer = authorizer(&policies);
        let bot = principal(PrincipalKind::Service, "bot", "agent");
        for asked in ASKED.into_iter().filter(|(action, kind, _)| *action == kind.use_action()) {
            let (_, kind, name) = asked;
            let ruling = rule(&authorizer, asked, &value, &arguments);
            let item = Item { upstream: "u", kind, name, contract: "sha256:c" };
            let listed = authorizer.listed(&bot, &item);
            prop_assert!(listed || ruling.verdict() == Verdict::Prohibited, "{} is not listed: {}", name, ruling.rule());

            let hints = (kind == Kind::Tool).then(Hints::default);
            let surveyed = Surveyed { upstream: "u", kind, name, hints };
            let column = Column { role: "agent".to_owned(), kind: PrincipalKind::Service, tenant: "demo".to_owned() };
            // The matrix knows no single principal, so policies that name one are not its matter.
            if policies.contains("host#bot") || policies.contains("subject ==") || is_fault(&ruling) {
                continue;
            }
            let expected = match authorizer.matrix(&[surveyed], &[column])[0].roles[0].ruling {
                Cell::DependsOnArguments => continue,
                Cell::Automatic => Verdict::Automatic,
                Cell::RequiresApproval => Verdict::RequiresApproval,
                Cell::Prohibited => Verdict::Prohibited,
            };
            prop_assert_eq!(ruling.verdict(), expected, "{}: {}", name, ruling.rule());
        }
    }
}

/// The laws above say nothing if their inputs are all alike.
#[test]
fn the_inputs_reach_every_rule() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (policies(), value(), arguments());
    let mut reached = BTreeSet::new();
    for _ in 0..400 {
        let (policies, value, arguments) = strategy.new_tree(&mut runner).unwrap().current();
        let authorizer = authorizer(&policies);
        for asked in ASKED {
            reached.insert((asked.1, rule(&authorizer, asked, &value, &arguments).rule()));
        }
    }
    for rule in [
        "automatic",
        "policy.attended",
        "policy.error",
        "policy.forbid",
        "policy.no_permit",
        "registry.prohibited",
        "registry.requires_approval",
    ] {
        for kind in Kind::ALL {
            assert!(reached.contains(&(kind, rule)), "no `{rule}` for a {} in {reached:?}", kind.as_str());
        }
    }
    for rule in ["context.unmapped", "policy.relaxed", "registry.cannot_wait", "action.unfit"] {
        assert!(reached.iter().any(|(_, reached)| *reached == rule), "no `{rule}` in {reached:?}");
    }
}
