//! Evidence: what was asked, decided and done, by whom, in rows that are never changed.
//!
//! A call leaves an intent before it is dispatched and an outcome after it; a refusal leaves one row. The rows go
//! through one [`Recorder`], which commits them in groups.
//!
//! **Invariant:** an intent without an outcome is closed as `unknown`, never forgotten.

mod observed;
mod recorder;
mod row;

pub use recorder::{Queued, RecordFault, Recorder, close_open_intents};
pub use row::{Digests, Kind, Row};
