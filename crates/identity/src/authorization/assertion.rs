//! Assertions by which clients prove who they are (RFC 7523 §3).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::{Duration, OffsetDateTime};

use super::keys::signature_alone;

/// The algorithms that they may be signed with. None of them is symmetric.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];
/// How far in the future one may expire: so long it is remembered.
const LONGEST: Duration = Duration::hours(1);
/// How far the clocks may differ.
const LEEWAY: Duration = Duration::seconds(60);

/// A good assertion, but for its being the first with its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asserted {
    /// A hash over client and `jti`.
    pub(super) id: [u8; 32],
    /// From when on it would be refused for its age.
    pub(super) until: OffsetDateTime,
}

/// The check that an assertion does not pass: what was sent, what was expected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unproven(pub(super) String, pub(super) String);

#[derive(Clone, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: i64,
    iat: Option<i64>,
    nbf: Option<i64>,
    jti: String,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Listed([String; 1]),
}

/// Whether a key can be used to check assertions.
pub(super) fn usable(key: &Jwk) -> bool {
    !algorithms(key).is_empty() && DecodingKey::from_jwk(key).is_ok()
}

/// The algorithms that a key is for. An RSA key has 2048 bits at least.
fn algorithms(key: &Jwk) -> Vec<Algorithm> {
    let fitting: &[Algorithm] = match &key.algorithm {
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => &[Algorithm::ES256],
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P384 => &[Algorithm::ES384],
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            &[Algorithm::EdDSA]
        }
        AlgorithmParameters::RSA(rsa) => match URL_SAFE_NO_PAD.decode(&rsa.n) {
            Ok(modulus) if modulus.len() >= 256 => &[Algorithm::PS256, Algorithm::RS256],
            _ => &[],
        },
        _ => &[],
    };
    let named = key.common.key_algorithm.map(|algorithm| algorithm.to_string());
    let named = named.as_deref();
    fitting.iter().copied().filter(|one| named.is_none_or(|name| name == format!("{one:?}"))).collect()
}

/// The client that an assertion claims to be of. Nothing of it is believed.
pub(super) fn claimed_client(assertion: &str) -> Option<String> {
    #[derive(Clone, Deserialize)]
    struct Subject {
        sub: String,
    }
    jsonwebtoken::dangerous::insecure_decode::<Subject>(assertion).ok().map(|data| data.claims.sub)
}

/// Checks an assertion of this client, whose keys these are, for one of these audiences.
pub(super) fn check(
    assertion: &str,
    client: &str,
    keys: &JwkSet,
    audiences: &[&str],
    now: OffsetDateTime,
) -> Result<Asserted, Unproven> {
    let unproven = |sent: String, expected: &str| Unproven(sent, expected.to_owned());
    let header = jsonwebtoken::decode_header(assertion).map_err(|_| {
        unproven("no JWS with a known header".to_owned(), "a JWS with an asymmetric algorithm")
    })?;
    let typ = header.typ.as_deref().unwrap_or("JWT");
    if !["jwt", "client-authentication+jwt"].iter().any(|good| typ.eq_ignore_ascii_case(good)) {
        return Err(unproven(format!("typ {typ}"), "typ JWT"));
    }
    let kid = header.kid.as_deref();
    let named =
        |key: &&Jwk| kid.is_none() || key.common.key_id.is_none() || key.common.key_id.as_deref() == kid;
    let algorithm = header.alg;
    let fitting = keys.keys.iter().filter(named).filter(|key| algorithms(key).contains(&algorithm));
    let claims = fitting
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .find_map(|key| jsonwebtoken::decode::<Claims>(assertion, &key, &signature_alone(algorithm)).ok())
        .map(|data| data.claims);
    let Some(claims) = claims else {
        let sent = format!("an assertion ({algorithm:?}) that none of its keys verifies");
        return Err(unproven(
            sent,
            "the signature of a registered key, and the claims iss, sub, aud (one), exp and jti",
        ));
    };
    if claims.iss != client || claims.sub != client {
        let sent = format!("iss {} and sub {}", claims.iss, claims.sub);
        return Err(unproven(sent, "the client_id in both"));
    }
    let (Audience::One(aud) | Audience::Listed([aud])) = &claims.aud;
    if !audiences.contains(&aud.as_str()) {
        return Err(Unproven(format!("aud {aud}"), format!("aud {}", audiences.join(" or "))));
    }
    let at = |seconds: i64| OffsetDateTime::from_unix_timestamp(seconds).ok();
    let until = at(claims.exp).filter(|until| *until > now && *until - now <= LONGEST);
    let Some(until) = until else {
        let expected = "an exp within the next hour";
        return Err(unproven(format!("exp {} at {}", claims.exp, now.unix_timestamp()), expected));
    };
    let early = [claims.iat, claims.nbf].into_iter().flatten();
    if early.map(at).any(|from| from.is_none_or(|from| from > now + LEEWAY)) {
        return Err(unproven("iat or nbf in the future".to_owned(), "an assertion that is good now"));
    }
    if claims.jti.is_empty() || claims.jti.len() > 256 {
        return Err(unproven(format!("a jti of {} bytes", claims.jti.len()), "1 to 256 bytes"));
    }
    let id = Sha256::digest(format!("{client}\n{}", claims.jti)).into();
    Ok(Asserted { id, until })
}
