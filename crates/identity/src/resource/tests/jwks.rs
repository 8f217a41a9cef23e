//! Keys that are fetched.

use futures::future::join_all;
use time::Duration;

use super::issuer::{Page, Server};
use super::*;

async fn bed() -> (Server, Signer, Verifier) {
    let server = Server::start().await;
    let signer = Signer::new(Algorithm::ES256, "one");
    server.serve_keys(&[&signer]);
    let of = server.verifier();
    (server, signer, of)
}

#[tokio::test]
async fn keys_are_fetched_once() {
    let (server, signer, of) = bed().await;
    assert_eq!(server.asked("/keys"), 0);
    for subject in ["alice", "bob", "maya"] {
        let mut claims = server.good();
        claims["sub"] = subject.into();
        assert!(bearer(&of, &signer.token(&claims), NOW).await.is_ok());
    }
    assert_eq!(server.asked("/keys"), 1);
}

#[tokio::test]
async fn issuer_that_is_not_configured_causes_no_fetch() {
    let (server, signer, _) = bed().await;
    let of = verifier(&[&Signer::new(Algorithm::ES256, "own")]);
    assert!(why(bearer(&of, &signer.token(&server.good()), NOW).await).contains("is none whose tokens"));
    assert_eq!(server.all_asked(), []);
}

#[tokio::test]
async fn bad_header_causes_no_fetch() {
    let (server, signer, of) = bed().await;
    for header in
        [json!({"typ": "JWT", "alg": "ES256", "kid": "x"}), json!({"typ": "at+jwt", "alg": "HS256"})]
    {
        assert!(bearer(&of, &signer.sign(&header, &server.good()), NOW).await.is_err());
    }
    assert_eq!(server.all_asked(), []);
}

#[tokio::test]
async fn flood_of_unknown_keys_causes_one_fetch_a_minute() {
    let (server, signer, of) = bed().await;
    assert!(bearer(&of, &signer.token(&server.good()), NOW).await.is_ok());
    for second in 0..150 {
        let now = NOW + Duration::seconds(second);
        let forged = (0..4).map(|number| {
            let header = json!({"typ": "at+jwt", "alg": "ES256", "kid": format!("{second}-{number}")});
            signer.sign(&header, &server.good())
        });
        let forged: Vec<_> = forged.collect();
        for found in join_all(forged.iter().map(|token| bearer(&of, token, now))).await {
            assert!(why(found).contains("does not have the key"));
        }
        assert!(bearer(&of, &signer.token(&server.good()), now).await.is_ok());
    }
    // One at first, and one each at 0, 60 and 120 seconds.
    assert_eq!(server.asked("/keys"), 4);
}

#[tokio::test]
async fn rotation_is_noticed_by_the_first_token_of_the_new_key() {
    let (server, signer, of) = bed().await;
    let token = signer.token(&server.good());
    assert!(bearer(&of, &token, NOW).await.is_ok());
    let next = Signer::new(Algorithm::EdDSA, "two");
    server.serve_keys(&[&next, &signer]);
    assert!(bearer(&of, &next.token(&server.good()), NOW + Duration::seconds(1)).await.is_ok());
    assert!(bearer(&of, &token, NOW + Duration::seconds(2)).await.is_ok());
    assert_eq!(server.asked("/keys"), 2);
}

#[tokio::test]
async fn withdrawn_key_ends_kept_tokens_when_keys_are_fetched_again() {
    let (server, signer, of) = bed().await;
    let mut claims = server.good();
    claims["exp"] = (NOW.unix_timestamp() + 100_000).into();
    let token = signer.token(&claims);
    assert!(bearer(&of, &token, NOW).await.is_ok());
    server.serve_keys(&[&Signer::new(Algorithm::ES256, "two")]);
    assert!(bearer(&of, &token, NOW + Duration::minutes(14)).await.is_ok());
    let told = why(bearer(&of, &token, NOW + Duration::minutes(15)).await);
    assert_eq!(told, "the token was refused: its issuer does not have the key `one`");
}

#[tokio::test]
async fn kept_tokens_outlive_a_fetch_of_the_same_keys() {
    let (server, signer, of) = bed().await;
    let token = |subject: &str| {
        let mut claims = server.good();
        claims["exp"] = (NOW.unix_timestamp() + 100_000).into();
        claims["sub"] = subject.into();
        signer.token(&claims)
    };
    let [alice, bob] = ["alice", "bob"].map(token);
    let before = bearer(&of, &alice, NOW).await.unwrap();
    let later = NOW + Duration::minutes(20);
    assert!(bearer(&of, &bob, later).await.is_ok());
    assert_eq!(server.asked("/keys"), 2);
    assert!(Arc::ptr_eq(&before.principal, &bearer(&of, &alice, later).await.unwrap().principal));
}

#[tokio::test]
async fn clock_that_was_set_back_makes_keys_old() {
    let (server, signer, of) = bed().await;
    assert!(bearer(&of, &signer.token(&server.good()), NOW).await.is_ok());
    let earlier = NOW - Duration::hours(2);
    let mut claims = server.good();
    claims["iat"] = earlier.unix_timestamp().into();
    assert!(bearer(&of, &signer.token(&claims), earlier).await.is_ok());
    assert_eq!(server.asked("/keys"), 2);
}

#[tokio::test]
async fn requests_at_once_share_a_fetch() {
    let (server, signer, of) = bed().await;
    server.hold();
    let token = signer.token(&server.good());
    let asked = join_all((0..20).map(|_| bearer(&of, &token, NOW)));
    let release = async {
        server.until_asked("/keys", 1).await;
        server.release();
    };
    let (found, ()) = tokio::join!(asked, release);
    assert!(found.iter().all(Result::is_ok));
    assert_eq!(server.asked("/keys"), 1);
}

#[tokio::test]
async fn client_that_goes_away_ends_no_fetch() {
    let (server, signer, of) = bed().await;
    server.hold();
    let token = signer.token(&server.good());
    tokio::select! {
        biased;
        _ = bearer(&of, &token, NOW) => panic!("nothing was answered yet"),
        () = server.until_asked("/keys", 1) => {}
    }
    server.release();
    assert!(bearer(&of, &token, NOW).await.is_ok());
    assert_eq!(server.asked("/keys"), 1);
}

#[tokio::test]
async fn keys_are_fresh_for_5_minutes_to_24_hours() {
    for (control, seconds) in [
        (Some("max-age=1"), 300),
        (Some("no-store"), 300),
        (Some("public, max-age=\"3600\""), 3600),
        (Some("max-age=99999999999999999999"), 900),
        (Some("max-age=999999999"), 86400),
        (Some("max-age=-1"), 900),
        (None, 900),
    ] {
        let (server, signer, of) = bed().await;
        let keys = json!({"keys": [signer.jwk]});
        let page = Page::json(&keys);
        server.serve("/keys", control.map_or(page.clone(), |control| page.with("cache-control", control)));
        let token = |now: OffsetDateTime| {
            let mut claims = server.good();
            claims["exp"] = (now.unix_timestamp() + 60).into();
            signer.token(&claims)
        };
        assert!(bearer(&of, &token(NOW), NOW).await.is_ok());
        let end = NOW + Duration::seconds(seconds);
        let before = end - Duration::seconds(1);
        assert!(bearer(&of, &token(before), before).await.is_ok());
        assert_eq!(server.asked("/keys"), 1, "{control:?}");
        assert!(bearer(&of, &token(end), end).await.is_ok());
        assert_eq!(server.asked("/keys"), 2, "{control:?}");
    }
}

#[tokio::test]
async fn old_keys_serve_for_a_day_while_the_issuer_is_down() {
    let (server, signer, of) = bed().await;
    let mut claims = server.good();
    claims["exp"] = (NOW.unix_timestamp() + 1_000_000).into();
    let token = signer.token(&claims);
    assert!(bearer(&of, &token, NOW).await.is_ok());
    server.serve("/keys", Page::status(503));
    let fresh = Duration::minutes(15);
    for (age, serves) in [
        (Duration::hours(1), true),
        (fresh + Duration::hours(24) - Duration::seconds(1), true),
        (fresh + Duration::hours(24), false),
        (Duration::hours(50), false),
    ] {
        let found = bearer(&of, &token, NOW + age).await;
        assert_eq!(found.is_ok(), serves, "{age}");
        assert!(serves || found == Err(Unauthenticated::Unavailable));
    }
    // Old keys say nothing of a new one.
    let next = Signer::new(Algorithm::ES256, "two").token(&claims);
    assert_eq!(bearer(&of, &next, NOW + Duration::hours(2)).await, Err(Unauthenticated::Unavailable));
    server.serve_keys(&[&signer]);
    assert!(bearer(&of, &token, NOW + Duration::hours(60)).await.is_ok());
}

#[tokio::test]
async fn issuer_that_is_down_is_not_asked_at_each_request() {
    let (server, signer, of) = bed().await;
    server.serve("/keys", Page::status(500));
    let token = signer.token(&server.good());
    for second in 0..30 {
        let found = bearer(&of, &token, NOW + Duration::seconds(second)).await;
        assert_eq!(found, Err(Unauthenticated::Unavailable));
    }
    assert_eq!(server.asked("/keys"), 3);
    server.serve_keys(&[&signer]);
    assert!(bearer(&of, &token, NOW + Duration::seconds(30)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn issuer_that_never_answers_is_given_up() {
    let (server, signer, of) = bed().await;
    server.hold();
    let started = tokio::time::Instant::now();
    let found = bearer(&of, &signer.token(&server.good()), NOW).await;
    assert_eq!(found, Err(Unauthenticated::Unavailable));
    assert!(started.elapsed() <= std::time::Duration::from_secs(6), "{:?}", started.elapsed());
}

#[tokio::test]
async fn answer_that_is_no_key_set_is_not_used() {
    let many: Vec<_> = (0..33).map(|number| Signer::new(Algorithm::EdDSA, &number.to_string()).jwk).collect();
    let signer = Signer::new(Algorithm::ES256, "one");
    let jwk = serde_json::to_string(&signer.jwk).unwrap();
    let redirected = Server::start().await;
    redirected.serve_keys(&[&signer]);
    for page in [
        Page::json(&json!({"keys": many})),
        Page::json(&json!({"keys": []})),
        Page::json(&json!({"keys": [{"kty": "EC"}]})),
        Page::json(&json!({})),
        Page::json(&json!([])),
        Page { body: format!(r#"{{"keys":[{jwk}],"keys":[]}}"#), ..Page::status(200) },
        Page { body: format!(r#"{{"keys":[{jwk}],"x":"{}"}}"#, "x".repeat(64 * 1024)), ..Page::status(200) },
        Page { body: "<html>".to_owned(), ..Page::status(200) },
        Page::json(&json!({"keys": [signer.jwk]})).with("location", "/keys2"),
        Page::status(302).with("location", &format!("{}/keys", redirected.url)),
    ] {
        let server = Server::start().await;
        let redirects = page.headers.iter().any(|(name, _)| *name == "location");
        let page = if redirects { Page { status: 302, ..page } } else { page };
        let told = page.body.chars().take(80).collect::<String>();
        server.serve("/keys", page);
        let of = server.verifier();
        let found = bearer(&of, &signer.token(&server.good()), NOW).await;
        assert_eq!(found, Err(Unauthenticated::Unavailable), "{told}");
    }
    assert_eq!(redirected.all_asked(), []);
}

#[tokio::test]
async fn keys_of_kinds_that_came_later_are_passed_over() {
    let (server, signer, of) = bed().await;
    let keys = json!({"keys": [{"kty": "AKP", "alg": "ML-DSA-44", "kid": "pq", "pub": "AA"}, {"kty": 7}, signer.jwk]});
    server.serve("/keys", Page::json(&keys));
    assert!(bearer(&of, &signer.token(&server.good()), NOW).await.is_ok());
}

#[tokio::test]
async fn metadata_says_where_the_keys_are() {
    for (path, at) in [
        ("", "/.well-known/oauth-authorization-server"),
        ("", "/.well-known/openid-configuration"),
        ("/", "/.well-known/openid-configuration"),
        ("/t1", "/.well-known/oauth-authorization-server/t1"),
        ("/t1", "/.well-known/openid-configuration/t1"),
        ("/t1", "/t1/.well-known/openid-configuration"),
    ] {
        let (server, signer, _) = bed().await;
        let url = format!("{}{path}", server.url);
        server.serve(at, Page::json(&json!({"issuer": url, "jwks_uri": format!("{}/keys", server.url)})));
        let mut settings = server.settings(KeySource::Discovered);
        settings.issuers[0].url = url.clone();
        let of = Verifier::new(settings).unwrap();
        let token = signer.token(&with(&json!({"iss": url})));
        assert!(bearer(&of, &token, NOW).await.is_ok(), "{at}");
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_or_place_is_not_used() {
    let (server, signer, _) = bed().await;
    let url = server.url.clone();
    let keys = format!("{url}/keys");
    for metadata in [
        json!({"issuer": format!("{url}/"), "jwks_uri": keys}),
        json!({"issuer": "https://evil.example.com", "jwks_uri": keys}),
        json!({"jwks_uri": keys}),
        json!({"issuer": url}),
        json!({"issuer": url, "jwks_uri": "http://keys.example.com/"}),
        json!({"issuer": url, "jwks_uri": "file:///etc/passwd"}),
    ] {
        server.serve("/.well-known/oauth-authorization-server", Page::json(&metadata));
        let of = Verifier::new(server.settings(KeySource::Discovered)).unwrap();
        let found = bearer(&of, &signer.token(&server.good()), NOW).await;
        assert_eq!(found, Err(Unauthenticated::Unavailable), "{metadata}");
    }
    assert_eq!(server.asked("/keys"), 0);
}
