//! The key that a proof brings along.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::ProofFault;

/// Members that only private and symmetric keys have (RFC 7518 §6).
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A public key.
#[derive(Debug)]
pub(super) enum ProofKey {
    P256([u8; 32], [u8; 32]),
    Ed25519([u8; 32]),
}

impl ProofKey {
    /// Reads a JWK that fits the algorithm of the header.
    pub(super) fn read(algorithm: &str, jwk: &Map<String, Value>) -> Result<Self, ProofFault> {
        if PRIVATE.iter().any(|member| jwk.contains_key(*member)) {
            return Err(ProofFault::Key("holds a private or symmetric key; only the public one is sent"));
        }
        let text = |member: &str| jwk.get(member).and_then(Value::as_str);
        let number = |member: &str| {
            let bytes = text(member).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
            bytes
                .and_then(|bytes| bytes.try_into().ok())
                .ok_or(ProofFault::Key("holds no coordinates of 32 bytes each in base64url"))
        };
        match (algorithm, text("kty"), text("crv")) {
            ("ES256", Some("EC"), Some("P-256")) => Ok(Self::P256(number("x")?, number("y")?)),
            ("EdDSA", Some("OKP"), Some("Ed25519")) => Ok(Self::Ed25519(number("x")?)),
            _ => Err(ProofFault::Key("does not fit `alg`; expected P-256 for ES256, Ed25519 for EdDSA")),
        }
    }

    /// Whether `signature` is this key's over `signed`. A point that is not on the curve verifies nothing.
    pub(super) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::P256(x, y) => {
                let point = [&[4_u8][..], x, y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature).is_ok()
            }
            Self::Ed25519(x) => UnparsedPublicKey::new(&ED25519, x).verify(signed, signature).is_ok(),
        }
    }

    /// RFC 7638 §3: the required members in their order, hashed.
    pub(super) fn thumbprint(&self) -> String {
        let text = |number: &[u8; 32]| URL_SAFE_NO_PAD.encode(number);
        let canonical = match self {
            Self::P256(x, y) => {
                format!(r#"{{"crv":"P-256","kty":"EC","x":"{}","y":"{}"}}"#, text(x), text(y))
            }
            Self::Ed25519(x) => format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, text(x)),
        };
        URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.as_bytes()))
    }
}
