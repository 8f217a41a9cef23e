//! What the host answers by itself: discover and the list of tools.

use std::sync::Arc;

use aldgate_authority::{Item, Principal};
use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Catalog, Standing, Tool};
use crate::receive::VERSIONS;
use crate::reply;
use crate::snapshot::Snapshot;

/// How long a client may keep a list, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;
/// Lists that are kept ready.
const KEPT_LISTS: usize = 1024;

/// The bytes of a result that the host made.
pub(crate) struct Answer(pub(crate) Bytes);

/// The answer to `server/discover`.
pub(super) fn discover() -> Answer {
    let result = json!({
        "resultType": "complete",
        "supportedVersions": VERSIONS,
        "capabilities": {"tools": {}, "logging": {}},
        "instructions": "Tools behind Aldgate: the host rules on every call. A result with \
             `_meta[\"io.github.aldgate/refusal\"]` was refused by the host; code AG-APPROVAL-PENDING means that a person \
             must decide first and the same call can be repeated afterwards.",
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
        "_meta": reply::own_meta(),
    });
    Answer(Bytes::from(result.to_string()))
}

/// The answer to `tools/list`: what is not prohibited to this principal and not changed since it was pinned.
pub(super) fn tools(snapshot: &Snapshot, principal: &Principal) -> Answer {
    let catalog = &snapshot.catalog;
    // One look at how the upstreams stand, for the key and for the list alike.
    let standings = Standings(catalog.sources.iter().map(|source| source.standing.load_full()).collect());
    let key = (principal.clone(), standings.number());
    if let Ok(lists) = catalog.lists.lock()
        && let Some(kept) = lists.get(&key)
    {
        return Answer(kept.clone());
    }
    let listed: Vec<&RawValue> = catalog
        .tools
        .values()
        .filter(|tool| !standings.differs(catalog, tool))
        .filter(|tool| snapshot.authorizer.listed(principal, &tool.item()))
        .map(|tool| &*tool.listing)
        .collect();
    let mut bytes = Vec::with_capacity(256 + listed.iter().map(|raw| raw.get().len() + 1).sum::<usize>());
    bytes.extend_from_slice(br#"{"resultType":"complete","tools":["#);
    for (index, raw) in listed.into_iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(raw.get().as_bytes());
    }
    let rest = format!(r#"],"ttlMs":{LIST_TTL_MS},"cacheScope":"private","_meta":{}}}"#, reply::own_meta());
    bytes.extend_from_slice(rest.as_bytes());
    let bytes = Bytes::from(bytes);
    if let Ok(mut lists) = catalog.lists.lock() {
        if lists.len() >= KEPT_LISTS {
            lists.clear();
        }
        lists.insert(key, bytes.clone());
    }
    Answer(bytes)
}

/// How all upstreams stand, in the order of the catalogue.
struct Standings(Vec<Arc<Standing>>);

impl Standings {
    /// A number that differs whenever the set of changed contracts does.
    fn number(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        for standing in &self.0 {
            standing.changed.keys().collect::<Vec<_>>().hash(&mut hasher);
        }
        hasher.finish()
    }

    fn differs(&self, catalog: &Catalog, tool: &Tool) -> bool {
        let mut all = catalog.sources.iter().zip(&self.0);
        let own = all.find(|(source, _)| Arc::ptr_eq(source, &tool.source));
        own.is_none_or(|(_, standing)| standing.changed.contains_key(&tool.name))
    }
}

impl Tool {
    /// What differs between the live contract and the pinned one, as callers are told it.
    pub(crate) fn change(&self) -> Option<String> {
        self.source.standing.load().changed.get(&self.name).map(|change| change.told.clone())
    }

    /// The tool as rulings name it.
    pub(crate) fn item(&self) -> Item<'_> {
        Item::tool(self.source.upstream.name(), &self.name, &self.contract)
    }
}
