//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aldgate_approval::SealKey;
use aldgate_authority::Authorizer;
use aldgate_evidence::Recorder;
use aldgate_identity::Authenticator;
use aldgate_store::Store;
use tokio::sync::{Notify, Semaphore, watch};

use crate::catalog::Catalog;
use crate::settings::Settings;
use crate::shares::Shares;

/// One snapshot of the configuration: what a request sees does not change under it.
pub(crate) struct Snapshot {
    pub(crate) catalog: Catalog,
    pub(crate) authorizer: Authorizer,
}

/// What is counted and not recorded.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    unauthenticated: AtomicU64,
    panics: AtomicU64,
    unrecorded: AtomicU64,
}

impl Counters {
    pub(crate) fn count_unauthenticated(&self) {
        self.unauthenticated.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_unrecorded(&self) {
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
    }

    /// Unauthenticated requests, panics that were caught, and refusals whose row could not be written.
    pub(crate) fn read(&self) -> [u64; 3] {
        [&self.unauthenticated, &self.panics, &self.unrecorded].map(|count| count.load(Ordering::Relaxed))
    }
}

/// The running gateway.
pub struct Gate {
    pub(crate) settings: Settings,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) identity: Arc<dyn Authenticator>,
    pub(crate) store: Arc<Store>,
    pub(crate) recorder: Recorder,
    pub(crate) seal: SealKey,
    pub(crate) counters: Counters,
    /// Places of the requests that are worked on; one is kept until its call has ended, whether or not the client stays.
    pub(crate) in_flight: Arc<Semaphore>,
    /// What each principal may take.
    pub(crate) shares: Shares,
    /// Becomes true when the gateway stops: who waits for a decision is asked to come again.
    pub(crate) closing: Arc<watch::Sender<bool>>,
    /// Wakes the requests that wait for a decision; they look into the store themselves.
    pub(crate) decided: Notify,
}
