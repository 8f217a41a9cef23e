//! The agent against servers that speak raw MCP 2026-07-28.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod asking;
mod connecting;
mod fake;
mod field_service;
mod gate;
mod model;
mod model_faults;
mod pending;
mod planning;
mod reading;
mod retrying;
mod running;
mod tracing;
