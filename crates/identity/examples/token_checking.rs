//! Measures what checking an access token costs, one that is kept and one that comes for the first time, with and without a
//! proof of possession. Prints JSON: microseconds of the one thread that works, as the scheduler counts them, and the cost of a
//! password.
//!
//! `cargo run -p aldgate-identity --example token_checking ROUNDS` (add `--release` for numbers that mean something).

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use aldgate_approval::SealKey;
use aldgate_identity::client::DpopKey;
use aldgate_identity::people::Hashing;
use aldgate_identity::proof::issue_nonce;
use aldgate_identity::resource::{
    HeldKeys, Issuer, KeySource, Origin, Settings, SigningAlgorithm, Tenants, Verifier,
};
use aldgate_identity::{Authenticator as _, Door, Doors, Presented, Proof};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

const ISSUER: &str = "https://login.example.com";
/// Tokens that are checked in one round.
const EACH: u32 = 2_000;

type Fault = Box<dyn Error>;

struct InMemory(Arc<JwkSet>);

impl HeldKeys for InMemory {
    fn jwks(&self) -> Arc<JwkSet> {
        self.0.clone()
    }

    fn stands(&self, _: &Origin<'_>) -> bool {
        true
    }

    fn is_current(&self) -> bool {
        true
    }
}

/// An issuer's key, and how tokens are signed with it.
struct Signer {
    pinned: SigningAlgorithm,
    algorithm: Algorithm,
    key: EncodingKey,
    keys: Arc<JwkSet>,
}

impl Signer {
    fn new(pinned: SigningAlgorithm, algorithm: Algorithm, key: EncodingKey) -> Result<Self, Fault> {
        let mut jwk = Jwk::from_encoding_key(&key, algorithm)?;
        jwk.common.key_id = Some("one".to_owned());
        Ok(Self { pinned, algorithm, key, keys: Arc::new(JwkSet { keys: vec![jwk] }) })
    }

    fn token(&self, doors: &Doors, now: OffsetDateTime, bound: Option<&str>) -> Result<String, Fault> {
        let header = Header {
            typ: Some("at+jwt".to_owned()),
            kid: Some("one".to_owned()),
            ..Header::new(self.algorithm)
        };
        let mut claims = json!({
            "iss": ISSUER, "sub": "alice", "aud": doors.mcp, "client_id": "app", "scope": "tools:read tools:write",
            "iat": now.unix_timestamp(), "exp": now.unix_timestamp() + 300, "roles": ["engineer"], "name": "Alice",
        });
        if let (Some(members), Some(bound)) = (claims.as_object_mut(), bound) {
            members.insert("cnf".to_owned(), json!({ "jkt": bound }));
        }
        Ok(jsonwebtoken::encode(&header, &claims, &self.key)?)
    }

    /// Who checks the tokens; `kept` is how many it remembers.
    fn verifier(&self, doors: &Doors, nonces: &SealKey, kept: u64) -> Result<Verifier, Fault> {
        let keys = KeySource::Held(Arc::new(InMemory(self.keys.clone())));
        let mut issuer = Issuer::new(ISSUER, keys, Tenants::One("acme".to_owned()));
        issuer.algorithms = [self.pinned].into();
        let settings = Settings::new(doors.clone(), vec![issuer]);
        Ok(Verifier::new(Settings { kept, nonces: Some(nonces.clone()), ..settings })?)
    }
}

/// Nanoseconds that this thread was on a CPU.
fn spent() -> Result<u64, Fault> {
    // Of a thread that goes on it is counted at the scheduler's ticks alone, which are longer than a round may take.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(told.split_whitespace().next().ok_or("no time")?.parse()?)
}

/// The thumbprint of the key that made a proof (RFC 7638).
fn thumbprint(proof: &str) -> Result<String, Fault> {
    let header = proof.split('.').next().ok_or("no header")?;
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header)?)?;
    let member = |name: &str| header.pointer(&format!("/jwk/{name}")).and_then(Value::as_str).ok_or("no key");
    let (x, y) = (member("x")?, member("y")?);
    let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    Ok(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.as_bytes())))
}

/// Median and range of rounds.
fn summary(mut rounds: Vec<f64>) -> Value {
    rounds.sort_by(f64::total_cmp);
    let at = |place: usize| rounds.get(place).copied().unwrap_or_default();
    let last = rounds.len().saturating_sub(1);
    json!({"median": at(last / 2), "range": [at(0), at(last)]})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let rounds: u32 = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    let doors = Doors::at("https://gateway.example.com", "https://admin.example.com");
    let seal = SealKey::derive(&[7; 32])?;
    let ec = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
    let ed = Ed25519KeyPair::generate()?;
    let ec = EncodingKey::from_ec_der(ec.to_pkcs8v1()?.as_ref());
    let ed = EncodingKey::from_ed_der(ed.to_pkcs8v1()?.as_ref());
    let signers = [
        ("ES256", Signer::new(SigningAlgorithm::Es256, Algorithm::ES256, ec)?),
        ("EdDSA", Signer::new(SigningAlgorithm::EdDsa, Algorithm::EdDSA, ed)?),
    ];
    let holder = DpopKey::generate()?;
    let mut costs = Map::new();
    for (name, signer) in &signers {
        for (how, kept) in [("kept", 10_000), ("cold", 0)] {
            for proven in [false, true] {
                let mut each = Vec::new();
                for _ in 0..rounds {
                    let verifier = signer.verifier(&doors, &seal, kept)?;
                    each.push(round(&verifier, signer, &doors, &seal, proven.then_some(&holder)).await?);
                }
                let what = if proven { format!("{name}, DPoP") } else { (*name).to_owned() };
                costs.insert(format!("{what}, {how}"), summary(each));
            }
        }
    }
    let argon2 = Hashing::default().params;
    let argon2 = json!({"kib": argon2.m_cost(), "passes": argon2.t_cost(), "lanes": argon2.p_cost()});
    println!("{}", json!({"token_us": costs, "argon2id": argon2}));
    Ok(())
}

/// Microseconds of one check. Proofs are made before it is measured, and each is used once.
async fn round(
    verifier: &Verifier,
    signer: &Signer,
    doors: &Doors,
    seal: &SealKey,
    holder: Option<&DpopKey>,
) -> Result<f64, Fault> {
    let now = OffsetDateTime::now_utc();
    let bound = match holder {
        Some(key) => Some(thumbprint(key.proof("POST", &doors.mcp, None, None, now)?.to_str()?)?),
        None => None,
    };
    let token = signer.token(doors, now, bound.as_deref())?;
    let nonce = issue_nonce(seal, [9; 12], now)?;
    let proof = |key: &DpopKey| key.proof("POST", &doors.mcp, Some(&nonce), Some(&token), now);
    let proofs = match holder {
        Some(key) => (0..=EACH).map(|_| proof(key).map(Some)).collect::<Result<Vec<_>, _>>()?,
        None => (0..=EACH).map(|_| None).collect(),
    };
    let scheme = if holder.is_some() { "DPoP" } else { "Bearer" };
    let authorization = format!("{scheme} {token}");
    let mut begun = 0;
    for (number, proof) in proofs.iter().enumerate() {
        let presented = Presented {
            authorization: Some(authorization.as_bytes()),
            proof: Proof::Sent(proof.as_ref().map(|proof| proof.as_bytes())),
            method: "POST",
            url: &doors.mcp,
            door: Door::Mcp,
        };
        black_box(verifier.authenticate(black_box(&presented), now).await?);
        // The first one is what others are kept after.
        if number == 0 {
            begun = spent()?;
        }
    }
    let nanoseconds = spent()?.saturating_sub(begun);
    Ok(std::time::Duration::from_nanos(nanoseconds).as_secs_f64() * 1e6 / f64::from(EACH))
}
