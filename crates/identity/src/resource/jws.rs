//! A compact JWS (RFC 7515 §7.1), read but not yet believed.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde_json::{Map, Value};

use super::{SigningAlgorithm, refused, shown, unique};
use crate::Unauthenticated;

/// The parts of a token. Members that bring keys along (`jku`, `jwk`, `x5u`, `x5c`) have no accessor.
pub(super) struct Jws<'a> {
    header: Map<String, Value>,
    /// Not believed before [`Self::verify`].
    pub(super) claims: Map<String, Value>,
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Jws<'a> {
    /// Whether a token is meant as a JWT: its first part is base64url of what begins as an object does.
    pub(super) fn is_meant(token: &str) -> bool {
        let first = token.split_once('.').map(|(first, _)| first);
        first
            .and_then(|first| URL_SAFE_NO_PAD.decode(first).ok())
            .is_some_and(|bytes| bytes.starts_with(b"{"))
    }

    pub(super) fn read(token: &'a str) -> Result<Self, Unauthenticated> {
        let found = token.split('.').count();
        let parts = || {
            let (signed, signature) = token.rsplit_once('.')?;
            let (header, claims) = signed.split_once('.')?;
            (found == 3).then_some((header, claims, signed, signature))
        };
        let (header, claims, signed, signature) = parts().ok_or_else(|| {
            refused(format!(
                "it has {found} parts; expected the 3 of a signed JWT (encrypted ones are not read)"
            ))
        })?;
        Ok(Self { header: object("header", header)?, claims: object("payload", claims)?, signed, signature })
    }

    /// `iss`, as far as it is said.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.claims.get("iss").and_then(Value::as_str)
    }

    /// The key that it says it was signed with.
    pub(super) fn key_id(&self) -> Result<Option<&str>, Unauthenticated> {
        match self.header.get("kid") {
            None => Ok(None),
            Some(Value::String(id)) if id.len() <= 512 => Ok(Some(id)),
            Some(_) => Err(refused("its header `kid` is no text of 512 bytes at most")),
        }
    }

    /// Checks `typ` (RFC 9068 §4) and `crit` (RFC 7515 §4.1.11). A plain JWT may be an ID token, which proves to a client who
    /// signed in and is for nobody else: one that has claims of those alone is refused.
    pub(super) fn check_header(&self, plain_jwt: bool) -> Result<(), Unauthenticated> {
        for member in ["crit", "b64"] {
            if self.header.contains_key(member) {
                return Err(refused(format!("its header holds `{member}`; no extension is understood here")));
            }
        }
        let typ = match self.header.get("typ") {
            None => None,
            Some(Value::String(typ)) => Some(typ.as_str()),
            Some(_) => return Err(refused("its header `typ` is no text")),
        };
        let is = |name: &str| typ.is_some_and(|typ| typ.eq_ignore_ascii_case(name));
        let plain = typ.is_none() || is("JWT") || is("application/jwt");
        if is("at+jwt") || is("application/at+jwt") {
            return Ok(());
        }
        if plain_jwt && plain {
            let id_token =
                ["nonce", "at_hash", "c_hash"].into_iter().find(|name| self.claims.contains_key(*name));
            return id_token.map_or(Ok(()), |name| {
                Err(refused(format!("it has a `{name}`, as ID tokens do; expected an access token")))
            });
        }
        let found = typ.map_or_else(|| "absent".to_owned(), |typ| format!("`{}`", shown(typ)));
        Err(refused(format!("its header `typ` is {found}; expected `at+jwt`")))
    }

    /// `alg`, which has to be one of `pinned`.
    pub(super) fn algorithm(
        &self,
        pinned: &BTreeSet<SigningAlgorithm>,
    ) -> Result<SigningAlgorithm, Unauthenticated> {
        let alg = self.header.get("alg").and_then(Value::as_str);
        let alg = alg.ok_or_else(|| refused("its header names no `alg`"))?;
        SigningAlgorithm::named(alg).filter(|named| pinned.contains(named)).ok_or_else(|| {
            let expected: Vec<_> = pinned.iter().map(|one| one.name()).collect();
            refused(format!(
                "its `alg` is `{}`; expected of this issuer: {}",
                shown(alg),
                expected.join(", ")
            ))
        })
    }

    pub(super) fn verify(
        &self,
        key: &DecodingKey,
        algorithm: SigningAlgorithm,
    ) -> Result<(), Unauthenticated> {
        match jsonwebtoken::crypto::verify(self.signature, self.signed.as_bytes(), key, algorithm.signs()) {
            Ok(true) => Ok(()),
            _ => Err(refused("its signature does not verify under the issuer's key")),
        }
    }
}

fn object(part: &str, text: &str) -> Result<Map<String, Value>, Unauthenticated> {
    let bytes = URL_SAFE_NO_PAD.decode(text);
    let bytes = bytes.map_err(|_| refused(format!("its {part} is not base64url without padding")))?;
    unique::object(&bytes).map_err(|fault| {
        let told = fault.to_string();
        // Where in the bytes tells nobody anything: they are encoded.
        let told = told.split(" at line ").next().unwrap_or_default();
        refused(format!("its {part} is no good JSON object: {told}"))
    })
}
