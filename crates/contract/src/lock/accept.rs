use std::collections::BTreeSet;

use super::{Lock, MAX_CHOSEN, Past, Pin, PinFault, after, one_to_one};
use crate::kind::Item;
use crate::poison::CHECKS;
use crate::rename::Confirmed;

/// What a person says when one contract is accepted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Acceptance<'a> {
    /// When, RFC 3339.
    pub at: &'a str,
    /// The version that it gets, above all that the name has had; the next one where it is left out.
    pub version: Option<u32>,
    /// The one whose place it takes: pinned, or retired. Its history goes on with this contract, and it is gone.
    pub renamed_from: Option<&'a str>,
    /// What was renamed within it since the version before.
    pub renames: &'a [Confirmed],
    /// Checks of [`crate::poison`] whose findings are acknowledged; what is none of [`CHECKS`] is left out.
    pub acknowledged: &'a [String],
}

impl Lock {
    /// A lock with this definition of one item, everything else as it is. A definition that did not change by a byte
    /// keeps its version and its signature and takes over what is said of it, unless a version or the one whose place it
    /// takes is new; every other gets a new version, without signature.
    ///
    /// Where it takes another's place, the history that it had itself is left out: a lock has one line of contracts for
    /// each name. It takes no second place.
    ///
    /// # Errors
    /// A definition that cannot be pinned, a version that is not above all earlier ones or too high, renames that are not
    /// one to one, and the place of something that the lock does not know, or of a second one.
    pub fn accept(
        &self,
        item: &Item,
        definition: &str,
        acceptance: &Acceptance<'_>,
    ) -> Result<Self, PinFault> {
        let Item { kind, name } = item;
        let mut pin = Pin::new(*kind, name, definition, acceptance.at)?;
        let mut renames = acceptance.renames.to_vec();
        renames.sort();
        renames.dedup();
        if !one_to_one(&renames) {
            return Err(PinFault::Renames { item: item.clone() });
        }
        let before = self.pins(*kind).get(name);
        let last = self.last_versions(*kind).get(name.as_str()).copied().unwrap_or(0);
        let mut lock = self.clone();
        // Whose place it has taken already is no news.
        let took = before.and_then(|before| before.renamed_from.as_deref());
        let renamed_from = acceptance.renamed_from.filter(|from| took != Some(*from));
        let stays = before.filter(|before| {
            before.raw_digest == pin.raw_digest && acceptance.version.is_none() && renamed_from.is_none()
        });
        if let Some(before) = stays {
            pin = before.clone();
        } else {
            let own = lock.taken(item);
            // Left out are versions of its own name alone, which the new one is above.
            let has_others = own.iter().flatten().any(|past| past.name != *name);
            if renamed_from.is_some() && has_others {
                return Err(PinFault::Heir { item: item.clone() });
            }
            pin.history = match renamed_from {
                Some(from) => {
                    lock.taken(&kind.item(from)).ok_or_else(|| PinFault::NoPast { item: kind.item(from) })?
                }
                None => own.unwrap_or_default(),
            };
            pin.renamed_from = renamed_from.map(str::to_owned);
            let last = last.max(pin.history.last().map_or(0, |past| past.version));
            let next = after(last).ok_or_else(|| PinFault::NoVersion { item: item.clone() })?;
            pin.version = acceptance.version.unwrap_or(next);
            if pin.version < next {
                return Err(PinFault::Version { item: item.clone(), found: pin.version, last });
            }
            if acceptance.version.is_some_and(|chosen| chosen > MAX_CHOSEN) {
                return Err(PinFault::High { item: item.clone(), found: pin.version });
            }
        }
        pin.confirm(&renames);
        pin.acknowledge(acceptance.acknowledged);
        lock.pins_mut(*kind).insert(name.clone(), pin);
        Ok(lock)
    }

    /// A lock without an item that its upstream no longer has; `None` where it was not pinned. Its past is kept.
    #[must_use]
    pub fn retire(&self, item: &Item) -> Option<Self> {
        let mut lock = self.clone();
        let pin = lock.pins_mut(item.kind).remove(&item.name)?;
        lock.retired.entry(item.kind).or_default().insert(item.name.clone(), pin.past());
        Some(lock)
    }

    /// Acknowledges the findings of these checks in a pinned contract; whether it is pinned.
    pub fn acknowledge(&mut self, item: &Item, checks: &[String]) -> bool {
        let pin = self.pins_mut(item.kind).get_mut(&item.name);
        pin.map(|pin| pin.acknowledge(checks)).is_some()
    }

    /// Puts a signature beside a pinned contract, in place of an earlier one; whether it is pinned. It is not checked.
    pub fn sign(&mut self, item: &Item, signature: String) -> bool {
        let pin = self.pins_mut(item.kind).get_mut(&item.name);
        pin.map(|pin| pin.signature = Some(signature)).is_some()
    }

    /// Takes an item out of the lock with all its contracts.
    fn taken(&mut self, item: &Item) -> Option<Vec<Past>> {
        let retired = self.retired.get_mut(&item.kind).and_then(|retired| retired.remove(&item.name));
        self.pins_mut(item.kind).remove(&item.name).map(|pin| pin.past()).or(retired)
    }
}

impl Pin {
    fn acknowledge(&mut self, checks: &[String]) {
        let known = checks.iter().filter(|check| CHECKS.contains(&check.as_str())).cloned();
        let all: BTreeSet<String> = self.acknowledged.drain(..).chain(known).collect();
        self.acknowledged = all.into_iter().collect();
    }

    /// One old name has one new name; what is said last holds.
    fn confirm(&mut self, renames: &[Confirmed]) {
        let is_new = |old: &Confirmed| !renames.iter().any(|new| new.from == old.from || new.to == old.to);
        self.renames.retain(is_new);
        self.renames.extend_from_slice(renames);
        self.renames.sort();
    }
}
