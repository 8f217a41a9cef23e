//! `subscriptions/listen`: clients that hear of changes (MCP 2026-07-28, basic/patterns/subscriptions).
//!
//! A subscription is a [`Listener`] in [`Listeners`] and a stream of events. Who learns of a change marks the listeners
//! whom it concerns; each stream then looks at what is marked and tells its client. What is marked twice is told once, so
//! that nothing grows, however slow a client and however busy an upstream is.

mod listener;
mod opening;
mod stream;
mod wanted;

pub(crate) use listener::{Listener, Listeners, Seat};
pub(crate) use opening::{Opened, open};
pub(crate) use stream::response;
pub(crate) use wanted::{ListChange, Lists, Wanted};
