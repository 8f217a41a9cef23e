//! Counts that run out by themselves, in bounded memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Wait;
use crate::people::keys::millis;

/// So many at once, and one more after each span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many at once; 1 at least.
    pub burst: u32,
    /// One more after each.
    pub every: Duration,
}

/// What is counted.
pub(crate) type Key = Box<str>;

/// Counts by key (the generic cell rate algorithm): of each key only the time is kept at which all its tries will have run
/// out. A key whose time has come is as one that was never seen.
pub(crate) struct Buckets {
    every: i64,
    longest: i64,
    most: usize,
    until: Mutex<HashMap<Key, i64>>,
}

impl Buckets {
    pub(crate) fn new(rate: Rate, most: usize) -> Self {
        let every = millis(rate.every).max(1);
        let longest = every.saturating_mul(i64::from(rate.burst.max(1)));
        Self { every, longest, most: most.max(1), until: Mutex::new(HashMap::new()) }
    }

    fn until(&self) -> MutexGuard<'_, HashMap<Key, i64>> {
        // Each change of the map is one step: what a panic left behind is whole.
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one.
    pub(crate) fn take(&self, key: &Key, now: i64) -> Result<(), Wait> {
        let mut map = self.until();
        // A clock that was set back must not hold anybody up for longer than the rate does.
        let latest = now.saturating_add(self.longest);
        let kept = map.get(key).copied().unwrap_or(now).clamp(now, latest);
        let until = kept.saturating_add(self.every);
        if until > latest {
            map.insert(key.clone(), kept);
            let wait = u64::try_from(until.saturating_sub(latest)).unwrap_or_default();
            return Err(Wait(Duration::from_millis(wait)));
        }
        if !map.contains_key(key) {
            self.make_room(&mut map, now);
        }
        map.insert(key.clone(), until);
        Ok(())
    }

    /// Takes one back.
    pub(super) fn give_back(&self, key: &Key, now: i64) {
        let mut map = self.until();
        let Some(until) = map.get_mut(key) else { return };
        *until = until.saturating_sub(self.every);
        if *until <= now {
            map.remove(key);
        }
    }

    /// Whether something is counted for the key.
    pub(super) fn is_counting(&self, key: &Key, now: i64) -> bool {
        self.until().get(key).is_some_and(|until| *until > now)
    }

    /// Forgets what has run out, and where all are in use, the quarter that runs out next: those that tried least.
    fn make_room(&self, map: &mut HashMap<Key, i64>, now: i64) {
        if map.len() < self.most {
            return;
        }
        map.retain(|_, until| *until > now);
        if map.len() < self.most {
            return;
        }
        let mut times: Vec<i64> = map.values().copied().collect();
        times.sort_unstable();
        let mut surplus = (self.most / 4).max(1).saturating_add(map.len().saturating_sub(self.most));
        let limit = times.get(surplus.saturating_sub(1)).copied().unwrap_or(i64::MAX);
        map.retain(|_, until| {
            let goes = *until <= limit && surplus > 0;
            surplus -= usize::from(goes);
            !goes
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.until().len()
    }
}
