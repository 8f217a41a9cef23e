//! Comparing an upstream's live list with its lock.
//!
//! **Invariant:** a [`HostFetch`] carries nothing that a client sent, and is made in this file alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::Timestamp;
use aldgate_contract::State;
use aldgate_wire::request::Method;
use serde_json::value::RawValue;

use super::Source;
use crate::chain::chain;
use crate::clock;
use crate::settings::Bounds;
use crate::upstream::{ExchangeFault, Upstream};

/// Pages of a live list that are read at most.
const MAX_PAGES: usize = 100;
/// Tools of a live list that are read at most.
const MAX_TOOLS: usize = 20_000;
/// Bytes of a live list that are kept at most.
const MAX_BYTES: usize = 64 << 20;
/// How long an upstream may take for one page of its list, where a call may take longer.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long it may take for the whole of it.
const MAX_COMPARISON: Duration = Duration::from_secs(30);
/// The bounds of `verify_every`.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);
/// How old a comparison may be at most before calls wait for a new one; ordinarily twice `verify_every`.
const OLDEST: Duration = Duration::from_secs(330);

/// A request that the gateway makes on its own behalf.
pub struct HostFetch {
    method: Method,
    cursor: Option<String>,
}

impl HostFetch {
    fn tools(cursor: Option<String>) -> Self {
        Self { method: Method::ListTools, cursor }
    }

    fn identity() -> Self {
        Self { method: Method::Discover, cursor: None }
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    pub(crate) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// What an upstream serves now.
#[derive(Debug)]
pub(crate) struct LiveList {
    pub(crate) tools: Vec<(String, Box<RawValue>)>,
    /// Elements that could not be read, in words.
    pub(crate) unreadable: Vec<String>,
    /// Those of them that have a name, with why they could not be read.
    pub(crate) refused: BTreeMap<String, String>,
    /// `serverInfo.name`, as the upstream says it.
    pub(crate) server: Option<String>,
}

/// Why a live list could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LiveFault {
    /// The upstream was not reached, or did not answer as the protocol says.
    #[error("upstream `{upstream}` could not be asked for its tools")]
    Exchange {
        /// Its name.
        upstream: String,
        /// Why not.
        source: ExchangeFault,
    },
    /// Too slow.
    #[error("upstream `{upstream}` did not list its tools within {} s", MAX_COMPARISON.as_secs())]
    Slow {
        /// Its name.
        upstream: String,
    },
    /// An error or a result of another form.
    #[error("upstream `{upstream}` answered its list request with something else: {found}")]
    Answer {
        /// Its name.
        upstream: String,
        /// What it answered.
        found: String,
    },
    /// More than is read.
    #[error(
        "upstream `{upstream}` lists more than {MAX_TOOLS} tools, {MAX_PAGES} pages or {MAX_BYTES} bytes"
    )]
    Endless {
        /// Its name.
        upstream: String,
    },
}

/// The members of a tool that MCP defines; others have names that the upstream chose.
const DEFINED: [&str; 8] =
    ["name", "title", "description", "icons", "inputSchema", "outputSchema", "annotations", "_meta"];

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
    /// Tools that differ, with what differs.
    pub(crate) changed: BTreeMap<String, Change>,
    /// Why the last attempt to compare failed.
    pub(crate) unreachable: Option<String>,
}

/// Fetches an upstream's whole live list.
pub(crate) async fn live_list(upstream: &Upstream, bounds: &Bounds) -> Result<LiveList, LiveFault> {
    let slow = || LiveFault::Slow { upstream: upstream.name().to_owned() };
    tokio::time::timeout(MAX_COMPARISON, whole_list(upstream, bounds)).await.unwrap_or_else(|_| Err(slow()))
}

async fn whole_list(upstream: &Upstream, bounds: &Bounds) -> Result<LiveList, LiveFault> {
    let exchange = |source| LiveFault::Exchange { upstream: upstream.name().to_owned(), source };
    let odd = |found: String| LiveFault::Answer { upstream: upstream.name().to_owned(), found };
    let bounds = &Bounds { call_timeout: bounds.call_timeout.min(MAX_WAIT), ..bounds.clone() };
    let discovered = upstream.fetch(HostFetch::identity(), bounds).await.map_err(exchange)?;
    let server = discovered.result().map_err(odd)?.server_name();
    let mut live = LiveList { tools: Vec::new(), unreadable: Vec::new(), refused: BTreeMap::new(), server };
    let mut cursor = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let answer = upstream.fetch(HostFetch::tools(cursor), bounds).await.map_err(exchange)?;
        let page = answer.tools().map_err(odd)?;
        bytes += page.tools.iter().map(|(name, raw)| name.len() + raw.get().len()).sum::<usize>();
        live.tools.extend(page.tools);
        live.unreadable.extend(page.unreadable);
        live.refused.extend(page.refused);
        if live.tools.len() + live.unreadable.len() > MAX_TOOLS || bytes > MAX_BYTES {
            break;
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(live),
        }
    }
    Err(LiveFault::Endless { upstream: upstream.name().to_owned() })
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
            Ok(live) => Standing {
                compared_at: Some(clock::now()),
                changed: differences(self, &live),
                unreachable: None,
            },
            Err(fault) => {
                tracing::warn!(
                    error = &fault as &dyn std::error::Error,
                    "an upstream's contracts were not compared"
                );
                Standing {
                    compared_at: before.compared_at,
                    changed: before.changed.clone(),
                    unreachable: Some(chain(&fault)),
                }
            }
        };
        for (tool, change) in &standing.changed {
            if !before.changed.contains_key(tool) {
                tracing::warn!(
                    upstream = self.upstream.name(),
                    tool,
                    what = change.detail,
                    "a contract is not the pinned one any more"
                );
            }
        }
        self.standing.store(Arc::new(standing));
    }
}

fn differences(source: &Source, live: &LiveList) -> BTreeMap<String, Change> {
    // A server that calls itself otherwise is not the one that was reviewed.
    if let Some(pinned) = &source.lock.upstream.server
        && live.server.as_ref() != Some(pinned)
    {
        let found = live.server.as_deref().unwrap_or("nothing");
        let change = Change {
            told: "the server calls itself otherwise than the pinned one".to_owned(),
            detail: format!("the server calls itself `{found}`, pinned is `{pinned}`"),
        };
        return source.lock.tools.keys().map(|tool| (tool.clone(), change.clone())).collect();
    }
    let findings = source.lock.verify(live.tools.iter().map(|(name, raw)| (name.as_str(), raw.get())));
    let mut changed = BTreeMap::new();
    for finding in findings {
        let tool = finding.item.name;
        match finding.state {
            // Other bytes with the same canonical form say the same; what is served are the pinned bytes.
            State::Same | State::New | State::RawOnly { .. } => {}
            State::Changed { fields, .. } => {
                changed.insert(tool, Change::of_members(&fields));
            }
            State::Missing => {
                changed.insert(tool, Change::plain("not served any more"));
            }
            State::Unreadable { why } => {
                changed.insert(tool, Change::unreadable(&why));
            }
        }
    }
    // A second definition under a pinned name, or one that cannot be read, leaves open which one a call would meet.
    for (tool, why) in live.refused.iter().filter(|(tool, _)| source.lock.tools.contains_key(*tool)) {
        changed.insert(tool.clone(), Change::unreadable(why));
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

/// Compares each upstream's live list with its lock, for ever.
pub(crate) async fn keep_verifying(source: Arc<Source>, bounds: Bounds) {
    let every = source.verify_every.clamp(SHORTEST, LONGEST);
    loop {
        source.verify(&bounds).await;
        tokio::time::sleep(every).await;
    }
}
