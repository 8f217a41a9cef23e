//! What the gateway offers: the pinned contracts of its upstreams under their visible names.
//!
//! **Invariant:** what is served is the lock's bytes, never the live list.
//! **Invariant:** nothing is renamed or shadowed silently; two equal visible names are a configuration fault.

mod listing;
mod resolve;
mod schema;
mod tool;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use aldgate_authority::{Principal, Registry};
use aldgate_contract::Lock;
use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::chain::chain;
use crate::settings::MayAsk;
use crate::upstream::Upstream;

pub(crate) use listing::Answer;
pub(crate) use resolve::{Call, Progress, Resolved, checked_responses, resolve};
pub(crate) use schema::{Validator, form};
pub(crate) use tool::Tool;
pub use tool::ToolFault;
pub use verify::{HostFetch, LiveFault};
pub(crate) use verify::{Standing, keep_verifying, live_list};

/// Why a catalogue could not be built from locks and registry.
#[derive(Debug, thiserror::Error)]
pub enum CatalogFault {
    /// Two tools would be seen under one name.
    #[error(
        "`{first}` and `{second}` would both be visible as `{name}`; give one upstream a `prefix`, or one tool an `as` name"
    )]
    SameName {
        /// The visible name.
        name: String,
        /// The one tool.
        first: String,
        /// The other.
        second: String,
    },
    /// A registry entry without a pinned contract.
    #[error(
        "the registry names `{tool}`, which no lock holds; run `aldgate contracts pin`, or remove the entry"
    )]
    NotPinned {
        /// The tool.
        tool: String,
    },
    /// The one answer that the gateway may give needs a form that the upstream may not ask for.
    #[error(transparent)]
    Tool(#[from] ToolFault),
}

/// What an upstream may ask the client for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asking {
    pub(crate) kinds: Vec<MayAsk>,
    /// Origins that a URL may lead to.
    pub(crate) origins: Vec<String>,
}

/// An upstream, what it may ask, and how its live contracts stand against the lock.
pub(crate) struct Source {
    pub(crate) upstream: Upstream,
    pub(crate) asking: Asking,
    pub(crate) lock: Lock,
    pub(crate) standing: ArcSwap<Standing>,
    pub(crate) verifying: tokio::sync::Mutex<()>,
    pub(crate) verify_every: std::time::Duration,
    /// Places of the calls that the upstream works on.
    pub(crate) places: Arc<Semaphore>,
}

impl Source {
    pub(crate) fn new(
        upstream: Upstream,
        asking: Asking,
        lock: Lock,
        standing: Standing,
        verify_every: std::time::Duration,
        at_once: usize,
    ) -> Self {
        let standing = ArcSwap::from_pointee(standing);
        let places = Arc::new(Semaphore::new(at_once));
        Self {
            upstream,
            asking,
            lock,
            standing,
            verifying: tokio::sync::Mutex::new(()),
            verify_every,
            places,
        }
    }
}

/// A tool that is held back, and why.
#[derive(Clone, Debug)]
pub(crate) struct HeldBack {
    pub(crate) tool: String,
    pub(crate) why: String,
}

/// Everything that is offered.
pub(crate) struct Catalog {
    pub(crate) sources: Vec<Arc<Source>>,
    pub(crate) tools: BTreeMap<String, Arc<Tool>>,
    pub(crate) held_back: Vec<HeldBack>,
    lists: std::sync::Mutex<std::collections::HashMap<(Principal, u64), Bytes>>,
}

impl Catalog {
    /// Builds the catalogue.
    ///
    /// # Errors
    /// Where two visible names are equal (but for case), a registered tool is not pinned, or a pinned contract cannot
    /// be held to.
    pub(crate) fn build(
        sources: Vec<(Source, String)>,
        registry: &Registry,
        strict: bool,
    ) -> Result<Self, CatalogFault> {
        let mut tools: BTreeMap<String, Arc<Tool>> = BTreeMap::new();
        let mut folded: BTreeMap<String, String> = BTreeMap::new();
        let mut held_back = Vec::new();
        let mut kept = Vec::new();
        for (source, prefix) in sources {
            let source = Arc::new(source);
            for pin in source.lock.tools.values() {
                let upstream = source.upstream.name();
                let key = format!("{upstream}/{}", pin.name);
                let Some(entry) = registry.get(upstream, &pin.name) else {
                    held_back.push(HeldBack { tool: key, why: "not in the registry: prohibited".to_owned() });
                    continue;
                };
                let tool = match Tool::build(&source, &prefix, pin, entry) {
                    Ok(tool) => tool,
                    Err(fault @ (ToolFault::Name { .. } | ToolFault::Header { .. })) => {
                        let why = chain(&fault);
                        tracing::warn!(tool = key, why, "a tool is held back");
                        held_back.push(HeldBack { tool: key, why });
                        continue;
                    }
                    Err(fault) if !strict => {
                        held_back.push(HeldBack { tool: key, why: chain(&fault) });
                        continue;
                    }
                    Err(fault) => return Err(fault.into()),
                };
                if let Some(first) = folded.insert(tool.visible.to_ascii_lowercase(), key.clone()) {
                    return Err(CatalogFault::SameName { name: tool.visible, first, second: key });
                }
                tools.insert(tool.visible.clone(), Arc::new(tool));
            }
            kept.push(source);
        }
        for (key, _) in registry.iter() {
            let pinned = key.split_once('/').is_some_and(|(upstream, tool)| {
                kept.iter()
                    .any(|source| source.upstream.name() == upstream && source.lock.tools.contains_key(tool))
            });
            if !pinned {
                return Err(CatalogFault::NotPinned { tool: key.to_owned() });
            }
        }
        Ok(Self { sources: kept, tools, held_back, lists: std::sync::Mutex::default() })
    }
}
