//! Comparing what an upstream serves with its lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::Timestamp;
use aldgate_contract::{Item, Lock, State};

use super::Source;
use super::live::{Definitions, LiveList, live_list};
use crate::chain::chain;
use crate::clock;
use crate::settings::Bounds;
use crate::upstream::Abilities;

/// The bounds of `verify_every`.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);
/// How old a comparison may be at most before calls wait for a new one; ordinarily twice `verify_every`.
const OLDEST: Duration = Duration::from_secs(330);

/// The members of definitions that MCP defines; others have names that the upstream chose.
const DEFINED: [&str; 11] = [
    "name",
    "title",
    "description",
    "icons",
    "inputSchema",
    "outputSchema",
    "annotations",
    "_meta",
    "uriTemplate",
    "mimeType",
    "arguments",
];

/// In what a live contract differs from the pinned one.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// What callers are told: words of the host alone.
    pub(crate) told: String,
    /// What operators are told, with words of the upstream.
    pub(crate) detail: String,
}

/// How an upstream's live contracts stand against the lock.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// When they were last compared; `None` before the first time.
    pub(crate) compared_at: Option<Timestamp>,
    /// Contracts that differ, with what differs.
    pub(crate) changed: BTreeMap<Item, Change>,
    /// It calls itself otherwise than the server that was reviewed: nothing of it is served.
    pub(crate) stranger: Option<Change>,
    /// Why the last attempt to compare failed.
    pub(crate) unreachable: Option<String>,
    /// The resources that the upstream lists, by URI, as they were when they were last listed.
    pub(crate) resources: Arc<Definitions>,
    /// What the upstream says that it can.
    pub(crate) abilities: Abilities,
    /// A number that differs where the contracts that differ or the resources do.
    pub(crate) version: u64,
}

impl Source {
    /// Whether the last comparison is young enough for a call to rest on it.
    pub(crate) fn is_current(&self) -> bool {
        let good_for = (self.verify_every.clamp(SHORTEST, LONGEST) * 2).min(OLDEST);
        let good_for = u64::try_from(good_for.as_millis()).unwrap_or(u64::MAX);
        self.standing.load().compared_at.is_some_and(|at| clock::now() < at.plus(good_for))
    }

    /// Compares the live list with the lock now. One comparison at a time, and who waited for one takes its result; a
    /// failed one keeps what was found before.
    pub(crate) async fn verify(&self, bounds: &Bounds) {
        let seen = self.standing.load_full();
        let _one = self.verifying.lock().await;
        let before = self.standing.load_full();
        if !Arc::ptr_eq(&seen, &before) {
            return;
        }
        let standing = match live_list(&self.upstream, bounds).await {
            Ok(live) => Standing::found(&self.lock, live),
            Err(fault) => {
                tracing::warn!(
                    error = &fault as &dyn std::error::Error,
                    "an upstream's contracts were not compared"
                );
                Standing {
                    compared_at: before.compared_at,
                    changed: before.changed.clone(),
                    stranger: before.stranger.clone(),
                    unreachable: Some(chain(&fault)),
                    resources: before.resources.clone(),
                    abilities: before.abilities,
                    version: before.version,
                }
            }
        };
        if let (Some(change), None) = (&standing.stranger, &before.stranger) {
            let (upstream, change) = (self.upstream.name(), change.detail.as_str());
            tracing::warn!(upstream, change, "an upstream is not the pinned one any more");
        }
        for (item, change) in &standing.changed {
            if !before.changed.contains_key(item) {
                tracing::warn!(
                    upstream = self.upstream.name(),
                    what = %item,
                    change = change.detail,
                    "a contract is not the pinned one any more"
                );
            }
        }
        let differs = standing.version != before.version;
        self.standing.store(Arc::new(standing));
        if differs {
            self.listeners.recheck();
        }
    }
}

impl Standing {
    /// Whether a first comparison has ended, well or not.
    pub(crate) fn is_known(&self) -> bool {
        self.compared_at.is_some() || self.unreachable.is_some()
    }

    /// How an upstream stands that was compared just now.
    pub(crate) fn found(lock: &Lock, live: LiveList) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let changed = differences(lock, &live);
        let stranger = stranger(lock, &live);
        let mut hasher = DefaultHasher::new();
        (stranger.is_some(), changed.keys().collect::<Vec<_>>()).hash(&mut hasher);
        for (uri, raw) in &live.resources {
            (uri, raw.get()).hash(&mut hasher);
        }
        Self {
            compared_at: Some(clock::now()),
            changed,
            stranger,
            unreachable: None,
            resources: Arc::new(live.resources),
            abilities: live.abilities,
            version: hasher.finish(),
        }
    }
}

/// A server that calls itself otherwise is not the one that was reviewed.
fn stranger(lock: &Lock, live: &LiveList) -> Option<Change> {
    let pinned = lock.upstream.server.as_ref().filter(|pinned| live.server.as_ref() != Some(pinned))?;
    let found = live.server.as_deref().unwrap_or("nothing");
    Some(Change {
        told: "the server calls itself otherwise than the pinned one".to_owned(),
        detail: format!("the server calls itself `{found}`, pinned is `{pinned}`"),
    })
}

fn differences(lock: &Lock, live: &LiveList) -> BTreeMap<Item, Change> {
    let mut changed = BTreeMap::new();
    for finding in lock.verify(live.as_live()) {
        let item = finding.item;
        match finding.state {
            // Other bytes with the same canonical form say the same; what is served are the pinned bytes.
            State::Same | State::New | State::RawOnly { .. } => {}
            State::Changed { fields, .. } => {
                changed.insert(item, Change::of_members(&fields));
            }
            State::Missing => {
                changed.insert(item, Change::plain("not served any more"));
            }
            State::Unreadable { why } => {
                changed.insert(item, Change::unreadable(&why));
            }
        }
    }
    // A second definition under a pinned name, or one that cannot be read, leaves open which one a call would meet.
    for (item, why) in &live.refused {
        if lock.pins(item.kind).contains_key(&item.name) {
            changed.insert(item.clone(), Change::unreadable(why));
        }
    }
    changed
}

impl Change {
    fn plain(what: &str) -> Self {
        Self { told: what.to_owned(), detail: what.to_owned() }
    }

    fn unreadable(why: &str) -> Self {
        Self { told: "it cannot be read".to_owned(), detail: format!("cannot be read: {}", cut(why)) }
    }

    fn of_members(fields: &[String]) -> Self {
        let mut known: Vec<&str> =
            fields.iter().map(String::as_str).filter(|field| DEFINED.contains(field)).collect();
        if known.len() < fields.len() {
            known.push("members that MCP does not define");
        }
        Self {
            told: format!("changed: {}", known.join(", ")),
            detail: format!("changed: {}", cut(&fields.join(", "))),
        }
    }
}

/// The beginning of what an upstream says, for an operator.
fn cut(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(300).collect()
}

/// Compares what an upstream serves with its lock, for ever; early where the upstream tells of a change, but not more than
/// once a second.
pub(crate) async fn keep_verifying(source: Arc<Source>, bounds: Bounds) {
    let every = source.verify_every.clamp(SHORTEST, LONGEST);
    loop {
        source.verify(&bounds).await;
        tokio::time::sleep(SHORTEST).await;
        let _ = tokio::time::timeout(every.saturating_sub(SHORTEST), source.recheck.notified()).await;
    }
}
