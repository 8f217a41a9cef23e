//! The embedded store: one SQLite file that holds the evidence, the approvals, and what is kept of contracts.
//!
//! One connection writes, a few read. What must be durable before a call goes out is committed with
//! `synchronous = FULL`; the rest is committed in groups with `synchronous = NORMAL`.
//!
//! Accounts, clients and grants of the authorization server are in a file of their own ([`identity`]).
//!
//! **Invariant:** a redemption and the intent row of the call that it allows are one transaction.

mod approvals;
mod contracts;
mod evidence;
mod fault;
pub mod identity;
mod observations;
mod open;

pub use approvals::{ApprovalFilter, AskOutcome, Redeemed};
pub use contracts::{Drifted, PinnedVersion};
pub use evidence::{EvidenceFilter, NewRow, StoredRow};
pub use fault::StoreFault;
pub use observations::{LATENCY_BOUNDS_MS, Observation};
pub use open::{Durability, Store};
