//! What an upstream offers, whatever its kind: the part that every step of the journey needs.

use std::sync::Arc;

use aldgate_authority::{Concern, Entry, Hints, Item, Kind};
use aldgate_contract::Pin;
use aldgate_wire::replace::{ReplaceFault, replaced, replaced_at};
use serde_json::value::{RawValue, to_raw_value};

use super::{Catalog, HeldBack, Prompt, Resource, Source, Standing, Tool, ToolFault};

/// What all that is offered has.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) kind: Kind,
    /// The name that clients use; of a resource the URI or template under which the registry holds it.
    pub(crate) visible: String,
    /// `upstream/name`
    pub(crate) key: String,
    /// It, as evidence and approvals name it.
    pub(crate) concern: Arc<str>,
    /// The name that the upstream knows.
    pub(crate) name: String,
    pub(crate) source: Arc<Source>,
    /// Digest of the pinned contract; empty for a resource that is not under a pinned template.
    pub(crate) contract: Arc<str>,
    /// Its version.
    pub(crate) version: Option<u32>,
    /// What the lock has of it.
    pub(crate) pinned: Option<aldgate_contract::Item>,
    pub(crate) entry: Entry,
}

impl Offer {
    /// Something pinned that clients use by a name of the host's: its own after the upstream's prefix, or the registry's.
    pub(super) fn named(
        kind: Kind,
        source: &Arc<Source>,
        prefix: &str,
        pin: &Pin,
        entry: &Entry,
    ) -> Result<Self, ToolFault> {
        let key = format!("{}/{}", source.upstream.name(), pin.name);
        let visible = entry.expose_as.clone().unwrap_or_else(|| format!("{prefix}{}", pin.name));
        if !is_visible_name(&visible) {
            return Err(ToolFault::Name { tool: key, name: visible });
        }
        Ok(Self {
            kind,
            visible,
            name: pin.name.clone(),
            source: source.clone(),
            contract: pin.digest.to_string().into(),
            version: Some(pin.version),
            pinned: Some(aldgate_contract::Item { kind: pin.kind, name: pin.name.clone() }),
            entry: entry.clone(),
            concern: Concern::of(kind, &key).to_string().into(),
            key,
        })
    }

    /// It, as rulings name it.
    pub(crate) fn item(&self) -> Item<'_> {
        let (upstream, name, contract) = (self.source.upstream.name(), &self.name, &self.contract);
        match self.kind {
            Kind::Tool => Item::tool(upstream, name, contract),
            Kind::Resource => Item::resource(upstream, name, contract),
            Kind::Prompt => Item::prompt(upstream, name, contract),
        }
    }

    /// Whether a request about it changes nothing: where the registry says so of a tool, and by its nature of anything that
    /// is read, got or completed (MCP 2026-07-28, server/resources and server/prompts).
    pub(crate) fn read_only(&self) -> bool {
        self.kind != Kind::Tool || self.entry.read_only
    }

    /// Whether the upstream's contract is not the pinned one.
    pub(crate) fn differs(&self, standing: &Standing) -> bool {
        self.change_in(standing).is_some()
    }

    /// What differs between the live contract and the pinned one, as callers are told it.
    pub(crate) fn change(&self) -> Option<String> {
        self.change_in(&self.source.standing()).map(str::to_owned)
    }

    /// Notes that a result did not fit the pinned output schema.
    pub(crate) async fn violated(&self) {
        if let Some(item) = &self.pinned {
            self.source.violated(item).await;
        }
    }

    fn change_in<'a>(&self, standing: &'a Standing) -> Option<&'a str> {
        let quarantined = || standing.quarantined(self.pinned.as_ref()?);
        standing.stranger.as_ref().or_else(quarantined).map(|kept| kept.told.as_str())
    }
}

impl Catalog {
    /// The tool that a tenant sees under this name.
    pub(crate) fn tool(&self, tenant: &str, visible: &str) -> Option<&Arc<Tool>> {
        self.tools.get(visible).filter(|tool| tool.offer.source.serves(tenant))
    }

    /// The prompt that a tenant sees under this name.
    pub(crate) fn prompt(&self, tenant: &str, visible: &str) -> Option<&Arc<Prompt>> {
        self.prompts.get(visible).filter(|prompt| prompt.offer.source.serves(tenant))
    }

    /// Every tool, whoever sees it.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// The tools of the upstreams that serve a tenant.
    pub(crate) fn tools_of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a Arc<Tool>> {
        self.tools().filter(move |tool| tool.offer.source.serves(tenant))
    }

    /// What of the upstreams that serve a tenant is held back.
    pub(crate) fn held_back_of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a HeldBack> {
        self.held_back
            .iter()
            .filter(move |held| self.sources_of(tenant).any(|source| held.upstream == source.upstream.name()))
    }

    /// Every prompt, whoever sees it.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &Arc<Prompt>> {
        self.prompts.values()
    }

    /// The resource under this key of the registry, whoever sees it.
    pub(crate) fn resource_named(&self, key: &str) -> Option<&Arc<Resource>> {
        self.resources.get(key)
    }

    /// Every resource of the registry, whoever sees it.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// The upstreams that serve a tenant.
    pub(crate) fn sources_of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a Arc<Source>> {
        self.sources.iter().filter(move |source| source.serves(tenant))
    }

    /// What is offered under this key.
    pub(crate) fn offer(&self, kind: Kind, key: &str) -> Option<&Offer> {
        match kind {
            Kind::Tool => self.tools.values().map(|tool| &tool.offer).find(|offer| offer.key == key),
            Kind::Prompt => self.prompts.values().map(|prompt| &prompt.offer).find(|offer| offer.key == key),
            Kind::Resource => self.resources.get(key).map(|resource| &resource.offer),
        }
    }
}

/// What a request is about.
#[derive(Clone)]
pub(crate) enum Target {
    /// A tool that is called.
    Tool(Arc<Tool>),
    /// A resource that is read, listened to, or whose template is completed.
    Resource(Arc<Resource>),
    /// A prompt that is got or completed.
    Prompt(Arc<Prompt>),
}

impl Target {
    /// What it has as every other.
    pub(crate) fn offer(&self) -> &Offer {
        match self {
            Self::Tool(tool) => &tool.offer,
            Self::Resource(resource) => &resource.offer,
            Self::Prompt(prompt) => &prompt.offer,
        }
    }

    /// What the server says of its effects; only tools have that.
    pub(crate) fn hints(&self) -> Option<&Hints> {
        match self {
            Self::Tool(tool) => Some(&tool.hints),
            Self::Resource(_) | Self::Prompt(_) => None,
        }
    }
}

/// Why a pinned definition cannot be listed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListingFault {
    /// What the host says of it cannot be written.
    #[error("what the host says of it cannot be written")]
    Own(#[from] serde_json::Error),
    /// A member that is to be replaced stands twice.
    #[error(transparent)]
    Definition(#[from] ReplaceFault),
}

/// The pinned definition as it is listed: another name where the host gives one, and what the host says of it under our
/// own key. Every other byte is the pinned one.
pub(super) fn listing(
    visible: Option<&str>,
    pin: &Pin,
    entry: &Entry,
) -> Result<Box<RawValue>, ListingFault> {
    let mut said = serde_json::json!({
        "digest": pin.digest.to_string(),
        "version": pin.version,
        "authority": entry.authority,
        "readOnly": entry.read_only,
        "boundaries": entry.boundaries,
    });
    if let (Some(signature), Some(members)) = (&pin.signature, said.as_object_mut()) {
        members.insert("signature".to_owned(), signature.clone().into());
    }
    let said = to_raw_value(&said)?;
    let named = match visible {
        Some(visible) => replaced(&pin.definition, &[("name", &to_raw_value(visible)?)])?,
        None => pin.definition.clone(),
    };
    Ok(replaced_at(&named, &["_meta", "io.github.aldgate/contract"], &said)?)
}

/// What every model API takes as a tool's name.
fn is_visible_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
