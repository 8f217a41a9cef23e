//! Notifications of an upstream on the way to its answer: those that the client asked for are passed on at once.

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc;

type Members = IndexMap<String, Box<RawValue>>;

const PROGRESS: &str = "notifications/progress";
const MESSAGE: &str = "notifications/message";

/// The levels of log messages, from the least (MCP 2026-07-28, server/utilities/logging).
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The rank of a level; `None` for a word that is none.
fn level(word: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == word)
}

/// Passes notifications on to the client, under the client's own progress token.
pub(super) struct Notices {
    client: mpsc::Sender<Bytes>,
    /// The token that the upstream knows, and the client's.
    progress: Option<(u64, Box<RawValue>)>,
    least: Option<usize>,
    last_progress: f64,
}

impl Notices {
    /// For all that is sent on behalf of one request of a client: its progress goes forward over all of it.
    pub(super) fn new(
        client: mpsc::Sender<Bytes>,
        client_token: Option<&RawValue>,
        log_level: Option<&str>,
    ) -> Self {
        Self {
            client,
            progress: client_token.map(|theirs| (0, theirs.to_owned())),
            least: log_level.and_then(level),
            last_progress: f64::NEG_INFINITY,
        }
    }

    /// What goes out next has this id, which is its progress token.
    pub(super) fn expect(&mut self, token: u64) {
        if let Some((ours, _)) = &mut self.progress {
            *ours = token;
        }
    }

    /// Passes one notification on where the client asked for it, and says whether it was progress. A slow client makes the
    /// upstream wait; one that has left misses it.
    pub(super) async fn pass(&mut self, method: &str, params: Option<&RawValue>) -> bool {
        let (method, params) = match (method, params) {
            (PROGRESS, Some(params)) => (PROGRESS, self.progress(params)),
            (MESSAGE, Some(params)) => (MESSAGE, self.message(params)),
            _ => return false,
        };
        let Some(params) = params else { return false };
        let notice = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        // Whether somebody is there to read it is not the upstream's concern.
        let _ = self.client.send(Bytes::from(notice)).await;
        method == PROGRESS
    }

    /// Progress of this request, if it goes forward.
    fn progress(&mut self, params: &RawValue) -> Option<Box<RawValue>> {
        let (ours, theirs) = self.progress.as_ref()?;
        let mut members: Members = serde_json::from_str(params.get()).ok()?;
        let token: u64 = serde_json::from_str(members.get("progressToken")?.get()).ok()?;
        let progress: f64 = serde_json::from_str(members.get("progress")?.get()).ok()?;
        if token != *ours || progress <= self.last_progress {
            return None;
        }
        self.last_progress = progress;
        members.insert("progressToken".to_owned(), theirs.clone());
        without_protocol_keys(members)
    }

    /// A log message that is at least as grave as the client wants them.
    fn message(&self, params: &RawValue) -> Option<Box<RawValue>> {
        let members: Members = serde_json::from_str(params.get()).ok()?;
        let found: String = serde_json::from_str(members.get("level")?.get()).ok()?;
        (level(&found)? >= self.least?).then(|| without_protocol_keys(members)).flatten()
    }
}

/// The params without `_meta` keys that are made anew on each hop, or that are the gateway's own.
fn without_protocol_keys(mut members: Members) -> Option<Box<RawValue>> {
    if let Some(meta) = members.get("_meta") {
        let mut meta: Members = serde_json::from_str(meta.get()).ok()?;
        meta.retain(|key, _| {
            !key.starts_with(aldgate_wire::PROTOCOL_META_PREFIX)
                && !key.starts_with(aldgate_wire::OWN_META_PREFIX)
        });
        members.insert("_meta".to_owned(), to_raw_value(&meta).ok()?);
    }
    to_raw_value(&members).ok()
}
