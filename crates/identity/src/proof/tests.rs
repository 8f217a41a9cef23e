use aldgate_approval::SealKey;
use proptest::prelude::*;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::prover::Prover;
use super::{Asked, NonceRule, ProofFault, Replays, check, issue_nonce};

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);
const URL: &str = "https://gateway.example.com/mcp";
const ASKED: Asked<'static> = Asked { method: "POST", url: URL, access_token: None, nonce: NonceRule::Open };

/// The fault of a proof whose header and claims were changed.
fn fault(change: impl FnOnce(&mut Value, &mut Value)) -> ProofFault {
    let prover = Prover::p256();
    let (mut header, mut claims) = (prover.header(), Prover::claims("POST", URL, "one", NOW));
    change(&mut header, &mut claims);
    check(prover.sign(&header, &claims).as_bytes(), &ASKED, NOW).expect_err("refused")
}

#[test]
fn a_good_proof_names_its_key() {
    for prover in [Prover::p256(), Prover::ed25519()] {
        let one = check(prover.proof("POST", URL, "one", NOW).as_bytes(), &ASKED, NOW).expect("good");
        let two = check(prover.proof("POST", URL, "two", NOW).as_bytes(), &ASKED, NOW).expect("good");
        assert_eq!(one.thumbprint, two.thumbprint);
        assert_ne!(one.id, two.id);
        assert_eq!(one.thumbprint.len(), 43);
    }
}

#[test]
fn the_thumbprint_is_that_of_rfc_8037() {
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    let key = super::key::ProofKey::read("EdDSA", jwk.as_object().expect("object")).expect("key");
    assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn a_header_of_another_kind_is_refused() {
    let header = |member: &'static str, value: Value| fault(|header, _| header[member] = value);
    assert!(matches!(header("typ", json!("JWT")), ProofFault::Header { member: "typ", .. }));
    assert!(matches!(header("alg", json!("none")), ProofFault::Header { member: "alg", .. }));
    assert!(matches!(header("alg", json!("HS256")), ProofFault::Header { member: "alg", .. }));
    assert!(matches!(header("crit", json!(["x"])), ProofFault::Header { member: "crit", .. }));
    assert!(matches!(header("alg", json!("EdDSA")), ProofFault::Key(_)));
    assert!(matches!(header("jwk", Value::Null), ProofFault::Key(_)));
    assert!(matches!(fault(|header, _| header["jwk"]["d"] = json!("AA")), ProofFault::Key(_)));
    assert!(matches!(fault(|header, _| header["jwk"]["x"] = json!("AA")), ProofFault::Key(_)));
    assert_eq!(fault(|header, _| header["jwk"] = Prover::p256().jwk()), ProofFault::Signature);
}

#[test]
fn a_proof_for_another_request_is_refused() {
    let claims = |member: &'static str, value: Value| fault(|_, claims| claims[member] = value);
    assert!(matches!(claims("htm", json!("GET")), ProofFault::OtherRequest { member: "htm", .. }));
    for url in [
        "https://gateway.example.com/mcp/",
        "http://gateway.example.com/mcp",
        "/mcp",
        "https://u@gateway.example.com/mcp",
    ] {
        assert!(matches!(claims("htu", json!(url)), ProofFault::OtherRequest { member: "htu", .. }), "{url}");
    }
    assert_eq!(claims("jti", json!("")), ProofFault::Id);
    assert_eq!(claims("jti", json!("x".repeat(257))), ProofFault::Id);
    assert_eq!(claims("jti", json!(7)), ProofFault::Form);
    for seconds in [-61, 61, i64::MAX / 4] {
        let at = NOW.unix_timestamp() + seconds;
        assert!(matches!(claims("iat", json!(at)), ProofFault::Time { .. }));
    }
}

#[test]
fn the_url_is_compared_without_query_and_after_normalisation() {
    let prover = Prover::p256();
    for url in ["HTTPS://Gateway.Example.com:443/mcp", "https://gateway.example.com/mcp?a=1#b"] {
        assert!(check(prover.proof("POST", url, "one", NOW).as_bytes(), &ASKED, NOW).is_ok(), "{url}");
    }
}

#[test]
fn a_proof_beside_a_token_has_to_hold_its_hash() {
    let prover = Prover::ed25519();
    let mut claims = Prover::claims("POST", URL, "one", NOW);
    // RFC 9449 §7.1, figure 12: the token and its hash.
    let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    let asked = Asked { access_token: Some(token), ..ASKED };
    let sent = |claims: &Value| check(prover.sign(&prover.header(), claims).as_bytes(), &asked, NOW);
    assert_eq!(sent(&claims), Err(ProofFault::OtherToken));
    claims["ath"] = json!("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
    assert!(sent(&claims).is_ok());
    claims["ath"] = json!("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEp");
    assert_eq!(sent(&claims), Err(ProofFault::OtherToken));
}

#[test]
fn a_nonce_is_good_for_five_minutes_and_of_one_key() {
    let (key, foreign) = (SealKey::derive(&[1; 32]).expect("key"), SealKey::derive(&[2; 32]).expect("key"));
    let prover = Prover::p256();
    let sent = |nonce: Option<&str>, now: OffsetDateTime| {
        let mut claims = Prover::claims("POST", URL, "one", now);
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        let asked = Asked { nonce: NonceRule::Sealed(&key), ..ASKED };
        check(prover.sign(&prover.header(), &claims).as_bytes(), &asked, now).map(|_| ())
    };
    let nonce = issue_nonce(&key, [3; 12], NOW).expect("nonce");
    assert_eq!(sent(Some(&nonce), NOW + Duration::minutes(5)), Ok(()));
    assert_eq!(sent(Some(&nonce), NOW + Duration::seconds(301)), Err(ProofFault::Nonce));
    assert_eq!(sent(Some("x"), NOW), Err(ProofFault::Nonce));
    assert_eq!(sent(None, NOW), Err(ProofFault::Nonce));
    let nonce = issue_nonce(&foreign, [3; 12], NOW).expect("nonce");
    assert_eq!(sent(Some(&nonce), NOW), Err(ProofFault::Nonce));
}

#[test]
fn a_proof_is_taken_once_and_never_forgotten_while_it_is_good() {
    let prover = Prover::p256();
    let made = |jti: &str, now: OffsetDateTime| {
        check(prover.proof("POST", URL, jti, now).as_bytes(), &ASKED, now).expect("good")
    };
    let replays = Replays::new(2);
    let one = made("one", NOW);
    assert_eq!(replays.first(&one, NOW), Ok(()));
    assert_eq!(replays.first(&one, NOW + Duration::seconds(59)), Err(ProofFault::Replayed));
    assert_eq!(replays.first(&made("two", NOW), NOW), Ok(()));
    assert_eq!(replays.first(&made("three", NOW), NOW), Err(ProofFault::Crowded));
    let later = NOW + Duration::seconds(60);
    assert_eq!(replays.first(&made("three", later), later), Err(ProofFault::Crowded));
    let later = NOW + Duration::seconds(61);
    assert_eq!(replays.first(&made("three", later), later), Ok(()));
    assert_eq!(replays.first(&made("three", NOW), NOW), Err(ProofFault::Replayed));
}

#[test]
fn what_is_no_jws_is_refused() {
    let long = format!("{}.e30.AA", "A".repeat(5000));
    for text in ["", ".", "..", "a.b", "e30.e30.", "e30.e30.AA.AA", long.as_str()] {
        assert_eq!(check(text.as_bytes(), &ASKED, NOW), Err(ProofFault::Form), "{text}");
    }
    assert_eq!(check(&[0xff, b'.', b'.'], &ASKED, NOW), Err(ProofFault::Form));
}

proptest! {
    #[test]
    fn a_proof_that_was_altered_is_refused(at: prop::sample::Index, letter in "[A-Za-z0-9_.-]") {
        let proof = Prover::ed25519().proof("POST", URL, "one", NOW);
        let at = at.index(proof.len());
        let mut altered = proof.clone();
        altered.replace_range(at..=at, &letter);
        prop_assume!(altered != proof);
        prop_assert!(check(altered.as_bytes(), &ASKED, NOW).is_err());
    }
}
