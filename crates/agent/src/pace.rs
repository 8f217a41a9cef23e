use std::time::Duration;

#[cfg(test)]
mod tests;

/// The bounds on one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLimits {
    /// How long the server may take to answer one request. Waiting for a person does not count.
    pub timeout: Duration,
    /// How many requests one call may take, repetitions for a pending approval included.
    pub max_rounds: usize,
    /// How often a read-only call is sent at most when the transport fails.
    pub attempts: usize,
    /// The first pause before a repetition; each later one is twice as long.
    pub pause: Duration,
    /// The longest pause.
    pub max_pause: Duration,
    /// How many pages of a list are read.
    pub max_pages: usize,
    /// How many elements of a list are read in all.
    pub max_tools: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_rounds: 200,
            attempts: 3,
            pause: Duration::from_millis(200),
            max_pause: Duration::from_secs(3),
            max_pages: 64,
            max_tools: 4096,
        }
    }
}

impl CallLimits {
    /// The pause before repetition `n` (from 1), between half and the whole of its nominal length: `jitter` is
    /// from 0 to 1.
    pub(crate) fn pause_before(&self, n: usize, jitter: f64) -> Duration {
        let doublings = u32::try_from(n.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
        let nominal = self.pause.saturating_mul(1 << doublings).min(self.max_pause);
        nominal.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }

    /// Sleeps before repetition `n`. What the last answer took counts as rest: a server that holds its answers needs
    /// no pause beside.
    pub(crate) async fn rest_before(&self, n: usize, answer_took: Duration) {
        let pause = self.pause_before(n, rand::random::<f64>());
        tokio::time::sleep(pause.saturating_sub(answer_took)).await;
    }
}
