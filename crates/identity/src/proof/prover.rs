//! A client that makes proofs, for tests.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use time::OffsetDateTime;

/// Holds a private key.
pub(crate) enum Prover {
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl Prover {
    pub(crate) fn p256() -> Self {
        Self::P256(Box::new(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("key")))
    }

    pub(crate) fn ed25519() -> Self {
        Self::Ed25519(Box::new(Ed25519KeyPair::generate().expect("key")))
    }

    pub(crate) fn jwk(&self) -> Value {
        match self {
            Self::P256(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": b64(&point[1..33]), "y": b64(&point[33..65])})
            }
            Self::Ed25519(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": b64(pair.public_key().as_ref())})
            }
        }
    }

    pub(crate) fn header(&self) -> Value {
        let alg = if matches!(self, Self::P256(_)) { "ES256" } else { "EdDSA" };
        json!({"typ": "dpop+jwt", "alg": alg, "jwk": self.jwk()})
    }

    /// Claims of a proof for such a request.
    pub(crate) fn claims(method: &str, url: &str, jti: &str, now: OffsetDateTime) -> Value {
        json!({"jti": jti, "htm": method, "htu": url, "iat": now.unix_timestamp()})
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", b64(header.to_string().as_bytes()), b64(claims.to_string().as_bytes()));
        let signature = match self {
            Self::P256(pair) => {
                pair.sign(&SystemRandom::new(), signed.as_bytes()).expect("signed").as_ref().to_vec()
            }
            Self::Ed25519(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", b64(&signature))
    }

    /// A good proof, with no access token.
    pub(crate) fn proof(&self, method: &str, url: &str, jti: &str, now: OffsetDateTime) -> String {
        self.sign(&self.header(), &Self::claims(method, url, jti, now))
    }
}

fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
