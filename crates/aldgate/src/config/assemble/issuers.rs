//! The authorization servers whose tokens are taken.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_identity::Door;
use aldgate_identity::resource::{ClaimName, ClaimNames, Introspection, Issuer, KeySource, Tenants};

use super::{AssembleFault, environment};
use crate::config::types::{IdentitySection, IssuerSection};

/// The issuers of the configuration; those with a secret need it in their environment.
pub(crate) fn issuers(section: &IdentitySection) -> Result<Vec<Issuer>, AssembleFault> {
    section.issuers.iter().map(issuer).collect()
}

fn issuer(section: &IssuerSection) -> Result<Issuer, AssembleFault> {
    let keys = match &section.jwks_url {
        Some(url) => KeySource::Jwks(url.clone()),
        None => KeySource::Discovered,
    };
    let mut only = section.tenants.iter();
    let tenants = match (&section.tenant_claim, only.next(), only.next()) {
        (None, Some(tenant), None) => Tenants::One(tenant.clone()),
        (None, _, _) => {
            let what = format!(
                "issuer `{}` may assert {} tenants and has no `tenant_claim`; name the claim that says which, or one tenant",
                section.issuer,
                section.tenants.len()
            );
            return Err(AssembleFault::Value { what });
        }
        (Some(_), _, _) => Tenants::Claimed(section.tenants.clone()),
    };
    let usual = ClaimNames::default();
    let claims = ClaimNames {
        tenant: section.tenant_claim.clone().map_or(usual.tenant, ClaimName),
        roles: ClaimName(section.roles_claim.clone()),
        kind: section.kind_claim.clone().map(ClaimName),
        name: ClaimName(section.name_claim.clone()),
    };
    let introspection = section.introspection.as_ref().map(|asked| {
        let secret =
            environment(&asked.client_secret_env, "identity.issuers.introspection.client_secret_env")?;
        Ok::<_, AssembleFault>(Introspection {
            endpoint: asked.url.clone(),
            client_id: asked.client_id.clone(),
            secret: secret.into(),
        })
    });
    let more: BTreeSet<String> = section.audiences.iter().cloned().collect();
    let audiences = if more.is_empty() { BTreeMap::new() } else { BTreeMap::from([(Door::Mcp, more)]) };
    Ok(Issuer {
        algorithms: section.algorithms.clone(),
        audiences,
        claims,
        plain_jwt: section.plain_jwt,
        introspection: introspection.transpose()?,
        ..Issuer::new(section.issuer.clone(), keys, tenants)
    })
}
