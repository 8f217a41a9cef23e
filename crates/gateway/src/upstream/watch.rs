//! What clients want to hear of one upstream, and what that has taken on.
//!
//! **Invariant:** a URI goes to an upstream only from a [`WatchPermit`], which [`Watch::want`] takes by value.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::listen::{Listener, Lists, Seat, Wanted};
use crate::permit::WatchPermit;

/// Resources of one upstream that are listened to at once, and the bytes of their URIs: they go out in one request.
const MOST: (usize, usize) = (4096, 256 << 10);
/// Those of one principal.
const EACH: usize = 1024;

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
    bytes: usize,
    each: HashMap<Arc<str>, usize>,
    /// What the upstream did not take on, until nobody wants it any more.
    refused: BTreeSet<String>,
}

/// What the upstream has said of what was asked of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// The generation of what was asked.
    pub(super) generation: u64,
    /// The URIs that it acknowledged.
    pub(super) uris: Arc<BTreeSet<String>>,
}

/// One URI that is wanted, until this is dropped.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    uri: String,
    listener: Arc<Listener>,
    principal: Arc<str>,
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
    /// may be, or as this principal may have it asked.
    pub(crate) fn want(self: &Arc<Self>, permit: WatchPermit, seat: &Seat) -> Option<Watched> {
        let uri = permit.spend();
        let mut wanted = self.wanted();
        let new = !wanted.uris.contains_key(&uri);
        let full = wanted.uris.len() >= MOST.0 || wanted.bytes + uri.len() > MOST.1;
        let count = wanted.each.entry(seat.principal.clone()).or_default();
        if *count >= EACH || (new && full) {
            return None;
        }
        *count += 1;
        if new {
            wanted.bytes += uri.len();
            self.look_again();
        }
        wanted.uris.entry(uri.clone()).or_default().push(seat.listener.clone());
        let generation = *self.generation.borrow();
        drop(wanted);
        let (listener, principal) = (seat.listener.clone(), seat.principal.clone());
        Some(Watched { watch: self.clone(), uri, listener, principal, generation })
    }

    /// Has what is asked for looked at again: something else is wanted, or the upstream can something else.
    pub(crate) fn look_again(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }

    /// What is asked for now, and its generation. Nothing is asked of a server that says that it cannot, nor what it did
    /// not take on before.
    pub(super) fn asked(&self, lists: Lists, subscribe: bool) -> (Wanted, u64) {
        let wanted = self.wanted();
        let asked = wanted.uris.keys().filter(|uri| subscribe && !wanted.refused.contains(*uri));
        (Wanted { lists, uris: asked.cloned().collect() }, *self.generation.borrow())
    }

    /// What is wanted now, whether or not it is asked for.
    pub(crate) fn uris(&self) -> BTreeSet<String> {
        self.wanted().uris.keys().cloned().collect()
    }

    /// The upstream has said which of these it takes on. Who had heard of one that it does not is told.
    pub(super) fn settle(&self, generation: u64, asked: &BTreeSet<String>, uris: Arc<BTreeSet<String>>) {
        let mut wanted = self.wanted();
        for uri in asked.difference(&uris) {
            for listener in wanted.uris.get(uri).into_iter().flatten() {
                listener.lost(uri);
            }
            if wanted.uris.contains_key(uri) {
                wanted.refused.insert(uri.clone());
            }
        }
        drop(wanted);
        self.settled.send_replace(Settled { generation, uris });
    }

    /// Marks a resource for those who listen to it, or to what it is a part of.
    pub(super) fn updated(&self, uri: &str) {
        let wanted = self.wanted();
        let ends = uri.char_indices().filter(|(_, letter)| matches!(letter, '/' | '?' | '#'));
        // A resource itself, and each whole that it may be a part of, with and without the delimiter.
        let wholes = ends.flat_map(|(at, _)| [uri.get(..at), uri.get(..=at)]).flatten();
        for subscribed in wholes.filter(|whole| *whole != uri).chain([uri]) {
            for listener in wanted.uris.get(subscribed).into_iter().flatten() {
                listener.updated(subscribed, uri);
            }
        }
    }

    /// Marks these resources: changes may have been missed.
    pub(super) fn missed<'a>(&self, uris: impl IntoIterator<Item = &'a String>) {
        let wanted = self.wanted();
        for uri in uris {
            wanted.uris.get(uri).into_iter().flatten().for_each(|listener| listener.updated(uri, uri));
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
        if let Some(count) = wanted.each.get_mut(&self.principal) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                wanted.each.remove(&self.principal);
            }
        }
        let Some(listeners) = wanted.uris.get_mut(&self.uri) else { return };
        if let Some(place) = listeners.iter().position(|one| Arc::ptr_eq(one, &self.listener)) {
            listeners.swap_remove(place);
        }
        if listeners.is_empty() {
            wanted.uris.remove(&self.uri);
            wanted.refused.remove(&self.uri);
            wanted.bytes = wanted.bytes.saturating_sub(self.uri.len());
            self.watch.look_again();
        }
    }
}
