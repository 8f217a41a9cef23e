//! Prints what checking an access token costs: one that is kept, and one that comes for the first time.
//!
//! `cargo run -p aldgate-identity --example token_checking` (add `--release` for numbers that mean something).

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use aldgate_identity::resource::{
    HeldKeys, Issuer, KeySource, Origin, Settings, SigningAlgorithm, Tenants, Verifier,
};
use aldgate_identity::{Authenticator as _, Door, Doors, Presented, Proof};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::json;
use time::OffsetDateTime;

const ISSUER: &str = "https://login.example.com";
const ROUNDS: u32 = 5_000;

struct InMemory(Arc<JwkSet>);

impl HeldKeys for InMemory {
    fn jwks(&self) -> Arc<JwkSet> {
        self.0.clone()
    }

    fn stands(&self, _: &Origin<'_>) -> bool {
        true
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let ec = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
    let ed = Ed25519KeyPair::generate()?;
    for (name, pinned, algorithm, key) in [
        (
            "ES256",
            SigningAlgorithm::Es256,
            Algorithm::ES256,
            EncodingKey::from_ec_der(ec.to_pkcs8v1()?.as_ref()),
        ),
        (
            "EdDSA",
            SigningAlgorithm::EdDsa,
            Algorithm::EdDSA,
            EncodingKey::from_ed_der(ed.to_pkcs8v1()?.as_ref()),
        ),
    ] {
        let mut jwk = Jwk::from_encoding_key(&key, algorithm)?;
        jwk.common.key_id = Some("one".to_owned());
        let header =
            Header { typ: Some("at+jwt".to_owned()), kid: Some("one".to_owned()), ..Header::new(algorithm) };
        let doors = Doors::at("https://gateway.example.com", "https://admin.example.com");
        let now = OffsetDateTime::now_utc();
        let claims = json!({
            "iss": ISSUER, "sub": "alice", "aud": doors.mcp, "client_id": "app", "scope": "tools:read tools:write",
            "iat": now.unix_timestamp(), "exp": now.unix_timestamp() + 300, "roles": ["engineer"], "name": "Alice",
        });
        let value = format!("Bearer {}", jsonwebtoken::encode(&header, &claims, &key)?);
        let presented = Presented {
            authorization: Some(value.as_bytes()),
            proof: Proof::Sent(None),
            method: "POST",
            url: &doors.mcp,
            door: Door::Mcp,
        };
        let held = Arc::new(InMemory(Arc::new(JwkSet { keys: vec![jwk] })));
        for (how, kept) in [("kept", 10_000), ("cold", 0)] {
            let mut issuer =
                Issuer::new(ISSUER, KeySource::Held(held.clone()), Tenants::One("acme".to_owned()));
            issuer.algorithms = [pinned].into();
            let settings = Settings { kept, ..Settings::new(doors.clone(), vec![issuer]) };
            let verifier = Verifier::new(settings)?;
            verifier.authenticate(&presented, now).await?;
            let started = Instant::now();
            for _ in 0..ROUNDS {
                black_box(verifier.authenticate(black_box(&presented), now).await?);
            }
            let each = started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS);
            println!("{name}, {how}: {each:.1} µs a token");
        }
    }
    Ok(())
}
