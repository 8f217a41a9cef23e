//! Listening to one upstream on behalf of all who want to hear of it.

mod hearing;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::{Abilities, ExchangeFault};
use crate::catalog::Source;
use crate::chain::chain;
use crate::clock;
use crate::listen::{Lists, Wanted};
use hearing::{Hearing, Told, hear};

/// How long changes of what is wanted are gathered before the upstream is asked anew.
const GATHER: Duration = Duration::from_millis(20);
/// How long the stream before is read on beside the new one, for what was under way on it. The upstream is not asked anew
/// meanwhile.
const OVERLAP: Duration = Duration::from_millis(250);
/// The pauses between attempts that failed, doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// Why a stream is not followed any more.
enum End {
    /// The upstream ended it.
    Ended,
    /// Nobody wants to hear anything.
    Unwanted,
    /// It broke.
    Broke(ExchangeFault),
}

/// Keeps the stream of an upstream open, for ever.
pub(crate) async fn keep_listening(source: Arc<Source>) {
    let mut changes = source.watch.generation.subscribe();
    let mut inherited = source.inherited.clone();
    let mut pause = PAUSES.0;
    let mut heard_before = false;
    loop {
        changes.mark_unchanged();
        // Looked up first: what is wanted then rests on abilities that are at least as new.
        let known = source.standing().is_known();
        let (asked, generation) = wanted(&source);
        if !asked.lists.any() && asked.uris.is_empty() {
            // What the upstream can is known after the first comparison, and may change: it counts as a change. Until then
            // nobody is told no.
            if known {
                let everything = source.watch.uris();
                source.watch.settle(generation, &everything, Arc::default());
            }
            let _ = changes.changed().await;
            continue;
        }
        match hear(&source.upstream, asked).await {
            Ok(hearing) => {
                pause = PAUSES.0;
                taken_on(&source, &hearing, generation, &mut inherited);
                if heard_before {
                    // Changes may have happened while nobody listened.
                    source.watch.missed(hearing.uris.iter());
                    source.recheck.notify_one();
                }
                heard_before = true;
                match follow(&source, hearing, &mut changes, &mut inherited).await {
                    End::Unwanted => {
                        heard_before = false;
                        continue;
                    }
                    End::Ended => {
                        tracing::info!(
                            upstream = source.upstream.name(),
                            "an upstream ended its stream of changes"
                        );
                    }
                    End::Broke(fault) => tracing::info!(
                        upstream = source.upstream.name(),
                        why = chain(&fault),
                        "an upstream's stream of changes broke"
                    ),
                }
            }
            Err(fault) => {
                tracing::warn!(
                    upstream = source.upstream.name(),
                    error = &fault as &dyn std::error::Error,
                    "an upstream does not tell of changes"
                );
                // Who cannot be reached may take it on yet; who says no has said so.
                if fault.is_refusal() {
                    let everything = source.watch.uris();
                    source.watch.settle(generation, &everything, Arc::default());
                }
            }
        }
        // With jitter, so that many gateways do not come back at once. What is wanted newly is not kept waiting for long.
        let jitter = clock::random::<1>().map_or(0, |[byte]| u64::from(byte));
        tokio::time::sleep(PAUSES.0 + Duration::from_millis(jitter)).await;
        let _ = tokio::time::timeout(pause.saturating_sub(PAUSES.0), changes.changed()).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// What is asked of the upstream now. Of one that is not the pinned one nothing is heard.
fn wanted(source: &Source) -> (Wanted, u64) {
    let standing = source.standing();
    let Abilities { tells_tools, tells_prompts, tells_resources, subscribe, .. } = match &standing.stranger {
        Some(_) => Abilities::default(),
        None => standing.abilities,
    };
    let lists = Lists { tools: tells_tools, prompts: tells_prompts, resources: tells_resources };
    source.watch.asked(lists, subscribe)
}

/// The upstream has acknowledged. What was listened to under an earlier configuration may have changed since.
fn taken_on(source: &Source, hearing: &Hearing, generation: u64, inherited: &mut BTreeSet<String>) {
    source.watch.settle(generation, &hearing.asked.uris, hearing.uris.clone());
    let back: BTreeSet<String> = hearing.uris.intersection(inherited).cloned().collect();
    source.watch.missed(&back);
    inherited.retain(|uri| !back.contains(uri));
}

/// Passes on what a stream tells until it ends; where what is wanted changes, with a new stream.
async fn follow(
    source: &Arc<Source>,
    mut hearing: Hearing,
    changes: &mut watch::Receiver<u64>,
    inherited: &mut BTreeSet<String>,
) -> End {
    let mut before: Option<(Hearing, Instant)> = None;
    let mut asking: Option<Asking<'_>> = None;
    loop {
        tokio::select! {
            told = hearing.next() => match told {
                Ok(Some(told)) => pass(source, told),
                Ok(None) => return End::Ended,
                Err(fault) => return End::Broke(fault),
            },
            told = last_of(&mut before) => match told {
                Some(told) => pass(source, told),
                None => before = None,
            },
            answered = answer_of(&mut asking) => {
                let Some(Asking { generation, added, .. }) = asking.take() else { continue };
                match answered {
                    Ok(next) => {
                        taken_on(source, &next, generation, inherited);
                        let old = std::mem::replace(&mut hearing, next);
                        before = Some((old, Instant::now() + OVERLAP));
                    }
                    // The stream that there is goes on, without what was to be added to it.
                    Err(fault) => {
                        tracing::warn!(
                            upstream = source.upstream.name(),
                            error = &fault as &dyn std::error::Error,
                            added = added.len(),
                            "an upstream does not take further resources on"
                        );
                        let mut asked = added;
                        asked.extend(hearing.uris.iter().cloned());
                        source.watch.settle(generation, &asked, hearing.uris.clone());
                    }
                }
            }
            _ = changes.changed(), if before.is_none() && asking.is_none() => {
                tokio::time::sleep(GATHER).await;
                changes.mark_unchanged();
                let (asked, generation) = wanted(source);
                if asked == hearing.asked {
                    source.watch.settled.send_modify(|settled| settled.generation = generation);
                    continue;
                }
                if !asked.lists.any() && asked.uris.is_empty() {
                    return End::Unwanted;
                }
                let added = asked.uris.difference(&hearing.asked.uris).cloned().collect();
                let answer = Box::pin(hear(&source.upstream, asked));
                asking = Some(Asking { answer, generation, added });
            }
        }
    }
}

/// A new stream that is being asked for, while the one that there is goes on.
struct Asking<'a> {
    answer: Pin<Box<dyn Future<Output = Result<Hearing, ExchangeFault>> + Send + 'a>>,
    generation: u64,
    /// The URIs that the stream before does not have.
    added: BTreeSet<String>,
}

/// The answer to what is asked for, as soon as it is there.
async fn answer_of(asking: &mut Option<Asking<'_>>) -> Result<Hearing, ExchangeFault> {
    match asking {
        Some(asking) => asking.answer.as_mut().await,
        None => std::future::pending().await,
    }
}

/// What the stream before still tells; `None` when it has ended or its time is over.
async fn last_of(before: &mut Option<(Hearing, Instant)>) -> Option<Told> {
    match before {
        Some((hearing, until)) => {
            let told = tokio::time::timeout_at(*until, hearing.next()).await;
            told.ok().and_then(Result::ok).flatten()
        }
        None => std::future::pending().await,
    }
}

fn pass(source: &Source, told: Told) {
    match told {
        Told::Listed(list) => {
            source.listeners.listed(&source.name, list);
            source.recheck.notify_one();
        }
        Told::Updated(uri) => source.watch.updated(&uri),
    }
}
