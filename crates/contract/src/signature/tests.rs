mod keys;
mod manifests;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::jwk::{decode, encode};
use super::*;
use crate::canonical;
use crate::rename::Confirmed;

/// The key of RFC 8037 appendix A.1.
const RFC_8037: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

fn key(byte: u8, kid: &str) -> SigningKey {
    SigningKey::from_seed([byte; 32], Some(kid)).unwrap()
}

fn keyring(keys: &[&SigningKey], revoked: &[&str]) -> Keyring {
    let revoked = revoked.iter().map(|kid| (*kid).to_owned());
    Keyring::new(keys.iter().map(|key| key.public().clone()), revoked).unwrap()
}

fn statement() -> Statement<'static> {
    Statement {
        upstream: "parts",
        kind: Kind::Tool,
        name: "raise_parts_order",
        version: 3,
        digest: Digest::of("definition"),
    }
}

/// What the keyring of `ann` says of a signature, with `ben` revoked.
fn check(jws: &str, expected: Expect) {
    let keyring = keyring(&[&key(1, "ann"), &key(2, "ben")], &["ben"]);
    let said = keyring.verify(&statement(), Some(jws)).unwrap_or_else(|fault| fault.to_string());
    expected.assert_eq(&said);
}

/// A signature by `ann` under another header.
fn signed_under(header: &str) -> String {
    let header = encode(header);
    let message = format!("{header}.{}", encode(statement().payload()));
    let pair = aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(&[1; 32]).unwrap();
    format!("{header}..{}", encode(pair.sign(message.as_bytes())))
}

#[test]
fn the_statement_is_in_canonical_form() {
    expect![[r#"{"digest":"sha256:4c4ed1afbfdaa1e4c3bf7bbb82d730cecb7e384da91eea4f3cc093fd545524d6","tool":"raise_parts_order","upstream":"parts","version":3}"#]]
        .assert_eq(&statement().payload());
    for kind in Kind::ALL {
        let payload = Statement { kind, name: "Zoë \u{7f}\u{1f}\"\\/\u{2028}😀", ..statement() }.payload();
        assert_eq!(canonical(&payload).unwrap(), payload);
    }
}

#[test]
fn rfc_8037_gives_the_same_key_and_thumbprint() {
    let key = SigningKey::from_jwk(RFC_8037).unwrap();
    assert_eq!(key.public().kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let signature =
        decode(b"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
    let message = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    assert!(key.public().made(message, &signature.unwrap()));
}

#[test]
fn a_good_signature_names_its_key() {
    check(&key(1, "ann").sign(&statement()), expect!["ann"]);
}

#[test]
fn a_signature_that_does_not_count_says_why() {
    let good = key(1, "ann").sign(&statement());
    let (header, signature) = good.split_once("..").unwrap();
    check(
        &key(2, "ben").sign(&statement()),
        expect![
            "the signature is by the key `ben`, which is revoked; review the contract and sign anew with another key"
        ],
    );
    check(
        &key(3, "eve").sign(&statement()),
        expect![
            "the signature is by the key `eve`, which is none of the configured keys; add the key, or review and sign anew"
        ],
    );
    check(
        &key(3, "ann").sign(&statement()),
        expect![
            "the signature by the key `ann` is of something else, or was altered; restore it from version control, or review what is there now and sign that"
        ],
    );
    check("", expect!["the signature cannot be read: expected three parts with `.` between them"]);
    check(
        &format!("{header}.{signature}"),
        expect!["the signature cannot be read: expected three parts with `.` between them"],
    );
    check(
        &format!("{good}."),
        expect!["the signature cannot be read: expected three parts with `.` between them"],
    );
    check(
        &format!("{header}.{}.{signature}", encode(statement().payload())),
        expect!["the signature cannot be read: the payload must be detached, `header..signature`"],
    );
    check(
        &format!("{good}=="),
        expect!["the signature cannot be read: the signature is not 64 bytes in base64url"],
    );
    check(
        &good.replace("..", ".. "),
        expect!["the signature cannot be read: the signature is not 64 bytes in base64url"],
    );
    check(
        &format!("{header}..{}", encode([0; 63])),
        expect!["the signature cannot be read: the signature is not 64 bytes in base64url"],
    );
    check(&"a".repeat(300_000), expect!["the signature cannot be read: it is too long"]);
    let missing = keyring(&[], &[]).verify(&statement(), None);
    assert_eq!(missing, Err(SignatureFault::Missing));
}

#[test]
fn the_header_cannot_change_the_rules() {
    let typ = r#""typ":"aldgate-contract+jws""#;
    check(&signed_under(&format!(r#"{{"alg":"EdDSA","kid":"ann",{typ}}}"#)), expect!["ann"]);
    check(&signed_under(&format!(r#"{{"alg":"EdDSA","kid":"ann","iat":1,{typ}}}"#)), expect!["ann"]);
    check(
        &signed_under(&format!(r#"{{"alg":"none","kid":"ann",{typ}}}"#)),
        expect!["the signature has the algorithm `none`; expected `EdDSA` with an Ed25519 key"],
    );
    check(
        &signed_under(&format!(r#"{{"alg":"HS256","kid":"ann",{typ}}}"#)),
        expect!["the signature has the algorithm `HS256`; expected `EdDSA` with an Ed25519 key"],
    );
    check(
        &signed_under(&format!(r#"{{"kid":"ann",{typ}}}"#)),
        expect!["the signature cannot be read: the header has no `alg`"],
    );
    check(
        &signed_under(&format!(r#"{{"alg":"EdDSA",{typ}}}"#)),
        expect!["the signature cannot be read: the header has no `kid`"],
    );
    check(
        &signed_under(r#"{"alg":"EdDSA","kid":"ann"}"#),
        expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"],
    );
    check(
        &signed_under(r#"{"alg":"EdDSA","kid":"ann","typ":"aldgate-renames+jws"}"#),
        expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"],
    );
    check(
        &signed_under(&format!(r#"{{"alg":"EdDSA","kid":"ann","crit":["b64"],"b64":false,{typ}}}"#)),
        expect!["the signature cannot be read: the header asks for an extension"],
    );
    check(
        &signed_under(&format!(r#"{{"alg":"EdDSA","kid":"ann","kid":"ann",{typ}}}"#)),
        expect!["the signature cannot be read: the header is not JSON without doubt"],
    );
    check(
        &signed_under(&format!(r#"{{"alg":"EdDSA","kid":"a\u0000nn",{typ}}}"#)),
        expect!["the signature cannot be read: the header's `kid` is no id"],
    );
    check(&signed_under("[]"), expect!["the signature cannot be read: the header is not a JSON object"]);
    check(&signed_under("{"), expect!["the signature cannot be read: the header is not JSON without doubt"]);
}

#[test]
fn a_signature_is_of_every_member_of_the_statement() {
    let jws = key(1, "ann").sign(&statement());
    let keyring = keyring(&[&key(1, "ann")], &[]);
    let others = [
        Statement { upstream: "part", ..statement() },
        Statement { kind: Kind::Prompt, ..statement() },
        Statement { kind: Kind::ResourceTemplate, ..statement() },
        Statement { name: "raise_parts_orders", ..statement() },
        Statement { version: 2, ..statement() },
        Statement { digest: Digest::of("definitio"), ..statement() },
    ];
    for other in others {
        let said = keyring.verify(&other, Some(&jws));
        assert_eq!(said, Err(SignatureFault::Mismatch { kid: "ann".to_owned() }), "{other:?}");
    }
}

/// RFC 8032 section 5.1.7: `S` must be below the order of the group, or each signature would have a second spelling.
#[test]
fn a_signature_has_one_spelling() {
    let good = key(1, "ann").sign(&statement());
    let (header, signature) = good.split_once("..").unwrap();
    let mut bytes = decode(signature.as_bytes()).unwrap();
    let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    let mut carry = 0_u16;
    for (s, l) in bytes.iter_mut().skip(32).zip(order) {
        let sum = u16::from(*s) + u16::from(l) + carry;
        *s = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    check(
        &format!("{header}..{}", encode(bytes)),
        expect![
            "the signature by the key `ann` is of something else, or was altered; restore it from version control, or review what is there now and sign that"
        ],
    );
}

#[test]
fn revoking_counts_by_id_and_by_thumbprint_and_after_the_key_is_gone() {
    let ann = key(1, "ann");
    let jws = ann.sign(&statement());
    let thumbprint = ann.public().thumbprint();
    let revoked = Err(SignatureFault::Revoked { kid: "ann".to_owned() });
    for (keys, names) in [(vec![&ann], "ann"), (vec![&ann], thumbprint.as_str()), (vec![], "ann")] {
        let keyring = keyring(&keys, &[names]);
        assert_eq!(keyring.verify(&statement(), Some(&jws)), revoked);
        assert_eq!(keyring.jwks(), json!({ "keys": [] }));
        assert_eq!(keyring.kids().count(), 0);
    }
}

#[test]
fn a_key_is_replaced_by_having_both_for_a_while() {
    let (old, new) = (key(1, "2025"), key(2, "2026"));
    let both = keyring(&[&old, &new], &[]);
    assert_eq!(both.verify(&statement(), Some(&old.sign(&statement()))).unwrap(), "2025");
    assert_eq!(both.verify(&statement(), Some(&new.sign(&statement()))).unwrap(), "2026");
    let after = keyring(&[&new], &[]);
    let fault = after.verify(&statement(), Some(&old.sign(&statement()))).unwrap_err();
    assert_eq!(fault, SignatureFault::UnknownKey { kid: "2025".to_owned() });
}
