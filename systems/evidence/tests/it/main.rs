//! The evidence server, as its clients meet it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod fake;
mod world;

mod alone;
mod answers;
mod arguments;
mod clients;
mod document;
mod eras;
mod hostile;
mod layers;
mod listing;
mod stdio;
mod tenants;
mod transport;
