//! The binary from outside: the demonstration, real clients, and the commands.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod clients;
mod collector;
mod commands;
mod configuration;
mod connections;
mod contracts;
mod demo;
mod dev;
mod durable;
mod evidence;
mod failures;
mod host;
mod identity;
mod kinds;
mod planners;
mod rmcp;
mod running;
mod terminal;
mod tracing;
mod upstream;
mod usage;
