//! The three servers as their clients see them: raw HTTP, `rmcp`'s client, stdio, restarts, and the boundaries.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod boundaries;
mod client;
mod contract;
mod eval;
mod features;
mod listen;
mod orders;
mod protocol;
mod restart;
mod site;
mod stdio;
mod transport;
