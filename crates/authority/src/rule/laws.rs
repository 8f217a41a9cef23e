//! What holds for all policies and all arguments.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::value::RawValue;

use super::tests::{authorizer, principal};
use crate::{
    Action, Authority, Authorizer, Cell, Column, Entry, Hints, PolicySet, PrincipalKind, Question, Registry,
    Ruling, Surveyed, Target, Verdict,
};

const TOOLS: [&str; 5] = ["auto", "ask", "relaxable", "own", "never"];

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
    ]);
    let resource = any_of(&[
        "resource",
        "resource is Tool",
        "resource is Gateway",
        "resource in Upstream::\"u\"",
        "resource == Tool::\"u/auto\"",
        "resource in Tool::\"u/relaxable\"",
        "resource is Tool in Upstream::\"elsewhere\"",
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

fn rule(authorizer: &Authorizer, tool: &str, arguments: &str) -> Ruling {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    authorizer.rule(&Question {
        principal: &principal(PrincipalKind::Service, "bot", "agent"),
        action: Action::Call,
        target: Target { upstream: "u", tool, contract: "sha256:c" },
        arguments: Some(&arguments),
        input_responses: Some(&arguments),
        client: "cli",
    })
}

/// Whether a ruling rests on the arguments being odd, not on what a policy wants.
fn is_fault(ruling: &Ruling) -> bool {
    matches!(ruling.rule(), "policy.error" | "context.unmapped" | "context.unreadable")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn adding_a_forbid_never_loosens(policies in policies(), forbid in body(), arguments in arguments()) {
        let (before, after) = (authorizer(&policies), authorizer(&format!("{policies}forbid{forbid}")));
        for tool in TOOLS {
            let (before, after) = (rule(&before, tool, &arguments), rule(&after, tool, &arguments));
            prop_assert!(
                after.verdict() >= before.verdict(),
                "{tool}: {} became {}", before.rule(), after.rule()
            );
        }
    }

    #[test]
    fn a_stricter_registry_never_loosens(policies in policies(), arguments in arguments()) {
        let ruled = |authority| {
            let registry = Registry::new([("u/auto".to_owned(), Entry::of(authority))]).unwrap();
            let policies = PolicySet::parse(&[("p".to_owned(), policies.clone())]).unwrap();
            rule(&Authorizer::new(registry, policies).unwrap(), "auto", &arguments).verdict()
        };
        prop_assert!(ruled(Authority::Automatic) <= ruled(Authority::RequiresApproval));
        prop_assert!(ruled(Authority::RequiresApproval) <= ruled(Authority::Prohibited));
        prop_assert_eq!(ruled(Authority::Prohibited), Verdict::Prohibited);
    }

    #[test]
    fn sliced_is_full(policies in policies(), arguments in arguments()) {
        let (sliced, full) = (authorizer(&policies), authorizer(&policies).unsliced());
        for tool in TOOLS {
            let (sliced, full) = (rule(&sliced, tool, &arguments), rule(&full, tool, &arguments));
            prop_assert_eq!(sliced.rule(), full.rule());
            prop_assert_eq!(sliced.reasons(), full.reasons());
            prop_assert_eq!(&sliced.explanation().policies, &full.explanation().policies);
            prop_assert_eq!(&sliced.explanation().guardrails, &full.explanation().guardrails);
        }
    }

    #[test]
    fn a_slice_without_context_rules_all_arguments_alike(
        policies in policies(), one in arguments(), other in arguments(),
    ) {
        let authorizer = authorizer(&policies);
        for tool in TOOLS {
            if !authorizer.reads_context(&Target { upstream: "u", tool, contract: "sha256:c" }) {
                let (one, other) = (rule(&authorizer, tool, &one), rule(&authorizer, tool, &other));
                prop_assert_eq!(one.explanation(), other.explanation());
            }
        }
    }

    #[test]
    fn the_matrix_and_the_list_tell_the_truth(policies in policies(), arguments in arguments()) {
        let authorizer = authorizer(&policies);
        let bot = principal(PrincipalKind::Service, "bot", "agent");
        for tool in TOOLS {
            let ruling = rule(&authorizer, tool, &arguments);
            let listed = authorizer.listed(&bot, &Target { upstream: "u", tool, contract: "sha256:c" });
            prop_assert!(listed || ruling.verdict() == Verdict::Prohibited, "{} is not listed: {}", tool, ruling.rule());

            let surveyed = Surveyed { upstream: "u", tool, hints: Hints::default() };
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
            prop_assert_eq!(ruling.verdict(), expected, "{}: {}", tool, ruling.rule());
        }
    }
}

/// The laws above say nothing if their inputs are all alike.
#[test]
fn the_inputs_reach_every_rule() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (policies(), arguments());
    let mut reached = BTreeSet::new();
    for _ in 0..400 {
        let (policies, arguments) = strategy.new_tree(&mut runner).unwrap().current();
        let authorizer = authorizer(&policies);
        reached.extend(TOOLS.map(|tool| rule(&authorizer, tool, &arguments).rule()));
    }
    for rule in [
        "automatic",
        "context.unmapped",
        "policy.attended",
        "policy.error",
        "policy.forbid",
        "policy.no_permit",
        "policy.relaxed",
        "registry.prohibited",
        "registry.requires_approval",
    ] {
        assert!(reached.contains(rule), "no `{rule}` in {reached:?}");
    }
}
