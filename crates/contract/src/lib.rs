//! Canonical form, digests and locks of contracts, without I/O.
//!
//! A contract is the whole definition of a tool, resource template or prompt as its upstream served it when a person
//! accepted it. A [`Lock`] pins the
//! contracts of one upstream; the gateway serves the pinned bytes, and [`Lock::verify`] tells how the live list differs.
//!
//! **Invariant:** what is served is what was pinned, byte by byte: a lock whose text no longer gives the recorded
//! digests is refused.

mod canonical;
mod digest;
mod kind;
mod layout;
mod lock;

pub use canonical::{CanonicalFault, Fingerprint, canonical, fingerprint};
pub use digest::{Digest, DigestFault};
pub use kind::{Item, Kind};
pub use lock::{FORMAT, Finding, Live, Lock, LockFault, Past, Pin, PinFault, Pins, State, UpstreamIdentity};
