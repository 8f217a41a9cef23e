//! How an upstream's live contracts stand against its lock.

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_approval::Timestamp;
use aldgate_contract::diff::diff_identity;
use aldgate_contract::{Item, Lock, UpstreamIdentity};

use super::differences::cut;
use super::drift::{Drift, Why};
use super::drift_log::Drifts;
use super::live::{Definitions, LiveList};
use crate::chain::chain;
use crate::clock;
use crate::upstream::Abilities;

/// How an upstream's live contracts stand against the lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// When the last comparison that could be made began.
    pub(crate) begun_at: Option<Timestamp>,
    /// When they were last compared; `None` before the first time.
    pub(crate) compared_at: Option<Timestamp>,
    /// Contracts that differ or differed, with how they stand now.
    pub(crate) drifts: Arc<Drifts>,
    /// It calls itself otherwise than the server that was reviewed: nothing of it is served.
    pub(crate) stranger: Option<Drift>,
    /// The names by which strangers called themselves that were told of.
    pub(super) strangers: BTreeSet<String>,
    /// Why the last attempt to compare failed.
    pub(crate) unreachable: Option<String>,
    /// Whether nothing is called before the next comparison.
    pub(super) must_compare: bool,
    /// How many attempts to compare have ended.
    pub(crate) comparisons: u64,
    /// The resources that the upstream lists, by URI, as they were when they were last listed.
    pub(crate) resources: Arc<Definitions>,
    /// Why the resources are those of an earlier time.
    pub(crate) resources_unlisted: Option<String>,
    /// What the upstream says that it can.
    pub(crate) abilities: Abilities,
    /// A number that differs where the contracts that differ or the resources do.
    pub(crate) version: u64,
}

impl Standing {
    /// Whether anything is known of the upstream: it was compared, or could not be.
    pub(crate) fn is_known(&self) -> bool {
        self.compared_at.is_some() || self.unreachable.is_some()
    }

    /// What is taken over under another lock until it is compared with that: the resources, which are data and no contracts.
    pub(crate) fn carried(&self, drifts: Drifts) -> Self {
        let drifts = Arc::new(drifts);
        Self { resources: self.resources.clone(), drifts, ..Self::default() }.numbered()
    }

    /// How an upstream stands that was not compared yet.
    pub(crate) fn unknown(drifts: Drifts) -> Self {
        Self { drifts: Arc::new(drifts), ..Self::default() }.numbered()
    }

    /// What is quarantined of it.
    pub(crate) fn quarantined(&self, item: &Item) -> Option<&Drift> {
        self.drifts.get(item).filter(|kept| kept.is_quarantined())
    }

    /// How an upstream stands that was compared just now; its contracts stand as before. It has no number yet.
    pub(crate) fn found(lock: &Lock, live: LiveList, begun: Timestamp, before: &Self) -> Self {
        // Resources are data: where they cannot be listed, the last that is known stays, and nothing else is held up.
        let (stranger, strangers) = (stranger(lock, &live, before), before.strangers.clone());
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
        Self {
            begun_at: Some(begun),
            compared_at: Some(clock::now()),
            drifts: before.drifts.clone(),
            stranger,
            strangers,
            unreachable: None,
            must_compare: false,
            comparisons: before.comparisons.wrapping_add(1),
            resources,
            resources_unlisted,
            abilities: live.abilities,
            version: 0,
        }
    }

    /// With the number that tells it from others.
    pub(crate) fn numbered(mut self) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.stranger.is_some().hash(&mut hasher);
        let quarantined = self.drifts.iter().filter(|(_, kept)| kept.is_quarantined());
        quarantined.for_each(|(item, _)| item.hash(&mut hasher));
        for (uri, raw) in self.resources.iter() {
            (uri, raw.get()).hash(&mut hasher);
        }
        self.version = hasher.finish();
        self
    }
}

/// A server that calls itself otherwise is not the one that was reviewed.
fn stranger(lock: &Lock, live: &LiveList, before: &Standing) -> Option<Drift> {
    let pinned = lock.upstream.server.as_ref().filter(|pinned| live.server.as_ref() != Some(pinned))?;
    let found = live.server.as_deref().unwrap_or("nothing");
    let told = "the server calls itself otherwise than the pinned one".to_owned();
    let now = UpstreamIdentity { server: live.server.clone(), ..lock.upstream.clone() };
    let diff = diff_identity(&lock.upstream, &now);
    let detail = format!("the server calls itself `{}`, pinned is `{pinned}`", cut(found));
    // It is one stranger for as long as it is there.
    let since = before.stranger.as_ref().map_or_else(clock::now, |before| before.since);
    let after = now.digest().ok().map(|digest| digest.to_string());
    Some(Drift {
        after,
        diff: serde_json::to_value(&diff).unwrap_or_default(),
        ..Drift::quarantined(Why::Stranger, told, detail, since)
    })
}
