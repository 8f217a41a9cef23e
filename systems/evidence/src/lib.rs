//! The evidence server: what a host knows about the tools that it governs, as five read-only MCP tools.
//!
//! `lookup_contract`, `query_drift`, `fetch_audit`, `simulate_repair` and `coverage_report` answer for the tenant of the
//! authenticated reader alone. [`Endpoint`] serves them over Streamable HTTP and [`serve_stdio`] over stdio, to clients of
//! MCP 2026-07-28 and to those that begin with `initialize`, without sessions.
//!
//! **Invariant:** no answer changes anything: the server holds a [`Source`] to read from and locks in memory, and neither
//! it nor a crate that it depends on has a client of any upstream.
//!
//! **Invariant:** the tenant comes from the [`Reader`] alone; no argument names one, and what belongs to another tenant is
//! answered like what does not exist.

mod answer;
mod answers;
mod arguments;
mod endpoint;
mod era;
mod fault;
mod reader;
mod server;
mod shelf;
mod source;
mod stdio;
mod stored;
mod tools;

pub use aldgate_wire::head::Doors;
pub use endpoint::{Bounds, Endpoint};
pub use reader::{Admission, Denied, Reader};
pub use server::EvidenceServer;
pub use shelf::Shelf;
pub use source::{Artefact, ArtefactKind, DriftEvent, Observed, Source, Unavailable};
pub use stdio::{StdioFault, serve_stdio};
pub use stored::Stored;
pub use tools::ToolsFault;

/// What the server calls itself, and the upstream that its tools' signatures name.
pub const SERVER_NAME: &str = "aldgate.evidence";
