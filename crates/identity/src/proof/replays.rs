//! The proofs that were seen, for as long as they would be good again.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use time::OffsetDateTime;

use super::{ProofFault, Proven};

/// How many that are over make room when one more comes.
const FORGOTTEN_AT_ONCE: usize = 16;

/// Remembers proofs, in a bounded memory. A full memory refuses: a proof that would be forgotten could be used twice.
#[derive(Debug)]
pub struct Replays {
    seen: Mutex<Seen>,
    room: usize,
}

#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<[u8; 32]>,
    /// The same, the first that is over first: a full memory is not searched.
    ends: BTreeSet<(OffsetDateTime, [u8; 32])>,
}

impl Replays {
    /// A memory for so many proofs within two minutes; each takes about 150 bytes.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self { seen: Mutex::default(), room }
    }

    /// Whether a proof came before. Takes no room: for requests of which nobody knows yet whether they are good.
    pub(crate) fn came(&self, proven: &Proven) -> bool {
        self.locked().ids.contains(&proven.id)
    }

    /// Takes a proof, the first time that it comes. Of many who show the same one at once, one is the first.
    ///
    /// # Errors
    /// Where it came before, or there is no room.
    pub fn first(&self, proven: &Proven, now: OffsetDateTime) -> Result<(), ProofFault> {
        let mut seen = self.locked();
        if seen.ids.contains(&proven.id) {
            return Err(ProofFault::Replayed);
        }
        for _ in 0..FORGOTTEN_AT_ONCE {
            // The last moment of a proof is still within its window.
            let Some(&(until, id)) = seen.ends.first().filter(|(until, _)| *until < now) else { break };
            seen.ends.remove(&(until, id));
            seen.ids.remove(&id);
        }
        if seen.ids.len() >= self.room {
            return Err(ProofFault::Crowded);
        }
        seen.ids.insert(proven.id);
        seen.ends.insert((proven.until, proven.id));
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
