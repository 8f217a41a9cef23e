//! What the gateway offers: the pinned contracts of its upstreams under their visible names.
//!
//! **Invariant:** what is served is the lock's bytes, never the live list.
//! **Invariant:** nothing is renamed or shadowed silently; two equal visible names are a configuration fault.
//! **Invariant:** what an upstream offers is found for the tenants that it serves, and for others as if it were not there.

mod build;
mod command;
mod complete;
mod cursor;
mod differences;
mod drift;
mod drift_log;
mod form;
mod listing;
mod live;
mod offer;
mod prompt;
mod resolve;
mod resource;
mod standing;
mod tool;
mod verify;
mod withheld;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aldgate_contract::Lock;
use arc_swap::ArcSwap;
use tokio::sync::{Notify, Semaphore};

use crate::listen::Listeners;
use crate::settings::{MayAsk, OnDrift};
use crate::upstream::{Upstream, Watch};

pub(crate) use command::spelled;
pub use command::{concern, quoted};
pub(crate) use complete::Completion;
pub(crate) use drift::{Drift, State as DriftState, Why};
pub use drift_log::DriftLogFault;
pub(crate) use drift_log::{DriftLog, Opened};
pub(crate) use form::form;
pub(crate) use listing::{Answer, listed};
pub use live::{HostFetch, LiveFault};
pub(crate) use live::{LiveList, live_list};
pub(crate) use offer::{Offer, Target};
pub(crate) use prompt::Prompt;
pub(crate) use resolve::{Call, Progress, Resolved, checked_responses, resolve};
pub(crate) use resource::Resource;
pub(crate) use standing::Standing;
pub(crate) use tool::Tool;
pub use tool::ToolFault;
pub(crate) use verify::keep_verifying;

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
    #[error("the registry names {tool}, which no lock holds; {remedy}")]
    NotPinned {
        /// The tool or prompt, in backticks.
        tool: String,
        /// What to do about the entry.
        remedy: String,
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

/// How an upstream's contracts are watched.
pub(crate) struct Watched {
    pub(crate) verify_every: std::time::Duration,
    pub(crate) on_drift: OnDrift,
    pub(crate) log: Option<DriftLog>,
    /// Whether its lock is one that a person reviewed, not one of what was served first.
    pub(crate) reviewed: bool,
}

/// How an upstream stands against a lock, and who may say so.
pub(crate) struct Stand {
    pub(crate) now: ArcSwap<Standing>,
    /// Held during a comparison.
    pub(crate) verifying: tokio::sync::Mutex<()>,
    /// Held while it is decided how contracts stand.
    pub(crate) settling: tokio::sync::Mutex<()>,
    /// Wakes who waits for a comparison.
    pub(crate) compared: Notify,
}

impl Stand {
    pub(crate) fn of(standing: Standing) -> Arc<Self> {
        Arc::new(Self {
            now: ArcSwap::from_pointee(standing),
            verifying: tokio::sync::Mutex::new(()),
            settling: tokio::sync::Mutex::new(()),
            compared: Notify::new(),
        })
    }

    /// How many comparisons have ended or failed.
    pub(crate) fn comparisons(&self) -> u64 {
        self.now.load().comparisons
    }

    /// Returns once another comparison has ended or failed than these.
    pub(crate) async fn compared_after(&self, comparisons: u64) {
        loop {
            // Made before it is looked, so that nothing is missed between the two.
            let compared = self.compared.notified();
            if self.comparisons() != comparisons {
                return;
            }
            compared.await;
        }
    }
}

/// An upstream, what it may ask, and how its live contracts stand against the lock.
pub(crate) struct Source {
    pub(crate) upstream: Upstream,
    pub(crate) asking: Asking,
    pub(crate) lock: Arc<Lock>,
    /// Shared with the sources of earlier configurations that have the same upstream and the same lock.
    pub(crate) stand: Arc<Stand>,
    /// Where that is kept; nowhere while a configuration is only looked at.
    pub(crate) log: Option<DriftLog>,
    /// What becomes of a contract that differs.
    pub(crate) on_drift: OnDrift,
    /// Whether its lock is one that a person reviewed.
    pub(crate) reviewed: bool,
    pub(crate) verify_every: std::time::Duration,
    /// Resources that the same upstream was listened to for under an earlier configuration.
    pub(crate) inherited: BTreeSet<String>,
    /// The tenants that it serves; `None` is every tenant.
    pub(crate) tenants: Option<BTreeSet<String>>,
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
    /// How it stands now.
    pub(crate) fn standing(&self) -> arc_swap::Guard<Arc<Standing>> {
        self.stand.now.load()
    }

    /// Whether it exists for this tenant.
    pub(crate) fn serves(&self, tenant: &str) -> bool {
        self.tenants.as_ref().is_none_or(|tenants| tenants.contains(tenant))
    }

    pub(crate) fn new(
        upstream: Upstream,
        asking: Asking,
        lock: Lock,
        stand: Arc<Stand>,
        watched: Watched,
        at_once: usize,
        listeners: Arc<Listeners>,
    ) -> Self {
        let Watched { verify_every, on_drift, log, reviewed } = watched;
        let name = upstream.name().into();
        let places = Arc::new(Semaphore::new(at_once));
        Self {
            upstream,
            asking,
            lock: Arc::new(lock),
            stand,
            log,
            on_drift,
            reviewed,
            verify_every,
            inherited: BTreeSet::new(),
            tenants: None,
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
    /// The upstream that it is of.
    pub(crate) upstream: String,
    /// Its key, as [`aldgate_authority::Concern`] spells it.
    pub(crate) tool: String,
    pub(crate) why: String,
}

/// Everything that is offered.
pub(crate) struct Catalog {
    pub(crate) sources: Vec<Arc<Source>>,
    /// By visible name.
    tools: BTreeMap<String, Arc<Tool>>,
    /// By visible name.
    prompts: BTreeMap<String, Arc<Prompt>>,
    /// By key, `upstream/URI` or `upstream/template`.
    resources: BTreeMap<String, Arc<Resource>>,
    pub(crate) held_back: Vec<HeldBack>,
    /// Whether what the registry does not name has a default, as in `aldgate dev`.
    unnamed: Option<aldgate_authority::Entry>,
    lists: listing::Kept,
}
