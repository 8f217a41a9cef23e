//! So many requests at once, and so many of one source.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aldgate_identity::people::Source;

/// The requests that are worked on.
pub(super) struct Places {
    most: usize,
    of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    /// Only those that have some: it holds no more than there are places.
    by_source: HashMap<Vec<u8>, usize>,
}

/// A place, until it is dropped.
pub(super) struct Place<'a> {
    places: &'a Places,
    source: Vec<u8>,
}

impl Places {
    pub(super) fn new(most: usize, of_one: usize) -> Self {
        Self { most, of_one, taken: Mutex::default() }
    }

    /// A place for a request of this source, where there is one.
    pub(super) fn take(&self, source: Source) -> Option<Place<'_>> {
        let source = source.counted();
        let mut taken = self.taken();
        let of_source = taken.by_source.get(&source).copied().unwrap_or_default();
        if taken.all >= self.most || of_source >= self.of_one {
            return None;
        }
        taken.all += 1;
        taken.by_source.insert(source.clone(), of_source + 1);
        Some(Place { places: self, source })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Each change is whole before anything can panic.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(count) = taken.by_source.get_mut(&self.source) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.by_source.remove(&self.source);
            }
        }
    }
}
