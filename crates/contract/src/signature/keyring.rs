use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::jws::{CONTRACT, SignatureFault, Unchecked};
use super::key::PublicKey;
use super::{Manifest, Statement, manifest};

/// Public keys by id, and those that no longer count.
#[derive(Debug, Clone, Default)]
pub struct Keyring {
    keys: BTreeMap<String, PublicKey>,
    revoked: BTreeSet<String>,
}

/// Keys that cannot be told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringFault {
    /// Two keys have one id.
    #[error("two keys have the id `{kid}`; give each its own `kid`, or leave it out")]
    RepeatedId {
        /// The id.
        kid: String,
    },
    /// One key has two ids, so that revoking one would leave the other.
    #[error("the keys `{kid}` and `{other}` are one key; list it once")]
    RepeatedKey {
        /// One id.
        kid: String,
        /// The other.
        other: String,
    },
}

impl Keyring {
    /// A keyring of these keys. What is revoked is named by a key's id or by its thumbprint; the key itself need not be
    /// listed any more.
    ///
    /// # Errors
    /// Two keys with one id, or one key with two.
    pub fn new(
        keys: impl IntoIterator<Item = PublicKey>,
        revoked: impl IntoIterator<Item = String>,
    ) -> Result<Self, KeyringFault> {
        let mut keyring = Self { keys: BTreeMap::new(), revoked: revoked.into_iter().collect() };
        for key in keys {
            let kid = key.kid().to_owned();
            if keyring.keys.contains_key(&kid) {
                return Err(KeyringFault::RepeatedId { kid });
            }
            if let Some(other) = keyring.keys.values().find(|other| other.is_same_point(&key)) {
                return Err(KeyringFault::RepeatedKey { kid, other: other.kid().to_owned() });
            }
            keyring.keys.insert(kid, key);
        }
        Ok(keyring)
    }

    /// Checks a signature; the id of the key that made it.
    ///
    /// # Errors
    /// A signature that is missing, malformed, by an unknown or revoked key, or of something else.
    pub fn verify(&self, statement: &Statement<'_>, jws: Option<&str>) -> Result<String, SignatureFault> {
        let jws = Unchecked::parse(jws.ok_or(SignatureFault::Missing)?, CONTRACT)?;
        self.check(&jws, Some(&statement.payload()))?;
        Ok(jws.kid)
    }

    /// Checks a signed manifest of renames; what it says and the id of the key that made it.
    ///
    /// # Errors
    /// As [`Keyring::verify`], and [`SignatureFault::Malformed`] where the payload is no manifest.
    pub fn manifest(&self, jws: &str) -> Result<(Manifest, String), SignatureFault> {
        let jws = Unchecked::parse(jws.trim(), manifest::TYPE)?;
        self.check(&jws, None)?;
        let malformed = |why| SignatureFault::Malformed { why };
        let payload = String::from_utf8(jws.payload()?).map_err(|_| malformed("the payload is not UTF-8"))?;
        let manifest = Manifest::parse(&payload).map_err(|_| {
            malformed("the payload is no manifest, or its renames are empty or not one to one")
        })?;
        Ok((manifest, jws.kid))
    }

    /// The keys that count, as a JSON Web Key Set (RFC 7517).
    #[must_use]
    pub fn jwks(&self) -> Value {
        let keys = self.keys.values().filter(|key| !self.is_revoked(key));
        json!({ "keys": keys.map(PublicKey::to_jwk).collect::<Vec<_>>() })
    }

    /// The ids of the keys that count.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.keys.values().filter(|key| !self.is_revoked(key)).map(PublicKey::kid)
    }

    /// What is revoked and is neither id nor thumbprint of a key that is listed.
    pub fn revoked_elsewhere(&self) -> impl Iterator<Item = &str> {
        let is_listed =
            |name: &str| self.keys.values().any(|key| key.kid() == name || key.thumbprint() == name);
        self.revoked.iter().map(String::as_str).filter(move |name| !is_listed(name))
    }

    /// Whether the key no longer counts, listed or not.
    #[must_use]
    pub fn is_revoked(&self, key: &PublicKey) -> bool {
        self.revoked.contains(key.kid()) || self.revoked.contains(&key.thumbprint())
    }

    fn check(&self, jws: &Unchecked<'_>, detached: Option<&str>) -> Result<(), SignatureFault> {
        let kid = || jws.kid.clone();
        if self.revoked.contains(&jws.kid) {
            return Err(SignatureFault::Revoked { kid: kid() });
        }
        let key = self.keys.get(&jws.kid).ok_or_else(|| SignatureFault::UnknownKey { kid: kid() })?;
        if self.is_revoked(key) {
            return Err(SignatureFault::Revoked { kid: kid() });
        }
        let (message, signature) = jws.signed(detached)?;
        if key.made(&message, signature) { Ok(()) } else { Err(SignatureFault::Mismatch { kid: kid() }) }
    }
}
