//! Tokens that are no JWT.

use expect_test::expect;
use time::Duration;
use zeroize::Zeroizing;

use super::issuer::{Page, Server};
use super::*;

async fn bed() -> (Server, Verifier) {
    let server = Server::start().await;
    let mut settings = server.settings(KeySource::Jwks(format!("{}/keys", server.url)));
    settings.issuers[0].introspection = Some(Introspection {
        endpoint: format!("{}/introspect", server.url),
        client_id: "gate:way".to_owned(),
        secret: Zeroizing::new("s%cret/+".to_owned()),
    });
    (server, Verifier::new(settings).unwrap())
}

fn active(changes: &Value) -> Page {
    let mut claims = with(&json!({"iss": null, "iat": null, "active": true}));
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    Page::json(&claims)
}

#[tokio::test]
async fn active_token_names_its_principal() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({})));
    let found = bearer(&of, "opaque+token/1==", NOW).await.unwrap();
    assert_eq!(found.principal.id(), format!("{}#alice", server.url));
    assert_eq!(found.scopes.to_string(), "tools:read tools:write");
    let basic = "Basic Z2F0ZSUzQXdheTpzJTI1Y3JldCUyRiUyQg==".to_owned();
    let form = "token=opaque%2Btoken%2F1%3D%3D&token_type_hint=access_token".to_owned();
    assert_eq!(server.all_asked(), [("/introspect".to_owned(), Some(basic), form)]);
}

#[tokio::test]
async fn answer_is_kept_for_30_seconds() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({})));
    assert!(bearer(&of, "opaque", NOW).await.is_ok());
    server.serve("/introspect", Page::json(&json!({"active": false})));
    assert!(bearer(&of, "opaque", NOW + Duration::seconds(29)).await.is_ok());
    assert_eq!(server.asked("/introspect"), 1);
    let told = expect!["the token was refused: its issuer says that it is not active"];
    told.assert_eq(&why(bearer(&of, "opaque", NOW + Duration::seconds(30)).await));
    // So is a refusal.
    assert!(bearer(&of, "opaque", NOW + Duration::seconds(59)).await.is_err());
    assert_eq!(server.asked("/introspect"), 2);
}

#[tokio::test]
async fn answer_is_not_kept_beyond_the_token() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({"exp": NOW.unix_timestamp() + 2})));
    assert!(bearer(&of, "opaque", NOW).await.is_ok());
    let found = bearer(&of, "opaque", NOW + Duration::seconds(7)).await;
    assert_eq!(found, Err(Unauthenticated::Expired));
}

#[tokio::test]
async fn answer_that_does_not_fit_is_refused() {
    for (changes, told) in [
        (json!({"active": false}), expect!["its issuer says that it is not active"]),
        (
            json!({"iss": "https://evil.example.com"}),
            expect!["its `iss` is `https://evil.example.com`; expected `ISSUER`"],
        ),
        (
            json!({"aud": "https://other.example.com"}),
            expect!["its `aud` is `https://other.example.com`; expected `https://gateway.example.com/mcp`"],
        ),
        (json!({"exp": "never"}), expect!["its `exp` is no whole number of seconds since 1970"]),
        (json!({"tenant": "initech"}), expect!["its issuer may not assert the tenant `initech`"]),
    ] {
        let (server, of) = bed().await;
        server.serve("/introspect", active(&changes));
        let fault = why(bearer(&of, "opaque", NOW).await).replace(&server.url, "ISSUER");
        told.assert_eq(fault.strip_prefix("the token was refused: ").unwrap());
    }
    for member in ["aud", "exp", "sub", "client_id"] {
        let (server, of) = bed().await;
        let mut claims = with(&json!({"iss": null, "active": true, "username": "alice"}));
        claims.as_object_mut().unwrap().shift_remove(member);
        server.serve("/introspect", Page::json(&claims));
        assert_eq!(
            why(bearer(&of, "opaque", NOW).await),
            format!("the token was refused: it has no `{member}`")
        );
    }
}

#[tokio::test]
async fn client_that_acts_for_nobody_is_the_subject() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({"sub": null, "client_id": "agent"})));
    assert_eq!(
        why(bearer(&of, "null", NOW).await),
        "the token was refused: its `sub` is null; expected a text"
    );
    let mut claims = with(&json!({"iss": null, "active": true, "client_id": "agent"}));
    claims.as_object_mut().unwrap().shift_remove("sub");
    server.serve("/introspect", Page::json(&claims));
    let found = bearer(&of, "opaque", NOW).await.unwrap();
    assert_eq!(found.principal.subject, "agent");
    assert_eq!(found.principal.kind, aldgate_authority::PrincipalKind::Service);
}

#[tokio::test]
async fn answer_of_another_form_says_nothing() {
    for page in [
        Page::status(401),
        Page::status(500),
        Page::json(&json!({})),
        Page::json(&json!({"active": "true"})),
        Page::json(&json!({"active": 1})),
        Page { body: r#"{"active":true,"active":false}"#.to_owned(), ..Page::status(200) },
        Page { body: "active".to_owned(), ..Page::status(200) },
    ] {
        let (server, of) = bed().await;
        server.serve("/introspect", page);
        assert_eq!(bearer(&of, "opaque", NOW).await, Err(Unauthenticated::Unavailable));
        server.serve("/introspect", active(&json!({})));
        assert!(bearer(&of, "opaque", NOW).await.is_ok(), "nothing of it is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn endpoint_that_never_answers_is_given_up() {
    let (server, of) = bed().await;
    server.hold();
    assert_eq!(bearer(&of, "opaque", NOW).await, Err(Unauthenticated::Unavailable));
}

#[tokio::test]
async fn more_questions_than_may_be_asked_at_once_are_put_off() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({})));
    server.hold();
    let tokens: Vec<_> = (0..40).map(|number| format!("opaque-{number}")).collect();
    let asked = futures::future::join_all(tokens.iter().map(|token| bearer(&of, token, NOW)));
    let release = async {
        server.until_asked("/introspect", 32).await;
        server.release();
    };
    let (found, ()) = tokio::join!(asked, release);
    assert_eq!(found.iter().filter(|found| found.is_ok()).count(), 32);
    assert_eq!(found.iter().filter(|found| **found == Err(Unauthenticated::Unavailable)).count(), 8);
}

#[tokio::test]
async fn bound_token_is_refused_without_its_proof() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({"cnf": {"jkt": b64([1; 32])}})));
    assert!(why(bearer(&of, "opaque", NOW).await).contains("it is bound to a key and was sent as `Bearer`"));
    let found = of.authenticate(&request("DPoP opaque", None), NOW).await;
    assert!(matches!(found, Err(Unauthenticated::Proof(_))), "{found:?}");
}

#[tokio::test]
async fn jwt_is_never_shown_to_the_introspection() {
    let (server, of) = bed().await;
    server.serve("/introspect", active(&json!({})));
    let forger = Signer::new(Algorithm::ES256, "one");
    for token in [forger.token(&good()), forger.token(&server.good()), format!("{}.x", b64("{}"))] {
        assert!(bearer(&of, &token, NOW).await.is_err());
    }
    assert_eq!(server.asked("/introspect"), 0);
}

#[tokio::test]
async fn secret_is_not_shown() {
    let introspection = Introspection {
        endpoint: "https://login.example.com/introspect".to_owned(),
        client_id: "gateway".to_owned(),
        secret: Zeroizing::new("canary".to_owned()),
    };
    assert!(!format!("{introspection:?}").contains("canary"));
}
