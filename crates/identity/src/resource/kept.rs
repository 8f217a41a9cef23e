//! What was found out about tokens, kept by their hash until they expire.
//!
//! It is given out again only while the keys that it was checked with are fresh and still the issuer's. What can change at any
//! moment, a revoked grant and a proof of possession, is not in it: that is asked at each use.

use std::sync::Arc;

use jsonwebtoken::jwk::JwkSet;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use crate::{Door, Identity, Unauthenticated};

/// A token that was found good.
pub(super) struct Good {
    pub(super) identity: Identity,
    /// Its issuer, by its place in the settings.
    pub(super) issuer: usize,
    /// The key that it is bound to.
    pub(super) bound: Option<String>,
    pub(super) grant: Option<String>,
    pub(super) actors: Vec<String>,
    /// The keys that it was checked with; none where its issuer was asked.
    pub(super) keys: Option<Arc<JwkSet>>,
}

/// What is known of a token.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) found: Result<Arc<Good>, Unauthenticated>,
    pub(super) until: OffsetDateTime,
}

/// The hash of a token at a door.
pub(super) type Name = [u8; 32];

pub(super) fn name(token: &str, door: Door) -> Name {
    let door = match door {
        Door::Mcp => b'm',
        Door::Evidence => b'e',
        Door::Admin => b'a',
        Door::Decisions => b'd',
    };
    Sha256::new().chain_update([door]).chain_update(token).finalize().into()
}

/// A bounded memory of tokens. None of it is ever written.
pub(super) struct Kept(Cache<Name, Known>);

impl Kept {
    pub(super) fn new(most: u64) -> Self {
        Self(Cache::new(most))
    }

    pub(super) fn get(&self, name: &Name, now: OffsetDateTime) -> Option<Known> {
        let known = self.0.get(name)?;
        if now < known.until {
            return Some(known);
        }
        self.0.invalidate(name);
        None
    }

    pub(super) fn keep(&self, name: Name, known: Known) {
        self.0.insert(name, known);
    }
}
