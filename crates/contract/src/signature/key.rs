use std::fmt;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::jwk::{Jwk, KeyFault, encode};
use super::jws::{self, CONTRACT};
use super::{Manifest, Statement, manifest};

/// A private Ed25519 key with its id. Its `Debug` shows the id alone.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    pair: Ed25519KeyPair,
    public: PublicKey,
}

/// A public Ed25519 key with its id, of an order that is not small.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kid: String,
    x: [u8; 32],
}

impl SigningKey {
    /// The key that 32 random bytes give (RFC 8032 section 5.1.5). Without an id it gets its thumbprint (RFC 7638).
    ///
    /// # Errors
    /// An id that is none.
    pub fn from_seed(seed: [u8; 32], kid: Option<&str>) -> Result<Self, KeyFault> {
        Self::new(Zeroizing::new(seed), kid)
    }

    /// Reads a private JWK (RFC 8037 section 2). Without `kid` it gets its thumbprint.
    ///
    /// # Errors
    /// A text that is no private Ed25519 key, or one whose halves do not belong together.
    pub fn from_jwk(text: &str) -> Result<Self, KeyFault> {
        let jwk = Jwk::parse(text)?;
        let key = Self::new(jwk.d.ok_or(KeyFault::Public)?, jwk.kid.as_deref())?;
        if key.public.x == jwk.x { Ok(key) } else { Err(KeyFault::Halves) }
    }

    /// The private JWK, one line without a line feed. Whoever writes it to a file keeps that file to its owner.
    #[must_use]
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let d = Zeroizing::new(encode(self.seed.as_slice()));
        let (kid, x) = (&self.public.kid, encode(self.public.x));
        // What an id may hold needs no escapes.
        Zeroizing::new(format!(
            r#"{{"kty":"OKP","crv":"Ed25519","use":"sig","alg":"EdDSA","kid":"{kid}","x":"{x}","d":"{}"}}"#,
            d.as_str()
        ))
    }

    /// The public half.
    #[must_use]
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs one contract: a detached JWS in compact form, `header..signature`. The same contract and key always give
    /// the same signature.
    #[must_use]
    pub fn sign(&self, statement: &Statement<'_>) -> String {
        let (header, _, signature) = self.parts(CONTRACT, &statement.payload());
        format!("{header}..{signature}")
    }

    /// Signs renames: a JWS in compact form, `header.payload.signature`.
    #[must_use]
    pub fn sign_manifest(&self, manifest: &Manifest) -> String {
        let (header, payload, signature) = self.parts(manifest::TYPE, &manifest.payload());
        format!("{header}.{payload}.{signature}")
    }

    fn new(seed: Zeroizing<[u8; 32]>, kid: Option<&str>) -> Result<Self, KeyFault> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_slice()).map_err(|_| KeyFault::Refused)?;
        let x = pair.public_key().as_ref().try_into().map_err(|_| KeyFault::Refused)?;
        Ok(Self { public: PublicKey::new(x, kid)?, seed, pair })
    }

    /// Header, payload and signature, each in base64url.
    fn parts(&self, typ: &str, payload: &str) -> (String, String, String) {
        let header = encode(jws::header(&self.public.kid, typ));
        let payload = encode(payload);
        let signature = encode(self.pair.sign(format!("{header}.{payload}").as_bytes()));
        (header, payload, signature)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.public.kid).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// Reads a public JWK (RFC 8037 section 2). Without `kid` it gets its thumbprint.
    ///
    /// # Errors
    /// A text that is no public Ed25519 key, a private key, or a point for which anybody could sign.
    pub fn from_jwk(text: &str) -> Result<Self, KeyFault> {
        let jwk = Jwk::parse(text)?;
        if jwk.d.is_some() {
            return Err(KeyFault::Private);
        }
        Self::new(jwk.x, jwk.kid.as_deref())
    }

    /// The public JWK.
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        json!({
            "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": self.kid, "x": encode(self.x),
        })
    }

    /// Its id.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// SHA-256 of the key's required members in base64url (RFC 7638, RFC 8037 appendix A.3).
    #[must_use]
    pub fn thumbprint(&self) -> String {
        thumbprint(&self.x)
    }

    /// Whether the key made this signature of these bytes (RFC 8032 section 5.1.7, without the cofactor).
    pub(super) fn made(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.x).verify(message, signature).is_ok()
    }

    pub(super) fn is_same_point(&self, other: &Self) -> bool {
        self.x == other.x
    }

    #[cfg(test)]
    pub(super) fn unchecked(kid: &str, x: [u8; 32]) -> Self {
        Self { kid: kid.to_owned(), x }
    }

    fn new(x: [u8; 32], kid: Option<&str>) -> Result<Self, KeyFault> {
        if is_weak(x) {
            return Err(KeyFault::Weak);
        }
        let kid = kid.map_or_else(|| thumbprint(&x), str::to_owned);
        if !is_id(&kid) {
            return Err(KeyFault::Id {
                found: kid.chars().take(40).filter(char::is_ascii_graphic).collect(),
            });
        }
        Ok(Self { kid, x })
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("kid", &self.kid).field("x", &encode(self.x)).finish()
    }
}

/// Whether a text can be a key's id: it needs no escapes in JSON and is safe to show.
pub(super) fn is_id(kid: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~:@/+=".contains(&b);
    (1..=128).contains(&kid.len()) && kid.bytes().all(fits)
}

fn thumbprint(x: &[u8; 32]) -> String {
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, encode(x));
    encode(Sha256::digest(members))
}

/// The `y` of the points whose order divides 8, little-endian, the sign of `x` left out. The two of order 8 are from
/// libsodium's `ge25519_has_small_order`; those with `y` 0, 1 and -1 have order 4, 1 and 2.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
];

/// Of small order, or not the canonical spelling of a point (`y` of 2^255 - 19 or more).
fn is_weak(mut y: [u8; 32]) -> bool {
    if let Some(last) = y.last_mut() {
        *last &= 0x7f;
    }
    let canonical = match y {
        [first, middle @ .., 0x7f] => first < 0xed || middle.iter().any(|b| *b != 0xff),
        _ => true,
    };
    !canonical || SMALL_ORDER.contains(&y)
}
