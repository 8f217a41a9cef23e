//! Rulings that are kept while nothing that they rest on can change.
//!
//! **Invariant:** what is kept was ruled without a look at anything but principal, client, action, item and snapshot. The
//! principal and the action are in the key, as values; client, contract and the rest are the same for as long as the snapshot
//! that owns the [`Kept`] lives.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use aldgate_authority::{Action, Principal, Ruling};
use serde_json::value::{RawValue, to_raw_value};

/// Rulings that are kept at the most; then all are forgotten, and those that are needed are made anew.
const MOST: usize = 8192;

/// A ruling, with its explanation as evidence has it.
#[derive(Debug)]
pub(crate) struct Reasoned {
    ruling: Ruling,
    pub(crate) explanation: Option<Arc<RawValue>>,
}

impl Reasoned {
    pub(crate) fn new(ruling: Ruling) -> Self {
        let explanation = to_raw_value(ruling.explanation()).ok().map(Arc::from);
        Self { ruling, explanation }
    }
}

impl Deref for Reasoned {
    type Target = Ruling;

    fn deref(&self) -> &Ruling {
        &self.ruling
    }
}

/// What a kept ruling is found by.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Who asks, with all that policies can see of it.
    pub(crate) principal: Arc<Principal>,
    /// What they want to do.
    pub(crate) action: Action,
    /// With what, as evidence names it.
    pub(crate) concern: Arc<str>,
}

/// The rulings of one snapshot that are kept.
#[derive(Debug, Default)]
pub(crate) struct Kept(RwLock<HashMap<Key, Arc<Reasoned>>>);

impl Kept {
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Reasoned>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn keep(&self, key: Key, ruling: &Arc<Reasoned>) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, ruling.clone());
    }
}
