//! Changes that listeners hear of.

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// How many changes a slow listener may be behind before it loses some.
const CAPACITY: usize = 256;

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// A resource has new contents.
    Resource(String),
    /// Tools, prompts and resources should be listed anew.
    Lists,
}

/// Tells all listeners of one server about changes, and when to stop listening.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    changes: broadcast::Sender<Change>,
    closed: watch::Sender<bool>,
}

/// A listener missed changes, it is not known which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lagged;

/// One listener's end.
#[derive(Debug)]
pub(crate) struct Ear {
    changes: broadcast::Receiver<Change>,
    closed: watch::Receiver<bool>,
}

impl Hub {
    pub(crate) fn new() -> Hub {
        Hub { changes: broadcast::channel(CAPACITY).0, closed: watch::channel(false).0 }
    }

    /// Tells everyone who listens now; nobody listening is fine.
    pub(crate) fn announce(&self, change: Change) {
        let listeners = self.changes.send(change).unwrap_or(0);
        tracing::debug!(listeners, "change announced");
    }

    /// Ends all listens, present and future.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    pub(crate) fn listen(&self) -> Ear {
        Ear { changes: self.changes.subscribe(), closed: self.closed.subscribe() }
    }
}

impl Ear {
    /// The next change, or an error if this listener was too slow; `None` once the hub is closed.
    pub(crate) async fn next(&mut self) -> Option<Result<Change, Lagged>> {
        tokio::select! {
            _ = self.closed.wait_for(|closed| *closed) => None,
            change = self.changes.recv() => match change {
                Ok(change) => Some(Ok(change)),
                Err(RecvError::Lagged(_)) => Some(Err(Lagged)),
                Err(RecvError::Closed) => None,
            },
        }
    }
}
