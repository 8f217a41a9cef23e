#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::canonical::{self, CanonicalFault};
use crate::digest::Digest;

/// The digest of the canonical form (RFC 8785) of each member of a definition, by the member's name, so that a change
/// can be named by digests alone.
///
/// # Errors
/// As [`canonical()`](crate::canonical()).
pub fn field_digests(definition: &str) -> Result<BTreeMap<String, Digest>, CanonicalFault> {
    canonical::parse(definition)?
        .into_iter()
        .map(|(name, value)| Ok((name, Digest::of(canonical::form(&value)?))))
        .collect()
}
