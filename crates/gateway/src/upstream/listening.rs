//! The stream on which one upstream tells of changes, kept open while there is something to hear.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aldgate_wire::guard::Limits;
use aldgate_wire::outbound::OutboundCall;
use aldgate_wire::request::Method;
use aldgate_wire::response::{Message, read_message};
use aldgate_wire::sse::Decoder;
use axum::body::Body;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::exchange::MAX_DEPTH;
use super::watch::Settled;
use super::{Abilities, ExchangeFault, Upstream, client_info, raw};
use crate::catalog::Source;
use crate::chain::chain;
use crate::clock;
use crate::listen::{ListChange, Lists, Wanted};
use crate::receive::VERSIONS;

/// Bytes of one event.
const MAX_EVENT: usize = 64 << 10;
/// How long an upstream may take to acknowledge.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long changes of what is wanted are gathered before the upstream is asked anew.
const GATHER: Duration = Duration::from_millis(20);
/// How long the stream before is read on beside the new one, for what was under way on it.
const OVERLAP: Duration = Duration::from_secs(2);
/// The pauses between attempts, doubled from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// One stream of an upstream that has acknowledged.
struct Hearing {
    id: u64,
    body: Body,
    decoder: Decoder,
    events: std::vec::IntoIter<Vec<u8>>,
    asked: Wanted,
    /// The URIs that the upstream acknowledged.
    uris: Arc<BTreeSet<String>>,
}

/// What an upstream tells.
enum Told {
    Listed(ListChange),
    Updated(String),
}

/// Keeps the stream of an upstream open, for ever.
pub(crate) async fn keep_listening(source: Arc<Source>) {
    let mut changes = source.watch.generation.subscribe();
    let mut pause = PAUSES.0;
    let mut first = true;
    loop {
        changes.mark_unchanged();
        // Looked up first: what is wanted then rests on abilities that are at least as new.
        let known = source.standing.load().is_known();
        let (asked, generation) = wanted(&source);
        if !asked.lists.any() && asked.uris.is_empty() {
            // What the upstream can is known after the first comparison, and may change: it counts as a change. Until then
            // nobody is told no.
            if known {
                settle(&source, generation, Arc::default());
            }
            let _ = changes.changed().await;
            continue;
        }
        let begun = Instant::now();
        match hear(&source.upstream, asked).await {
            Ok(hearing) => {
                settle(&source, generation, hearing.uris.clone());
                // Changes may have happened while nobody listened.
                if !first || source.succeeds {
                    source.watch.all_updated();
                }
                if !first {
                    source.recheck.notify_one();
                }
                first = false;
                let fault = follow(&source, hearing, &mut changes).await;
                tracing::info!(
                    upstream = source.upstream.name(),
                    why = fault.as_ref().map(|fault| chain(fault)),
                    "an upstream's stream of changes ended"
                );
                let (_, generation) = wanted(&source);
                settle(&source, generation, Arc::default());
            }
            Err(fault) => {
                settle(&source, generation, Arc::default());
                tracing::warn!(
                    upstream = source.upstream.name(),
                    error = &fault as &dyn std::error::Error,
                    "an upstream does not tell of changes"
                );
            }
        }
        if begun.elapsed() > PAUSES.1 {
            pause = PAUSES.0;
        }
        // With jitter, so that many gateways do not come back at once.
        let jitter = clock::random::<1>().map_or(0, |[byte]| u64::from(byte));
        tokio::time::sleep(pause + Duration::from_millis(jitter)).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

fn wanted(source: &Source) -> (Wanted, u64) {
    let Abilities { tells_tools, tells_prompts, tells_resources, subscribe, .. } =
        source.standing.load().abilities;
    let lists = Lists { tools: tells_tools, prompts: tells_prompts, resources: tells_resources };
    source.watch.asked(lists, subscribe)
}

fn settle(source: &Source, generation: u64, uris: Arc<BTreeSet<String>>) {
    source.watch.settled.send_replace(Settled { generation, uris });
}

/// Passes on what a stream tells until it ends; where what is wanted changes, with a new stream.
async fn follow(
    source: &Arc<Source>,
    mut hearing: Hearing,
    changes: &mut watch::Receiver<u64>,
) -> Option<ExchangeFault> {
    let mut before: Option<(Hearing, Instant)> = None;
    loop {
        tokio::select! {
            told = hearing.next() => match told {
                Ok(Some(told)) => pass(source, told),
                Ok(None) => return None,
                Err(fault) => return Some(fault),
            },
            told = last_of(&mut before) => match told {
                Some(told) => pass(source, told),
                None => before = None,
            },
            _ = changes.changed() => {
                tokio::time::sleep(GATHER).await;
                changes.mark_unchanged();
                let (asked, generation) = wanted(source);
                if asked == hearing.asked {
                    settle(source, generation, hearing.uris.clone());
                    continue;
                }
                if !asked.lists.any() && asked.uris.is_empty() {
                    return None;
                }
                match hear(&source.upstream, asked).await {
                    Ok(next) => {
                        settle(source, generation, next.uris.clone());
                        let old = std::mem::replace(&mut hearing, next);
                        before = Some((old, Instant::now() + OVERLAP));
                    }
                    Err(fault) => return Some(fault),
                }
            }
        }
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

/// Asks an upstream to tell of changes, and waits for its acknowledgement.
async fn hear(upstream: &Upstream, asked: Wanted) -> Result<Hearing, ExchangeFault> {
    let slow = ExchangeFault::TimedOut { seconds: MAX_WAIT.as_secs() };
    tokio::time::timeout(MAX_WAIT, acknowledged(upstream, asked)).await.unwrap_or(Err(slow))
}

async fn acknowledged(upstream: &Upstream, asked: Wanted) -> Result<Hearing, ExchangeFault> {
    let id = upstream.new_id();
    let (capabilities, client_info) = (raw("{}")?, client_info()?);
    let call = OutboundCall {
        id,
        method: Method::Listen,
        name: None,
        arguments: None,
        input_responses: None,
        request_state: None,
        cursor: None,
        capabilities: &capabilities,
        client_info: &client_info,
        log_level: None,
        progress_token: None,
        traceparent: None,
        tracestate: None,
        extra_meta: &[],
        version: VERSIONS.first().copied().unwrap_or_default(),
    };
    let filter = to_raw_value(&asked.as_filter()).map_err(ExchangeFault::Request)?;
    let body = call.body_with(&[("notifications", &*filter)]);
    let body = upstream.wire.open(body, call.headers(&[])).await?;
    let mut hearing = Hearing {
        id,
        body,
        decoder: Decoder::new(MAX_EVENT),
        events: Vec::new().into_iter(),
        asked,
        uris: Arc::default(),
    };
    let Some(Message::Notification { method, params }) = hearing.message().await? else {
        return Err(ExchangeFault::Unacknowledged);
    };
    let honoured = params.as_deref().filter(|_| method == "notifications/subscriptions/acknowledged");
    let honoured = honoured.filter(|params| hearing.is_ours(params)).and_then(acknowledgement);
    let honoured = honoured.ok_or(ExchangeFault::Unacknowledged)?;
    let uris = honoured.into_iter().filter(|uri| hearing.asked.uris.contains(uri)).collect();
    hearing.uris = Arc::new(uris);
    Ok(hearing)
}

/// The URIs that an acknowledgement honours.
fn acknowledgement(params: &RawValue) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Acknowledged {
        #[serde(default)]
        notifications: Honoured,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Honoured {
        #[serde(default)]
        resource_subscriptions: Vec<String>,
    }
    let acknowledged: Acknowledged = serde_json::from_str(params.get()).ok()?;
    Some(acknowledged.notifications.resource_subscriptions)
}

impl Hearing {
    /// What is told next; `None` when the upstream ends the stream. What was not asked for is dropped.
    async fn next(&mut self) -> Result<Option<Told>, ExchangeFault> {
        loop {
            let Some(Message::Notification { method, params }) = self.message().await? else {
                return Ok(None);
            };
            let Some(params) = params.filter(|params| self.is_ours(params)) else { continue };
            let list = ListChange::ALL.into_iter().find(|list| list.method() == method);
            if let Some(list) = list.filter(|list| self.asked.lists.has(*list)) {
                return Ok(Some(Told::Listed(list)));
            }
            if method == "notifications/resources/updated"
                && let Some(uri) = updated_uri(&params)
            {
                return Ok(Some(Told::Updated(uri)));
            }
        }
    }

    /// The next message; `None` at the end.
    async fn message(&mut self) -> Result<Option<Message>, ExchangeFault> {
        let limits = Limits { max_bytes: MAX_EVENT, max_depth: MAX_DEPTH };
        loop {
            if let Some(data) = self.events.next() {
                return Ok(Some(read_message(&data, self.id, &limits)?));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|fault| ExchangeFault::Broken(fault.into()))?;
            let Some(piece) = frame.data_ref() else { continue };
            let events = self.decoder.push(piece)?.into_iter();
            let messages = events
                .filter(|event| event.kind == "message" && !event.data.iter().all(u8::is_ascii_whitespace));
            self.events = messages.map(|event| event.data).collect::<Vec<_>>().into_iter();
        }
    }

    /// Whether a notification names this subscription. A server that spells the number as a string means the same.
    fn is_ours(&self, params: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Meta,
        }
        #[derive(Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
            subscription: serde_json::Value,
        }
        let Ok(params) = serde_json::from_str::<Params>(params.get()) else { return false };
        match params.meta.subscription {
            serde_json::Value::Number(number) => number.as_u64() == Some(self.id),
            serde_json::Value::String(text) => text == self.id.to_string(),
            _ => false,
        }
    }
}

/// The URI of a resource that changed, where it is one that can be.
fn updated_uri(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    let updated: Updated = serde_json::from_str(params.get()).ok()?;
    aldgate_authority::Uri::parse(&updated.uri).is_ok().then_some(updated.uri)
}
