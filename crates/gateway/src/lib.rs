//! The gateway: one governed call from its head to its response.
//!
//! [`Gateway::start`] puts it together, [`Gateway::router`] is the endpoint for agents and [`Gateway::admin_router`] the
//! API for approvers, auditors and operators. The journey itself is told in `journey.rs`.
//!
//! **Invariant:** an upstream is called only under a [`Permit`] (a client's call) or a [`HostFetch`] (the gateway's own
//! list and discover requests).

mod admin;
mod approve;
mod catalog;
mod chain;
mod clock;
mod decide;
mod gate;
mod gateway;
mod head;
mod identify;
mod journey;
mod kept;
mod line;
mod listen;
mod metadata;
mod observe;
mod permit;
mod pinning;
mod receive;
mod record;
mod refusal;
mod reply;
mod review;
mod rule;
mod scope;
mod serving;
pub mod settings;
mod shares;
mod snapshot;
mod trail;
mod unread;
mod upstream;
mod view;

pub use catalog::{CatalogFault, DriftLogFault, HostFetch, LiveFault, ToolFault, concern, quoted};
pub use decide::{Approvals, DecisionFault, Earlier, Pending, Seen, SeenEntry, Waiting};
pub use gate::Gate;
pub use gateway::{Gateway, Parts, Recovered, Reloader, StartFault};
pub use line::Line;
pub use permit::Permit;
pub use pinning::{LiveContracts, fetch_live, pin_live};
pub use review::{Reviewed, ReviewedPrompt, ReviewedResource, ReviewedTool, review};
pub use snapshot::{ConfigurationSource, Configured};
pub use trail::Trail;
pub use upstream::{ExchangeFault, Outcome, TransportFault};
pub use view::{Beside, Shown, View};
