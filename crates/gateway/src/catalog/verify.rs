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
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// When the last comparison that could be made began.
    pub(crate) begun_at: Option<Timestamp>,
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
    /// Why the resources are those of an earlier time.
    pub(crate) resources_unlisted: Option<String>,
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

    /// Compares with a comparison that begins after this; whether it could be made.
    pub(crate) async fn verify_anew(&self, bounds: &Bounds) -> bool {
        let now = clock::now();
        // Who waits for a comparison that has begun already takes its result, which may be from before: twice is enough.
        for _ in 0..2 {
            self.verify(bounds).await;
            let standing = self.standing.load();
            if standing.unreachable.is_none() && standing.begun_at.is_some_and(|begun| begun >= now) {
                return true;
            }
        }
        false
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
        let begun = clock::now();
        let standing = match live_list(&self.upstream, bounds).await {
            Ok(live) => Standing::found(&self.lock, live, begun, &before),
            Err(fault) => {
                tracing::warn!(
                    error = &fault as &dyn std::error::Error,
                    "an upstream's contracts were not compared"
                );
                Standing { unreachable: Some(chain(&fault)), ..Standing::clone(&before) }
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
        let other = standing.abilities != before.abilities
            || standing.is_known() != before.is_known()
            || standing.stranger.is_some() != before.stranger.is_some();
        self.standing.store(Arc::new(standing));
        if other {
            self.watch.look_again();
        }
        if differs {
            self.listeners.recheck();
        }
    }
}

impl Standing {
    /// Whether anything is known of the upstream: it was compared, or could not be.
    pub(crate) fn is_known(&self) -> bool {
        self.compared_at.is_some() || self.unreachable.is_some()
    }

    /// What can be taken over from an earlier configuration of the same upstream until it is compared anew: everything
    /// where the lock is the same, else its resources, which are data and no contracts.
    pub(crate) fn carried(&self, same_lock: bool) -> Self {
        if same_lock {
            return self.clone();
        }
        let (resources, version) = (self.resources.clone(), self.version);
        Self { resources, version, ..Self::default() }
    }

    /// How an upstream stands that was compared just now.
    pub(crate) fn found(lock: &Lock, live: LiveList, begun: Timestamp, before: &Self) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let changed = differences(lock, &live);
        let stranger = stranger(lock, &live);
        let mut hasher = DefaultHasher::new();
        (stranger.is_some(), changed.keys().collect::<Vec<_>>()).hash(&mut hasher);
        // Resources are data: where they cannot be listed, the last that is known stays, and nothing else is held up.
        let (resources, resources_unlisted) = match live.resources {
            Ok(resources) => (Arc::new(resources), None),
            Err(fault) => {
                tracing::warn!(
                    error = &fault as &dyn std::error::Error,
                    "an upstream's resources could not be listed"
                );
                (before.resources.clone(), Some(chain(&fault)))
            }
        };
        for (uri, raw) in resources.iter() {
            (uri, raw.get()).hash(&mut hasher);
        }
        Self {
            begun_at: Some(begun),
            compared_at: Some(clock::now()),
            changed,
            stranger,
            unreachable: None,
            resources,
            resources_unlisted,
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
/// once a second, and more and more seldom while it cannot be asked. Never at the same moment as others do
/// (MCP 2026-07-28, server/utilities/caching: who polls uses jitter and backoff).
pub(crate) async fn keep_verifying(source: Arc<Source>, bounds: Bounds) {
    let every = source.verify_every.clamp(SHORTEST, LONGEST);
    let mut failures = 0;
    loop {
        source.verify(&bounds).await;
        failures = if source.standing.load().unreachable.is_some() { failures + 1 } else { 0 };
        let pause = pause(every, failures, clock::random().map_or(0, |[byte]| byte));
        tokio::time::sleep(SHORTEST).await;
        let _ = tokio::time::timeout(pause.saturating_sub(SHORTEST), source.recheck.notified()).await;
    }
}

/// The pause before the next comparison, after so many failures in a row: at most `every` after a good one, so that a
/// comparison never grows too old.
fn pause(every: Duration, failures: u32, random: u8) -> Duration {
    let whole = every.saturating_mul(2_u32.saturating_pow(failures.min(16))).min(LONGEST);
    let tenths_of_a_percent = 800 + u32::from(random) * 200 / 255;
    (whole / 1000 * tenths_of_a_percent).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_while_an_upstream_cannot_be_asked_and_are_never_the_same() {
        let every = Duration::from_secs(60);
        assert_eq!(pause(every, 0, 255), every);
        assert_eq!(pause(every, 0, 0), Duration::from_secs(48));
        assert_eq!(pause(every, 1, 255), Duration::from_secs(120));
        assert_eq!(pause(every, 2, 255), Duration::from_secs(240));
        for failures in [3, 40] {
            assert_eq!(pause(every, failures, 255), LONGEST);
        }
        assert_eq!(pause(SHORTEST, 0, 0), SHORTEST);
    }
}
