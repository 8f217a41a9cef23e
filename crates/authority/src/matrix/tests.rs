use expect_test::{Expect, expect};

use super::*;
use crate::rule::tests::{AGENT, authorizer, principal};

fn check(policies: &str, expected: Expect) {
    let authorizer = authorizer(policies);
    let tools = ["auto", "ask", "relaxable", "never", "unknown"]
        .map(|tool| Surveyed::tool("u", tool, Hints::default()));
    let column = Column { role: "agent".to_owned(), kind: PrincipalKind::Service, tenant: "demo".to_owned() };
    let agent = principal(PrincipalKind::Service, "bot", "agent");
    let rows = authorizer.matrix(&tools, &[column]);
    let shown: Vec<String> = rows
        .iter()
        .map(|row| {
            let listed = authorizer.listed(&agent, &Item::tool("u", row.name.key(), ""));
            let cell = serde_json::to_value(row.roles[0].ruling).unwrap();
            format!(
                "{}: {}{}",
                row.name.key(),
                cell.as_str().unwrap(),
                if listed { "" } else { ", not listed" }
            )
        })
        .collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn what_no_argument_changes_is_plain() {
    check(
        "",
        expect![[r#"
        auto: prohibited, not listed
        ask: prohibited, not listed
        relaxable: prohibited, not listed
        never: prohibited, not listed
        unknown: prohibited, not listed"#]],
    );
    check(
        AGENT,
        expect![[r#"
        auto: automatic
        ask: requires_approval
        relaxable: automatic
        never: prohibited, not listed
        unknown: prohibited, not listed"#]],
    );
    check(
        &format!("{AGENT} forbid(principal, action, resource) when {{ resource.read_only }};"),
        expect![[r#"
            auto: prohibited, not listed
            ask: requires_approval
            relaxable: automatic
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
    check(
        &format!("{AGENT} forbid(principal, action, resource) when {{ principal.tenant == \"other\" }};"),
        expect![[r#"
            auto: automatic
            ask: requires_approval
            relaxable: automatic
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
}

#[test]
fn what_arguments_can_change_depends_on_them() {
    check(
        &format!(
            "{AGENT} forbid(principal, action == Action::\"call\", resource) when {{ context.args has x }};"
        ),
        expect![[r#"
            auto: depends on arguments
            ask: depends on arguments
            relaxable: depends on arguments
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
    check(
        &format!(
            "{AGENT} forbid(principal, action == Action::\"call_unattended\", resource) unless {{ resource.name == \"ask\" || context.args has x }};"
        ),
        expect![[r#"
            auto: depends on arguments
            ask: requires_approval
            relaxable: depends on arguments
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
    check(
        "permit(principal, action in [Action::\"call\", Action::\"call_unattended\"], resource) when { principal.tenant == \"demo\" && context.args has x && resource.name == \"auto\" };",
        expect![[r#"
            auto: depends on arguments
            ask: prohibited, not listed
            relaxable: prohibited, not listed
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
    check(
        "permit(principal, action == Action::\"call\", resource) when { context.args has x && principal.tenant == \"other\" };",
        expect![[r#"
            auto: prohibited, not listed
            ask: prohibited, not listed
            relaxable: prohibited, not listed
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
}

#[test]
fn one_role_of_two_kinds_and_tenants_keeps_every_column() {
    let authorizer = authorizer(
        "permit(principal, action in [Action::\"call\", Action::\"call_unattended\"], resource) when { principal is Service && principal.tenant == \"demo\" };",
    );
    let tool = Surveyed::tool("u", "auto", Hints::default());
    let column = |kind, tenant: &str| Column { role: "agent".to_owned(), kind, tenant: tenant.to_owned() };
    let columns = [
        column(PrincipalKind::Person, "demo"),
        column(PrincipalKind::Service, "demo"),
        column(PrincipalKind::Service, "other"),
    ];
    let rows = authorizer.matrix(&[tool], &columns);
    let shown: Vec<String> = rows[0].roles.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
    expect![[r#"
        {"role":"agent","kind":"person","tenant":"demo","ruling":"prohibited"}
        {"role":"agent","kind":"service","tenant":"demo","ruling":"automatic"}
        {"role":"agent","kind":"service","tenant":"other","ruling":"prohibited"}"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_policy_that_always_fails_prohibits() {
    check(
        &format!(
            "{AGENT} forbid(principal, action == Action::\"call\", resource) when {{ 9223372036854775807 + 1 == 0 }};"
        ),
        expect![[r#"
            auto: prohibited, not listed
            ask: prohibited, not listed
            relaxable: prohibited, not listed
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
    check(
        &format!(
            "{AGENT} permit(principal, action == Action::\"call\", resource) when {{ context.args has x && 9223372036854775807 + 1 == 0 }};"
        ),
        expect![[r#"
            auto: depends on arguments
            ask: depends on arguments
            relaxable: depends on arguments
            never: prohibited, not listed
            unknown: prohibited, not listed"#]],
    );
}

#[test]
fn every_kind_has_rows() {
    let authorizer = authorizer(
        r#"permit(principal, action in [Action::"read", Action::"get_prompt", Action::"call_unattended"], resource);
        forbid(principal, action == Action::"read", resource) when { context.uri like "doc://9*" };"#,
    );
    let items = [
        Surveyed::tool("u", "auto", Hints::default()),
        Surveyed::resource("u", "doc://{a}"),
        Surveyed::resource("u", "absent:x"),
        Surveyed::prompt("u", "auto"),
        Surveyed::prompt("u", "asking"),
    ];
    let column = Column { role: "agent".to_owned(), kind: PrincipalKind::Service, tenant: "demo".to_owned() };
    let rows = authorizer.matrix(&items, &[column]);
    let shown: Vec<String> = rows
        .iter()
        .map(|row| {
            let mut row = serde_json::to_value(row).unwrap();
            row["roles"] = row["roles"][0]["ruling"].clone();
            row.to_string()
        })
        .collect();
    expect![[r#"
        {"kind":"tool","tool":"auto","upstream":"u","implied":"prohibited","registry":"automatic","roles":"prohibited"}
        {"kind":"resource","resource":"doc://{a}","upstream":"u","registry":"automatic","roles":"depends on arguments"}
        {"kind":"resource","resource":"absent:x","upstream":"u","registry":"prohibited","roles":"prohibited"}
        {"kind":"prompt","prompt":"auto","upstream":"u","registry":"automatic","roles":"automatic"}
        {"kind":"prompt","prompt":"asking","upstream":"u","registry":"requires_approval","roles":"requires_approval"}"#]]
    .assert_eq(&shown.join("\n"));
    let agent = principal(PrincipalKind::Service, "bot", "agent");
    let listed = |item| authorizer.listed(&agent, &item);
    assert!(listed(Item::resource("u", "doc://{a}", "")) && listed(Item::prompt("u", "asking", "")));
    assert!(!listed(Item::tool("u", "auto", "")) && !listed(Item::resource("u", "absent:x", "")));
    assert!(!listed(Item::resource("u", "never://{a}", "")));
}
