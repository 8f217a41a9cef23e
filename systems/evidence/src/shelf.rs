#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aldgate_contract::{Lock, Pin};

/// The contracts of one upstream, for the tenants that it serves.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// The tenants that the upstream serves; `None` is every tenant.
    pub tenants: Option<BTreeSet<String>>,
    /// The pinned contracts.
    pub lock: Arc<Lock>,
    /// What the upstream's tools are listed as, with the name that the upstream has for each.
    pub visible: BTreeMap<String, String>,
}

impl Shelf {
    fn serves(&self, tenant: &str) -> bool {
        self.tenants.as_ref().is_none_or(|tenants| tenants.contains(tenant))
    }

    fn upstream(&self) -> &str {
        &self.lock.upstream.name
    }
}

/// A tool that a tenant may know of.
pub(crate) struct Found<'a> {
    /// `upstream/tool`
    pub(crate) key: String,
    /// Its contract, where one is pinned.
    pub(crate) pin: Option<&'a Pin>,
}

/// The tool that `name` is for a tenant: a visible name, or `upstream/tool`. Visible names are unique among upstreams and
/// hold no `/`, which the configuration sees to.
pub(crate) fn find<'a>(shelves: &'a [Shelf], tenant: &str, name: &str) -> Option<Found<'a>> {
    let mut mine = shelves.iter().filter(|shelf| shelf.serves(tenant));
    let (shelf, tool) = match name.split_once('/') {
        Some((upstream, tool)) => (mine.find(|shelf| shelf.upstream() == upstream)?, tool),
        None => mine.find_map(|shelf| Some((shelf, shelf.visible.get(name)?.as_str())))?,
    };
    Some(Found { key: format!("{}/{tool}", shelf.upstream()), pin: shelf.lock.tools.get(tool) })
}
