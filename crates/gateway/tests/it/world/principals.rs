//! Who calls, and with which tokens.

use aldgate_authority::PrincipalKind;
use aldgate_identity::{ConfiguredPrincipal, TokenHash, TokenTable};

/// `agent` and `other` (services that call), `approver` (a person who decides), `robot` (a service that would), `chief`
/// (a person who calls and decides), `stranger` (a person who decides in another tenant).
pub(crate) fn principals(expires_at: Option<time::OffsetDateTime>, scopes: &[(&str, &str)]) -> TokenTable {
    let one = |name: &str, kind, tenant: &str, roles: &[&str]| ConfiguredPrincipal {
        scopes: scopes
            .iter()
            .find(|(who, _)| *who == name)
            .map(|(_, scopes)| scopes.split_whitespace().map(str::to_owned).collect()),
        name: name.to_owned(),
        display_name: None,
        kind,
        tenant: tenant.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        token_sha256: TokenHash::of(&token(name)).to_string(),
        expires_at: expires_at
            .filter(|_| roles == ["agent"])
            .map(|end| end.format(&time::format_description::well_known::Rfc3339).unwrap()),
    };
    let (person, service) = (PrincipalKind::Person, PrincipalKind::Service);
    TokenTable::new(&[
        one("agent", service, "default", &["agent"]),
        one("other", service, "default", &["agent"]),
        one("approver", person, "default", &["approver"]),
        one("robot", service, "default", &["approver"]),
        one("chief", person, "default", &["agent", "approver"]),
        one("stranger", person, "elsewhere", &["agent", "approver"]),
    ])
    .unwrap()
}

/// The token of a principal.
pub(crate) fn token(who: &str) -> String {
    format!("secret-token-of-{who}")
}
