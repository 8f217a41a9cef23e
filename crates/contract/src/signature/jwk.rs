use aldgate_wire::guard::{self, GuardFault, Limits};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use zeroize::{Zeroize as _, Zeroizing};

/// A text that is no key that can be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    /// It is not JSON that can be read without doubt.
    #[error("the key cannot be read; expected one JSON Web Key (RFC 7517)")]
    Unreadable(#[source] GuardFault),
    /// It is JSON, and no key.
    #[error("the key is no JSON Web Key (RFC 7517), or a member of it has the wrong type")]
    Shape,
    /// A key of another kind.
    #[error(
        "expected a key with `{member}` `{expected}`, found `{found}`; keys of reviewers are Ed25519 (RFC 8037)"
    )]
    Other {
        /// `kty`, `crv`, `alg`, `use` or `key_ops`.
        member: &'static str,
        /// Its only good value.
        expected: &'static str,
        /// What was found; empty where it is missing.
        found: String,
    },
    /// A member that holds no 32 bytes.
    #[error("`{member}` of the key must be 32 bytes in base64url without padding")]
    Bytes {
        /// `x` or `d`.
        member: &'static str,
    },
    /// A private key where a public one is expected.
    #[error(
        "the key holds the private member `d`, which must stay with the reviewer; give the public key alone"
    )]
    Private,
    /// A public key where a private one is expected.
    #[error("the key is public; signing needs the private one, with the member `d`")]
    Public,
    /// The two halves are not one key.
    #[error("`x` of the key is not the public half of `d`")]
    Halves,
    /// A point for which signatures can be made without a private key, or one that is not spelled canonically.
    #[error("`x` of the key is a point of small order or not canonical; anybody could sign for it")]
    Weak,
    /// An id that cannot be shown and compared safely.
    #[error("`{found}` is no id of a key; expected 1 to 128 letters, digits and `-._~:@/+=`")]
    Id {
        /// The beginning of what was found.
        found: String,
    },
    /// The library refused.
    #[error("the key cannot be used")]
    Refused,
}

const LIMITS: Limits = Limits { max_bytes: 64 << 10, max_depth: 8 };

/// The members of a JWK that say something here; others are left alone, as RFC 7517 section 4 wants it.
#[derive(Deserialize)]
struct Members {
    kty: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    d: Option<String>,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
}

impl Drop for Members {
    fn drop(&mut self) {
        self.d.zeroize();
    }
}

/// An Ed25519 key as its JWK has it, private where `d` is there.
pub(super) struct Jwk {
    pub(super) x: [u8; 32],
    pub(super) d: Option<Zeroizing<[u8; 32]>>,
    pub(super) kid: Option<String>,
}

impl Jwk {
    pub(super) fn parse(text: &str) -> Result<Self, KeyFault> {
        guard::check(text.as_bytes(), &LIMITS).map_err(KeyFault::Unreadable)?;
        // The error of serde_json may quote the value.
        let members: Members = serde_json::from_str(text).map_err(|_| KeyFault::Shape)?;
        required("kty", "OKP", members.kty.as_deref().or(Some("")))?;
        required("crv", "Ed25519", members.crv.as_deref().or(Some("")))?;
        if members.alg.as_deref() != Some("Ed25519") {
            required("alg", "EdDSA", members.alg.as_deref())?;
        }
        required("use", "sig", members.r#use.as_deref())?;
        let operation = if members.d.is_some() { "sign" } else { "verify" };
        if let Some(ops) = members.key_ops.as_ref().filter(|ops| !ops.iter().any(|op| op == operation)) {
            required("key_ops", operation, Some(&ops.join(" ")))?;
        }
        let bad_x = KeyFault::Bytes { member: "x" };
        let x = members.x.as_deref().and_then(|text| bytes32(text.as_bytes())).ok_or(bad_x)?;
        let d =
            members.d.as_ref().map(|text| bytes32(text.as_bytes()).ok_or(KeyFault::Bytes { member: "d" }));
        Ok(Self { x, d: d.transpose()?.map(Zeroizing::new), kid: members.kid.clone() })
    }
}

fn required(member: &'static str, expected: &'static str, found: Option<&str>) -> Result<(), KeyFault> {
    match found {
        Some(found) if found != expected => {
            Err(KeyFault::Other { member, expected, found: found.chars().take(40).collect() })
        }
        _ => Ok(()),
    }
}

/// Base64url without padding (RFC 7515 section 2), spelled in the one way that it has.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn bytes32(text: &[u8]) -> Option<[u8; 32]> {
    let decoded = Zeroizing::new(decode(text)?);
    decoded.as_slice().try_into().ok()
}

pub(super) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
