//! Who listens, and what is marked for them.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ListChange;
use crate::refusal::Refusal;

/// URIs that may be marked for one listener beyond those that it subscribed to, and their bytes: parts of a resource have
/// their own. With more, the subscribed resource is marked instead.
const PARTS: (usize, usize) = (64, 4 << 10);

/// What is marked for a listener and not told yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Lists that an upstream says have changed, with the upstream.
    pub(crate) lists: BTreeSet<(ListChange, Arc<str>)>,
    /// Resources that have changed, each with what was subscribed to: itself, or what it is a part of.
    pub(crate) uris: BTreeSet<(String, String)>,
    /// Resources that an upstream does not take on.
    pub(crate) lost: BTreeSet<String>,
    /// What the listener may see has to be looked up anew.
    pub(crate) recheck: bool,
    /// The subscription ends.
    pub(crate) ended: bool,
}

/// One subscription, as those see it who learn of changes.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    pending: Mutex<Pending>,
    pub(crate) wake: Notify,
}

impl Listener {
    fn mark(&self, mark: impl FnOnce(&mut Pending)) {
        mark(&mut locked(&self.pending));
        self.wake.notify_one();
    }

    /// Marks a resource that it subscribed to as `subscribed`; `uri` is that or a part of it.
    pub(crate) fn updated(&self, subscribed: &str, uri: &str) {
        self.mark(|pending| {
            let parts = || pending.uris.iter().filter(|(whole, part)| whole != part);
            let bytes: usize = parts().map(|(whole, part)| whole.len() + part.len()).sum();
            let full = parts().count() >= PARTS.0 || bytes + subscribed.len() + uri.len() > PARTS.1;
            let told = if full { subscribed } else { uri };
            pending.uris.insert((subscribed.to_owned(), told.to_owned()));
        });
    }

    /// Marks a resource that the upstream does not take on.
    pub(crate) fn lost(&self, uri: &str) {
        self.mark(|pending| {
            pending.lost.insert(uri.to_owned());
        });
    }

    /// Takes what is marked.
    pub(crate) fn take(&self) -> Pending {
        std::mem::take(&mut *locked(&self.pending))
    }
}

/// All subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    all: Mutex<HashMap<u64, Arc<Listener>>>,
    each: Mutex<HashMap<Arc<str>, usize>>,
    next: AtomicU64,
}

/// A place among the listeners; the subscription has ended when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    listeners: Arc<Listeners>,
    number: u64,
    pub(crate) principal: Arc<str>,
    pub(crate) listener: Arc<Listener>,
}

impl Listeners {
    /// Takes a place for a subscription of this principal.
    pub(crate) fn take(self: &Arc<Self>, principal: &str, most: usize, each: usize) -> Result<Seat, Refusal> {
        let mut all = locked(&self.all);
        if all.len() >= most {
            let message =
                format!("{most} clients listen, which is as many as may (`listens`); try again later");
            return Err(Refusal::too_many("AG-LISTENS", message));
        }
        let mut counts = locked(&self.each);
        let principal: Arc<str> =
            counts.get_key_value(principal).map_or_else(|| principal.into(), |(known, _)| known.clone());
        let count = counts.entry(principal.clone()).or_default();
        if *count >= each {
            let message = format!(
                "this principal listens {each} times, which is as often as it may (`listens_per_principal`); end another subscription first"
            );
            return Err(Refusal::too_many("AG-LISTENS", message));
        }
        *count += 1;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let listener = Arc::new(Listener::default());
        // Whatever changed while it was opened is looked at once it is.
        listener.mark(|pending| pending.recheck = true);
        all.insert(number, listener.clone());
        Ok(Seat { listeners: self.clone(), number, principal, listener })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        locked(&self.all).len()
    }

    /// An upstream says that a list has changed.
    pub(crate) fn listed(&self, upstream: &Arc<str>, list: ListChange) {
        self.mark_all(|pending| {
            pending.lists.insert((list, upstream.clone()));
        });
    }

    /// What can be seen may have changed.
    pub(crate) fn recheck(&self) {
        self.mark_all(|pending| pending.recheck = true);
    }

    /// Every subscription ends.
    pub(crate) fn end_all(&self) {
        self.mark_all(|pending| pending.ended = true);
    }

    fn mark_all(&self, mark: impl Fn(&mut Pending)) {
        locked(&self.all).values().for_each(|listener| listener.mark(&mark));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        locked(&self.listeners.all).remove(&self.number);
        let mut counts = locked(&self.listeners.each);
        if let Some(count) = counts.get_mut(&self.principal) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.principal);
            }
        }
    }
}

/// The lock, whatever happened to whoever held it: nothing is left half done under it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
