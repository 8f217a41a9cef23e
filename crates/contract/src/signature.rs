//! Reviewers' signatures of contracts: Ed25519, one detached JWS (RFC 7515 appendix F, RFC 8037) for each contract.
//!
//! A reviewer's [`SigningKey`] stays off the machines that serve; a [`Keyring`] holds public keys alone. A contract has
//! one signature: a key is replaced by adding the new one, signing anew, and taking the old one out. Revoking is
//! stronger: a revoked id, or thumbprint, refuses wherever its key is listed.
//!
//! The algorithm is written `EdDSA`. RFC 9864 has the narrower `Ed25519`, which JOSE libraries in wide use do not know
//! yet; since a [`PublicKey`] is on that curve and no other, the older word leaves nothing open.
//!
//! **Invariant:** the header of a signature chooses among the keys of the keyring, and nothing else: one algorithm, one
//! `typ` for each kind of statement, keys in the header are never used, and an extension marked critical refuses.

#[cfg(test)]
mod tests;

mod jwk;
mod jws;
mod key;
mod keyring;
mod manifest;

use serde_json::{Map, Value};

use crate::digest::Digest;
use crate::kind::Kind;

pub use jwk::KeyFault;
pub use jws::SignatureFault;
pub use key::{PublicKey, SigningKey};
pub use keyring::{Keyring, KeyringFault};
pub use manifest::{Manifest, ManifestFault};

/// What a signature says: this contract was reviewed. Its JCS bytes are the payload of the JWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// What the contract is of; with the name, the member `tool`, `resource_template` or `prompt` of the payload.
    pub kind: Kind,
    /// The item's name.
    pub name: &'a str,
    /// The contract's version.
    pub version: u32,
    /// Of the canonical form.
    pub digest: Digest,
}

impl Statement<'_> {
    /// The signed bytes: `{"digest", "tool" | "resource_template" | "prompt", "upstream", "version"}` in canonical form
    /// (RFC 8785).
    #[must_use]
    pub fn payload(&self) -> String {
        let item = match self.kind {
            Kind::Tool => "tool",
            Kind::ResourceTemplate => "resource_template",
            Kind::Prompt => "prompt",
        };
        // Members in the order of RFC 8785; of strings and integers that fit, serde_json writes what it prescribes.
        let members = Map::from_iter([
            ("digest".to_owned(), Value::from(self.digest.to_string())),
            (item.to_owned(), Value::from(self.name)),
            ("upstream".to_owned(), Value::from(self.upstream)),
            ("version".to_owned(), Value::from(self.version)),
        ]);
        Value::Object(members).to_string()
    }
}
