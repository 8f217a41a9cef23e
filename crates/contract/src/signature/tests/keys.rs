//! Which keys count, and what is said of others.

use super::*;

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
