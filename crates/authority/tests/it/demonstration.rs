use std::collections::BTreeSet;

use aldgate_authority::{
    Action, Authorizer, Column, Decide, Hints, Item, Kind, PolicySet, Principal, PrincipalKind, Prompts,
    Question, Registry, Resources, Surveyed, ToolContract, Verdict,
};
use expect_test::expect_file;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{contracts, file};

#[derive(Deserialize)]
struct Fragment {
    registry: Registry,
    resources: Resources,
    prompts: Prompts,
}

pub(crate) fn registry() -> Registry {
    let fragment = toml::from_str::<Fragment>(&file("demo/aldgate.toml")).unwrap();
    fragment.registry.with_resources(fragment.resources).with_prompts(fragment.prompts)
}

fn authorizer() -> Authorizer {
    let policies = PolicySet::parse(&[("policies.cedar".to_owned(), file("demo/policies.cedar"))]).unwrap();
    Authorizer::new(registry(), policies).unwrap()
}

fn principal(kind: PrincipalKind, role: &str) -> Principal {
    Principal {
        issuer: "host".to_owned(),
        subject: role.to_owned(),
        tenant: "demo".to_owned(),
        kind,
        roles: BTreeSet::from([role.to_owned()]),
        name: role.to_owned(),
        client: "test".to_owned(),
        actors: Vec::new(),
    }
}

#[test]
fn the_registry_is_what_the_contracts_name() {
    let registry = registry();
    let contracts = contracts();
    assert_eq!(registry.iter().count(), contracts.len());
    for (upstream, tool) in &contracts {
        let name = tool["name"].as_str().unwrap();
        let entry = registry.get(upstream, name).unwrap();
        assert_eq!(entry.authority.as_str(), tool["_registry"], "{name}");
        assert_eq!(serde_json::to_value(&entry.boundaries).unwrap(), tool["_boundaries"], "{name}");
        assert_eq!(entry.read_only, tool["annotations"]["readOnlyHint"] == true, "{name}");
    }
}

#[test]
fn the_matrix_is_as_reviewed() {
    let contracts = contracts();
    let tools: Vec<Surveyed<'_>> = contracts
        .iter()
        .map(|(upstream, tool)| {
            let hints = serde_json::from_value::<Hints>(tool["annotations"].clone()).unwrap();
            Surveyed::tool(upstream, tool["name"].as_str().unwrap(), hints)
        })
        .collect();
    let registry = registry();
    let entries = |kind| registry.entries(kind).filter_map(|(key, _)| key.split_once('/'));
    let resources = entries(Kind::Resource).map(|(upstream, name)| Surveyed::resource(upstream, name));
    let prompts = entries(Kind::Prompt).map(|(upstream, name)| Surveyed::prompt(upstream, name));
    let all: Vec<Surveyed<'_>> = tools.into_iter().chain(resources).chain(prompts).collect();
    let column = |role: &str, kind| Column { role: role.to_owned(), kind, tenant: "demo".to_owned() };
    let columns = [
        column("agent", PrincipalKind::Service),
        column("approver", PrincipalKind::Person),
        column("observer", PrincipalKind::Person),
    ];
    let rows = authorizer().matrix(&all, &columns);
    for (row, (_, tool)) in rows.iter().zip(&contracts) {
        let name = row.name.key();
        assert_eq!(name, tool["name"].as_str().unwrap());
        assert_eq!(row.implied.unwrap().as_str(), tool["_implied"], "{name}");
        assert_eq!(row.registry.as_str(), tool["_registry"], "{name}");
    }
    assert_eq!(rows.len(), contracts.len() + 3);
    expect_file!["matrix.json"].assert_eq(&(serde_json::to_string_pretty(&rows).unwrap() + "\n"));
}

#[test]
fn the_policies_pass_the_check() {
    let contracts = contracts();
    let tools: Vec<ToolContract<'_>> = contracts
        .iter()
        .map(|(upstream, tool)| ToolContract {
            upstream,
            tool: tool["name"].as_str().unwrap(),
            input_schema: &tool["inputSchema"],
        })
        .collect();
    assert_eq!(authorizer().check(&tools, &[]), []);
}

#[test]
fn the_principals_of_the_demonstration_get_what_they_need() {
    let authorizer = authorizer();
    let agent = principal(PrincipalKind::Service, "agent");
    let approver = principal(PrincipalKind::Person, "approver");
    let rule = |tool: &str, arguments: &str| {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        let (upstream, tool) = tool.split_once('/').unwrap();
        authorizer.rule(&Question {
            principal: &agent,
            action: Action::Call,
            target: Item::tool(upstream, tool, "sha256:c").into(),
            uri: None,
            argument: None,
            arguments: Some(&arguments),
            input_responses: None,
            client: "test",
        })
    };
    assert_eq!(
        rule("tickets/search_tickets", r#"{"model_variant":"AC-250-S"}"#).verdict(),
        Verdict::Automatic
    );
    let order = rule("parts/raise_parts_order", r#"{"part_no":"P","quantity":1,"ticket_id":"SR-20031"}"#);
    assert_eq!(order.verdict(), Verdict::RequiresApproval);
    assert_eq!(rule("tickets/export_service_records", "{}").code(), Some("AG-AUTHORITY-PROHIBITED"));

    let order = Item::tool("parts", "raise_parts_order", "sha256:c");
    assert!(matches!(authorizer.may_decide(&approver, &agent, &order), Decide::Allowed { .. }));
    assert!(matches!(authorizer.may_decide(&agent, &approver, &order), Decide::Refused { .. }));
    assert_eq!(authorizer.may(&approver, Action::Audit), Ok(()));
    assert_eq!(authorizer.may(&approver, Action::Operate), Ok(()));
    assert!(authorizer.may(&agent, Action::Audit).is_err());
}
