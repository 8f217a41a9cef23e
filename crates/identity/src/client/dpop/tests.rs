use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};

use super::*;

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

fn claims(proof: &HeaderValue) -> (serde_json::Value, Jwk) {
    let proof = proof.to_str().unwrap();
    let header = decode_header(proof).unwrap();
    assert_eq!((header.typ.as_deref(), header.alg), (Some("dpop+jwt"), Algorithm::ES256));
    let jwk = header.jwk.unwrap();
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_required_spec_claims::<&str>(&[]);
    validation.validate_exp = false;
    let claims = decode(proof, &DecodingKey::from_jwk(&jwk).unwrap(), &validation).unwrap().claims;
    (claims, jwk)
}

#[test]
fn a_proof_is_of_one_request_and_checks_out_elsewhere() {
    let key = DpopKey::generate().unwrap();
    let proof = || key.proof("POST", "https://h/mcp?a=b#c", Some("n"), Some("token"), NOW).unwrap();
    let ((one, jwk), (other, _)) = (claims(&proof()), claims(&proof()));
    assert_ne!(one["jti"], other["jti"]);
    assert_eq!(
        (&one["htm"], &one["htu"], &one["nonce"]),
        (&json!("POST"), &json!("https://h/mcp"), &json!("n"))
    );
    assert_eq!(one["iat"], json!(NOW.unix_timestamp()));
    assert_eq!(one["ath"], json!(BASE64URL.encode(Sha256::digest("token"))));
    assert!(!serde_json::to_string(&jwk).unwrap().contains("\"d\""));
    let (bare, _) = claims(&key.proof("GET", "https://h/", None, None, NOW).unwrap());
    assert!(bare.get("ath").is_none() && bare.get("nonce").is_none());
}

#[test]
fn a_kept_key_is_the_same_key() {
    let key = DpopKey::generate().unwrap();
    let again = DpopKey::read(key.document().clone()).unwrap();
    assert_eq!(key.jwk(), again.jwk());
    assert_eq!(format!("{key:?}"), "DpopKey");
    assert!(matches!(DpopKey::read(Secret::new("AAAA".to_owned())), Err(DpopFault::Key)));
}
