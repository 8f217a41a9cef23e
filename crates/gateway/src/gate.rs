//! What all requests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use aldgate_approval::SealKey;
use aldgate_evidence::Recorder;
use aldgate_identity::{Door, Protected};
use aldgate_store::Store;
use aldgate_telemetry::Telemetry;
use arc_swap::ArcSwap;
use tokio::sync::{Notify, Semaphore, watch};

use crate::chain::chain;
use crate::listen::Listeners;
use crate::settings::Settings;
use crate::shares::Shares;
use crate::snapshot::{Books, ConfigurationSource, Snapshot};
use crate::view::Beside;

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
    pub(crate) snapshot: ArcSwap<Snapshot>,
    /// Where the configuration is read again.
    pub(crate) reading: OnceLock<Arc<dyn ConfigurationSource>>,
    /// A server beside it on the agents' listener.
    pub(crate) beside: OnceLock<Beside>,
    /// One reading at a time: what was read last is what is used.
    pub(crate) reloading: tokio::sync::Mutex<()>,
    pub(crate) store: Arc<Store>,
    pub(crate) recorder: Recorder,
    pub(crate) seal: SealKey,
    pub(crate) counters: Counters,
    /// Traces and metrics.
    pub(crate) telemetry: Telemetry,
    /// Places of the requests that are worked on; one is kept until its call has ended, whether or not the client stays.
    pub(crate) in_flight: Arc<Semaphore>,
    /// What each principal may take.
    pub(crate) shares: Shares,
    /// Who listens to changes.
    pub(crate) listeners: Arc<Listeners>,
    /// Becomes true when the gateway stops: who waits for a decision is asked to come again.
    pub(crate) closing: Arc<watch::Sender<bool>>,
    /// Wakes the requests that wait for a decision; they look into the store themselves.
    pub(crate) decided: Notify,
}

impl Gate {
    /// The configuration that a request which begins now goes by.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What a door says of itself when it refuses; nothing where no issuer gives out tokens for it.
    pub(crate) fn protected(&self, snapshot: &Snapshot, door: Door) -> Option<Protected> {
        (!snapshot.issuers.is_empty()).then(|| self.settings.reach.protected(door))
    }

    /// Reads the configuration again and uses it for the requests to come.
    pub(crate) async fn reload(&self) -> Result<(), String> {
        let source = self.reading.get().ok_or("this gateway has no configuration file to read again")?;
        let _one = self.reloading.lock().await;
        let configured = source.read().await?;
        let books = Books { store: self.store.clone(), recorder: self.recorder.clone() };
        let next =
            Snapshot::build(configured, &self.settings, &self.listeners, &books, Some(&self.snapshot()))
                .await
                .map_err(|fault| chain(&fault))?;
        let before = self.snapshot.swap(Arc::new(next));
        before.retire();
        self.listeners.recheck();
        if let Some(beside) = self.beside.get() {
            (beside.reloaded)();
        }
        Ok(())
    }
}
