use aldgate_wire::guard::{self, Limits};
use serde_json::{Map, Value};

use super::jwk::{decode, encode};
use super::key::is_id;

/// Why a signature does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// There is none.
    #[error("it is not signed")]
    Missing,
    /// It is no JWS as this program writes them.
    #[error("the signature cannot be read: {why}")]
    Malformed {
        /// What is wrong, in a few words.
        why: &'static str,
    },
    /// It is made with another algorithm.
    #[error("the signature has the algorithm `{found}`; expected `EdDSA` with an Ed25519 key")]
    Algorithm {
        /// The header's `alg`, its beginning.
        found: String,
    },
    /// It is by a key that the keyring does not hold.
    #[error(
        "the signature is by the key `{kid}`, which is none of the configured keys; add the key, or review and sign anew"
    )]
    UnknownKey {
        /// The header's `kid`.
        kid: String,
    },
    /// It is by a key that no longer counts.
    #[error(
        "the signature is by the key `{kid}`, which is revoked; review the contract and sign anew with another key"
    )]
    Revoked {
        /// The key's id.
        kid: String,
    },
    /// The key did not sign this.
    #[error(
        "the signature by the key `{kid}` is of something else, or was altered; restore it from version control, or review \
         what is there now and sign that"
    )]
    Mismatch {
        /// The key's id.
        kid: String,
    },
}

/// `typ` of the signature of a contract.
pub(super) const CONTRACT: &str = "aldgate-contract+jws";

const HEADER_LIMITS: Limits = Limits { max_bytes: 2048, max_depth: 4 };

/// The most bytes of a JWS.
const MOST: usize = 256 << 10;

pub(super) fn header(kid: &str, typ: &str) -> String {
    let members = [("alg", "EdDSA"), ("kid", kid), ("typ", typ)];
    let members = members.map(|(name, value)| (name.to_owned(), Value::from(value)));
    Value::Object(Map::from_iter(members)).to_string()
}

/// A JWS in compact form whose signature nobody has checked yet.
pub(super) struct Unchecked<'a> {
    pub(super) kid: String,
    header: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

impl<'a> Unchecked<'a> {
    pub(super) fn parse(jws: &'a str, typ: &str) -> Result<Self, SignatureFault> {
        let malformed = |why| SignatureFault::Malformed { why };
        if jws.len() > MOST {
            return Err(malformed("it is too long"));
        }
        let mut parts = jws.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed("expected three parts with `.` between them"));
        };
        let decoded = decode(header.as_bytes()).ok_or(malformed("the header is not base64url"))?;
        guard::check(&decoded, &HEADER_LIMITS)
            .map_err(|_| malformed("the header is not JSON without doubt"))?;
        let Ok(Value::Object(members)) = serde_json::from_slice(&decoded) else {
            return Err(malformed("the header is not a JSON object"));
        };
        let text = |name| members.get(name).and_then(Value::as_str);
        match text("alg") {
            Some("EdDSA") => {}
            Some(found) => {
                let found = found.chars().take(40).filter(char::is_ascii_graphic).collect();
                return Err(SignatureFault::Algorithm { found });
            }
            None => return Err(malformed("the header has no `alg`")),
        }
        if members.contains_key("crit") || members.contains_key("b64") {
            return Err(malformed("the header asks for an extension"));
        }
        if text("typ") != Some(typ) {
            return Err(malformed("the header's `typ` is that of another kind of statement"));
        }
        let kid = text("kid").ok_or(malformed("the header has no `kid`"))?;
        let kid =
            if is_id(kid) { kid.to_owned() } else { return Err(malformed("the header's `kid` is no id")) };
        let signature = decode(signature.as_bytes()).filter(|bytes| bytes.len() == 64);
        let signature = signature.ok_or(malformed("the signature is not 64 bytes in base64url"))?;
        Ok(Self { kid, header, payload, signature })
    }

    /// The message and the signature of it; `detached` is the payload of a JWS that has none of its own.
    pub(super) fn signed(&self, detached: Option<&str>) -> Result<(Vec<u8>, &[u8]), SignatureFault> {
        let payload = match detached {
            Some(_) if !self.payload.is_empty() => {
                return Err(SignatureFault::Malformed {
                    why: "the payload must be detached, `header..signature`",
                });
            }
            Some(payload) => encode(payload),
            None => self.payload.to_owned(),
        };
        Ok((format!("{}.{payload}", self.header).into_bytes(), &self.signature))
    }

    pub(super) fn payload(&self) -> Result<Vec<u8>, SignatureFault> {
        decode(self.payload.as_bytes())
            .filter(|payload| !payload.is_empty())
            .ok_or(SignatureFault::Malformed { why: "the payload is not base64url" })
    }
}
