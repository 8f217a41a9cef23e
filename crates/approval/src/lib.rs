//! What an approval binds, the states it goes through, and the sealing of what a client carries between rounds.
//!
//! **Invariant:** nothing here does I/O or reads a clock or a random source; time and randomness are arguments.

pub mod arguments;
pub mod binding;
pub mod id;
pub mod record;
pub mod seal;
pub mod state;

pub use binding::Binding;
pub use id::{ApprovalId, CallId, Timestamp};
pub use record::{Decision, Record, RecordState, RedeemFault, Redemption, Verdict};
pub use seal::{SealFault, SealKey};
pub use state::{Purpose, RequestState, StateFault};
