//! What only this server could have written: tags over values that come back from browsers.

use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::Fault;

/// The key of all tags. Each tag is for one purpose and over parts that cannot be shifted against each other.
pub(super) struct Keys(hmac::Key);

impl Keys {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The tag of `parts` for this purpose, base64url.
    pub(super) fn tag(&self, purpose: &str, parts: &[&[u8]]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
            context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(part);
        }
        URL_SAFE_NO_PAD.encode(context.sign())
    }

    /// Whether `sent` is the tag, in a time that does not depend on it.
    pub(super) fn is_tag(&self, purpose: &str, parts: &[&[u8]], sent: &str) -> bool {
        same(&self.tag(purpose, parts), sent)
    }
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(one.as_bytes(), other.as_bytes()).is_ok()
}

/// Random bytes.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Fault> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Fault::Randomness)?;
    Ok(bytes)
}

/// Random bytes, base64url.
pub(super) fn random_text<const N: usize>() -> Result<String, Fault> {
    Ok(URL_SAFE_NO_PAD.encode(random::<N>()?))
}

/// What the store keeps of a session's id: who reads the file cannot use the session.
pub(super) fn session_hash(id: &str) -> Vec<u8> {
    Sha256::digest(id.as_bytes()).to_vec()
}

/// A time as the store keeps it: milliseconds since 1970.
pub(crate) fn stored(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).unwrap_or(i64::MAX)
}

/// A time of the store. What no calendar has is the beginning of 1970: long over.
pub(crate) fn kept(at: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// A span as the store counts it.
pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
