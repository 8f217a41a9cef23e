//! What the gateway offers: the pinned contracts of its upstreams under their visible names.
//!
//! **Invariant:** what is served is the lock's bytes, never the live list.
//! **Invariant:** nothing is renamed or shadowed silently; two equal visible names are a configuration fault.

mod build;
mod complete;
mod cursor;
mod listing;
mod live;
mod offer;
mod prompt;
mod resolve;
mod resource;
mod schema;
mod tool;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use aldgate_contract::Lock;
use arc_swap::ArcSwap;
use tokio::sync::{Notify, Semaphore};

use crate::listen::Listeners;
use crate::settings::MayAsk;
use crate::upstream::{Upstream, Watch};

pub(crate) use complete::Completion;
pub(crate) use listing::{Answer, listed};
pub use live::{HostFetch, LiveFault};
pub(crate) use live::{LiveList, live_list};
pub(crate) use offer::{Offer, Target};
pub(crate) use prompt::Prompt;
pub(crate) use resolve::{Call, Progress, Resolved, checked_responses, resolve};
pub(crate) use resource::Resource;
pub(crate) use schema::{Validator, form};
pub(crate) use tool::Tool;
pub use tool::ToolFault;
pub(crate) use verify::{Standing, keep_verifying};

/// Why a catalogue could not be built from locks and registry.
#[derive(Debug, thiserror::Error)]
pub enum CatalogFault {
    /// Two tools, or two prompts, would be seen under one name.
    #[error(
        "`{first}` and `{second}` would both be visible as `{name}`; give one upstream a `prefix`, or one of the two an `as` name"
    )]
    SameName {
        /// The visible name.
        name: String,
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// A registry entry without a pinned contract.
    #[error(
        "the registry names {tool}, which no lock holds; run `aldgate contracts pin`, or remove the entry"
    )]
    NotPinned {
        /// The tool or prompt, in backticks.
        tool: String,
    },
    /// A registry entry for an upstream that there is not.
    #[error("the registry names `{key}`, but there is no upstream of this name")]
    NoUpstream {
        /// The key of the entry.
        key: String,
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
    /// Resources that the same upstream was listened to for under an earlier configuration.
    pub(crate) inherited: std::collections::BTreeSet<String>,
    /// What clients want to hear of it.
    pub(crate) watch: Arc<Watch>,
    /// Who hears of changes.
    pub(crate) listeners: Arc<Listeners>,
    /// The host's name of it.
    pub(crate) name: Arc<str>,
    /// Asks for a comparison before its time.
    pub(crate) recheck: Notify,
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
        listeners: Arc<Listeners>,
    ) -> Self {
        let name = upstream.name().into();
        let standing = ArcSwap::from_pointee(standing);
        let places = Arc::new(Semaphore::new(at_once));
        Self {
            upstream,
            asking,
            lock,
            standing,
            verifying: tokio::sync::Mutex::new(()),
            verify_every,
            inherited: std::collections::BTreeSet::new(),
            watch: Watch::new(),
            listeners,
            name,
            recheck: Notify::new(),
            places,
        }
    }
}

/// Something that is held back, and why.
#[derive(Clone, Debug)]
pub(crate) struct HeldBack {
    /// Its key, as [`aldgate_authority::Concern`] spells it.
    pub(crate) tool: String,
    pub(crate) why: String,
}

/// Everything that is offered.
pub(crate) struct Catalog {
    pub(crate) sources: Vec<Arc<Source>>,
    /// By visible name.
    pub(crate) tools: BTreeMap<String, Arc<Tool>>,
    /// By visible name.
    pub(crate) prompts: BTreeMap<String, Arc<Prompt>>,
    /// By key, `upstream/URI` or `upstream/template`.
    pub(crate) resources: BTreeMap<String, Arc<Resource>>,
    pub(crate) held_back: Vec<HeldBack>,
    /// Whether what the registry does not name has a default, as in `aldgate dev`.
    unnamed: Option<aldgate_authority::Entry>,
    lists: listing::Kept,
}
