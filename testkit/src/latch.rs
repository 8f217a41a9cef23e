use std::sync::Arc;

use tokio::sync::watch;

/// A door that is shut until a test opens it, once and for all who wait.
#[derive(Clone, Debug)]
pub struct Latch(Arc<watch::Sender<bool>>);

impl Default for Latch {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Latch {
    /// A shut one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens it.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Returns as soon as it is open.
    pub async fn opened(&self) {
        // The sender lives as long as `self`, so that the wait ends only when the door is open.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}
