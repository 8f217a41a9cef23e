//! The field-service system: ticket history, parts and manuals as three MCP servers (revision 2026-07-28).
//!
//! [`FieldService::open`] opens or generates the data, [`FieldService::router`] serves all three over HTTP, and
//! [`FieldService::stdio`] serves one over standard input and output. All data is synthetic. A request takes this way:
//!
//! 1. `front` checks everything that the transport demands;
//! 2. `rmcp` runs the protocol;
//! 3. `handler` validates arguments against the contract and asks the desk;
//! 4. `desk` (one for each server) decides, `search` ranks, `order` asks a person;
//! 5. `store` reads and writes SQLite.

mod arguments;
mod content;
mod contracts;
mod desk;
mod front;
mod generate;
mod handler;
mod hub;
mod identity;
mod options;
mod order;
mod rng;
mod search;
mod service;
mod stdio;
mod store;

pub use content::ContentFault;
pub use contracts::{CONTRACTS, ContractFault};
pub use generate::{Progress, TICKETS};
pub use options::{Access, DEFAULT_SEED, DEFAULT_TICKETS, OpenFault, Options, ServerName, UnknownServer};
pub use order::{ORDER_FORM_KEY, ORDER_FORM_SCHEMA};
pub use service::FieldService;
pub use stdio::StdioFault;
pub use store::StoreFault;
