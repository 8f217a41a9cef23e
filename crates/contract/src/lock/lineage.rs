use serde_json::Value;
use serde_json::value::RawValue;

use super::{Lock, Past, Pin};
use crate::kind::Kind;
use crate::rename::Confirmed;
use crate::repair::Revision;

/// The contracts of one item, read: what [`crate::repair::simulate`] and [`crate::rename`] compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    contracts: Vec<(u32, Value, Vec<Confirmed>)>,
}

impl Lineage {
    /// The contracts, oldest first, the current one last.
    #[must_use]
    pub fn revisions(&self) -> Vec<Revision<'_>> {
        self.contracts
            .iter()
            .map(|(version, definition, confirmed)| Revision { version: *version, definition, confirmed })
            .collect()
    }
}

impl Lock {
    /// The contracts of a pinned item; `None` where it is not pinned.
    #[must_use]
    pub fn lineage(&self, kind: Kind, name: &str) -> Option<Lineage> {
        self.pins(kind).get(name).map(Pin::lineage)
    }
}

impl Pin {
    /// Its contracts from the first one on, those of the tools whose place it took among them.
    #[must_use]
    pub fn lineage(&self) -> Lineage {
        let past = self.history.iter().map(Past::revision);
        let this = (self.version, read(&self.definition), self.renames.clone());
        Lineage { contracts: past.chain([this]).collect() }
    }
}

impl Past {
    fn revision(&self) -> (u32, Value, Vec<Confirmed>) {
        (self.version, read(&self.definition), self.renames.clone())
    }
}

/// A pinned definition was read as an object before it was pinned.
fn read(definition: &RawValue) -> Value {
    serde_json::from_str(definition.get()).unwrap_or_default()
}
