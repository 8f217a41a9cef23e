//! Access tokens of authorization servers, checked at a protected resource (RFC 9068, RFC 7662, RFC 9449).
//!
//! [`Verifier`] knows the issuers that the operator trusts and no others: a token of another issuer is refused before
//! anything is fetched. [`TableFirst`] puts the configured tokens beside it. [`metadata()`] is what a door says of itself.

mod algorithm;
mod claims;
mod fetch;
mod header;
mod introspection;
mod jws;
mod kept;
mod keys;
mod mapping;
mod metadata;
mod remote;
mod settings;
mod table_first;
#[cfg(test)]
mod tests;
mod unique;
mod verifier;

pub use algorithm::SigningAlgorithm;
pub use keys::{HeldKeys, Origin};
pub use metadata::{METADATA, metadata, metadata_path, metadata_url};
pub use settings::{
    ClaimName, ClaimNames, Introspection, Issuer, KeySource, ProofRule, Settings, SettingsFault, Tenants,
};
pub use table_first::TableFirst;
pub use verifier::Verifier;

use crate::Unauthenticated;

/// A refusal; `told` is what was found and what was expected.
fn refused(told: impl Into<String>) -> Unauthenticated {
    Unauthenticated::Refused(told.into())
}

/// What was sent, fit to be shown: 64 printable characters at most.
fn shown(text: &str) -> String {
    crate::shown::shown(&text.replace('`', ""), 64)
}
