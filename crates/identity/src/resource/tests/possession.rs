//! Tokens that are bound to a key (RFC 9449).

use aldgate_approval::SealKey;
use expect_test::expect;
use time::Duration;

use super::*;
use crate::proof::prover::Prover;

const URL: &str = "https://gateway.example.com/mcp";

struct Bed {
    signer: Signer,
    prover: Prover,
    settings: Settings,
}

fn bed() -> Bed {
    let signer = Signer::new(Algorithm::ES256, "one");
    let settings = super::settings(KeySource::Held(InMemory::of(&[&signer])));
    Bed { signer, prover: Prover::p256(), settings }
}

impl Bed {
    fn verifier(&self) -> Verifier {
        Verifier::new(self.settings.clone()).unwrap()
    }

    /// A token that is bound to the key of a prover.
    fn bound(&self, prover: &Prover) -> String {
        self.signer.token(&with(&json!({"cnf": {"jkt": thumbprint(prover)}})))
    }

    fn proof(&self, token: &str, jti: &str, changes: &Value) -> String {
        let mut claims = Prover::claims("POST", URL, jti, NOW);
        claims["ath"] = b64(sha2::Sha256::digest(token)).into();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.prover.sign(&self.prover.header(), &claims)
    }
}

use sha2::Digest as _;

fn thumbprint(prover: &Prover) -> String {
    let jwk: Jwk = serde_json::from_value(prover.jwk()).unwrap();
    jwk.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256).unwrap()
}

async fn dpop(of: &Verifier, token: &str, proof: Option<&str>) -> Result<Identity, Unauthenticated> {
    of.authenticate(&request(&format!("DPoP {token}"), proof), NOW).await
}

#[tokio::test]
async fn bound_token_is_good_with_a_proof_of_its_key() {
    let bed = bed();
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    for jti in ["1", "2"] {
        let proof = bed.proof(&token, jti, &json!({}));
        assert!(dpop(&of, &token, Some(&proof)).await.is_ok());
    }
}

#[tokio::test]
async fn proof_is_good_once_even_for_a_kept_token() {
    let bed = bed();
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    let proof = bed.proof(&token, "1", &json!({}));
    assert!(dpop(&of, &token, Some(&proof)).await.is_ok());
    let told = expect![
        "the proof of possession was refused: its `jti` was used before; each request needs a proof of its own"
    ];
    told.assert_eq(&dpop(&of, &token, Some(&proof)).await.unwrap_err().to_string());
}

#[tokio::test]
async fn proof_of_another_request_is_refused() {
    let bed = bed();
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    for (changes, told) in [
        (
            json!({"htm": "GET"}),
            expect!["the proof of possession was refused: its `htm` is `GET`; this request is `POST`"],
        ),
        (
            json!({"htu": "https://admin.example.com/v1"}),
            expect![
                "the proof of possession was refused: its `htu` is `https://admin.example.com/v1`; this request is `https://gateway.example.com/mcp`"
            ],
        ),
        (
            json!({"ath": b64([0; 32])}),
            expect![
                "the proof of possession was refused: its `ath` is not the SHA-256 of the access token that the request carries"
            ],
        ),
        (
            json!({"ath": null}),
            expect![
                "the proof of possession was refused: its `ath` is not the SHA-256 of the access token that the request carries"
            ],
        ),
        (
            json!({"iat": (NOW - Duration::minutes(2)).unix_timestamp()}),
            expect![
                "the proof of possession was refused: its `iat` is 1796039880, and the time here is 1796040000; 60 seconds may be between them"
            ],
        ),
    ] {
        let proof = bed.proof(&token, "1", &changes);
        let fault = dpop(&of, &token, Some(&proof)).await.unwrap_err();
        assert_eq!(fault.error(), Some("invalid_dpop_proof"));
        told.assert_eq(&fault.to_string());
    }
    let told = expect![
        "the proof of possession was refused: the request has no one `DPoP` header; expected a proof beside the token"
    ];
    told.assert_eq(&dpop(&of, &token, None).await.unwrap_err().to_string());
}

#[tokio::test]
async fn stolen_token_is_refused_with_a_proof_of_another_key() {
    let mut bed = bed();
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    bed.prover = Prover::ed25519();
    let proof = bed.proof(&token, "1", &json!({}));
    let fault = dpop(&of, &token, Some(&proof)).await.unwrap_err().to_string();
    assert!(fault.contains("it was made with the key"), "{fault}");
}

#[tokio::test]
async fn bound_token_as_bearer_is_refused() {
    let mut bed = bed();
    let token = bed.bound(&bed.prover);
    for rule in [ProofRule::Off, ProofRule::Allow, ProofRule::Require] {
        bed.settings.proofs = rule;
        let of = bed.verifier();
        let proof = bed.proof(&token, "1", &json!({}));
        for proof in [None, Some(proof.as_str())] {
            let told = why(of.authenticate(&request(&format!("Bearer {token}"), proof), NOW).await);
            expect!["the token was refused: it is bound to a key and was sent as `Bearer`; expected `DPoP` and a proof"].assert_eq(&told);
        }
    }
}

#[tokio::test]
async fn unbound_token_as_dpop_is_refused() {
    let bed = bed();
    let of = bed.verifier();
    let token = bed.signer.token(&good());
    let proof = bed.proof(&token, "1", &json!({}));
    let told =
        expect!["the token was refused: it is bound to no key and was sent as `DPoP`; expected `Bearer`"];
    told.assert_eq(&why(dpop(&of, &token, Some(&proof)).await));
}

#[tokio::test]
async fn binding_that_cannot_be_checked_is_refused() {
    let bed = bed();
    let of = bed.verifier();
    let thumbprint = thumbprint(&bed.prover);
    for cnf in [
        json!({"x5t#S256": thumbprint}),
        json!({"jkt": thumbprint, "x5t#S256": thumbprint}),
        json!({"jkt": [thumbprint]}),
        json!({"jkt": ""}),
        json!({"jkt": null}),
        json!({}),
        json!(thumbprint),
        json!([{"jkt": thumbprint}]),
    ] {
        let token = bed.signer.token(&with(&json!({"cnf": cnf})));
        let told = why(bearer(&of, &token, NOW).await);
        assert!(told.contains("its `cnf` is no object with a `jkt` and nothing else"), "{cnf}: {told}");
    }
    let claims = good().to_string().replacen('{', r#"{"cnf":null,"#, 1);
    let token = bed.signer.sign_text(&bed.signer.header().to_string(), &claims);
    assert!(why(bearer(&of, &token, NOW).await).contains("its `cnf` is no object"));
}

#[tokio::test]
async fn rule_says_whether_proofs_are_taken() {
    let mut bed = bed();
    let bound = bed.bound(&bed.prover);
    let unbound = bed.signer.token(&good());
    for (rule, takes_bound, takes_unbound) in
        [(ProofRule::Off, false, true), (ProofRule::Allow, true, true), (ProofRule::Require, true, false)]
    {
        bed.settings.proofs = rule;
        let of = bed.verifier();
        let proof = bed.proof(&bound, &format!("{rule:?}"), &json!({}));
        assert_eq!(dpop(&of, &bound, Some(&proof)).await.is_ok(), takes_bound, "{rule:?}");
        assert_eq!(bearer(&of, &unbound, NOW).await.is_ok(), takes_unbound, "{rule:?}");
    }
}

#[tokio::test]
async fn checked_proof_spares_the_proof_alone() {
    let bed = bed();
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    let value = format!("DPoP {token}");
    let checked = Presented { proof: Proof::Checked, ..request(&value, None) };
    assert!(of.authenticate(&checked, NOW).await.is_ok());
    let later = of.authenticate(&checked, NOW + Duration::hours(1)).await;
    assert_eq!(later, Err(Unauthenticated::Expired));
    let bearer = format!("Bearer {token}");
    let downgraded = Presented { authorization: Some(bearer.as_bytes()), ..checked };
    assert!(of.authenticate(&downgraded, NOW).await.is_err());
    let other = Presented { door: Door::Admin, ..checked };
    assert!(of.authenticate(&other, NOW).await.is_err());
}

#[tokio::test]
async fn proof_without_a_nonce_is_told_one() {
    let mut bed = bed();
    bed.settings.nonces = Some(SealKey::derive(&[7; 32]).unwrap());
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    let bare = bed.proof(&token, "1", &json!({}));
    let Err(Unauthenticated::Nonce(nonce)) = dpop(&of, &token, Some(&bare)).await else { panic!("a nonce") };
    let with_it = bed.proof(&token, "1", &json!({"nonce": nonce}));
    assert!(dpop(&of, &token, Some(&with_it)).await.is_ok());
    let foreign = SealKey::derive(&[8; 32]).unwrap();
    let foreign = crate::proof::issue_nonce(&foreign, [0; 12], NOW).unwrap();
    let forged = bed.proof(&token, "2", &json!({"nonce": foreign}));
    assert!(matches!(dpop(&of, &token, Some(&forged)).await, Err(Unauthenticated::Nonce(_))));
}

#[tokio::test]
async fn proof_that_was_used_at_one_verifier_is_refused_by_the_next() {
    let bed = bed();
    let token = bed.bound(&bed.prover);
    let proof = bed.proof(&token, "1", &json!({}));
    assert!(dpop(&bed.verifier(), &token, Some(&proof)).await.is_ok());
    assert!(matches!(dpop(&bed.verifier(), &token, Some(&proof)).await, Err(Unauthenticated::Proof(_))));
}

#[tokio::test]
async fn refused_token_uses_no_proof_up() {
    let mut bed = bed();
    bed.settings.replays = Arc::new(crate::proof::Replays::new(1));
    let of = bed.verifier();
    let token = bed.bound(&bed.prover);
    let expired = bed.signer.token(&with(&json!({"exp": 0, "cnf": {"jkt": thumbprint(&bed.prover)}})));
    let proof = bed.proof(&expired, "0", &json!({}));
    assert_eq!(dpop(&of, &expired, Some(&proof)).await, Err(Unauthenticated::Expired));
    let proof = bed.proof(&token, "1", &json!({}));
    assert!(dpop(&of, &token, Some(&proof)).await.is_ok());
    // A full memory refuses.
    let proof = bed.proof(&token, "2", &json!({}));
    assert!(matches!(dpop(&of, &token, Some(&proof)).await, Err(Unauthenticated::Proof(_))));
}
