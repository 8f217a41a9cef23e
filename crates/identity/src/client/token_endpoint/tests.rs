use expect_test::expect;
use serde_json::json;

use super::*;
use crate::client::fake::{self, Fake, Reply, redirect, reply};

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

async fn ask(
    fake: &Fake,
    authentication: &ClientAuthentication,
    key: Option<&DpopKey>,
) -> Result<Tokens, TokenFault> {
    let http = fake::http();
    let endpoint = TokenEndpoint {
        http: &http,
        reach: Reach::ThisMachine,
        issuer: "https://as.example",
        client_id: "client:1 ü",
        authentication,
        key,
    };
    let form = [("grant_type", "client_credentials"), ("refresh_token", "refresh+canary/1")];
    let asked = Scopes::parse("tools:read").unwrap();
    endpoint.ask(&format!("{}/token", fake.base), &form, Some(&asked), NOW).await
}

#[tokio::test]
async fn a_client_proves_who_it_is_in_the_way_that_was_agreed() {
    let fake = Fake::start().await;
    let secret = || Secret::new("s:e%c r+t".to_owned());
    for authentication in [
        ClientAuthentication::None,
        ClientAuthentication::Basic(secret()),
        ClientAuthentication::Post(secret()),
    ] {
        ask(&fake, &authentication, None).await.unwrap();
    }
    let told: String = fake
        .asked("/token")
        .iter()
        .map(|asked| {
            let mut form: Vec<_> = asked.form.iter().filter(|(name, _)| name.starts_with("client")).collect();
            form.sort();
            format!("{form:?} {}\n", asked.header("authorization"))
        })
        .collect();
    expect![[r#"
        [("client_id", "client:1 ü")] 
        [] Basic Y2xpZW50JTNBMSslQzMlQkM6cyUzQWUlMjVjK3IlMkJ0
        [("client_id", "client:1 ü"), ("client_secret", "s:e%c r+t")] 
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_signed_assertion_is_for_the_issuer_and_for_a_minute() {
    let fake = Fake::start().await;
    let made = aws_lc_rs::signature::EcdsaKeyPair::generate_pkcs8(
        &aws_lc_rs::signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        &aws_lc_rs::rand::SystemRandom::new(),
    );
    use base64::Engine as _;
    let body = base64::engine::general_purpose::STANDARD.encode(made.unwrap().as_ref());
    let pem = Secret::new(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"));
    let key = SigningKey::from_pem(&pem, "ES256", Some("k1".to_owned())).unwrap();
    assert_eq!(format!("{key:?}"), "SigningKey(ES256)");
    for (algorithm, pem) in [("none", &pem), ("HS256", &pem), ("ES256", &Secret::new("x".to_owned()))] {
        assert!(SigningKey::from_pem(pem, algorithm, None).is_none(), "{algorithm}");
    }
    let authentication = ClientAuthentication::Signed(key);
    ask(&fake, &authentication, None).await.unwrap();
    ask(&fake, &authentication, None).await.unwrap();
    let asked = fake.asked("/token");
    let claims = |index: usize| {
        let assertion = &asked[index].form["client_assertion"];
        jsonwebtoken::dangerous::insecure_decode::<serde_json::Value>(assertion).unwrap()
    };
    let (one, other) = (claims(0), claims(1));
    assert_eq!((one.header.alg, one.header.kid.as_deref()), (jsonwebtoken::Algorithm::ES256, Some("k1")));
    assert_eq!(
        (&one.claims["aud"], &one.claims["iss"]),
        (&json!("https://as.example"), &json!("client:1 ü"))
    );
    assert_eq!(
        (&one.claims["sub"], &one.claims["exp"]),
        (&json!("client:1 ü"), &json!(NOW.unix_timestamp() + 60))
    );
    assert_ne!(one.claims["jti"], other.claims["jti"]);
    assert_eq!(
        asked[0].form["client_assertion_type"],
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
}

#[tokio::test]
async fn an_answer_that_is_none_is_refused_and_tells_no_secret() {
    let fake = Fake::start().await;
    let good = json!({ "access_token": "a", "token_type": "Bearer" });
    let with = |members: serde_json::Value| {
        let mut document = good.clone();
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        reply(200, document)
    };
    let replies = [
        reply(400, json!({ "error": "invalid_grant" })),
        reply(400, json!({ "error": "invalid_grant", "error_description": "the `grant`\u{1b}[31m is old" })),
        reply(400, json!({ "error": "invalid_grant", "error_description": "refresh+canary/1 is old" })),
        reply(400, json!({ "error": "invalid_grant", "error_description": "refresh%2Bcanary%2F1 is old" })),
        reply(400, json!({ "error": "secret-canary", "error_description": "the secret is secret-canary" })),
        reply(200, json!({ "error": "invalid_grant" })),
        with(json!({ "error": "server_error" })),
        reply(200, json!({})),
        reply(200, json!("access_token canary")),
        reply(201, good.clone()),
        with(json!({ "access_token": "" })),
        with(json!({ "access_token": "canary\r\nx: y" })),
        with(json!({ "access_token": "a".repeat(20_000) })),
        with(json!({ "token_type": "mac" })),
        with(json!({ "token_type": "DPoP" })),
        with(json!({ "token_type": null })),
        with(json!({ "scope": "a\"b" })),
        with(json!({ "expires_in": -1 })),
        with(json!({ "expires_in": "soon" })),
        Reply { status: 500, body: "<html>canary".to_owned(), ..Reply::default() },
        Reply { status: 200, body: "<html>canary".to_owned(), ..Reply::default() },
        Reply { status: 200, body: "x".repeat(300_000), ..Reply::default() },
        redirect("https://evil.example/token".to_owned()),
    ];
    let authentication = ClientAuthentication::Post(Secret::new("secret-canary".to_owned()));
    let mut all = String::new();
    for reply in replies {
        fake.on("/token", move |_, _| reply.clone());
        let Err(fault) = ask(&fake, &authentication, None).await else { panic!("taken after {all}") };
        let source =
            std::error::Error::source(&fault).map(|source| format!(": {source}")).unwrap_or_default();
        assert!(!format!("{fault:?}").contains("canary"), "{fault:?}");
        all += &format!("{fault}{source}\n").replace(&fake.base, "BASE");
    }
    expect![[r#"
        the authorization server refused: `invalid_grant`
        the authorization server refused: `invalid_grant`: `the grant[31m is old`
        the authorization server refused: `invalid_grant` (its description repeats what was sent, and is withheld)
        the authorization server refused: `invalid_grant` (its description repeats what was sent, and is withheld)
        the authorization server refused: `withheld` (its description repeats what was sent, and is withheld)
        the authorization server refused: `invalid_grant`
        the authorization server refused: `server_error`
        the answer of the token endpoint is refused: it has no `access_token`
        the token endpoint cannot be used: the answer of `BASE/token` is not the JSON object that was expected: a member is missing or of another type, at line 1 column 21
        the token endpoint answered with status 201 and neither tokens nor an error code
        the answer of the token endpoint is refused: its `access_token` cannot be sent in a header
        the answer of the token endpoint is refused: its `access_token` cannot be sent in a header
        the answer of the token endpoint is refused: its `access_token` cannot be sent in a header
        the answer of the token endpoint is refused: its `token_type` is not one that was asked for
        the answer of the token endpoint is refused: its `token_type` is not one that was asked for
        the answer of the token endpoint is refused: its `token_type` is not one that was asked for
        the answer of the token endpoint is refused: its `scope` is no list of scopes
        the answer of the token endpoint is refused: its `expires_in` is no number of seconds
        the answer of the token endpoint is refused: its `expires_in` is no number of seconds
        the token endpoint answered with status 500 and neither tokens nor an error code
        the token endpoint cannot be used: the answer of `BASE/token` is not the JSON object that was expected: it is no JSON, at line 1 column 1
        the token endpoint cannot be used: the answer of `BASE/token` is larger than 262144 bytes
        the token endpoint cannot be used: `BASE/token` answered with a redirect (302), and none is followed; give the final address
    "#]].assert_eq(&all);
    assert!(!all.contains("canary"));
}

#[tokio::test]
async fn what_an_answer_leaves_out_is_what_was_asked_for() {
    let fake = Fake::start().await;
    for (members, scopes, seconds) in [
        (json!({}), "tools:read", None),
        (json!({ "scope": "" }), "", None),
        (json!({ "scope": "b a", "expires_in": 60 }), "a b", Some(60)),
        (json!({ "expires_in": "60" }), "tools:read", Some(60)),
        (json!({ "expires_in": u64::MAX }), "tools:read", Some(3_155_760_000)),
    ] {
        let mut document = json!({ "access_token": "a", "token_type": "BEARER" });
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        fake.on("/token", move |_, _| reply(200, document.clone()));
        let tokens = ask(&fake, &ClientAuthentication::None, None).await.unwrap();
        assert_eq!(tokens.access.scopes.unwrap().to_string(), scopes);
        assert_eq!(tokens.access.expires_at.map(|end| (end - NOW).whole_seconds()), seconds);
    }
}

#[tokio::test]
async fn a_nonce_is_taken_up_once() {
    let fake = Fake::start().await;
    fake.on("/token", |fake, asked| {
        let payload = asked.header("dpop").split('.').nth(1).unwrap().to_owned();
        use base64::Engine as _;
        let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        match claims.get("nonce").and_then(serde_json::Value::as_str) {
            Some("n1") => fake.good(asked),
            _ => Reply {
                headers: vec![("dpop-nonce", "n1".to_owned())],
                ..reply(400, json!({ "error": "use_dpop_nonce" }))
            },
        }
    });
    let key = DpopKey::generate().unwrap();
    let tokens = ask(&fake, &ClientAuthentication::None, Some(&key)).await.unwrap();
    assert!(tokens.access.key.is_some());
    let value = tokens.access.authorization().unwrap();
    assert!(value.is_sensitive() && value.to_str().unwrap().starts_with("DPoP "));
    assert_eq!(fake.asked("/token").len(), 2);
    fake.on("/token", |_, _| Reply {
        headers: vec![("dpop-nonce", "n2".to_owned())],
        ..reply(400, json!({ "error": "use_dpop_nonce" }))
    });
    assert!(ask(&fake, &ClientAuthentication::None, Some(&key)).await.is_err());
    assert_eq!(fake.asked("/token").len(), 4, "asked again once, not for ever");
}
