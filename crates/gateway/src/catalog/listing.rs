//! What the host answers by itself: discover, and the lists of tools, prompts, resources and templates.
//!
//! Lists hold what is not prohibited to the principal and not changed since it was pinned, in the order of their names,
//! whatever the upstreams do meanwhile: an upstream that is slow or gone neither delays nor empties a list.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use aldgate_authority::{Principal, Uri};
use aldgate_wire::list::ListKind;
use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Catalog, Offer, Source, Standing, cursor};
use crate::gate::Gate;
use crate::receive::VERSIONS;
use crate::refusal::Refusal;
use crate::reply;
use crate::snapshot::Snapshot;

/// How long a client may keep a list, in milliseconds. Whoever listens hears of a change at once.
const LIST_TTL_MS: u64 = 60_000;
/// Lists that are kept ready, and bytes of them.
const KEPT: (usize, usize) = (1024, 64 << 20);

/// The bytes of a result that the host made.
pub(crate) struct Answer(pub(crate) Bytes);

/// The answer to `server/discover`.
pub(super) fn discover() -> Answer {
    let result = json!({
        "resultType": "complete",
        "supportedVersions": VERSIONS,
        "capabilities": {
            "tools": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "prompts": {"listChanged": true},
            "completions": {},
            "logging": {},
        },
        "instructions": "Servers behind Aldgate: the host rules on every request. A result with \
             `_meta[\"io.github.aldgate/refusal\"]`, or an error whose `data.code` begins with `AG-`, comes from the host; \
             code AG-APPROVAL-PENDING means that a person must decide first and the same request can be repeated \
             afterwards.",
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
        "_meta": reply::own_meta(),
    });
    Answer(Bytes::from(result.to_string()))
}

/// One whole list as a principal sees it.
pub(crate) struct Listed {
    /// The elements, separated by commas.
    body: Vec<u8>,
    /// What names each element, and where it ends in the body.
    ends: Vec<(String, usize)>,
    /// The upstreams that something on it is of.
    upstreams: BTreeSet<String>,
    /// A number that differs where the list does.
    pub(crate) digest: u64,
}

type Key = (Principal, ListKind, u64);

/// The lists that are kept ready.
#[derive(Default)]
pub(super) struct Kept(Mutex<HashMap<Key, Arc<Listed>>>);

/// The answer to a list request: the page behind the cursor.
pub(super) fn page(
    gate: &Gate,
    snapshot: &Snapshot,
    principal: &Principal,
    kind: ListKind,
    cursor: Option<&str>,
) -> Result<Answer, Refusal> {
    let after = cursor.map(|cursor| cursor::open(&gate.seal, principal, kind, cursor)).transpose()?;
    // What an upstream lists is not known before it was asked once. Until then nobody keeps the list.
    let asked = |source: &Arc<Source>| source.standing().compared_at.is_some();
    let whole = kind != ListKind::Resources || snapshot.catalog.sources_of(&principal.tenant).all(asked);
    let ttl = if whole { LIST_TTL_MS } else { 0 };
    let list = listed(snapshot, principal, kind);
    let start = after.map_or(0, |after| list.ends.partition_point(|(key, _)| *key <= after));
    let end = start.saturating_add(gate.settings.bounds.list_page).min(list.ends.len());
    let last = list.ends.get(start..end).and_then(<[_]>::last);
    let from = start.checked_sub(1).and_then(|before| list.ends.get(before)).map_or(0, |(_, end)| end + 1);
    let slice = last.and_then(|(_, to)| list.body.get(from..*to)).unwrap_or_default();
    let next = match last {
        Some((key, _)) if end < list.ends.len() => Some(cursor::seal(&gate.seal, principal, kind, key)?),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(512 + slice.len());
    bytes.extend_from_slice(format!(r#"{{"resultType":"complete","{}":["#, kind.member()).as_bytes());
    bytes.extend_from_slice(slice);
    bytes.push(b']');
    if let Some(next) = next {
        bytes.extend_from_slice(format!(r#","nextCursor":"{next}""#).as_bytes());
    }
    let rest = format!(r#","ttlMs":{ttl},"cacheScope":"private","_meta":{}}}"#, reply::own_meta());
    bytes.extend_from_slice(rest.as_bytes());
    Ok(Answer(Bytes::from(bytes)))
}

/// The list of this kind as the principal sees it now.
pub(crate) fn listed(snapshot: &Snapshot, principal: &Principal, kind: ListKind) -> Arc<Listed> {
    let catalog = &snapshot.catalog;
    // One look at how the upstreams stand, for the key and for the list alike.
    let standings = Standings(catalog.sources.iter().map(|source| source.stand.now.load_full()).collect());
    let key = (principal.clone(), kind, standings.number());
    if let Ok(lists) = catalog.lists.0.lock()
        && let Some(kept) = lists.get(&key)
    {
        return kept.clone();
    }
    let may = |offer: &Offer| {
        offer.source.serves(&principal.tenant)
            && !standings.differs(catalog, offer)
            && snapshot.authorizer.listed(principal, &offer.item())
    };
    let list = Arc::new(match kind {
        ListKind::Tools => Listed::of(
            catalog
                .tools
                .values()
                .filter(|tool| may(&tool.offer))
                .map(|tool| (tool.offer.visible.as_str(), &*tool.offer.source, &*tool.listing)),
        ),
        ListKind::Prompts => Listed::of(
            catalog
                .prompts
                .values()
                .filter(|prompt| may(&prompt.offer))
                .map(|prompt| (prompt.offer.visible.as_str(), &*prompt.offer.source, &*prompt.listing)),
        ),
        ListKind::Templates => {
            let mut templates: Vec<(&str, &Source, &RawValue)> = catalog
                .resources
                .values()
                .filter(|resource| may(&resource.offer))
                .filter_map(|resource| {
                    let offer = &resource.offer;
                    Some((offer.name.as_str(), &*offer.source, resource.listing.as_deref()?))
                })
                .collect();
            templates.sort_unstable_by_key(|(text, ..)| *text);
            Listed::of(templates)
        }
        ListKind::Resources => Listed::of(resources(snapshot, &principal.tenant, &standings, may)),
    });
    if let Ok(mut lists) = catalog.lists.0.lock() {
        let bytes: usize = lists.values().map(|kept| kept.body.len()).sum();
        if lists.len() >= KEPT.0 || bytes + list.body.len() > KEPT.1 {
            lists.clear();
        }
        lists.insert(key, list.clone());
    }
    list
}

/// The resources that the upstreams listed last, each of the one upstream that the registry gives its URI to.
fn resources<'a>(
    snapshot: &'a Snapshot,
    tenant: &str,
    standings: &'a Standings,
    may: impl Fn(&Offer) -> bool,
) -> Vec<(&'a str, &'a Source, &'a RawValue)> {
    let (catalog, registry) = (&snapshot.catalog, snapshot.authorizer.registry());
    let mut ruled: HashMap<String, bool> = HashMap::new();
    let mut found = Vec::new();
    let all = catalog.sources.iter().zip(&standings.0);
    for (source, standing) in all.filter(|(source, _)| source.serves(tenant)) {
        for (uri, raw) in standing.resources.iter() {
            let uri_of = Uri::parse(uri).ok();
            let resource = uri_of.and_then(|uri| catalog.resource_of(tenant, registry, source, &uri));
            let Some(resource) = resource else { continue };
            let offer = &resource.offer;
            if *ruled.entry(offer.key.clone()).or_insert_with(|| may(offer)) {
                found.push((uri.as_str(), &**source, &**raw));
            }
        }
    }
    found.sort_unstable_by_key(|(uri, ..)| *uri);
    found.dedup_by_key(|(uri, ..)| *uri);
    found
}

impl Listed {
    /// Whether something on it is of this upstream.
    pub(crate) fn has(&self, upstream: &str) -> bool {
        self.upstreams.contains(upstream)
    }

    fn of<'a>(elements: impl IntoIterator<Item = (&'a str, &'a Source, &'a RawValue)>) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let (mut body, mut ends, mut upstreams) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (key, source, raw) in elements {
            if !upstreams.contains(source.upstream.name()) {
                upstreams.insert(source.upstream.name().to_owned());
            }
            if !ends.is_empty() {
                body.push(b',');
            }
            body.extend_from_slice(raw.get().as_bytes());
            ends.push((key.to_owned(), body.len()));
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        Self { body, ends, upstreams, digest: hasher.finish() }
    }
}

/// How all upstreams stand, in the order of the catalogue.
struct Standings(Vec<Arc<Standing>>);

impl Standings {
    /// A number that differs whenever what they list or what is changed does.
    fn number(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.0.iter().for_each(|standing| standing.version.hash(&mut hasher));
        hasher.finish()
    }

    fn differs(&self, catalog: &Catalog, offer: &Offer) -> bool {
        let mut all = catalog.sources.iter().zip(&self.0);
        let own = all.find(|(source, _)| Arc::ptr_eq(source, &offer.source));
        own.is_none_or(|(_, standing)| offer.differs(standing))
    }
}
