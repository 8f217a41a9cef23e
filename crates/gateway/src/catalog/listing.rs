//! What the host answers by itself: discover and the list of tools.

use aldgate_authority::{Principal, Target};
use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Catalog, Tool};
use crate::gate::Snapshot;
use crate::receive::VERSIONS;
use crate::reply;

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
        "capabilities": {"tools": {}},
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
    let standing = catalog.standing();
    let key = (principal.clone(), standing);
    if let Ok(lists) = catalog.lists.lock()
        && let Some(kept) = lists.get(&key)
    {
        return Answer(kept.clone());
    }
    let listed: Vec<&RawValue> = catalog
        .tools
        .values()
        .filter(|tool| tool.change().is_none())
        .filter(|tool| snapshot.authorizer.listed(principal, &tool.target()))
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

impl Catalog {
    /// A number that differs whenever the set of changed contracts does.
    fn standing(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        for source in &self.sources {
            source.standing.load().changed.keys().collect::<Vec<_>>().hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Tool {
    /// What differs between the live contract and the pinned one.
    pub(crate) fn change(&self) -> Option<String> {
        self.source.standing.load().changed.get(&self.name).cloned()
    }

    /// The tool as rulings name it.
    pub(crate) fn target(&self) -> Target<'_> {
        Target { upstream: self.source.upstream.name(), tool: &self.name, contract: &self.contract }
    }
}
