//! The gateway over real HTTP: each test is named for the rule that it shows.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod approvals;
mod as_client;
mod as_server;
mod beside;
mod bounds;
mod callers;
mod contracts;
mod credentials;
mod crossing;
mod drift;
mod evidence;
mod failures;
mod fake;
mod hostile;
mod identities;
mod journey;
mod kinds;
mod library;
mod listening;
mod load;
mod lossless;
mod observing;
mod permits;
mod reading;
mod reload;
mod rounds;
mod rulings;
mod scopes;
mod store;
mod streaming;
mod tenants;
mod world;
