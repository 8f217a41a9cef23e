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

#[test]
fn the_key_set_holds_public_members_alone() {
    let jwks = keyring(&[&key(1, "ann"), &key(2, "ben")], &["ben"]).jwks();
    expect![[r#"{"keys":[{"kty":"OKP","crv":"Ed25519","use":"sig","alg":"EdDSA","kid":"ann","x":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"}]}"#]].assert_eq(&jwks.to_string());
}

#[test]
fn keys_that_cannot_be_told_apart_are_refused() {
    let ring = |keys: [SigningKey; 2]| {
        Keyring::new(keys.map(|key| key.public().clone()), []).map(|_| ()).unwrap_err().to_string()
    };
    expect!["two keys have the id `ann`; give each its own `kid`, or leave it out"]
        .assert_eq(&ring([key(1, "ann"), key(2, "ann")]));
    expect!["the keys `ben` and `ann` are one key; list it once"]
        .assert_eq(&ring([key(1, "ann"), key(1, "ben")]));
}

#[test]
fn a_private_key_comes_back_from_its_jwk() {
    for key in
        [key(7, "ann@example.org"), key(7, &"k".repeat(128)), SigningKey::from_seed([7; 32], None).unwrap()]
    {
        let again = SigningKey::from_jwk(&key.to_jwk()).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(again.sign(&statement()), key.sign(&statement()));
        let keyring = keyring(&[&key], &[]);
        assert_eq!(keyring.verify(&statement(), Some(&key.sign(&statement()))).unwrap(), key.public().kid());
        assert_eq!(PublicKey::from_jwk(&key.public().to_jwk().to_string()).unwrap(), *key.public());
    }
}

#[test]
fn debug_shows_nothing_of_a_private_key() {
    let key = SigningKey::from_jwk(RFC_8037).unwrap();
    expect![[r#"SigningKey { kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", .. }"#]]
        .assert_eq(&format!("{key:?}"));
}

fn check_key(jwk: &serde_json::Value, expected: Expect) {
    let said = PublicKey::from_jwk(&jwk.to_string());
    expected.assert_eq(&said.map_or_else(|fault| fault.to_string(), |key| key.kid().to_owned()));
}

#[test]
fn what_is_no_public_key_says_why() {
    let jwk = |member: &str, value: serde_json::Value| {
        let mut jwk = key(1, "ann").public().to_jwk();
        jwk[member] = value;
        jwk
    };
    check_key(&jwk("unknown", json!([1])), expect!["ann"]);
    check_key(&jwk("alg", json!("Ed25519")), expect!["ann"]);
    check_key(
        &json!("ann"),
        expect!["the key is no JSON Web Key (RFC 7517), or a member of it has the wrong type"],
    );
    check_key(
        &json!({}),
        expect!["expected a key with `kty` `OKP`, found ``; keys of reviewers are Ed25519 (RFC 8037)"],
    );
    check_key(
        &jwk("kty", json!("EC")),
        expect!["expected a key with `kty` `OKP`, found `EC`; keys of reviewers are Ed25519 (RFC 8037)"],
    );
    check_key(
        &jwk("crv", json!("X25519")),
        expect![
            "expected a key with `crv` `Ed25519`, found `X25519`; keys of reviewers are Ed25519 (RFC 8037)"
        ],
    );
    check_key(
        &jwk("alg", json!("ES256")),
        expect!["expected a key with `alg` `EdDSA`, found `ES256`; keys of reviewers are Ed25519 (RFC 8037)"],
    );
    check_key(
        &jwk("use", json!("enc")),
        expect!["expected a key with `use` `sig`, found `enc`; keys of reviewers are Ed25519 (RFC 8037)"],
    );
    check_key(
        &jwk("key_ops", json!(["sign"])),
        expect![
            "expected a key with `key_ops` `verify`, found `sign`; keys of reviewers are Ed25519 (RFC 8037)"
        ],
    );
    check_key(
        &jwk("kid", json!(7)),
        expect!["the key is no JSON Web Key (RFC 7517), or a member of it has the wrong type"],
    );
    check_key(
        &jwk("kid", json!("")),
        expect!["`` is no id of a key; expected 1 to 128 letters, digits and `-._~:@/+=`"],
    );
    check_key(
        &jwk("kid", json!("an\"n\u{1b}[2J")),
        expect![[r#"`an"n[2J` is no id of a key; expected 1 to 128 letters, digits and `-._~:@/+=`"#]],
    );
    check_key(
        &jwk("x", json!("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=")),
        expect!["`x` of the key must be 32 bytes in base64url without padding"],
    );
    check_key(
        &jwk("x", json!("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo")),
        expect!["`x` of the key must be 32 bytes in base64url without padding"],
    );
    check_key(
        &jwk("x", json!(encode([1; 31]))),
        expect!["`x` of the key must be 32 bytes in base64url without padding"],
    );
    check_key(
        &jwk("d", json!(encode([1; 32]))),
        expect![
            "the key holds the private member `d`, which must stay with the reviewer; give the public key alone"
        ],
    );
    let repeated = r#"{"kty":"OKP","kty":"OKP"}"#;
    expect!["the key cannot be read; expected one JSON Web Key (RFC 7517)"]
        .assert_eq(&PublicKey::from_jwk(repeated).unwrap_err().to_string());
}

#[test]
fn what_is_no_private_key_says_why_and_shows_none_of_it() {
    let other = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode([5; 32]), "d": encode([1; 32]) });
    let public = key(1, "ann").public().to_jwk();
    let bad = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode([5; 32]), "d": "secret" });
    let numbers = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode([5; 32]), "d": 12_345_678 });
    let said = [other, public, bad, numbers].map(|jwk| SigningKey::from_jwk(&jwk.to_string()).unwrap_err());
    expect![[r#"
        `x` of the key is not the public half of `d`
        the key is public; signing needs the private one, with the member `d`
        `d` of the key must be 32 bytes in base64url without padding
        the key is no JSON Web Key (RFC 7517), or a member of it has the wrong type
    "#]]
    .assert_eq(&said.map(|fault| format!("{fault}\n")).concat());
}

/// With such a key and `S` 0 anybody signs anything: the library alone would let it pass.
#[test]
fn a_key_for_which_anybody_can_sign_is_refused() {
    let mut one = [0; 32];
    one[0] = 1;
    let identity = PublicKey::unchecked("weak", one);
    assert!(identity.made(b"anything", &[one, [0; 32]].concat()));

    let weak = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    for x in weak {
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(hex::decode(x).unwrap()) });
        let said = PublicKey::from_jwk(&jwk.to_string());
        assert!(matches!(said, Err(KeyFault::Weak)), "{x}: {said:?}");
    }
}

fn renames(pairs: &[(&str, &str)]) -> Vec<Confirmed> {
    pairs.iter().map(|(from, to)| Confirmed { from: (*from).to_owned(), to: (*to).to_owned() }).collect()
}

fn manifest(upstream: Option<&str>, pairs: &[(&str, &str)]) -> Result<Manifest, ManifestFault> {
    let contracts = (Digest::of("before"), Digest::of("after"));
    Manifest::new(upstream.map(str::to_owned), "get_ticket".to_owned(), None, contracts, renames(pairs))
}

#[test]
fn a_signed_manifest_confirms_the_renames_of_its_two_contracts() {
    let vendor = key(4, "vendor");
    let jws = vendor.sign_manifest(&manifest(None, &[("id", "ticket_id")]).unwrap());
    let (read, kid) = keyring(&[&vendor], &[]).manifest(&format!("{jws}\n")).unwrap();
    assert_eq!(kid, "vendor");
    let (before, after) = (Digest::of("before"), Digest::of("after"));
    assert_eq!(read.of("tickets", "get_ticket", before, after), Some(&*renames(&[("id", "ticket_id")])));
    assert_eq!(read.of("tickets", "get_tickets", before, after), None);
    assert_eq!(read.of("tickets", "get_ticket", after, before), None);
    let (_, payload) = jws.split_once('.').unwrap();
    let payload = decode(payload.split_once('.').unwrap().0.as_bytes()).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    assert_eq!(Manifest::parse(&payload).unwrap(), read);
    expect![[r#"{"tool":"get_ticket","before":"sha256:6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb","after":"sha256:f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8","renames":[{"from":"id","to":"ticket_id"}]}"#]].assert_eq(&payload);

    let named = manifest(Some("tickets"), &[("id", "ticket_id")]).unwrap();
    assert!(named.of("tickets", "get_ticket", before, after).is_some());
    assert!(named.of("parts", "get_ticket", before, after).is_none());
}

#[test]
fn a_manifest_of_a_renamed_tool_says_so() {
    let contracts = (Digest::of("before"), Digest::of("after"));
    let was = Some("fetch_ticket".to_owned());
    let manifest = Manifest::new(None, "get_ticket".to_owned(), was, contracts, Vec::new()).unwrap();
    let vendor = key(4, "vendor");
    let (read, _) = keyring(&[&vendor], &[]).manifest(&vendor.sign_manifest(&manifest)).unwrap();
    assert_eq!(read, manifest);
    assert_eq!(read.of_tool(), renames(&[("fetch_ticket", "get_ticket")]).pop());
}

#[test]
fn renames_that_cannot_all_be_true_are_no_manifest() {
    let fault = |pairs: &[(&str, &str)]| manifest(None, pairs).unwrap_err().to_string();
    expect!["the manifest names no rename"].assert_eq(&fault(&[]));
    expect!["`a` is renamed to itself; leave it out"].assert_eq(&fault(&[("a", "a")]));
    expect!["`a` is renamed twice; renames are one to one"].assert_eq(&fault(&[("a", "b"), ("a", "c")]));
    expect!["`c` is renamed twice; renames are one to one"].assert_eq(&fault(&[("a", "c"), ("b", "c")]));
    assert!(manifest(None, &[("a", "b"), ("b", "a")]).is_ok());
    for text in ["", "[]", r#"{"tool":"t"}"#] {
        assert!(Manifest::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_manifest_is_checked_like_a_signature() {
    let (vendor, other) = (key(4, "vendor"), key(5, "vendor"));
    let jws = vendor.sign_manifest(&manifest(None, &[("a", "b")]).unwrap());
    let said = |keyring: &Keyring, jws: &str| keyring.manifest(jws).unwrap_err().to_string();
    let ring = keyring(&[&vendor], &[]);
    expect!["the signature is by the key `vendor`, which is none of the configured keys; add the key, or review and sign anew"].assert_eq(&said(&keyring(&[], &[]), &jws));
    expect!["the signature is by the key `vendor`, which is revoked; review the contract and sign anew with another key"].assert_eq(&said(&keyring(&[&vendor], &["vendor"]), &jws));
    expect!["the signature by the key `vendor` is of something else, or was altered; restore it from version control, or review what is there now and sign that"]
        .assert_eq(&said(&keyring(&[&other], &[]), &jws));
    expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"]
        .assert_eq(&said(&ring, &vendor.sign(&statement())));
    let mut parts: Vec<&str> = jws.split('.').collect();
    let forged = encode(manifest(None, &[("a", "c")]).unwrap().payload());
    parts[1] = &forged;
    expect!["the signature by the key `vendor` is of something else, or was altered; restore it from version control, or review what is there now and sign that"]
        .assert_eq(&said(&ring, &parts.join(".")));
    // A manifest is no signature of a contract.
    expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"]
        .assert_eq(&ring.verify(&statement(), Some(&jws)).unwrap_err().to_string());
}

proptest! {
    #[test]
    fn an_altered_signature_is_refused(at in 0_usize..200, byte in any::<u8>()) {
        let mut jws = key(1, "ann").sign(&statement()).into_bytes();
        let at = at % jws.len();
        prop_assume!(jws[at] != byte);
        jws[at] = byte;
        if let Ok(altered) = String::from_utf8(jws) {
            prop_assert!(keyring(&[&key(1, "ann")], &[]).verify(&statement(), Some(&altered)).is_err());
        }
    }

    #[test]
    fn no_text_makes_reading_fail_otherwise(text in any::<String>(), dots in "[A-Za-z0-9_-]{0,80}(\\.[A-Za-z0-9_-]{0,90}){0,4}") {
        for text in [text, dots] {
            prop_assert!(keyring(&[&key(1, "ann")], &[]).verify(&statement(), Some(&text)).is_err());
            prop_assert!(keyring(&[&key(1, "ann")], &[]).manifest(&text).is_err());
            prop_assert!(PublicKey::from_jwk(&text).is_err());
        }
    }
}
