//! The one queue through which rows reach the store, and the group commit behind it.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::Timestamp;
use aldgate_store::{Durability, NewRow, Store, StoreFault};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::observed::{Observed, Sums};
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
    observed: Option<Observed>,
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
        let observed = Observed::of(row);
        let row = row.to_stored(digests.map(Digests::key))?;
        self.queue.try_send(Entry { row, durability, waits, done, observed }).map_err(
            |refused| match refused {
                mpsc::error::TrySendError::Full(_) => RecordFault::Full,
                mpsc::error::TrySendError::Closed(_) => RecordFault::Store,
            },
        )?;
        Ok(Queued(committed))
    }
}

async fn commit(store: Arc<Store>, mut entries: mpsc::Receiver<Entry>) {
    let (mut arrived, mut held, mut open) = (Vec::new(), Held::default(), true);
    let mut sums = Sums::default();
    while open || !held.is_empty() {
        let more = entries.recv_many(&mut arrived, GROUP);
        let until = [held.until(), sums.until()].into_iter().flatten().min();
        let more = match until {
            Some(until) => timeout_at(until, more).await.ok(),
            None => Some(more.await),
        };
        open &= more != Some(0);
        let mut group = Vec::with_capacity(arrived.len());
        for entry in arrived.drain(..) {
            if entry.waits {
                held.hold(entry);
            } else {
                group.extend(held.take(&entry.row));
                group.push(entry);
            }
        }
        held.release(if open { Some(Instant::now()) } else { None }, &mut group);
        if !group.is_empty() {
            append(&store, group, &mut sums).await;
        }
        if sums.is_due() {
            sums.keep(&store).await;
        }
    }
    sums.keep(&store).await;
}

/// Rows that nobody waits for yet: each goes with the next row of its call, or soon by itself. So a call's rows are written
/// together, and the account of calls without an outcome is not touched by most.
#[derive(Default)]
struct Held {
    /// By call and round; a client may repeat a read before its first intent was written.
    rows: HashMap<(String, u32), Vec<Entry>>,
    order: VecDeque<(Instant, (String, u32))>,
}

impl Held {
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// When the oldest has waited long enough.
    fn until(&self) -> Option<Instant> {
        self.order.front().map(|(until, _)| *until)
    }

    fn hold(&mut self, entry: Entry) {
        let key = (entry.row.call.clone(), entry.row.round);
        self.order.push_back((Instant::now() + PATIENCE, key.clone()));
        self.rows.entry(key).or_default().push(entry);
    }

    /// What goes with this row.
    fn take(&mut self, row: &NewRow) -> Vec<Entry> {
        self.rows.remove(&(row.call.clone(), row.round)).unwrap_or_default()
    }

    /// Those that have waited long enough by now; all of them where there is no later.
    fn release(&mut self, now: Option<Instant>, into: &mut Vec<Entry>) {
        while let Some((until, _)) = self.order.front() {
            if now.is_some_and(|now| *until > now) {
                break;
            }
            let Some((_, key)) = self.order.pop_front() else { break };
            into.extend(self.rows.remove(&key).into_iter().flatten());
        }
    }
}

async fn append(store: &Store, mut group: Vec<Entry>, sums: &mut Sums) {
    let full = group.iter().any(|entry| entry.durability == Durability::Full);
    let durability = if full { Durability::Full } else { Durability::Group };
    let observed: Vec<_> = group.iter_mut().filter_map(|entry| entry.observed.take()).collect();
    let (rows, waiting): (Vec<_>, Vec<_>) = group.into_iter().map(|entry| (entry.row, entry.done)).unzip();
    let written = store.append(&rows, durability).await;
    if written.is_ok() {
        observed.into_iter().for_each(|call| sums.add(call));
    }
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
