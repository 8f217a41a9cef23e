//! Hostile and odd peers, and fakes shared by tests.
//!
//! [`Upstream`] is an MCP server whose tools do what a test scripts: [`Behaviour`] lists what real servers do, and what
//! none should; [`RawUpstream`] answers calls with any bytes. [`Client`] sends exact bytes and headers; [`RmcpClient`] is the
//! official Rust SDK; [`mod@bench`] is what `make bench` measures with; [`ModelServer`] is a model's service. All stay on
//! loopback. Nothing here waits for a length of time: a test opens a [`Latch`], or waits for
//! what it wants to see.

mod behaviour;
pub mod bench;
mod call;
mod client;
mod ears;
mod events;
#[cfg(feature = "sdk")]
pub mod everything;
mod latch;
mod model;
mod raw;
mod respond;
#[cfg(feature = "sdk")]
mod rmcp_client;
#[cfg(feature = "sdk")]
mod rmcp_sign_in;
mod seen;
mod serving;
mod upstream;

pub use behaviour::Behaviour;
pub use call::Call;
pub use client::{Client, ClientFault, Reply};
pub use ears::Ears;
pub use events::Events;
pub use latch::Latch;
pub use model::{MODEL_KEY, ModelAnswer, ModelApi, ModelRequest, ModelServer, Script};
pub use raw::{RawUpstream, Step};
#[cfg(feature = "sdk")]
pub use rmcp_client::{RmcpClient, RmcpFault, RmcpHearing};
#[cfg(feature = "sdk")]
pub use rmcp_sign_in::{RmcpRegistration, RmcpSignIn};
pub use seen::Seen;
pub use serving::Serving;
pub use upstream::Upstream;
