//! Real keys, real signatures, and real HTTP where an issuer is asked.

mod claims;
mod forged;
mod introspection;
mod issuer;
mod jwks;
mod kept;
mod metadata;
mod possession;
mod settings;
mod table_first;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::*;
use crate::{Authenticator, Door, Doors, Identity, Presented, Proof, Unauthenticated};

pub(super) const ISSUER: &str = "https://login.example.com";
pub(super) const NOW: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);

pub(super) fn doors() -> Doors {
    Doors::at("https://gateway.example.com", "https://admin.example.com")
}

/// A key that signs.
pub(super) struct Signer {
    pub(super) key: EncodingKey,
    pub(super) algorithm: Algorithm,
    pub(super) jwk: Jwk,
}

impl Signer {
    pub(super) fn new(algorithm: Algorithm, id: &str) -> Self {
        let key = match algorithm {
            Algorithm::ES256 => ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            Algorithm::ES384 => ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
            Algorithm::EdDSA => {
                let pair = Ed25519KeyPair::generate().expect("key");
                EncodingKey::from_ed_der(pair.to_pkcs8v1().expect("pkcs8").as_ref())
            }
            _ => {
                let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("key");
                // PKCS#1 is the last member of PKCS#8, after 26 bytes of its head in a key of this size.
                let der: Pkcs8V1Der<'_> = pair.as_der().expect("der");
                EncodingKey::from_rsa_der(&der.as_ref()[26..])
            }
        };
        let mut jwk = Jwk::from_encoding_key(&key, algorithm).expect("jwk");
        jwk.common.key_id = Some(id.to_owned());
        Self { key, algorithm, jwk }
    }

    pub(super) fn header(&self) -> Value {
        json!({"typ": "at+jwt", "alg": self.jwk.common.key_algorithm, "kid": self.jwk.common.key_id})
    }

    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        self.sign_text(&header.to_string(), &claims.to_string())
    }

    pub(super) fn sign_text(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", b64(header), b64(claims));
        let signature = jsonwebtoken::crypto::sign(signed.as_bytes(), &self.key, self.algorithm);
        format!("{signed}.{}", signature.expect("signed"))
    }

    /// A token with the usual header.
    pub(super) fn token(&self, claims: &Value) -> String {
        self.sign(&self.header(), claims)
    }
}

fn ec(algorithm: &'static aws_lc_rs::signature::EcdsaSigningAlgorithm) -> EncodingKey {
    let pair = EcdsaKeyPair::generate(algorithm).expect("key");
    EncodingKey::from_ec_der(pair.to_pkcs8v1().expect("pkcs8").as_ref())
}

pub(super) fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Keys in memory, and the grants that were revoked.
pub(super) struct InMemory {
    pub(super) keys: ArcSwap<JwkSet>,
    pub(super) revoked: Mutex<BTreeSet<String>>,
    pub(super) knows_nothing: AtomicBool,
}

impl InMemory {
    pub(super) fn of(signers: &[&Signer]) -> Arc<Self> {
        let keys = signers.iter().map(|signer| signer.jwk.clone()).collect();
        Arc::new(Self {
            keys: ArcSwap::from_pointee(JwkSet { keys }),
            revoked: Mutex::default(),
            knows_nothing: AtomicBool::default(),
        })
    }
}

impl HeldKeys for InMemory {
    fn jwks(&self) -> Arc<JwkSet> {
        self.keys.load_full()
    }

    fn stands(&self, origin: &Origin<'_>) -> bool {
        let revoked = self.revoked.lock().unwrap();
        if !self.is_current() {
            return false;
        }
        let actors = origin.actors.iter().map(String::as_str);
        !actors.chain([origin.sub]).chain(origin.grant).any(|one| revoked.contains(one))
    }

    fn is_current(&self) -> bool {
        !self.knows_nothing.load(Ordering::SeqCst)
    }
}

/// Claims of a good token for the MCP endpoint.
pub(super) fn good() -> Value {
    json!({
        "iss": ISSUER,
        "sub": "alice",
        "aud": doors().mcp,
        "client_id": "https://client.example.com/app",
        "iat": NOW.unix_timestamp(),
        "exp": NOW.unix_timestamp() + 300,
        "scope": "tools:read tools:write",
        "tenant": "acme",
        "roles": ["engineer"],
        "name": "Alice",
    })
}

/// [`good`] with other members; `null` takes one away.
pub(super) fn with(changes: &Value) -> Value {
    let mut claims = good();
    let members = claims.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.shift_remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    claims
}

pub(super) fn tenants(names: &[&str]) -> Tenants {
    Tenants::Claimed(names.iter().map(|name| (*name).to_owned()).collect())
}

/// One issuer with these keys, that may sign with all algorithms.
pub(super) fn settings(keys: KeySource) -> Settings {
    let mut issuer = Issuer::new(ISSUER, keys, tenants(&["acme", "globex"]));
    issuer.algorithms = SigningAlgorithm::ALL.into();
    Settings::new(doors(), vec![issuer])
}

pub(super) fn verifier(signers: &[&Signer]) -> Verifier {
    Verifier::new(settings(KeySource::Held(InMemory::of(signers)))).expect("verifier")
}

/// A request to the MCP endpoint.
pub(super) fn request<'a>(authorization: &'a str, proof: Option<&'a str>) -> Presented<'a> {
    Presented {
        authorization: Some(authorization.as_bytes()),
        proof: Proof::Sent(proof.map(str::as_bytes)),
        method: "POST",
        url: "https://gateway.example.com/mcp",
        door: Door::Mcp,
    }
}

pub(super) async fn bearer(
    of: &dyn Authenticator,
    token: &str,
    now: OffsetDateTime,
) -> Result<Identity, Unauthenticated> {
    of.authenticate(&request(&format!("Bearer {token}"), None), now).await
}

/// Why a token is refused, and that it is a refusal of the token: status 401, `invalid_token`.
pub(super) fn why(found: Result<Identity, Unauthenticated>) -> String {
    let fault = found.expect_err("refused");
    assert_eq!((fault.status(), fault.error()), (401, Some("invalid_token")), "{fault:?}");
    fault.to_string()
}

#[tokio::test]
async fn a_good_token_names_its_principal() {
    for algorithm in
        [Algorithm::ES256, Algorithm::ES384, Algorithm::RS256, Algorithm::PS256, Algorithm::EdDSA]
    {
        let signer = Signer::new(algorithm, "one");
        let found = bearer(&verifier(&[&signer]), &signer.token(&good()), NOW).await.expect("good");
        expect_test::expect![[r#"{"issuer":"https://login.example.com","subject":"alice","tenant":"acme","kind":"person","roles":["engineer"],"name":"Alice","client":"https://client.example.com/app"}"#]]
            .assert_eq(&serde_json::to_string(&*found.principal).unwrap());
        assert_eq!(found.scopes.to_string(), "tools:read tools:write");
        assert_eq!(found.expires_at, Some(NOW + time::Duration::minutes(5)));
    }
}

#[tokio::test]
async fn scheme_is_read_in_any_case_and_credentials_to_the_letter() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let verifier = verifier(&[&signer]);
    let token = signer.token(&good());
    for good in [format!("bEARER {token}"), format!("Bearer   {token}")] {
        assert!(verifier.authenticate(&request(&good, None), NOW).await.is_ok(), "{good}");
    }
    for odd in [
        format!("Bearer {token}\n"),
        format!("Bearer {token}\r\nX-Tenant: globex"),
        format!("Bearer\t{token}"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},Bearer {token}"),
        format!("Bearer {token}\u{0}"),
        format!("Bearer {token}\u{a0}"),
        format!(" Bearer {token}"),
        format!("Basic {token}"),
        "Bearer ".to_owned(),
        "Bearer =".to_owned(),
        "Bearer".to_owned(),
        String::new(),
    ] {
        let found = verifier.authenticate(&request(&odd, None), NOW).await;
        assert_eq!(found, Err(Unauthenticated::Malformed), "{odd:?}");
    }
    let nothing = Presented { authorization: None, ..request("", None) };
    assert_eq!(verifier.authenticate(&nothing, NOW).await, Err(Unauthenticated::Missing));
    let bytes = Presented { authorization: Some(b"Bearer \xff\xfe"), ..request("", None) };
    assert_eq!(verifier.authenticate(&bytes, NOW).await, Err(Unauthenticated::Malformed));
}
