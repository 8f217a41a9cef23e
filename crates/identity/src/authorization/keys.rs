//! The keys that sign access tokens: ES256, sealed in the store. One signs; those before it verify until the last token of
//! theirs has expired.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aldgate_approval::SealKey;
use aldgate_store::StoreFault;
use aldgate_store::identity::{IdentityStore, StoredKey};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use super::{millis, random};

const PURPOSE: &str = "token signing key";
/// How much longer than its last token a key verifies: clocks differ.
const MARGIN: Duration = Duration::minutes(2);

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub enum KeysFault {
    /// The store does not give or take one.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A key was sealed with another secret.
    #[error("the signing key `{kid}` does not open; was the gateway's sealing secret changed?")]
    Sealed {
        /// The key.
        kid: String,
        /// What the cipher said.
        source: aldgate_approval::SealFault,
    },
    /// A key could not be made, or is none.
    #[error("the signing key cannot be made or read")]
    Key,
}

/// The keys as they are now.
pub(super) struct Keys {
    kid: String,
    signing: EncodingKey,
    verifying: Arc<JwkSet>,
}

impl Keys {
    /// Reads the keys of the store, and makes the first where there is none.
    pub(super) async fn load(
        store: &IdentityStore,
        seal: &SealKey,
        longest_token: Duration,
        now: OffsetDateTime,
    ) -> Result<Self, KeysFault> {
        let mut stored = store.signing_keys().await?;
        if !stored.iter().any(|key| key.retired_at.is_none()) {
            add(store, seal, longest_token, now, true).await?;
            stored = store.signing_keys().await?;
        }
        Self::of(&stored, seal, longest_token, now)
    }

    /// Whether these are the keys that the store has.
    pub(super) async fn are_those_of(&self, store: &IdentityStore) -> Result<bool, StoreFault> {
        Ok(store.signing_keys().await?.first().is_some_and(|key| key.kid == self.kid))
    }

    fn of(
        stored: &[StoredKey],
        seal: &SealKey,
        longest_token: Duration,
        now: OffsetDateTime,
    ) -> Result<Self, KeysFault> {
        let mut signing = None;
        let mut keys = Vec::new();
        let expired = millis(now - longest_token - MARGIN);
        for key in stored.iter().filter(|key| key.retired_at.is_none_or(|at| at > expired)) {
            let opened = seal.open(PURPOSE, &key.sealed);
            let opened = opened.map_err(|source| KeysFault::Sealed { kid: key.kid.clone(), source })?;
            let opened = Zeroizing::new(opened);
            let private = EncodingKey::from_ec_der(&opened);
            keys.push(public(&private)?);
            if key.retired_at.is_none() && signing.is_none() {
                signing = Some((key.kid.clone(), private));
            }
        }
        let (kid, signing) = signing.ok_or(KeysFault::Key)?;
        Ok(Self { kid, signing, verifying: Arc::new(JwkSet { keys }) })
    }

    /// The public keys, with their ids.
    pub(super) fn public(&self) -> Arc<JwkSet> {
        Arc::clone(&self.verifying)
    }

    /// Signs claims as an access token (RFC 9068 §2.1).
    pub(super) fn sign(&self, claims: &impl Serialize) -> Result<String, KeysFault> {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some("at+jwt".to_owned());
        header.kid = Some(self.kid.clone());
        jsonwebtoken::encode(&header, claims, &self.signing).map_err(|_| KeysFault::Key)
    }

    /// The claims of an access token that one of these keys signed. Nothing of them is checked.
    pub(super) fn verify<T: DeserializeOwned + Clone>(&self, token: &str) -> Option<T> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.typ.as_deref() != Some("at+jwt") || header.alg != Algorithm::ES256 {
            return None;
        }
        let key = DecodingKey::from_jwk(self.verifying.find(header.kid.as_deref()?)?).ok()?;
        Some(jsonwebtoken::decode::<T>(token, &key, &signature_alone(Algorithm::ES256)).ok()?.claims)
    }
}

/// Lets the library check the signature with this algorithm, and nothing else: times are checked against a clock that is
/// passed in.
pub(super) fn signature_alone(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

/// Makes a new key that signs from now on. With `only_first`, only where there is none.
pub(super) async fn add(
    store: &IdentityStore,
    seal: &SealKey,
    longest_token: Duration,
    now: OffsetDateTime,
    only_first: bool,
) -> Result<Option<String>, KeysFault> {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(|_| KeysFault::Key)?;
    let document = pair.to_pkcs8v1().map_err(|_| KeysFault::Key)?;
    let jwk = public(&EncodingKey::from_ec_der(document.as_ref()))?;
    let kid = jwk.common.key_id.ok_or(KeysFault::Key)?;
    let nonce = random().map_err(|_| KeysFault::Key)?;
    let sealed = seal.seal(PURPOSE, nonce, document.as_ref()).map_err(|_| KeysFault::Key)?;
    let key = StoredKey { kid: kid.clone(), sealed, created_at: millis(now), retired_at: None };
    let added = store.add_signing_key(&key, only_first, millis(now - longest_token - MARGIN)).await?;
    Ok(added.then_some(kid))
}

fn public(private: &EncodingKey) -> Result<Jwk, KeysFault> {
    let mut jwk = Jwk::from_encoding_key(private, Algorithm::ES256).map_err(|_| KeysFault::Key)?;
    jwk.common.public_key_use = Some(PublicKeyUse::Signature);
    jwk.common.key_id = Some(jwk.thumbprint(ThumbprintHash::SHA256).map_err(|_| KeysFault::Key)?);
    Ok(jwk)
}
