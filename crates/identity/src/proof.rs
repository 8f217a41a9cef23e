//! Proofs of possession (RFC 9449): whoever sends a token shows that it holds the key that the token is bound to.
//!
//! [`check`] is a pure function of what was sent and the time. That a proof is used once is [`Replays`]' to say, and it is
//! asked last: a request that is refused for another reason fills no memory.

mod key;
#[cfg(test)]
pub(crate) mod prover;
mod replays;
#[cfg(test)]
mod tests;

use aldgate_approval::SealKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::{Duration, OffsetDateTime};
use url::Url;

pub use replays::Replays;

/// The algorithms that a proof may be signed with: `dpop_signing_alg_values_supported`.
pub const ALGORITHMS: [&str; 2] = ["ES256", "EdDSA"];
/// How far the `iat` of a proof may be from now, in both directions.
pub const WINDOW: Duration = Duration::seconds(60);
/// How long a nonce is good.
const NONCE_LIFE: Duration = Duration::minutes(5);
/// More bytes than an honest proof has.
const LONGEST: usize = 4096;
const NONCE_PURPOSE: &str = "dpop nonce";

/// What a proof has to be for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// Its URL as it is known outside; query and fragment do not count.
    pub url: &'a str,
    /// The access token that the request carries: the proof has to hold its hash. `None` at the token endpoint.
    pub access_token: Option<&'a str>,
    /// Whether it has to hold a nonce.
    pub nonce: NonceRule<'a>,
}

/// Nothing of a token is shown.
impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Asked")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("access_token", &self.access_token.map(|_| "…"))
            .field("nonce", &self.nonce)
            .finish()
    }
}

/// Whether a proof has to hold a nonce of ours (RFC 9449 §8).
#[derive(Clone, Copy, Debug)]
pub enum NonceRule<'a> {
    /// No. One that it holds is not looked at.
    Open,
    /// One that [`issue_nonce`] made with this key.
    Sealed(&'a SealKey),
}

/// A proof that was found good, but for its being the first with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// RFC 7638 thumbprint of the key (SHA-256, base64url): what `cnf.jkt` of a token holds.
    pub thumbprint: String,
    /// Names this proof: a hash over key and `jti`.
    pub(crate) id: [u8; 32],
    /// Until when it has to be remembered.
    pub(crate) until: OffsetDateTime,
}

/// Why a proof is refused. What was sent is cut to 64 printable characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// No compact JWS with a JSON header and JSON claims, or one that is too long.
    #[error("it is no compact JWS of {LONGEST} bytes at most whose header and claims are JSON objects")]
    Form,
    /// `typ` or `alg` are others.
    #[error("its header says `{member}`: `{found}`; expected `{expected}`")]
    Header {
        /// The member of the header.
        member: &'static str,
        /// What it holds.
        found: String,
        /// What it should.
        expected: &'static str,
    },
    /// The key is none that can be used here.
    #[error("its `jwk` {0}")]
    Key(&'static str),
    /// The signature is not of that key.
    #[error("its signature does not verify under its `jwk`")]
    Signature,
    /// It is for another request.
    #[error("its `{member}` is `{found}`; this request is `{expected}`")]
    OtherRequest {
        /// The member of the claims.
        member: &'static str,
        /// What it holds.
        found: String,
        /// What it should.
        expected: String,
    },
    /// It is for another token, or for none.
    #[error("its `ath` is not the SHA-256 of the access token that the request carries")]
    OtherToken,
    /// Too old, or from the future.
    #[error("its `iat` is {found}, and the time here is {now}; {} seconds may be between them", WINDOW.whole_seconds())]
    Time {
        /// Seconds since 1970.
        found: i64,
        /// Seconds since 1970.
        now: i64,
    },
    /// No `jti` of a form that can be kept apart.
    #[error("its `jti` has to have 1 to 256 bytes")]
    Id,
    /// It was used before.
    #[error("its `jti` was used before; each request needs a proof of its own")]
    Replayed,
    /// More proofs came within a minute than are remembered.
    #[error("more proofs came than can be remembered; try again in a minute")]
    Crowded,
    /// It holds no nonce, or one that is not good any more: the client is told a fresh one.
    #[error("it has to hold a `nonce` that was issued here within the last {} minutes", NONCE_LIFE.whole_minutes())]
    Nonce,
}

#[derive(Deserialize)]
struct Header {
    typ: Option<String>,
    alg: Option<String>,
    jwk: Option<serde_json::Map<String, serde_json::Value>>,
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: i64,
    ath: Option<String>,
    nonce: Option<String>,
}

/// Checks the value of a `DPoP` header (RFC 9449 §4.3), all but its being the first of its name: [`Replays::first`].
///
/// # Errors
/// The first check that it does not pass.
pub fn check(proof: &[u8], asked: &Asked<'_>, now: OffsetDateTime) -> Result<Proven, ProofFault> {
    let text = std::str::from_utf8(proof).map_err(|_| ProofFault::Form)?;
    if text.len() > LONGEST {
        return Err(ProofFault::Form);
    }
    let (signed, signature) = text.rsplit_once('.').ok_or(ProofFault::Form)?;
    let (header, claims) = signed.split_once('.').ok_or(ProofFault::Form)?;
    let header: Header = json(header)?;
    let claims: Claims = json(claims)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| ProofFault::Form)?;

    let typ = header.typ.unwrap_or_default();
    if typ != "dpop+jwt" {
        return Err(ProofFault::Header { member: "typ", found: shown(&typ), expected: "dpop+jwt" });
    }
    if header.crit.is_some() {
        return Err(ProofFault::Header { member: "crit", found: "present".to_owned(), expected: "absent" });
    }
    let algorithm = header.alg.unwrap_or_default();
    if !ALGORITHMS.contains(&algorithm.as_str()) {
        return Err(ProofFault::Header {
            member: "alg",
            found: shown(&algorithm),
            expected: "ES256` or `EdDSA",
        });
    }
    let key = key::ProofKey::read(&algorithm, &header.jwk.ok_or(ProofFault::Key("is missing"))?)?;
    if !key.verifies(signed.as_bytes(), &signature) {
        return Err(ProofFault::Signature);
    }

    if claims.htm != asked.method {
        return Err(other("htm", &claims.htm, asked.method));
    }
    if !same_url(&claims.htu, asked.url) {
        return Err(other("htu", &claims.htu, asked.url));
    }
    let found = claims.iat;
    let at = OffsetDateTime::from_unix_timestamp(found);
    let at = at.ok().filter(|at| (now - *at).abs() <= WINDOW);
    let at = at.ok_or(ProofFault::Time { found, now: now.unix_timestamp() })?;
    let hash = asked.access_token.map(|token| URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes())));
    if hash.is_some() && hash != claims.ath {
        return Err(ProofFault::OtherToken);
    }
    if claims.jti.is_empty() || claims.jti.len() > 256 {
        return Err(ProofFault::Id);
    }
    if let NonceRule::Sealed(key) = asked.nonce
        && !claims.nonce.is_some_and(|nonce| nonce_stands(key, &nonce, now))
    {
        return Err(ProofFault::Nonce);
    }
    let thumbprint = key.thumbprint();
    let id = Sha256::digest(format!("{thumbprint}.{}", claims.jti)).into();
    Ok(Proven { thumbprint, id, until: at + WINDOW })
}

/// Makes a nonce: the time, sealed. Nobody has to remember it, and every replica with the key knows it again.
///
/// # Errors
/// Where the cipher refuses.
pub fn issue_nonce(
    key: &SealKey,
    random: [u8; aldgate_approval::seal::NONCE_BYTES],
    now: OffsetDateTime,
) -> Result<String, aldgate_approval::SealFault> {
    let sealed = key.seal(NONCE_PURPOSE, random, &now.unix_timestamp().to_be_bytes())?;
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

fn nonce_stands(key: &SealKey, nonce: &str, now: OffsetDateTime) -> bool {
    let opened = URL_SAFE_NO_PAD.decode(nonce).ok().and_then(|sealed| key.open(NONCE_PURPOSE, &sealed).ok());
    let at = opened.and_then(|plain| plain.try_into().ok()).map(i64::from_be_bytes);
    let at = at.and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    at.is_some_and(|at| now - at <= NONCE_LIFE && at - now <= WINDOW)
}

fn json<T: serde::de::DeserializeOwned>(part: &str) -> Result<T, ProofFault> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| ProofFault::Form)?;
    serde_json::from_slice(&bytes).map_err(|_| ProofFault::Form)
}

/// Equal after the normalisation that RFC 9449 §4.3 asks for: case of scheme and host, default port, dot segments.
fn same_url(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        url.set_query(None);
        url.set_fragment(None);
        Some(url)
    };
    matches!((bare(one), bare(other)), (Some(one), Some(other)) if one == other)
}

fn other(member: &'static str, found: &str, expected: &str) -> ProofFault {
    ProofFault::OtherRequest { member, found: shown(found), expected: expected.to_owned() }
}

fn shown(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_graphic()).take(64).collect()
}
