//! Building the catalogue from locks and registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aldgate_authority::{Concern, Kind, Registry};
use aldgate_contract::{Kind as ContractKind, Lock};

use super::{Catalog, CatalogFault, HeldBack, Prompt, Resource, Source, Tool, ToolFault, listing};
use crate::chain::chain;
use crate::settings::Signatures;

const UNREGISTERED: &str = "not in the registry: prohibited";

/// A catalogue under construction.
struct Build<'a> {
    registry: &'a Registry,
    signatures: &'a Signatures,
    strict: bool,
    held_back: Vec<HeldBack>,
}

impl Catalog {
    /// Builds the catalogue.
    ///
    /// # Errors
    /// Where two visible names are equal (but for case), what the registry names is not pinned, or a pinned contract
    /// cannot be held to.
    pub(crate) fn build(
        sources: Vec<(Source, String)>,
        registry: &Registry,
        signatures: &Signatures,
        strict: bool,
    ) -> Result<Self, CatalogFault> {
        let sources: Vec<(Arc<Source>, String)> =
            sources.into_iter().map(|(source, prefix)| (Arc::new(source), prefix)).collect();
        let mut build = Build { registry, signatures, strict, held_back: Vec::new() };
        let tools = build.named(&sources, Kind::Tool, Tool::build, |tool: &Tool| &tool.offer.visible)?;
        let prompts =
            build.named(&sources, Kind::Prompt, Prompt::build, |prompt: &Prompt| &prompt.offer.visible)?;
        let resources = build.resources(&sources)?;
        for kind in [Kind::Tool, Kind::Prompt] {
            build.all_pinned(&sources, kind)?;
        }
        Ok(Self {
            sources: sources.into_iter().map(|(source, _)| source).collect(),
            tools,
            prompts,
            resources,
            held_back: build.held_back,
            unnamed: registry.default_entry().cloned(),
            lists: listing::Kept::default(),
        })
    }
}

impl HeldBack {
    fn of(kind: Kind, key: &str, why: String) -> Self {
        let (upstream, _) = key.split_once('/').unwrap_or_default();
        Self { upstream: upstream.to_owned(), tool: Concern::of(kind, key).to_string(), why }
    }
}

impl Build<'_> {
    fn hold_back(&mut self, kind: Kind, key: &str, why: String) {
        let held = HeldBack::of(kind, key, why);
        tracing::warn!(what = held.tool, why = held.why, "something is held back");
        self.held_back.push(held);
    }

    /// What has a visible name of the host's, by that name.
    fn named<T>(
        &mut self,
        sources: &[(Arc<Source>, String)],
        kind: Kind,
        make: impl Fn(
            &Arc<Source>,
            &str,
            &aldgate_contract::Pin,
            &aldgate_authority::Entry,
        ) -> Result<T, ToolFault>,
        visible: impl Fn(&T) -> &str,
    ) -> Result<BTreeMap<String, Arc<T>>, CatalogFault> {
        let mut found: BTreeMap<String, Arc<T>> = BTreeMap::new();
        let mut folded: BTreeMap<String, String> = BTreeMap::new();
        for (source, prefix) in sources {
            for pin in source.lock.pins(contract_kind(kind)).values() {
                let upstream = source.upstream.name();
                let key = format!("{upstream}/{}", pin.name);
                let Some(entry) = self.registry.entry(kind, upstream, &pin.name) else {
                    self.held_back.push(HeldBack::of(kind, &key, UNREGISTERED.to_owned()));
                    continue;
                };
                if let Some(why) = self.signatures.unsigned(upstream, pin) {
                    self.hold_back(kind, &key, why);
                    continue;
                }
                let made = match make(source, prefix, pin, entry) {
                    Ok(made) => made,
                    Err(fault @ (ToolFault::Name { .. } | ToolFault::Header { .. })) => {
                        self.hold_back(kind, &key, chain(&fault));
                        continue;
                    }
                    Err(fault) if !self.strict => {
                        self.hold_back(kind, &key, chain(&fault));
                        continue;
                    }
                    Err(fault) => return Err(fault.into()),
                };
                let name = visible(&made).to_owned();
                if let Some(first) = folded.insert(name.to_ascii_lowercase(), key.clone()) {
                    return Err(CatalogFault::SameName { name, first, second: key });
                }
                found.insert(name, Arc::new(made));
            }
        }
        Ok(found)
    }

    /// Everything that the registry names of an upstream must be in its lock.
    fn all_pinned(&self, sources: &[(Arc<Source>, String)], kind: Kind) -> Result<(), CatalogFault> {
        for (key, _) in self.registry.entries(kind) {
            let (upstream, name) = key.split_once('/').unwrap_or_default();
            let source = sources.iter().find(|(source, _)| source.upstream.name() == upstream);
            let lock = source.map(|(source, _)| source.lock.as_ref());
            if !lock.is_some_and(|lock| lock.pins(contract_kind(kind)).contains_key(name)) {
                let word = if kind == Kind::Tool { "" } else { "the prompt " };
                let remedy = remedy(lock, kind, upstream, name);
                return Err(CatalogFault::NotPinned { tool: format!("{word}`{key}`"), remedy });
            }
        }
        Ok(())
    }

    /// The resources that the registry names. A default names every pinned template.
    fn resources(
        &mut self,
        sources: &[(Arc<Source>, String)],
    ) -> Result<BTreeMap<String, Arc<Resource>>, CatalogFault> {
        let mut found = BTreeMap::new();
        let mut unsigned = BTreeSet::new();
        for pin in sources
            .iter()
            .flat_map(|(source, _)| source.lock.resource_templates.values().map(move |pin| (source, pin)))
        {
            let upstream = pin.0.upstream.name();
            let key = format!("{upstream}/{}", pin.1.name);
            if self.registry.entry(Kind::Resource, upstream, &pin.1.name).is_none() {
                continue;
            }
            if let Some(why) = self.signatures.unsigned(upstream, pin.1) {
                self.hold_back(Kind::Resource, &key, why);
                unsigned.insert(key);
            }
        }
        for (key, entry) in self.registry.entries(Kind::Resource).filter(|(key, _)| !unsigned.contains(*key))
        {
            let (upstream, name) = key.split_once('/').unwrap_or_default();
            let source = sources.iter().find(|(source, _)| source.upstream.name() == upstream);
            let Some((source, _)) = source else {
                return Err(CatalogFault::NoUpstream { key: key.to_owned() });
            };
            match Resource::build(source, name, entry) {
                Ok(resource) => {
                    found.insert(key.to_owned(), Arc::new(resource));
                }
                Err(fault) => self.hold_back(Kind::Resource, key, chain(&fault)),
            }
        }
        for (source, _) in sources {
            for name in source.lock.resource_templates.keys() {
                let upstream = source.upstream.name();
                let key = format!("{upstream}/{name}");
                if found.contains_key(&key) {
                    continue;
                }
                match self.registry.entry(Kind::Resource, upstream, name) {
                    None => {
                        self.held_back.push(HeldBack::of(Kind::Resource, &key, UNREGISTERED.to_owned()));
                    }
                    Some(_) if unsigned.contains(&key) => {}
                    Some(entry) => match Resource::build(source, name, entry) {
                        Ok(resource) => {
                            found.insert(key, Arc::new(resource));
                        }
                        Err(fault) => self.hold_back(Kind::Resource, &key, chain(&fault)),
                    },
                }
            }
        }
        Ok(found)
    }
}

/// What whoever wrote a registry entry without a contract may do about it.
fn remedy(lock: Option<&Lock>, kind: Kind, upstream: &str, name: &str) -> String {
    let of = contract_kind(kind);
    let Some(lock) = lock else {
        return format!("there is no upstream `{upstream}`: mend the entry's name, or remove the entry");
    };
    if let Some(successor) = lock.successor(of, name) {
        return format!(
            "`{upstream}/{successor}` took its place: give the entry that name, or remove the entry"
        );
    }
    if !lock.retired(of, name).is_empty() {
        return "it was taken out because the upstream does not list it any more: remove the entry, or rename \
                it to what took its place"
            .to_owned();
    }
    let item = Concern::of(kind, &format!("{upstream}/{name}"));
    format!("pin it with `aldgate contracts accept {item}`, or remove the entry")
}

fn contract_kind(kind: Kind) -> ContractKind {
    match kind {
        Kind::Tool => ContractKind::Tool,
        Kind::Resource => ContractKind::ResourceTemplate,
        Kind::Prompt => ContractKind::Prompt,
    }
}
