//! The algorithms that an issuer may be trusted to sign with.

use jsonwebtoken::Algorithm;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An algorithm with a public key (RFC 7518 §3.1, RFC 8037 §3.1). Those with a shared secret, and `none`, cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum SigningAlgorithm {
    /// ECDSA with P-256 and SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// ECDSA with P-384 and SHA-384.
    #[serde(rename = "ES384")]
    Es384,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSASSA-PSS with SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// EdDSA with Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl SigningAlgorithm {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Es256, Self::Es384, Self::Rs256, Self::Ps256, Self::EdDsa];

    /// The one that `alg` names, to the letter.
    pub(super) fn named(alg: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == alg)
    }

    /// As it stands in `alg`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The kind of key that it needs.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Es256 => "P-256",
            Self::Es384 => "P-384",
            Self::Rs256 | Self::Ps256 => "RSA",
            Self::EdDsa => "Ed25519",
        }
    }

    pub(super) const fn signs(self) -> Algorithm {
        match self {
            Self::Es256 => Algorithm::ES256,
            Self::Es384 => Algorithm::ES384,
            Self::Rs256 => Algorithm::RS256,
            Self::Ps256 => Algorithm::PS256,
            Self::EdDsa => Algorithm::EdDSA,
        }
    }

    /// Whether a key that names an algorithm names this one.
    pub(super) fn is(self, named: KeyAlgorithm) -> bool {
        KeyAlgorithm::from(self.signs()) == named
    }
}

/// The kind of a public key, in the words of [`SigningAlgorithm::key`].
pub(super) fn kind(jwk: &Jwk) -> &'static str {
    match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => "RSA",
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => "P-256",
            EllipticCurve::P384 => "P-384",
            _ => "another curve",
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => "Ed25519",
        AlgorithmParameters::OctetKey(_) => "a shared secret",
        _ => "another kind",
    }
}
