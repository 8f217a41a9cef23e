//! Canonical form, digests and locks of tool contracts, without I/O.
//!
//! A contract is a tool's whole definition as its upstream served it when a person accepted it. A [`Lock`] pins the
//! contracts of one upstream; the gateway serves the pinned bytes, and [`Lock::verify`] tells how the live list differs.
//!
//! **Invariant:** what is served is what was pinned, byte by byte: a lock whose text no longer gives the recorded
//! digests is refused.

mod canonical;
mod digest;
mod layout;
mod lock;

pub use canonical::{CanonicalFault, Fingerprint, canonical, fingerprint};
pub use digest::{Digest, DigestFault};
pub use lock::{FORMAT, Finding, Lock, LockFault, Past, Pin, PinFault, UpstreamIdentity};
