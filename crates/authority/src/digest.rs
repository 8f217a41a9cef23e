use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// SHA-256 over the RFC 8785 form of `value`, written `sha256:<hex>`.
pub(crate) fn canonical(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let bytes = serde_json_canonicalizer::to_vec(value)?;
    Ok(format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
}

/// Whether `text` has the form `sha256:<64 lower-case hex digits>`.
pub(crate) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
    })
}
