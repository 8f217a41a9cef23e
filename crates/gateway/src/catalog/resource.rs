//! Resources as the gateway offers them, by the URIs and templates that the registry names.
//!
//! A resource template is a contract: it is pinned, and what is listed are the lock's bytes. A resource that an upstream
//! lists is data. It is listed and read where an entry of the registry stands for its URI, under the pinned template of
//! that entry where there is one.

use std::sync::Arc;

use aldgate_authority::{Concern, Entry, Kind, Registry, ResourceMatch, Template, TemplateFault, Uri};
use aldgate_contract::{Item, Kind as ContractKind};
use serde_json::value::RawValue;

use super::offer::{ListingFault, Offer, listing};
use super::{Catalog, Source};

/// A URI or template of the registry.
pub(crate) struct Resource {
    pub(crate) offer: Offer,
    pub(crate) template: Template,
    /// The pinned template, with our `_meta` key; none where nothing is pinned under this very text.
    pub(crate) listing: Option<Box<RawValue>>,
}

/// Why a resource cannot be offered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResourceFault {
    /// A template that the gateway cannot tell URIs by.
    #[error("the template cannot be used")]
    Template(#[from] TemplateFault),
    /// A definition that cannot be read.
    #[error("the pinned definition cannot be listed")]
    Definition(#[from] ListingFault),
}

impl Resource {
    /// The resource that the registry names so.
    pub(super) fn build(source: &Arc<Source>, name: &str, entry: &Entry) -> Result<Self, ResourceFault> {
        let template = Template::parse(name)?;
        let pin = source.lock.resource_templates.get(name);
        let listing = pin.map(|pin| listing(None, pin, entry)).transpose()?;
        let key = format!("{}/{name}", source.upstream.name());
        let offer = Offer {
            kind: Kind::Resource,
            visible: name.to_owned(),
            concern: Concern::of(Kind::Resource, &key).to_string().into(),
            key,
            name: name.to_owned(),
            source: source.clone(),
            contract: pin.map(|pin| pin.digest.to_string()).unwrap_or_default().into(),
            version: pin.map(|pin| pin.version),
            pinned: pin.map(|_| Item { kind: ContractKind::ResourceTemplate, name: name.to_owned() }),
            entry: entry.clone(),
        };
        Ok(Self { offer, template, listing })
    }
}

impl Catalog {
    /// The resource whose entry rules a URI for a tenant.
    pub(crate) fn resource(&self, tenant: &str, registry: &Registry, uri: &Uri) -> Option<Arc<Resource>> {
        if let Some(found) = self.matching(tenant, registry, uri).next() {
            return self.resources.get(&format!("{}/{}", found.upstream, found.template)).cloned();
        }
        let entry = self.unnamed.as_ref()?;
        let mut seen = self.resources.values().filter(|one| one.offer.source.serves(tenant));
        let by_template = seen.find(|one| one.template.matches(uri).is_some());
        if let Some(found) = by_template {
            return Some(found.clone());
        }
        let lists = |source: &&Arc<Source>| {
            source.standing().resources.iter().any(|(listed, _)| listed == uri.as_str())
        };
        let source = self.sources_of(tenant).find(lists)?;
        Resource::build(source, uri.as_str(), entry).ok().map(Arc::new)
    }

    /// The entries that stand for a URI, of the upstreams that serve a tenant, the most specific one first.
    pub(crate) fn matching<'a>(
        &'a self,
        tenant: &'a str,
        registry: &'a Registry,
        uri: &Uri,
    ) -> impl Iterator<Item = ResourceMatch<'a>> {
        let is_seen = move |found: &ResourceMatch<'_>| {
            self.sources_of(tenant).any(|source| source.upstream.name() == found.upstream)
        };
        registry.matching(uri).into_iter().filter(is_seen)
    }

    /// The same for a URI that an upstream lists: only where it is this upstream's.
    pub(super) fn resource_of(
        &self,
        tenant: &str,
        registry: &Registry,
        source: &Arc<Source>,
        uri: &Uri,
    ) -> Option<Arc<Resource>> {
        match (self.matching(tenant, registry, uri).next(), &self.unnamed) {
            (Some(found), _) if found.upstream == source.upstream.name() => {
                self.resources.get(&format!("{}/{}", found.upstream, found.template)).cloned()
            }
            (None, Some(entry)) => Resource::build(source, uri.as_str(), entry).ok().map(Arc::new),
            (Some(_), _) | (None, None) => None,
        }
    }

    /// The template of the registry that is written so, for a tenant.
    pub(super) fn template(&self, tenant: &str, text: &str) -> Option<Arc<Resource>> {
        let is_meant = |one: &&Arc<Resource>| one.offer.name == text && one.offer.source.serves(tenant);
        self.resources.values().find(is_meant).cloned()
    }
}
