//! Comparing what an upstream serves with its lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::Principal;
use aldgate_contract::Item;

use super::Source;
use super::differences::{cut, differences};
use super::drift::{Drift, Event, Found, settle};
use super::drift_log::{Change, DriftLog, DriftLogFault, Drifts};
use super::live::{LiveFault, LiveList, live_list};
use super::standing::Standing;
use crate::chain::chain;
use crate::clock;
use crate::settings::{Bounds, OnDrift};

/// The bounds of `verify_every`.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);
/// How old a comparison may be at most before calls wait for a new one; ordinarily twice `verify_every`.
const OLDEST: Duration = Duration::from_secs(330);
/// Strangers that are told of at most while a configuration is in use.
const STRANGERS: usize = 16;

/// Why nothing was compared.
#[derive(Debug, thiserror::Error)]
enum Uncompared {
    /// The lists could not be had.
    #[error(transparent)]
    Live(#[from] LiveFault),
    /// The comparison broke off.
    #[error("what the upstream lists could not be compared")]
    Broken(#[from] tokio::task::JoinError),
}

impl Source {
    /// Whether the last comparison is young enough for a call to rest on it.
    pub(crate) fn is_current(&self) -> bool {
        let good_for = (self.verify_every.clamp(SHORTEST, LONGEST) * 2).min(OLDEST);
        let good_for = u64::try_from(good_for.as_millis()).unwrap_or(u64::MAX);
        let standing = self.standing();
        !standing.must_compare && standing.compared_at.is_some_and(|at| clock::now() < at.plus(good_for))
    }

    /// Compares with a comparison that begins after this; whether it could be made.
    pub(crate) async fn verify_anew(&self, bounds: &Bounds) -> bool {
        let now = clock::now();
        // Who waits for a comparison that has begun already takes its result, which may be from before: twice is enough.
        for _ in 0..2 {
            self.verify(bounds).await;
            let standing = self.standing();
            if standing.unreachable.is_none() && standing.begun_at.is_some_and(|begun| begun >= now) {
                return true;
            }
        }
        false
    }

    /// Compares the live list with the lock now. One comparison at a time, and who waited for one takes its result; a
    /// failed one keeps what was found before.
    pub(crate) async fn verify(&self, bounds: &Bounds) {
        let seen = self.stand.comparisons();
        let _one = self.stand.verifying.lock().await;
        if self.stand.comparisons() != seen {
            return;
        }
        let begun = clock::now();
        let listed = self.compared(bounds).await;
        let _settling = self.stand.settling.lock().await;
        let before = self.stand.now.load_full();
        let standing = match listed {
            Ok((live, found)) => {
                let drifts = self.settled(&before.drifts, &found).await;
                let next = Standing::found(&self.lock, live, begun, &before);
                self.told_of_stranger(Standing { drifts, ..next }.numbered()).await
            }
            Err(fault) => {
                tracing::warn!(
                    error = &fault as &dyn std::error::Error,
                    "an upstream's contracts were not compared"
                );
                let comparisons = before.comparisons.wrapping_add(1);
                Standing { unreachable: Some(chain(&fault)), comparisons, ..Standing::clone(&before) }
            }
        };
        self.stands(&before, standing);
        self.stand.compared.notify_waiters();
    }

    /// What is live and in what it differs. It is compared on a thread of its own: an upstream may list so much that calls
    /// would wait for it.
    async fn compared(&self, bounds: &Bounds) -> Result<(LiveList, BTreeMap<Item, Found>), Uncompared> {
        let live = live_list(&self.upstream, bounds).await?;
        let lock = self.lock.clone();
        let compared = tokio::task::spawn_blocking(move || {
            let found = differences(&lock, &live);
            (live, found)
        });
        Ok(compared.await?)
    }

    /// How contracts stand after a comparison. What the store does not take is quarantined all the same, and told of the next
    /// time.
    async fn settled(&self, before: &Arc<Drifts>, found: &BTreeMap<Item, Found>) -> Arc<Drifts> {
        let now = clock::now();
        let items: BTreeSet<&Item> = before.keys().chain(found.keys()).collect();
        let changed: Vec<Change> = items
            .into_iter()
            .filter_map(|item| {
                let earlier = before.get(item);
                let (drift, event) = match earlier.filter(|earlier| earlier.unkept) {
                    // What the store did not take is kept first; what came of it since, the next comparison tells.
                    Some(earlier) => (Drift { unkept: false, ..earlier.clone() }, Some(Event::Quarantined)),
                    None => settle(self.on_drift, earlier, found.get(item), now)?,
                };
                Some((item.clone(), drift, event))
            })
            .collect();
        for (item, kept, event) in &changed {
            if event.is_some() {
                let (upstream, state) = (self.upstream.name(), kept.state);
                tracing::warn!(
                    upstream,
                    what = cut(&item.to_string()),
                    ?state,
                    change = kept.detail,
                    "a contract drifted"
                );
            }
        }
        self.kept(before, changed).await
    }

    /// Keeps what changed, in the store and for the calls to come.
    async fn kept(&self, before: &Arc<Drifts>, changed: Vec<Change>) -> Arc<Drifts> {
        if changed.is_empty() {
            return Arc::clone(before);
        }
        let mut drifts = Drifts::clone(before);
        let at_once = self.log.as_ref().map_or(1, DriftLog::at_once);
        for changes in changed.chunks(at_once) {
            let written = match &self.log {
                Some(log) => log.keep(&self.lock, changes, None).await,
                None => Ok(()),
            };
            if let Err(fault) = &written {
                let error = fault as &dyn std::error::Error;
                tracing::error!(upstream = self.upstream.name(), error, "what drifted was not kept");
            }
            for (item, drift, _) in changes {
                // Nothing is served again that the store does not know of, and what it does not know of is kept the next time.
                if written.is_ok() {
                    drifts.insert(item.clone(), drift.clone());
                } else if drift.is_quarantined() {
                    drifts.insert(item.clone(), Drift { unkept: true, ..drift.clone() });
                }
            }
        }
        Arc::new(drifts)
    }

    async fn told_of_stranger(&self, mut next: Standing) -> Standing {
        let (Some(stranger), Some(log)) = (&next.stranger, &self.log) else { return next };
        if next.strangers.len() < STRANGERS && !next.strangers.contains(&stranger.detail) {
            tracing::warn!(
                upstream = self.upstream.name(),
                change = stranger.detail,
                "an upstream is not the pinned one any more"
            );
            match log.tell(&self.lock, Event::Stranger, stranger).await {
                Ok(()) => {
                    next.strangers.insert(stranger.detail.clone());
                }
                Err(fault) => {
                    let error = &fault as &dyn std::error::Error;
                    tracing::error!(upstream = self.upstream.name(), error, "a stranger was not told of");
                }
            }
        }
        next
    }

    /// Notes that a result of a tool did not fit its pinned output schema; the tool is quarantined where those are too many.
    pub(crate) async fn violated(&self, item: &Item) {
        let now = clock::now();
        let upstream = self.upstream.name();
        let Some(log) = &self.log else { return };
        let _settling = self.stand.settling.lock().await;
        let before = self.stand.now.load_full();
        if self.on_drift == OnDrift::Warn || before.quarantined(item).is_some() {
            return;
        }
        let detail = match log.too_many_violations(upstream, &item.name, now).await {
            Ok(None) => return,
            Ok(Some(detail)) => detail,
            Err(fault) => {
                let error = &fault as &dyn std::error::Error;
                tracing::error!(
                    upstream,
                    what = cut(&item.to_string()),
                    error,
                    "a violation of a contract was not noted"
                );
                return;
            }
        };
        tracing::warn!(upstream, what = cut(&item.to_string()), detail, "a tool does not keep its contract");
        let kept = Drift::violated(before.drifts.get(item), detail, now);
        let drifts = self.kept(&before.drifts, vec![(item.clone(), kept, Some(Event::Quarantined))]).await;
        self.stands(&before, Standing { drifts, ..Standing::clone(&before) }.numbered());
    }

    /// Lets something be served again that is quarantined, and compares anew; whether it was.
    pub(crate) async fn release(&self, item: &Item, by: &Principal) -> Result<bool, DriftLogFault> {
        let Some(log) = &self.log else { return Ok(false) };
        let _settling = self.stand.settling.lock().await;
        let before = self.stand.now.load_full();
        let Some(kept) = before.quarantined(item) else { return Ok(false) };
        let released = kept.released(clock::now());
        let changed = [(item.clone(), released.clone(), Some(Event::Released))];
        log.keep(&self.lock, &changed, Some(by)).await?;
        log.forget_violations(self.upstream.name(), &item.name).await?;
        let mut drifts = Drifts::clone(&before.drifts);
        drifts.insert(item.clone(), released);
        let drifts = Arc::new(drifts);
        // A release accepts nothing: it is compared before it is called.
        let next = Standing { drifts, must_compare: true, ..Standing::clone(&before) }.numbered();
        self.stands(&before, next);
        self.recheck.notify_one();
        Ok(true)
    }

    /// Uses how the upstream stands now, and tells those who listen where it is another way than before.
    fn stands(&self, before: &Standing, now: Standing) {
        let differs = now.version != before.version;
        let other = now.abilities != before.abilities
            || now.is_known() != before.is_known()
            || now.stranger.is_some() != before.stranger.is_some();
        self.stand.now.store(Arc::new(now));
        if other {
            self.watch.look_again();
        }
        if differs {
            self.listeners.recheck();
        }
    }
}

/// Compares what an upstream serves with its lock, for ever; early where the upstream tells of a change, but not more than
/// once a second, and more and more seldom while it cannot be asked. Never at the same moment as others do
/// (MCP 2026-07-28, server/utilities/caching: who polls uses jitter and backoff).
pub(crate) async fn keep_verifying(source: Arc<Source>, bounds: Bounds) {
    let every = source.verify_every.clamp(SHORTEST, LONGEST);
    let mut failures = 0;
    loop {
        source.verify(&bounds).await;
        failures = if source.standing().unreachable.is_some() { failures + 1 } else { 0 };
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
