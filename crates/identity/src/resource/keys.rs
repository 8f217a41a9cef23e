//! Keys of issuers (RFC 7517).

use std::sync::Arc;

use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::{Jwk, JwkSet, KeyOperations, PublicKeyUse};
use serde_json::Value;

use super::fetch::FetchFault;
use super::{SigningAlgorithm, algorithm, refused, shown, unique};
use crate::Unauthenticated;

/// The most keys that a set may hold.
const MOST_KEYS: usize = 32;

/// Whom a token came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Whom it is of.
    pub sub: &'a str,
    /// The grant that it came from, where it names one.
    pub grant: Option<&'a str>,
    /// The clients that got it by exchange, the last one first (RFC 8693 §4.1).
    pub actors: &'a [String],
}

/// The keys and the grants of an authorization server that runs in this process.
pub trait HeldKeys: Send + Sync {
    /// Its public keys: those that it signs with, and those whose tokens may still be about.
    fn jwks(&self) -> Arc<JwkSet>;

    /// Whether all whom a token came from still stand. Asked at each use of a token.
    fn stands(&self, origin: &Origin<'_>) -> bool;

    /// Whether what was revoked is known. While it is not, nobody stands.
    fn is_current(&self) -> bool;
}

/// Reads a set. A key of no kind that is used here is left out: it may have come later.
pub(super) fn parse(bytes: &[u8]) -> Result<JwkSet, FetchFault> {
    let mut set = unique::object(bytes).map_err(FetchFault::Json)?;
    let Some(Value::Array(listed)) = set.remove("keys") else { return Err(FetchFault::NoKeys) };
    if listed.len() > MOST_KEYS {
        return Err(FetchFault::ManyKeys { found: listed.len(), most: MOST_KEYS });
    }
    let keys = listed.into_iter().filter_map(|key| serde_json::from_value(key).ok());
    let keys: Vec<Jwk> = keys.filter(is_usable).collect();
    if keys.is_empty() { Err(FetchFault::NoKeys) } else { Ok(JwkSet { keys }) }
}

fn is_usable(key: &Jwk) -> bool {
    SigningAlgorithm::ALL.into_iter().any(|one| one.key() == algorithm::kind(key))
}

/// Whether the set says nothing of a key of this name.
pub(super) fn lacks(set: &JwkSet, id: Option<&str>) -> bool {
    id.is_some_and(|id| !set.keys.iter().any(|key| key.common.key_id.as_deref() == Some(id)))
}

/// The one key of the name that can have signed with the algorithm. A token without a name is taken where only one key could
/// have.
pub(super) fn find(
    set: &JwkSet,
    id: Option<&str>,
    signed_with: SigningAlgorithm,
) -> Result<DecodingKey, Unauthenticated> {
    let told = || id.map_or_else(|| "a key without name".to_owned(), |id| format!("the key `{}`", shown(id)));
    if lacks(set, id) {
        return Err(refused(format!("its issuer does not have {}", told())));
    }
    let named = |key: &&Jwk| id.is_none() || key.common.key_id.as_deref() == id;
    let mut fit = set.keys.iter().filter(named).filter(|key| fits(key, signed_with));
    match (fit.next(), fit.next()) {
        (Some(key), None) => DecodingKey::from_jwk(key)
            .map_err(|_| refused(format!("{} of its issuer cannot be read", told()))),
        (Some(_), Some(_)) => Err(refused(format!("its issuer has {} more than once", told()))),
        (None, _) => {
            let found: Vec<_> = set.keys.iter().filter(named).map(described).collect();
            let (alg, expected) = (signed_with.name(), signed_with.key());
            let found = found.join(", ");
            Err(refused(format!("{} is {found}; `{alg}` needs {expected} for signatures", told())))
        }
    }
}

/// What kind of key it is, and what it says that it is for.
fn described(key: &Jwk) -> String {
    let mut told = algorithm::kind(key).to_owned();
    if let Some(named) = key.common.key_algorithm {
        told.push_str(&format!(" for {named}"));
    }
    if key.common.public_key_use.as_ref().is_some_and(|used| *used != PublicKeyUse::Signature) {
        told.push_str(", not for signatures");
    }
    told
}

fn fits(key: &Jwk, signed_with: SigningAlgorithm) -> bool {
    let common = &key.common;
    let operations = common.key_operations.as_ref();
    algorithm::kind(key) == signed_with.key()
        && common.key_algorithm.is_none_or(|named| signed_with.is(named))
        && common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature)
        && operations.is_none_or(|allowed| allowed.contains(&KeyOperations::Verify))
}
