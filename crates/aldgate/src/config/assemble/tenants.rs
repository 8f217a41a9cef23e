//! The tenants that principals can belong to, and those that an upstream serves.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::AssembleFault;
use crate::config::{Config, UpstreamSection};
use crate::fault::quoted;

/// Every tenant that a principal can belong to.
pub(super) fn all(config: &Config) -> BTreeSet<String> {
    let identity = &config.identity;
    let own = identity.server.tenants.iter().filter(|_| config.runs_a_server());
    let issued = identity.issuers.iter().flat_map(|issuer| &issuer.tenants);
    let listed = config.principals.iter().map(|principal| &principal.tenant);
    listed.chain(issued).chain(own).cloned().collect()
}

/// Checks that an upstream says which tenants it serves, where there are several, and names none that nobody belongs to.
pub(super) fn check(
    name: &str,
    section: &UpstreamSection,
    all: &BTreeSet<String>,
) -> Result<(), AssembleFault> {
    let fault = |what| Err(AssembleFault::Upstream { upstream: name.to_owned(), what });
    let known = || quoted(all.iter().map(String::as_str));
    match &section.tenants {
        None if all.len() > 1 => fault(format!(
            "principals of several tenants can call ({}), and it does not say which of them it serves; name them in `tenants`, \
             or leave one tenant in `principals`, `identity.issuers` and `identity.server.tenants`",
            known(),
        )),
        Some(served) if served.is_empty() => {
            fault("`tenants` is empty; name a tenant, or remove the upstream".to_owned())
        }
        Some(served) => match served.difference(all).next() {
            Some(nobody) => fault(format!(
                "nobody can be of the tenant `{}` in its `tenants`; expected some of {}",
                nobody.escape_debug(),
                known(),
            )),
            None => Ok(()),
        },
        None => Ok(()),
    }
}
