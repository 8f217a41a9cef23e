//! Proofs of possession, from the client's side (RFC 9449).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use http::HeaderValue;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::address::without_secrets;
use super::proof_key::{NoRandomness, random_text};
use super::secret::Secret;

/// A key whose possession is proven: ECDSA on P-256, and `ES256` for every proof. Its `Debug` does not show it.
#[derive(Clone)]
pub struct DpopKey {
    pair: Arc<EcdsaKeyPair>,
    document: Secret,
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DpopFault {
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// The kept key cannot be read.
    #[error("the key that tokens are bound to cannot be read; sign in again")]
    Key,
    /// A proof is about a URL.
    #[error("`{0}` is no URL that possession could be proven for")]
    Url(String),
}

impl std::fmt::Debug for DpopKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("DpopKey")
    }
}

impl DpopKey {
    /// Makes a key.
    ///
    /// # Errors
    /// Where the system's random source does not work.
    pub fn generate() -> Result<Self, DpopFault> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let document = made.map_err(|_| NoRandomness)?;
        Self::read(Secret::new(BASE64URL.encode(document.as_ref())))
    }

    /// Reads a key that was kept: PKCS #8 as base64url.
    pub(super) fn read(document: Secret) -> Result<Self, DpopFault> {
        let bytes = zeroize::Zeroizing::new(BASE64URL.decode(document.expose()).map_err(|_| DpopFault::Key)?);
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &bytes).map_err(|_| DpopFault::Key)?;
        Ok(Self { pair: Arc::new(pair), document })
    }

    /// The key, to be kept.
    pub(super) const fn document(&self) -> &Secret {
        &self.document
    }

    /// A proof for one request, fresh for each: for the method, the URL without query and fragment, a nonce that the
    /// server asked for, and the access token that goes with it.
    ///
    /// # Errors
    /// Where the URL is none, or the system's random source does not work.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        nonce: Option<&str>,
        token: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<HeaderValue, DpopFault> {
        let url = url::Url::parse(url).map_err(|_| DpopFault::Url(super::address::shown(url)))?;
        let mut claims = json!({
            "jti": random_text()?.expose(),
            "htm": method,
            "htu": without_secrets(&url),
            "iat": now.unix_timestamp(),
        });
        if let Some(members) = claims.as_object_mut() {
            members.extend(nonce.map(|nonce| ("nonce".to_owned(), nonce.into())));
            let hash = |token: &str| BASE64URL.encode(Sha256::digest(token.as_bytes()));
            members.extend(token.map(|token| ("ath".to_owned(), hash(token).into())));
        }
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk()? });
        let signed =
            format!("{}.{}", BASE64URL.encode(header.to_string()), BASE64URL.encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| NoRandomness)?;
        let proof = format!("{signed}.{}", BASE64URL.encode(signature.as_ref()));
        HeaderValue::from_str(&proof).map_err(|_| DpopFault::Key)
    }

    /// The public key (RFC 7518 §6.2): what its uncompressed form holds behind the first byte.
    fn jwk(&self) -> Result<serde_json::Value, DpopFault> {
        let point = self.pair.public_key().as_ref();
        match (point.get(1..33), point.get(33..65)) {
            (Some(x), Some(y)) => {
                Ok(json!({ "kty": "EC", "crv": "P-256", "x": BASE64URL.encode(x), "y": BASE64URL.encode(y) }))
            }
            _ => Err(DpopFault::Key),
        }
    }
}
