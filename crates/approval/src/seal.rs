//! Authenticated encryption for what leaves the gateway and comes back: AES-256-GCM (NIST SP 800-38D).

#[cfg(test)]
mod tests;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};

/// Bytes of randomness that each sealing takes.
pub const NONCE_BYTES: usize = NONCE_LEN;

/// Why something could not be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum SealFault {
    /// The secret is too short to make a key of.
    #[error("the sealing secret has {found} bytes, at least 32 are needed")]
    ShortSecret {
        /// Bytes found.
        found: usize,
    },
    /// Altered, sealed with another key, or for another purpose.
    #[error(
        "the sealed value does not open: it was altered, or sealed by another gateway or for another purpose"
    )]
    Altered,
    /// The cipher refused to work.
    #[error("the value could not be sealed")]
    Cipher,
}

/// A key for sealing, derived from a secret. Its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct SealKey(std::sync::Arc<LessSafeKey>);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SealKey(…)")
    }
}

impl SealKey {
    /// Derives a key from a secret of at least 32 bytes with high entropy.
    ///
    /// # Errors
    /// Where the secret is shorter.
    pub fn derive(secret: &[u8]) -> Result<Self, SealFault> {
        if secret.len() < 32 {
            return Err(SealFault::ShortSecret { found: secret.len() });
        }
        let mut hash = Sha256::new();
        hash.update(b"aldgate sealing key v1\0");
        hash.update(secret);
        let key = UnboundKey::new(&AES_256_GCM, &hash.finalize()).map_err(|_| SealFault::Cipher)?;
        Ok(Self(std::sync::Arc::new(LessSafeKey::new(key))))
    }

    /// Seals `plain` for `purpose`; `nonce` must be fresh random bytes. Returns nonce and ciphertext in one.
    ///
    /// # Errors
    /// Where the cipher refuses, which needs an input of many gigabytes.
    pub fn seal(&self, purpose: &str, nonce: [u8; NONCE_BYTES], plain: &[u8]) -> Result<Vec<u8>, SealFault> {
        let mut sealed = plain.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(unique, Aad::from(purpose.as_bytes()), &mut sealed)
            .map_err(|_| SealFault::Cipher)?;
        let mut out = nonce.to_vec();
        out.append(&mut sealed);
        Ok(out)
    }

    /// Opens what [`Self::seal`] made for the same purpose.
    ///
    /// # Errors
    /// Where a bit of it differs, or key or purpose are others.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, SealFault> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(SealFault::Altered)?;
        let mut plain = ciphertext.to_vec();
        let length = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(purpose.as_bytes()), &mut plain)
            .map_err(|_| SealFault::Altered)?
            .len();
        plain.truncate(length);
        Ok(plain)
    }
}
