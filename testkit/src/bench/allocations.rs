//! Counts what a program allocates, in builds for measuring alone.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::signal::unix::{SignalKind, signal};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// At each SIGUSR1 a line on standard error says how often memory was taken since the program started. To be called within a
/// runtime.
pub fn tell_at_signal() {
    let mut asked = match signal(SignalKind::user_defined1()) {
        Ok(asked) => asked,
        Err(fault) => return eprintln!("allocations: not to be had, {fault}"),
    };
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            let stats = COUNTING.stats();
            eprintln!("allocations: {}", stats.allocations + stats.reallocations);
        }
    });
}
