use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::{Authority, Entry, PolicySet, Prompts, Registry, Resources};

fn check(policies: &str, expected: Expect) {
    let registry = Registry::new([
        ("parts/order".to_owned(), Entry::of(Authority::Automatic)),
        ("parts/find".to_owned(), Entry::of(Authority::Automatic)),
    ])
    .unwrap()
    .with_resources(
        Resources::new([("parts/part://{part_no}/{+file}".to_owned(), Entry::of(Authority::Automatic))])
            .unwrap(),
    )
    .with_prompts(Prompts::new([("parts/diagnose".to_owned(), Entry::of(Authority::Automatic))]).unwrap());
    let set = PolicySet::parse(&[("p.cedar".to_owned(), policies.to_owned())]).unwrap();
    let order = json!({"type": "object", "required": ["quantity"], "properties": {
        "quantity": {"type": "integer"}, "price": {"type": "number"}, "note": {"type": "string"},
        "odd": {"type": ["string", "integer"]}}});
    let find =
        json!({"type": "object", "additionalProperties": false, "properties": {"part": {"type": "string"}}});
    let diagnose = json!([{"name": "code", "required": true}, {"name": "note"}]);
    let tools = [
        ToolContract { upstream: "parts", tool: "order", input_schema: &order },
        ToolContract { upstream: "parts", tool: "find", input_schema: &find },
        ToolContract { upstream: "parts", tool: "unregistered", input_schema: &find },
    ];
    let prompts = [
        PromptContract { upstream: "parts", prompt: "diagnose", arguments: &diagnose },
        PromptContract { upstream: "parts", prompt: "unregistered", arguments: &diagnose },
    ];
    let findings = Authorizer::new(registry, set).unwrap().check(&tools, &prompts);
    let shown: Vec<String> = findings
        .iter()
        .map(|f| {
            let about = f.concern.as_ref().map_or("-", Concern::key);
            let help = f.help.as_deref().unwrap_or("-");
            format!(
                "{:?} {} {}:{}:{} [{about}]\n  {}\n  {help}",
                f.severity, f.policy, f.file, f.line, f.column, f.message
            )
        })
        .collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn sound_policies_have_no_findings() {
    check(
        r#"
        permit(principal in Role::"agent", action in [Action::"call", Action::"call_unattended"], resource is Tool);
        forbid(principal, action == Action::"call", resource == Tool::"parts/order")
        when { context.args.quantity > 10 || (context.args has price && context.args.price.greaterThan(decimal("9.5"))) }
        unless { context.unmapped.contains("/args/x") || context.null_paths.isEmpty() || context.client == "c" };
        forbid(principal, action == Action::"call", resource in Upstream::"parts")
        when { context.responses has ask && context.responses.ask has action && context.responses.ask.action == "decline" };
        permit(principal is Person, action == Action::"decide", resource is Tool)
        when { context.caller.roles.contains("agent") && principal.tenant == context.caller.tenant
            && !resource.labels.contains("exfiltration") };
        permit(principal is Person in Tenant::"acme", action in [Action::"audit", Action::"operate"], resource is Gateway);
        "#,
        expect![""],
    );
}

#[test]
fn names_policy_place_and_tool() {
    check(
        "permit(principal, action == Action::\"call\", resource in Upstream::\"parts\")\nwhen { context.args.quantity > 3 };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:2:8 [parts/find]
              attribute `args.quantity` in context for Action::"call" not found
              name the actions and tools that have it in the policy's head, or ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"call\", resource == Tool::\"parts/order\")\nwhen { context.args.note == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:2:8 [parts/order]
              unable to guarantee safety of access to optional attribute `args.note` in context for Action::"call"
              it may be absent or `null`; ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"call\", resource == Tool::\"parts/order\")\nwhen { context.args has odd && context.args.odd == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:1 [parts/order]
              the contract lets `/args/odd` have several types, and Cedar needs one
              where the value has another type than the policy expects, the call is refused; have the contract give it one, or name the tools in the policy's head"#]],
    );
    check(
        "forbid(principal, action == Action::\"call\", resource == Tool::\"parts/order\")\nwhen { context.args has price && context.args.price > 5 };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:2:34 [parts/order]
              unexpected type: expected Long but saw decimal
              -"#]],
    );
    check("forbid(principal, action, resource) when { context.client == \"x\" };", expect![""]);
    check(
        "forbid(principal, action == Action::\"audit\", resource) when { resource.read_only };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:63 [-]
              attribute `read_only` on entity type `Gateway` not found
              name the actions and tools that have it in the policy's head, or ask with `has` first"#]],
    );
}

#[test]
fn undeclared_arguments_are_found_where_the_contract_allows_them() {
    check(
        "forbid(principal, action == Action::\"call\", resource is Tool)\nwhen { context.args has who && context.args.who == 1 || resource.read_only };",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [parts/order]
              the contract does not declare `/args/who` and lets it have any type
              where the value has another type than the policy expects, the call is refused; have the contract give it one, or name the tools in the policy's head"#]],
    );
    check(
        "forbid(principal, action == Action::\"call\", resource == Tool::\"parts/find\") when { context.args has part.x };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:84 [parts/find]
              unexpected type: expected __cedar::internal::AnyEntity, or __cedar::internal::OpenRecord{} but saw String
              try using `like` to examine the contents of a string"#]],
    );
}

#[test]
fn policies_that_do_nothing_are_named() {
    check(
        "forbid(principal, action, resource == Tool::\"parts/odrer\");",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [-]
              the registry has no tool `parts/odrer`, so the policy does nothing for it
              the nearest one is `parts/order`"#]],
    );
    check(
        "forbid(principal, action, resource in Upstream::\"part\");",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [-]
              the registry has no upstream `part`, so the policy does nothing for it
              the nearest one is `parts`"#]],
    );
    check(
        "forbid(principal is Person, action == Action::\"call\", resource is Tool) when { principal is Service };",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [-]
              the policy can never apply to anything that its head names
              -"#]],
    );
}

#[test]
fn sound_policies_about_resources_and_prompts_have_no_findings() {
    check(
        r#"
        permit(principal in Role::"agent", action in [Action::"read", Action::"call_unattended"], resource is Resource)
        when { context.args.part_no like "P-*" && context.uri like "part://*" && context.args.file != "x" }
        unless { context.responses has ask && context.responses.ask has action };
        permit(principal, action in [Action::"get_prompt", Action::"call_unattended"], resource is Prompt)
        when { context.args.code == "E7" || context.args has note && context.args.note == "n" };
        permit(principal, action == Action::"complete", resource)
        when { context.argument.name == "part_no" && !(context.argument.value like "*x") && context.null_paths.isEmpty() };
        forbid(principal, action == Action::"complete", resource is Resource)
        when { context.args has part_no && context.args.part_no == "P" };
        permit(principal, action == Action::"listen", resource == Gateway::"aldgate") when { context.client == "c" };
        permit(principal, action == Action::"listen", resource is Resource) when { context.args.part_no == "P" };
        permit(principal is Person, action == Action::"decide", resource is Resource)
        when { context.caller.kind == "service" && resource.labels.isEmpty() };
        "#,
        expect![""],
    );
}

#[test]
fn names_what_a_policy_cannot_read_of_a_resource_or_prompt() {
    check(
        "forbid(principal, action == Action::\"read\", resource is Resource) when { context.args.part == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:74 [parts/part://{part_no}/{+file}]
              attribute `args.part` in context for Action::"read" not found
              name the actions and tools that have it in the policy's head, or ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"get_prompt\", resource) when { context.uri == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:68 [parts/diagnose]
              attribute `uri` in context for Action::"get_prompt" not found
              name the actions and tools that have it in the policy's head, or ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"get_prompt\", resource) when { context.args.note == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:68 [parts/diagnose]
              unable to guarantee safety of access to optional attribute `args.note` in context for Action::"get_prompt"
              it may be absent or `null`; ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"complete\", resource is Resource) when { context.args.part_no == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:78 [parts/part://{part_no}/{+file}]
              unable to guarantee safety of access to optional attribute `args.part_no` in context for Action::"complete"
              it may be absent or `null`; ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"listen\", resource) when { context.args.part_no == \"x\" };",
        expect![[r#"
            Error p.cedar:1:1 p.cedar:1:64 [-]
              attribute `args` in context for Action::"listen" not found
              name the actions and tools that have it in the policy's head, or ask with `has` first"#]],
    );
    check(
        "forbid(principal, action == Action::\"get_prompt\", resource) when { context.args has odd && context.args.odd == \"x\" };",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [parts/diagnose]
              the contract does not declare `/args/odd` and lets it have any type
              where the value has another type than the policy expects, the call is refused; have the contract give it one, or name the tools in the policy's head
            Warning p.cedar:1:1 p.cedar:1:1 [-]
              the policy can never apply to anything that its head names
              -"#]],
    );
    check(
        "forbid(principal, action == Action::\"read\", resource == Resource::\"parts/part://7/a\"); forbid(principal, action, resource == Prompt::\"parts/diagnos\");",
        expect![[r#"
            Warning p.cedar:1:1 p.cedar:1:1 [-]
              the registry has no resource `parts/part://7/a`, so the policy does nothing for it
              the nearest one is `parts/part://{part_no}/{+file}`
            Warning p.cedar:1:88 p.cedar:1:88 [-]
              the registry has no prompt `parts/diagnos`, so the policy does nothing for it
              the nearest one is `parts/diagnose`"#]],
    );
}
