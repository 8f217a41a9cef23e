//! Canonical form, digests and locks of contracts, without I/O.
//!
//! A contract is the whole definition of a tool, resource template or prompt as its upstream served it when a person
//! accepted it. A [`Lock`] pins the
//! contracts of one upstream; the gateway serves the pinned bytes, and [`Lock::verify`] tells how the live list differs.
//!
//! **Invariant:** what is served is what was pinned, byte by byte: a lock whose text no longer gives the recorded
//! digests is refused.

pub mod diff;
pub mod poison;
pub mod rename;
pub mod repair;
pub mod signature;

mod canonical;
mod digest;
mod fields;
mod kind;
mod layout;
mod lock;
mod pointer;
mod schema;

pub use canonical::{CanonicalFault, Fingerprint, canonical, fingerprint};
pub use digest::{Digest, DigestFault};
pub use fields::field_digests;
pub use kind::{Item, Kind};
pub use lock::{
    Acceptance, FORMAT, Finding, Lineage, Live, Lock, LockFault, Past, Pin, PinFault, Pins, State,
    UpstreamIdentity,
};
pub use schema::{SchemaFault, Validator};
