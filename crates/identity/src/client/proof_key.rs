//! What binds an answer to the one who asked: PKCE (RFC 7636) and `state`.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use sha2::{Digest as _, Sha256};

use super::secret::Secret;

/// The system's random source does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system's random source does not work")]
pub struct NoRandomness;

/// 256 random bits as base64url, 43 letters.
pub(super) fn random_text() -> Result<Secret, NoRandomness> {
    let mut bytes = zeroize::Zeroizing::new([0_u8; 32]);
    aws_lc_rs::rand::fill(bytes.as_mut_slice()).map_err(|_| NoRandomness)?;
    Ok(Secret::new(BASE64URL.encode(bytes.as_slice())))
}

/// The challenge of a verifier, method `S256` (RFC 7636 §4.2).
pub(super) fn challenge_of(verifier: &Secret) -> String {
    BASE64URL.encode(Sha256::digest(verifier.expose().as_bytes()))
}
