//! The one queue through which rows reach the store, and the group commit behind it.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::Timestamp;
use aldgate_store::{Durability, NewRow, Store, StoreFault};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::row::{Digests, Kind, Row};

/// Rows that may wait for a commit.
const QUEUE: usize = 4096;
/// Rows that are committed together at most.
const GROUP: usize = 512;

/// How long rows that nobody waits for may wait for others.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why a row was not recorded. The caller refuses the request.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// More rows wait than the store can take.
    #[error("the evidence queue is full; try again later")]
    Full,
    /// The store did not take the row.
    #[error("the evidence could not be written; see the gateway's log")]
    Store,
    /// The row does not serialise.
    #[error("the evidence row could not be written as JSON")]
    Row(#[from] serde_json::Error),
}

struct Entry {
    row: NewRow,
    durability: Durability,
    /// Whether nobody waits for it yet.
    waits: bool,
    done: oneshot::Sender<bool>,
}

/// A row that waits for its commit.
#[must_use = "nobody learns whether the row was committed"]
pub struct Queued(oneshot::Receiver<bool>);

impl Queued {
    /// Waits until the row is committed.
    ///
    /// # Errors
    /// Where the store refused it.
    pub async fn committed(self) -> Result<(), RecordFault> {
        match self.0.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(RecordFault::Store),
        }
    }
}

/// Takes rows and commits them in groups.
#[derive(Clone)]
pub struct Recorder {
    queue: mpsc::Sender<Entry>,
    watchers: broadcast::Sender<Row>,
}

impl Recorder {
    /// Starts the task that commits. It ends when the last clone of the recorder is dropped, after the last row.
    #[must_use]
    pub fn start(store: Arc<Store>) -> (Self, tokio::task::JoinHandle<()>) {
        let (queue, entries) = mpsc::channel(QUEUE);
        let (watchers, _) = broadcast::channel(1024);
        (Self { queue, watchers }, tokio::spawn(commit(store, entries)))
    }

    /// Every row from now on, as it is recorded. A watcher that is too slow misses rows and is told so.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Row> {
        self.watchers.subscribe()
    }

    /// Tells the watchers of a row that was stored in another way (together with an approval).
    pub fn announce(&self, row: &Row) {
        if self.watchers.receiver_count() > 0 {
            // The last watcher may have gone meanwhile.
            let _ = self.watchers.send(row.clone());
        }
    }

    /// Queues a row without waiting for its commit, which comes with that of the next row, or soon after. Whoever needs it
    /// waits for it with [`Queued::committed`].
    ///
    /// # Errors
    /// Where the queue is full or the store is gone.
    pub fn queue(&self, row: &Row, digests: Option<&Digests>) -> Result<Queued, RecordFault> {
        let queued = self.send(row, digests, Durability::Group, true)?;
        self.announce(row);
        Ok(queued)
    }

    /// Records a row and waits until it is committed; with [`Durability::Full`], until it is on the disk.
    ///
    /// # Errors
    /// Where the queue is full or the store refuses.
    pub async fn record(
        &self,
        row: &Row,
        digests: Option<&Digests>,
        durability: Durability,
    ) -> Result<(), RecordFault> {
        self.send(row, digests, durability, false)?.committed().await?;
        self.announce(row);
        Ok(())
    }

    fn send(
        &self,
        row: &Row,
        digests: Option<&Digests>,
        durability: Durability,
        waits: bool,
    ) -> Result<Queued, RecordFault> {
        let (done, committed) = oneshot::channel();
        let row = row.to_stored(digests.map(Digests::key))?;
        self.queue.try_send(Entry { row, durability, waits, done }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => RecordFault::Full,
            mpsc::error::TrySendError::Closed(_) => RecordFault::Store,
        })?;
        Ok(Queued(committed))
    }
}

async fn commit(store: Arc<Store>, mut entries: mpsc::Receiver<Entry>) {
    let mut group = Vec::new();
    while entries.recv_many(&mut group, GROUP).await > 0 {
        let until = Instant::now() + PATIENCE;
        while group.len() < GROUP && group.iter().all(|entry| entry.waits) {
            let room = GROUP - group.len();
            let more = entries.recv_many(&mut group, room);
            // Closed, or nothing came.
            if !matches!(timeout_at(until, more).await, Ok(1..)) {
                break;
            }
        }
        let full = group.iter().any(|entry| entry.durability == Durability::Full);
        let durability = if full { Durability::Full } else { Durability::Group };
        let (rows, waiting): (Vec<_>, Vec<_>) = group.drain(..).map(|entry| (entry.row, entry.done)).unzip();
        let written = store.append(&rows, durability).await;
        if let Err(fault) = &written {
            tracing::error!(
                error = fault as &dyn std::error::Error,
                rows = rows.len(),
                "evidence was not written"
            );
        }
        for done in waiting {
            // A client that left does not wait for its row any more.
            let _ = done.send(written.is_ok());
        }
    }
}

/// Closes the intents that an earlier run left without an outcome. Returns how many there were.
///
/// # Errors
/// Where the store refuses.
pub async fn close_open_intents(store: &Store, now: Timestamp) -> Result<usize, StoreFault> {
    let open = store.open_intents().await?;
    let mut rows = Vec::with_capacity(open.len());
    for stored in &open {
        let read = serde_json::from_str::<Row>(&stored.body).and_then(|intent| {
            let closed = Row {
                kind: Kind::Outcome,
                at: now,
                outcome: Some("unknown".into()),
                code: Some("AG-OUTCOME-UNKNOWN".into()),
                detail: Some(
                    "the gateway stopped before the answer came: executed or unknown, do not retry"
                        .to_owned(),
                ),
                explanation: None,
                ..intent
            };
            closed.to_stored(None)
        });
        rows.push(read.map_err(|source| StoreFault::Unreadable { what: "evidence row", source })?);
    }
    if !rows.is_empty() {
        store.append(&rows, Durability::Full).await?;
    }
    Ok(open.len())
}
