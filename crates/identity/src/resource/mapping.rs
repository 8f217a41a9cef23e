//! From checked claims to a principal.

use std::collections::BTreeSet;

use aldgate_authority::{Principal, PrincipalKind};
use serde_json::{Map, Value};

use super::claims::{Checked, kind};
use super::settings::{ClaimName, Issuer, KeySource, Tenants};
use super::{refused, shown};
use crate::Unauthenticated;

const MOST_ROLES: usize = 64;

/// Whom the claims of a token of this issuer stand for.
pub(super) fn principal(
    issuer: &Issuer,
    claims: &Map<String, Value>,
    checked: &Checked,
) -> Result<Principal, Unauthenticated> {
    let named = Named(claims);
    let names = &issuer.claims;
    let said = names.kind.as_ref().map(|name| named.text(name, 16)).transpose()?.flatten();
    let kind = match said {
        Some("person") => PrincipalKind::Person,
        Some("service") => PrincipalKind::Service,
        Some(other) => {
            return Err(refused(format!("its kind is `{}`; expected `person` or `service`", shown(other))));
        }
        // An issuer that says who is a person says it of each.
        None if names.kind.is_some() => {
            return Err(refused("it does not say whether it is of a person or a service"));
        }
        None if checked.subject == checked.client => PrincipalKind::Service,
        None => PrincipalKind::Person,
    };
    // Whoever acts for somebody counts as the caller too when a decision is made. At our own server they are clients of that
    // server; which namespace another issuer takes the names of its actors from is not said.
    if claims.contains_key("act") && !matches!(issuer.keys, KeySource::Held(_)) {
        return Err(refused(
            "it is of somebody who acts for somebody else (`act`), which is not taken of this issuer",
        ));
    }
    Ok(Principal {
        issuer: issuer.url.clone(),
        subject: checked.subject.clone(),
        tenant: tenant(issuer, named)?,
        kind,
        roles: named.roles(&names.roles)?,
        name: named.text(&names.name, 256)?.unwrap_or(&checked.subject).to_owned(),
        client: checked.client.clone(),
        actors: checked.actors.clone(),
    })
}

fn tenant(issuer: &Issuer, named: Named<'_>) -> Result<String, Unauthenticated> {
    let may = match &issuer.tenants {
        Tenants::One(tenant) => return Ok(tenant.clone()),
        Tenants::Claimed(may) => may,
    };
    let name = &issuer.claims.tenant;
    let found = named.text(name, 128)?;
    let found = found.ok_or_else(|| refused(format!("it has no `{}`, which names the tenant", name.0)))?;
    if may.contains(found) {
        return Ok(found.to_owned());
    }
    Err(refused(format!("its issuer may not assert the tenant `{}`", shown(found))))
}

/// Claims by configured names.
#[derive(Clone, Copy)]
struct Named<'a>(&'a Map<String, Value>);

impl<'a> Named<'a> {
    fn get(self, name: &ClaimName) -> Option<&'a Value> {
        let mut path = name.path();
        let first = self.0.get(path.next()?)?;
        path.try_fold(first, |inside, member| inside.as_object()?.get(member))
    }

    fn text(self, name: &ClaimName, longest: usize) -> Result<Option<&'a str>, Unauthenticated> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if is_name(text, longest) => Ok(Some(text)),
            Some(Value::String(_)) => Err(refused(format!(
                "its `{}` has no 1 to {longest} bytes, or control characters among them",
                name.0
            ))),
            Some(other) => Err(refused(format!("its `{}` is {}; expected a text", name.0, kind(other)))),
        }
    }

    fn roles(self, name: &ClaimName) -> Result<BTreeSet<String>, Unauthenticated> {
        let one = |value: &Value| match value {
            Value::String(role) if is_name(role, 128) => Ok(role.clone()),
            _ => Err(refused(format!("its `{}` lists what is no name of 1 to 128 bytes", name.0))),
        };
        match self.get(name) {
            None => Ok(BTreeSet::new()),
            Some(Value::Array(many)) if many.len() <= MOST_ROLES => many.iter().map(one).collect(),
            Some(Value::Array(many)) => {
                let found = many.len();
                Err(refused(format!("its `{}` lists {found} roles; {MOST_ROLES} are read at most", name.0)))
            }
            Some(role @ Value::String(_)) => Ok(BTreeSet::from([one(role)?])),
            Some(other) => {
                Err(refused(format!("its `{}` is {}; expected a text or a list", name.0, kind(other))))
            }
        }
    }
}

/// Whether a text may name somebody: 1 to so many bytes, none of which ends a line or turns the order of the others.
pub(super) fn is_name(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.len() <= longest
        && !text.chars().any(|letter| letter.is_control() || crate::shown::reorders(letter))
}
