//! How long an upstream is waited for.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use super::ExchangeFault;

/// The time without an answer or progress after which a request is given up, and the time after which it is in any case
/// (MCP 2026-07-28, basic/patterns/cancellation: progress may renew the one, nothing the other).
pub(super) struct Patience {
    idle: Duration,
    until: Instant,
    last: Instant,
    begun: Instant,
}

impl Patience {
    /// `idle` for each exchange, `longest` for all of them together, from now on.
    pub(super) fn new(idle: Duration, longest: Duration) -> Self {
        let begun = Instant::now();
        Self { idle: idle.min(longest), until: begun + idle.min(longest), last: begun + longest, begun }
    }

    /// An exchange begins.
    pub(super) fn begin(&mut self) {
        self.begun = Instant::now();
        self.renew();
    }

    /// The request goes forward.
    pub(super) fn renew(&mut self) {
        self.until = (Instant::now() + self.idle).min(self.last);
    }

    /// Waits while the patience lasts.
    pub(super) async fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, ExchangeFault> {
        tokio::time::timeout_at(self.until, work).await.map_err(|_| {
            let waited = self.until.saturating_duration_since(self.begun);
            ExchangeFault::TimedOut { seconds: waited.as_secs().max(1) }
        })
    }
}
