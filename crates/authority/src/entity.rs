//! The Cedar entities: what policies can name.
//!
//! `Person` and `Service` (ids `tenant/issuer#subject`) are in their `Role`s and in their `Tenant`;
//! `Tool` and `Prompt` (ids `upstream/name`) and `Resource` (ids `upstream/template`) are in their `Upstream`;
//! `Gateway::"aldgate"` is what one audits, operates and listens to.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Entities, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression};

use crate::action::{Action, Kind};
use crate::principal::{Principal, PrincipalKind};
use crate::registry::Entry;

pub(crate) const ACTION: &str = "Action";
pub(crate) const GATEWAY: &str = "Gateway";
pub(crate) const PERSON: &str = "Person";
pub(crate) const PROMPT: &str = "Prompt";
pub(crate) const RESOURCE: &str = "Resource";
pub(crate) const ROLE: &str = "Role";
pub(crate) const SERVICE: &str = "Service";
pub(crate) const TENANT: &str = "Tenant";
pub(crate) const TOOL: &str = "Tool";
pub(crate) const UPSTREAM: &str = "Upstream";
/// Every entity type, for the message about one that does not exist.
pub(crate) const TYPES: [&str; 10] =
    [ACTION, GATEWAY, PERSON, PROMPT, RESOURCE, ROLE, SERVICE, TENANT, TOOL, UPSTREAM];
/// The id of the one gateway.
pub(crate) const GATEWAY_ID: &str = "aldgate";

/// What Cedar says when it refuses something; its own types are too large to hand around.
pub(crate) type EngineFault = Box<dyn std::error::Error + Send + Sync>;

/// The entity types, parsed once.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    action: EntityTypeName,
    gateway: EntityTypeName,
    person: EntityTypeName,
    prompt: EntityTypeName,
    resource: EntityTypeName,
    role: EntityTypeName,
    service: EntityTypeName,
    tenant: EntityTypeName,
    tool: EntityTypeName,
    upstream: EntityTypeName,
}

impl Types {
    pub(crate) fn new() -> Result<Self, EngineFault> {
        Ok(Self {
            action: ACTION.parse()?,
            gateway: GATEWAY.parse()?,
            person: PERSON.parse()?,
            prompt: PROMPT.parse()?,
            resource: RESOURCE.parse()?,
            role: ROLE.parse()?,
            service: SERVICE.parse()?,
            tenant: TENANT.parse()?,
            tool: TOOL.parse()?,
            upstream: UPSTREAM.parse()?,
        })
    }

    pub(crate) fn action(&self, action: Action) -> EntityUid {
        uid(&self.action, action.as_str())
    }

    pub(crate) fn gateway(&self) -> EntityUid {
        uid(&self.gateway, GATEWAY_ID)
    }

    pub(crate) fn item_uid(&self, kind: Kind, key: &str) -> EntityUid {
        let kind = match kind {
            Kind::Tool => &self.tool,
            Kind::Resource => &self.resource,
            Kind::Prompt => &self.prompt,
        };
        uid(kind, key)
    }

    pub(crate) fn upstream_uid(&self, name: &str) -> EntityUid {
        uid(&self.upstream, name)
    }

    pub(crate) fn principal_uid(&self, principal: &Principal) -> EntityUid {
        let kind = match principal.kind {
            PrincipalKind::Person => &self.person,
            PrincipalKind::Service => &self.service,
        };
        uid(kind, &principal.entity_id())
    }

    /// What the principal is in: its roles, whatever the tenant, and its tenant.
    pub(crate) fn parents(&self, principal: &Principal) -> HashSet<EntityUid> {
        let roles = principal.roles.iter().map(|role| uid(&self.role, role));
        roles.chain([uid(&self.tenant, &principal.tenant)]).collect()
    }

    pub(crate) fn principal(&self, principal: &Principal) -> Result<Entity, EngineFault> {
        let attributes = HashMap::from([
            ("tenant".to_owned(), string(&principal.tenant)),
            ("issuer".to_owned(), string(&principal.issuer)),
            ("subject".to_owned(), string(&principal.subject)),
        ]);
        Ok(Entity::new(self.principal_uid(principal), attributes, self.parents(principal))?)
    }

    pub(crate) fn item(
        &self,
        kind: Kind,
        key: &str,
        upstream: &str,
        name: &str,
        entry: &Entry,
    ) -> Result<Entity, EngineFault> {
        let attributes = HashMap::from([
            ("upstream".to_owned(), string(upstream)),
            ("name".to_owned(), string(name)),
            ("authority".to_owned(), string(entry.authority.as_str())),
            ("read_only".to_owned(), RestrictedExpression::new_bool(entry.read_only)),
            ("idempotent".to_owned(), RestrictedExpression::new_bool(entry.idempotent)),
            ("labels".to_owned(), strings(entry.labels.iter().map(|label| label.as_str()))),
        ]);
        Ok(Entity::new(self.item_uid(kind, key), attributes, HashSet::from([self.upstream_uid(upstream)]))?)
    }
}

pub(crate) fn string(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}

pub(crate) fn strings<'a>(texts: impl IntoIterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.into_iter().map(string))
}

/// `base` and one more entity.
pub(crate) fn with(base: &Entities, entity: Entity) -> Result<Entities, EngineFault> {
    Ok(base.clone().add_entities([entity], None)?)
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}
