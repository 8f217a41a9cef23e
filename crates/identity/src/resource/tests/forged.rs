//! Tokens that were made or changed by somebody else than their issuer.

use expect_test::{Expect, expect};
use jsonwebtoken::jwk::AlgorithmParameters;

use super::*;

async fn check(of: &Verifier, token: &str, expected: Expect) {
    let fault = why(bearer(of, token, NOW).await);
    expected.assert_eq(fault.strip_prefix("the token was refused: ").unwrap_or(&fault));
}

#[tokio::test]
async fn issuer_that_is_not_configured_is_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    for (iss, told) in [
        (
            "https://evil.example.com",
            expect!["its issuer `https://evil.example.com` is none whose tokens are taken here"],
        ),
        (
            "https://login.example.com/",
            expect!["its issuer `https://login.example.com/` is none whose tokens are taken here"],
        ),
        (
            "https://LOGIN.example.com",
            expect!["its issuer `https://LOGIN.example.com` is none whose tokens are taken here"],
        ),
        ("", expect!["its issuer `` is none whose tokens are taken here"]),
    ] {
        check(&of, &signer.token(&with(&json!({"iss": iss}))), told).await;
    }
    check(&of, &signer.token(&with(&json!({"iss": [ISSUER]}))), expect!["it names no issuer (`iss`)"]).await;
}

#[tokio::test]
async fn key_of_another_issuer_is_refused() {
    let [one, other] = ["one", "other"].map(|id| Signer::new(Algorithm::ES256, id));
    let mut settings = settings(KeySource::Held(InMemory::of(&[&one])));
    let mut second = settings.issuers[0].clone();
    second.url = "https://second.example.com".to_owned();
    second.keys = KeySource::Held(InMemory::of(&[&other]));
    settings.issuers.push(second);
    let of = Verifier::new(settings).unwrap();
    let stolen = with(&json!({"iss": "https://second.example.com"}));
    check(&of, &one.token(&stolen), expect!["its issuer does not have the key `one`"]).await;
    assert!(bearer(&of, &other.token(&stolen), NOW).await.is_ok());
}

#[tokio::test]
async fn algorithm_none_is_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    for (alg, told) in [
        ("none", expect!["its `alg` is `none`; expected of this issuer: ES256, ES384, RS256, PS256, EdDSA"]),
        ("NONE", expect!["its `alg` is `NONE`; expected of this issuer: ES256, ES384, RS256, PS256, EdDSA"]),
        (
            "es256",
            expect!["its `alg` is `es256`; expected of this issuer: ES256, ES384, RS256, PS256, EdDSA"],
        ),
    ] {
        let header = json!({"typ": "at+jwt", "alg": alg, "kid": "one"}).to_string();
        let bare = format!("{}.{}.", b64(header), b64(good().to_string()));
        check(&of, &bare, told).await;
    }
    let header = json!({"typ": "at+jwt", "kid": "one"}).to_string();
    let bare = format!("{}.{}.", b64(header), b64(good().to_string()));
    check(&of, &bare, expect!["its header names no `alg`"]).await;
}

#[tokio::test]
async fn hs256_with_the_public_key_as_secret_is_refused() {
    let signer = Signer::new(Algorithm::RS256, "one");
    let AlgorithmParameters::RSA(public) = &signer.jwk.algorithm else { panic!("RSA") };
    let jwk = serde_json::to_string(&signer.jwk).unwrap();
    for secret in [public.n.as_bytes(), &URL_SAFE_NO_PAD.decode(&public.n).unwrap(), jwk.as_bytes()] {
        let key = EncodingKey::from_secret(secret).unwrap();
        let forger = Signer { key, algorithm: Algorithm::HS256, jwk: signer.jwk.clone() };
        let header = json!({"typ": "at+jwt", "alg": "HS256", "kid": "one"});
        let told =
            expect!["its `alg` is `HS256`; expected of this issuer: ES256, ES384, RS256, PS256, EdDSA"];
        check(&verifier(&[&signer]), &forger.sign(&header, &good()), told).await;
    }
}

#[tokio::test]
async fn shared_secret_in_a_key_set_verifies_nothing() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let secret: Jwk = serde_json::from_value(json!({"kty": "oct", "kid": "s", "k": b64("secret")})).unwrap();
    let key = EncodingKey::from_secret(b"secret").unwrap();
    let forger = Signer { key, algorithm: Algorithm::HS256, jwk: secret };
    let of = verifier(&[&signer, &forger]);
    let header = json!({"typ": "at+jwt", "alg": "ES256", "kid": "s"});
    let told = expect!["the key `s` is a shared secret; `ES256` needs P-256 for signatures"];
    check(&of, &forger.sign(&header, &good()), told).await;
}

#[tokio::test]
async fn key_of_another_kind_than_the_algorithm_is_refused() {
    let signers = [Algorithm::RS256, Algorithm::ES256, Algorithm::ES384, Algorithm::EdDSA];
    let signers = signers.map(|algorithm| Signer::new(algorithm, &format!("{algorithm:?}")));
    let of = verifier(&signers.each_ref());
    for (kid, alg, told) in [
        ("RS256", "ES256", expect!["the key `RS256` is RSA for RS256; `ES256` needs P-256 for signatures"]),
        ("ES256", "RS256", expect!["the key `ES256` is P-256 for ES256; `RS256` needs RSA for signatures"]),
        ("ES256", "ES384", expect!["the key `ES256` is P-256 for ES256; `ES384` needs P-384 for signatures"]),
        (
            "EdDSA",
            "ES256",
            expect!["the key `EdDSA` is Ed25519 for EdDSA; `ES256` needs P-256 for signatures"],
        ),
        // The key says RS256 of itself.
        ("RS256", "PS256", expect!["the key `RS256` is RSA for RS256; `PS256` needs RSA for signatures"]),
    ] {
        let signer = signers.iter().find(|one| one.jwk.common.key_id.as_deref() == Some(kid)).unwrap();
        let header = json!({"typ": "at+jwt", "alg": alg, "kid": kid});
        check(&of, &signer.sign(&header, &good()), told).await;
    }
}

#[tokio::test]
async fn algorithm_that_is_not_pinned_for_the_issuer_is_refused() {
    let signer = Signer::new(Algorithm::RS256, "one");
    let mut settings = settings(KeySource::Held(InMemory::of(&[&signer])));
    settings.issuers[0].algorithms = BTreeSet::from([SigningAlgorithm::Es256, SigningAlgorithm::Ps256]);
    let of = Verifier::new(settings).unwrap();
    let told = expect!["its `alg` is `RS256`; expected of this issuer: ES256, PS256"];
    check(&of, &signer.token(&good()), told).await;
}

#[tokio::test]
async fn key_that_is_not_for_signatures_is_refused() {
    let mut signer = Signer::new(Algorithm::ES256, "one");
    signer.jwk.common.public_key_use = Some(jsonwebtoken::jwk::PublicKeyUse::Encryption);
    let told =
        expect!["the key `one` is P-256 for ES256, not for signatures; `ES256` needs P-256 for signatures"];
    check(&verifier(&[&signer]), &signer.token(&good()), told).await;
}

#[tokio::test]
async fn keys_with_one_name_are_not_guessed_between() {
    let [one, two] = ["one", "one"].map(|id| Signer::new(Algorithm::ES256, id));
    let told = expect!["its issuer has the key `one` more than once"];
    check(&verifier(&[&one, &two]), &two.token(&good()), told).await;
    let unnamed = json!({"typ": "at+jwt", "alg": "ES256"});
    assert!(bearer(&verifier(&[&one]), &one.sign(&unnamed, &good()), NOW).await.is_ok());
    let told = expect!["its issuer has a key without name more than once"];
    check(&verifier(&[&one, &two]), &one.sign(&unnamed, &good()), told).await;
}

#[tokio::test]
async fn another_type_of_token_is_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    let typed = |typ: Value| {
        let mut header = signer.header();
        header["typ"] = typ;
        signer.sign(&header, &good())
    };
    for good in ["AT+JWT", "application/at+jwt"] {
        assert!(bearer(&of, &typed(good.into()), NOW).await.is_ok(), "{good}");
    }
    check(&of, &typed("JWT".into()), expect!["its header `typ` is `JWT`; expected `at+jwt`"]).await;
    check(&of, &typed("dpop+jwt".into()), expect!["its header `typ` is `dpop+jwt`; expected `at+jwt`"]).await;
    check(&of, &typed("at+jwt ".into()), expect!["its header `typ` is `at+jwt `; expected `at+jwt`"]).await;
    check(&of, &typed(json!(["at+jwt"])), expect!["its header `typ` is no text"]).await;
    let bare = signer.sign(&json!({"alg": "ES256", "kid": "one"}), &good());
    check(&of, &bare, expect!["its header `typ` is absent; expected `at+jwt`"]).await;

    let mut older = settings(KeySource::Held(InMemory::of(&[&signer])));
    older.issuers[0].plain_jwt = true;
    let older = Verifier::new(older).unwrap();
    for token in [typed("JWT".into()), bare] {
        assert!(bearer(&older, &token, NOW).await.is_ok());
    }
    let id_token =
        signer.sign(&json!({"typ": "JWT", "alg": "ES256", "kid": "one"}), &with(&json!({"nonce": "n"})));
    check(&older, &id_token, expect!["it has a `nonce`, as ID tokens do; expected an access token"]).await;
    assert!(bearer(&older, &signer.token(&with(&json!({"nonce": "n"}))), NOW).await.is_ok());
    check(
        &older,
        &typed("logout+jwt".into()),
        expect!["its header `typ` is `logout+jwt`; expected `at+jwt`"],
    )
    .await;
}

#[tokio::test]
async fn critical_extensions_are_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    for (member, value, told) in [
        ("crit", json!(["exp"]), expect!["its header holds `crit`; no extension is understood here"]),
        ("crit", json!([]), expect!["its header holds `crit`; no extension is understood here"]),
        ("crit", json!(null), expect!["its header holds `crit`; no extension is understood here"]),
        ("b64", json!(false), expect!["its header holds `b64`; no extension is understood here"]),
    ] {
        let mut header = signer.header();
        header[member] = value;
        check(&of, &signer.sign(&header, &good()), told).await;
    }
}

#[tokio::test]
async fn keys_that_a_token_brings_along_are_not_used() {
    let [own, forger] = ["one", "evil"].map(|id| Signer::new(Algorithm::ES256, id));
    let server = issuer::Server::start().await;
    server.serve_keys(&[&forger]);
    let of = verifier(&[&own]);
    for (kid, told) in [
        ("evil", expect!["its issuer does not have the key `evil`"]),
        ("one", expect!["its signature does not verify under the issuer's key"]),
    ] {
        let mut header = forger.header();
        header["kid"] = kid.into();
        header["jwk"] = serde_json::to_value(&forger.jwk).unwrap();
        for member in ["jku", "x5u"] {
            header[member] = format!("{}/keys", server.url).into();
        }
        check(&of, &forger.sign(&header, &good()), told).await;
    }
    assert_eq!(server.asked("/keys"), 0);
}

#[tokio::test]
async fn tampered_parts_are_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    let token = signer.token(&good());
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else { panic!("three parts") };
    let unverified = || expect!["its signature does not verify under the issuer's key"];

    let promoted = b64(with(&json!({"roles": ["admin"]})).to_string());
    check(&of, &format!("{header}.{promoted}.{signature}"), unverified()).await;
    let retyped = b64(json!({"typ": "at+jwt", "alg": "ES256", "kid": "one", "x": 1}).to_string());
    check(&of, &format!("{retyped}.{payload}.{signature}"), unverified()).await;
    for place in [0, signature.len() / 2, signature.len() - 3] {
        let mut bytes = signature.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        check(&of, &format!("{header}.{payload}.{}", String::from_utf8(bytes).unwrap()), unverified()).await;
    }
    for other in ["", signature.split_at(signature.len() - 4).0, &format!("{signature}AAAA"), &b64([0; 64])] {
        check(&of, &format!("{header}.{payload}.{other}"), unverified()).await;
    }
    let foreign = signer.token(&with(&json!({"sub": "bob"})));
    let foreign = foreign.rsplit_once('.').unwrap().1;
    check(&of, &format!("{header}.{payload}.{foreign}"), unverified()).await;
}

#[tokio::test]
async fn one_token_has_one_spelling() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    let token = signer.token(&good());
    check(&of, &format!("{token}=="), expect!["its signature does not verify under the issuer's key"]).await;
    check(
        &of,
        &format!("{token}."),
        expect!["it has 4 parts; expected the 3 of a signed JWT (encrypted ones are not read)"],
    )
    .await;
    check(
        &of,
        &format!("{token}..."),
        expect!["it has 6 parts; expected the 3 of a signed JWT (encrypted ones are not read)"],
    )
    .await;
    let (header, rest) = token.split_once('.').unwrap();
    check(&of, &format!("{header}.+/{rest}"), expect!["its payload is not base64url without padding"]).await;
    let two = rest.split_once('.').unwrap().0;
    check(
        &of,
        &format!("{header}.{two}"),
        expect!["it has 2 parts; expected the 3 of a signed JWT (encrypted ones are not read)"],
    )
    .await;
    // The last letter of 64 bytes has four bits that mean nothing.
    let last = token.chars().last().unwrap();
    let next = char::from(u8::try_from(last).unwrap() + 1);
    let respelt = format!("{}{next}", token.split_at(token.len() - 1).0);
    check(&of, &respelt, expect!["its signature does not verify under the issuer's key"]).await;
}

#[tokio::test]
async fn member_that_stands_twice_is_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    let header = signer.header().to_string();
    let claims = good().to_string();
    let claims = claims.trim_end_matches('}');
    for (more, told) in [
        (r#","sub":"maya"}"#, expect!["its payload is no good JSON object: the member `sub` stands twice"]),
        (
            r#","\u0073ub":"maya"}"#,
            expect!["its payload is no good JSON object: the member `sub` stands twice"],
        ),
        (
            r#","x":[{"y":{"a":1,"a":1}}]}"#,
            expect!["its payload is no good JSON object: the member `a` stands twice"],
        ),
        (r"} {}", expect!["its payload is no good JSON object: trailing characters"]),
        ("", expect!["its payload is no good JSON object: EOF while parsing an object"]),
    ] {
        check(&of, &signer.sign_text(&header, &format!("{claims}{more}")), told).await;
    }
    let twice = header.replacen('{', r#"{"alg":"none","#, 1);
    let told = expect!["its header is no good JSON object: the member `alg` stands twice"];
    check(&of, &signer.sign_text(&twice, &good().to_string()), told).await;
    check(
        &of,
        &signer.sign_text(&header, "[]"),
        expect!["its payload is no good JSON object: expected an object"],
    )
    .await;
    let deep = format!("{claims},\"x\":{}{}}}", "[".repeat(4000), "]".repeat(4000));
    check(
        &of,
        &signer.sign_text(&header, &deep),
        expect!["its payload is no good JSON object: recursion limit exceeded"],
    )
    .await;
}

#[tokio::test]
async fn oversized_token_is_refused() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let of = verifier(&[&signer]);
    let token = signer.token(&with(&json!({"x": "x".repeat(16 * 1024)})));
    check(&of, &token, expect!["it has 22336 bytes; expected 16384 at most"]).await;
    let fits = signer.token(&with(&json!({"x": "x".repeat(11 * 1024)})));
    assert!(bearer(&of, &fits, NOW).await.is_ok());
}

proptest::proptest! {
    #[test]
    fn token_with_another_letter_anywhere_is_nobodys(place: proptest::sample::Index, letter in "[A-Za-z0-9._~+/=-]") {
        let (of, token) = once();
        let place = place.index(token.len());
        let changed: String =
            token.chars().enumerate().map(|(at, old)| if at == place { letter.clone() } else { old.to_string() }).collect();
        proptest::prop_assume!(changed != *token);
        let found = at_once(bearer(of, &changed, NOW));
        proptest::prop_assert!(found.is_err(), "{changed}");
    }

    #[test]
    fn no_header_value_panics_or_is_taken(value: Vec<u8>, scheme in "(Bearer |DPoP )?") {
        let value = [scheme.as_bytes(), &value].concat();
        let presented = Presented { authorization: Some(&value), ..request("", None) };
        proptest::prop_assert!(at_once(once().0.authenticate(&presented, NOW)).is_err());
    }
}

/// One token, and who takes it.
fn once() -> &'static (Verifier, String) {
    static ONCE: std::sync::OnceLock<(Verifier, String)> = std::sync::OnceLock::new();
    ONCE.get_or_init(|| {
        let signer = Signer::new(Algorithm::ES256, "one");
        (verifier(&[&signer]), signer.token(&good()))
    })
}

/// Keys in memory do not wait.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    use futures::FutureExt as _;
    future.now_or_never().expect("ready")
}

#[tokio::test]
async fn what_is_no_token_of_anybody_is_unknown() {
    let of = verifier(&[&Signer::new(Algorithm::ES256, "one")]);
    for token in ["opaque", "a.b.c", "ag_1234567890", "..", "=a"] {
        let found = bearer(&of, token, NOW).await;
        assert!(matches!(found, Err(Unauthenticated::Unknown | Unauthenticated::Malformed)), "{token}");
    }
}
