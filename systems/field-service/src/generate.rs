//! The deterministic generator of the synthetic data. The same seed always gives the same records, and a record
//! does not depend on how many there are: ticket number n from the newest is the same in a store of any size.

mod batch;
mod customers;
mod manuals;
mod parts;
mod tickets;

#[cfg(test)]
mod tests;

use sqlx::SqliteConnection;

use crate::content::Content;
use crate::store::StoreFault;

pub(crate) use manuals::document;
pub(crate) use tickets::{DEMO_TICKET, DEMO_VARIANT, variant_word};

/// Fewest and most tickets that can be asked for.
pub const TICKETS: std::ops::RangeInclusive<usize> = 100..=100_000;

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) tickets: usize,
    pub(crate) seed: u64,
}

/// How far the generation of the data has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Tickets written, with their notes.
    pub tickets: usize,
    /// Tickets to write.
    pub of: usize,
}

pub(crate) async fn generate(
    connection: &mut SqliteConnection,
    plan: Plan,
    content: &Content,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), StoreFault> {
    customers::write(connection, plan.seed, &content.world).await?;
    parts::write(connection, plan.seed, content).await?;
    manuals::write(connection, content).await?;
    tickets::write(connection, plan, content, progress).await
}
