//! Listening to one upstream on behalf of all: one stream, for its lists and for the resources that clients subscribed to.
//!
//! **Invariant:** a URI goes to an upstream only from a [`WatchPermit`], which [`Watch::want`] takes by value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::catalog::Standing;
use crate::listen::{Listener, Lists, Wanted};
use crate::permit::WatchPermit;

/// Resources of one upstream that are listened to at once.
const MOST: usize = 4096;

/// What is wanted of one upstream, and what it has taken on.
pub(crate) struct Watch {
    wanted: Mutex<Interest>,
    /// Counts the changes of what is wanted.
    pub(super) generation: watch::Sender<u64>,
    pub(super) settled: watch::Sender<Settled>,
}

#[derive(Default)]
struct Interest {
    /// Who listens to each URI. Somebody may listen to it more than once.
    uris: BTreeMap<String, Vec<Arc<Listener>>>,
}

/// What the upstream has taken on.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// The generation of what was asked for.
    pub(super) generation: u64,
    /// The URIs that it acknowledged.
    pub(super) uris: Arc<BTreeSet<String>>,
}

/// One URI that is wanted, until this is dropped.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    uri: String,
    listener: Arc<Listener>,
    generation: u64,
}

impl Watch {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            wanted: Mutex::default(),
            generation: watch::Sender::new(0),
            settled: watch::Sender::new(Settled::default()),
        })
    }

    /// Has the upstream asked for a resource, until what this gives is dropped; `None` where it is asked for as many as it
    /// may be.
    pub(crate) fn want(self: &Arc<Self>, permit: WatchPermit, listener: &Arc<Listener>) -> Option<Watched> {
        let uri = permit.spend();
        let mut wanted = self.wanted();
        if wanted.uris.len() >= MOST && !wanted.uris.contains_key(&uri) {
            return None;
        }
        let listeners = wanted.uris.entry(uri.clone()).or_default();
        listeners.push(listener.clone());
        if listeners.len() == 1 {
            self.generation.send_modify(|generation| *generation += 1);
        }
        let generation = *self.generation.borrow();
        drop(wanted);
        Some(Watched { watch: self.clone(), uri, listener: listener.clone(), generation })
    }

    /// Returns once something is known of the upstream.
    pub(crate) async fn is_known(&self, standing: &ArcSwap<Standing>) {
        let mut changes = self.generation.subscribe();
        while !standing.load().is_known() {
            // The sender lives as long as `self`.
            let _ = changes.changed().await;
        }
    }

    /// Has what is asked for looked at again: the upstream can something else.
    pub(crate) fn look_again(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }

    /// What is asked for now, and its generation. Nothing is asked of a server that says that it cannot.
    pub(super) fn asked(&self, lists: Lists, subscribe: bool) -> (Wanted, u64) {
        let wanted = self.wanted();
        let uris = wanted.uris.keys().filter(|_| subscribe).cloned().collect();
        (Wanted { lists, uris }, *self.generation.borrow())
    }

    /// Marks a resource for those who listen to it, or to what it is a part of.
    pub(super) fn updated(&self, uri: &str) {
        let wanted = self.wanted();
        let ends = uri.char_indices().filter(|(_, letter)| matches!(letter, '/' | '?' | '#'));
        // A resource itself, and each whole that it may be a part of, with and without the delimiter.
        let wholes = ends.flat_map(|(at, _)| [uri.get(..at), uri.get(..=at)]).flatten();
        for subscribed in wholes.chain([uri]) {
            for listener in wanted.uris.get(subscribed).into_iter().flatten() {
                listener.updated(subscribed, uri);
            }
        }
    }

    /// Marks every resource: changes may have been missed.
    pub(super) fn all_updated(&self) {
        for (uri, listeners) in &self.wanted().uris {
            listeners.iter().for_each(|listener| listener.updated(uri, uri));
        }
    }

    fn wanted(&self) -> MutexGuard<'_, Interest> {
        // Nothing is left half done under the lock.
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Whether the upstream has taken the resource on, as soon as that is known.
    pub(crate) async fn taken_on(&self) -> bool {
        let mut settled = self.watch.settled.subscribe();
        let known = settled.wait_for(|now| now.generation >= self.generation).await;
        known.is_ok_and(|now| now.uris.contains(&self.uri))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut wanted = self.watch.wanted();
        let Some(listeners) = wanted.uris.get_mut(&self.uri) else { return };
        if let Some(place) = listeners.iter().position(|one| Arc::ptr_eq(one, &self.listener)) {
            listeners.swap_remove(place);
        }
        if listeners.is_empty() {
            wanted.uris.remove(&self.uri);
            self.watch.generation.send_modify(|generation| *generation += 1);
        }
    }
}
