use expect_test::{Expect, expect};

use super::*;

const TOKEN: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000001";

/// What is said of an upstream with this line, where these tenants have a principal and accounts are of `default`.
fn check(line: &str, principals: &[&str], expected: Expect) {
    let mut text = format!("[upstreams.up]\nkind = \"http\"\nlock = \"up.json\"\n{line}\n");
    for (index, tenant) in principals.iter().enumerate() {
        let token = TOKEN.replace("01", &format!("{index:02}"));
        text.push_str(&format!(
            "[[principals]]\nname = \"p{index}\"\nkind = \"service\"\ntenant = \"{tenant}\"\nroles = []\ntoken_sha256 = \"{token}\"\n"
        ));
    }
    let config: Config = toml::from_str(&text).unwrap();
    let found = super::check("up", &config.upstreams["up"], &all(&config));
    expected.assert_eq(&found.err().map(|fault| fault.to_string()).unwrap_or_default());
}

#[test]
fn one_tenant_needs_no_word() {
    check("", &["default"], expect![""]);
    check("tenants = [\"default\"]", &[], expect![""]);
}

#[test]
fn several_tenants_are_named() {
    check(
        "",
        &["acme"],
        expect![
            "upstream `up`: principals of several tenants can call (`acme`, `default`), and it does not say which of them it serves; name them in `tenants`, or leave one tenant in `principals`, `identity.issuers` and `identity.server.tenants`"
        ],
    );
    check("tenants = [\"acme\"]", &["acme"], expect![""]);
    check("tenants = [\"acme\", \"default\"]", &["acme"], expect![""]);
}

#[test]
fn a_tenant_that_nobody_is_of_is_a_mistake() {
    check(
        "tenants = [\"acne\"]",
        &["acme"],
        expect![
            "upstream `up`: nobody can be of the tenant `acne` in its `tenants`; expected some of `acme`, `default`"
        ],
    );
    check(
        "tenants = []",
        &["acme"],
        expect!["upstream `up`: `tenants` is empty; name a tenant, or remove the upstream"],
    );
}
