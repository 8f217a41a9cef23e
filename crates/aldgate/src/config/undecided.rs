//! Approvals that would wait for ever, because nobody in the configuration may decide them.

use aldgate_authority::{Authority, Decide, Item, Kind, Principal};
use aldgate_gateway::Reviewed;
use aldgate_identity::ConfiguredPrincipal;

use super::Loaded;

/// A warning for each entry that needs an approval which none of the configured principals may give, whoever of the others
/// asked for it.
pub(crate) fn undecided(loaded: &Loaded, reviewed: &Reviewed) -> Vec<String> {
    let principals: Vec<Principal> = loaded.config.principals.iter().map(principal).collect();
    let registry = reviewed.authorizer.registry();
    let mut found = Vec::new();
    for kind in Kind::ALL {
        for (key, entry) in registry.entries(kind) {
            let (upstream, name) = key.split_once('/').unwrap_or_default();
            let item = Item { upstream, kind, name, contract: "" };
            let may = |approver: &Principal| {
                principals.iter().any(|caller| {
                    let decided = reviewed.authorizer.may_decide(approver, caller, &item);
                    matches!(decided, Decide::Allowed { .. })
                })
            };
            if entry.authority == Authority::RequiresApproval && !principals.iter().any(may) {
                let word = kind.as_str();
                let besides =
                    match loaded.config.runs_a_server() || !loaded.config.identity.issuers.is_empty() {
                        true => "; who signs in with an account is not looked at here",
                        false => "",
                    };
                found.push(format!(
                    "nobody may decide approvals of the {word} `{key}`: no policy permits `decide` on it to a person of the \
                     same tenant{besides}"
                ));
            }
        }
    }
    found
}

/// The principal that a token of the configuration stands for.
pub(crate) fn principal(configured: &ConfiguredPrincipal) -> Principal {
    Principal {
        issuer: "config".to_owned(),
        subject: configured.name.clone(),
        tenant: configured.tenant.clone(),
        kind: configured.kind,
        roles: configured.roles.clone(),
        name: configured.display_name.clone().unwrap_or_else(|| configured.name.clone()),
        client: configured.name.clone(),
        actors: Vec::new(),
    }
}
