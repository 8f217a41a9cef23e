//! Clients that prove who they are, and act for themselves.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::StatusCode;
use serde_json::{Value, json};
use time::Duration;

use super::site::{ISSUER, Reply, Site, claims, public};
use crate::authorization::{ClientFault, ClientMethod, ClientRecord, ClientsFault, Service};
use crate::proof::prover::Prover;

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A service with a secret.
pub(super) fn service() -> ClientRecord {
    ClientRecord {
        method: ClientMethod::Secret,
        redirect_uris: Vec::new(),
        refresh: false,
        scope: Some("tools:read tools:write".into()),
        service: Some(Service { tenant: "main".into(), roles: ["agent".to_owned()].into() }),
        ..public("https://unused.example.com/")
    }
}

/// Adds a client and returns its secret.
pub(super) async fn secret_of(site: &Site, id: &str, record: &ClientRecord) -> String {
    let added = site.clients.add(id, record, site.now()).await.expect("client");
    site.server.refresh().await.expect("refreshed");
    added.secret.expect("secret")
}

async fn with_key(site: &Site, prover: &Prover) {
    let mut record = service();
    record.method = ClientMethod::Assertion;
    record.jwks = serde_json::from_value(json!({"keys": [prover.jwk()]})).expect("keys");
    site.clients.add("worker", &record, site.now()).await.expect("client");
    site.server.refresh().await.expect("refreshed");
}

fn assertion_claims(site: &Site, jti: &str) -> Value {
    let now = site.now().unix_timestamp();
    json!({"iss": "worker", "sub": "worker", "aud": ISSUER, "iat": now, "exp": now + 60, "jti": jti})
}

async fn assert_with(site: &Site, assertion: &str, more: &[(&str, &str)]) -> Reply {
    let form = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", ASSERTION),
        ("client_assertion", assertion),
    ];
    site.token(&[&form, more].concat()).await
}

#[tokio::test]
async fn a_service_gets_what_was_written_down_for_it() {
    let site = Site::new().await;
    let secret = secret_of(&site, "worker", &service()).await;
    let form = [("grant_type", "client_credentials")];
    let basic = format!("Basic {}", STANDARD.encode(format!("worker:{secret}")));
    let reply = site.post("/oauth/token", &form, &[("authorization", &basic)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let tokens = reply.json();
    assert!(tokens.get("refresh_token").is_none());
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    assert_eq!(claims["sub"], "worker");
    assert_eq!(claims["kind"], "service");
    assert_eq!(claims["tenant"], "main");
    assert_eq!(claims["roles"], json!(["agent"]));
    assert_eq!(claims["scope"], "tools:read tools:write");
    assert_eq!(claims["aud"], format!("{ISSUER}/mcp"));
    assert!(claims.get("grant").is_none());
    assert!(site.server.stands("worker", None));
    site.clients.set_disabled("worker", true, site.now()).await.expect("disabled");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("worker", None));
    let reply = site.post("/oauth/token", &form, &[("authorization", &basic)]).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    assert_eq!(reply.header("www-authenticate"), "Basic realm=\"aldgate\"");
    site.clients.remove("worker", site.now()).await.expect("removed");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("worker", None));
}

#[tokio::test]
async fn a_secret_is_the_one_and_shown_in_one_way() {
    let site = Site::new().await;
    let secret = secret_of(&site, "worker", &service()).await;
    let grant = ("grant_type", "client_credentials");
    let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
    let good = basic(format!("worker:{secret}"));
    let post = async |form: &[(&str, &str)], headers: &[(&str, &str)]| {
        site.post("/oauth/token", &[&[grant], form].concat(), headers).await.error()
    };
    assert_eq!(post(&[("client_id", "worker"), ("client_secret", &secret)], &[]).await, "");
    assert_eq!(post(&[("client_id", "worker"), ("client_secret", "wrong")], &[]).await, "invalid_client");
    assert_eq!(post(&[("client_id", "worker")], &[]).await, "invalid_client");
    assert_eq!(post(&[], &[]).await, "invalid_client");
    assert_eq!(post(&[("client_secret", &secret)], &[("authorization", &good)]).await, "invalid_request");
    assert_eq!(post(&[("client_id", "desk")], &[("authorization", &good)]).await, "invalid_client");
    let headers = [("authorization", good.as_str()), ("authorization", good.as_str())];
    assert_eq!(post(&[], &headers).await, "invalid_client");
    assert_eq!(
        post(&[], &[("authorization", &basic(format!("worker:{secret}&v=x")))]).await,
        "invalid_client"
    );
    assert_eq!(post(&[], &[("authorization", "Bearer x")]).await, "invalid_client");
}

#[tokio::test]
async fn a_service_asks_for_no_more_than_it_has() {
    let site = Site::new().await;
    let secret = secret_of(&site, "worker", &service()).await;
    let own =
        [("grant_type", "client_credentials"), ("client_id", "worker"), ("client_secret", secret.as_str())];
    let post = async |more: &[(&str, &str)]| site.token(&[&own, more].concat()).await;
    assert_eq!(post(&[("scope", "tools:read")]).await.json()["scope"], "tools:read");
    assert_eq!(post(&[("scope", "tools:read admin")]).await.error(), "invalid_scope");
    assert_eq!(post(&[("resource", "https://evil.example/mcp")]).await.error(), "invalid_target");
    assert_eq!(
        post(&[("resource", "https://gateway.example.com/evidence/mcp")]).await.error(),
        "invalid_scope"
    );
    // A client of people is no service, whatever it asks for.
    let reply = site.token(&[("grant_type", "client_credentials"), ("client_id", "desk")]).await;
    assert_eq!(reply.error(), "unauthorized_client");
}

#[tokio::test]
async fn an_assertion_is_good_once_for_this_server_and_for_an_hour_at_most() {
    let site = Site::new().await;
    let prover = Prover::p256();
    with_key(&site, &prover).await;
    let header = json!({"typ": "JWT", "alg": "ES256"});
    let signed = |claims: &Value| prover.sign(&header, claims);

    let good = signed(&assertion_claims(&site, "one"));
    let reply = assert_with(&site, &good, &[]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let replayed = assert_with(&site, &good, &[]).await;
    assert_eq!(replayed.error(), "invalid_client");
    assert_eq!(replayed.status, StatusCode::UNAUTHORIZED);
    let mut endpoint = assertion_claims(&site, "two");
    endpoint["aud"] = json!([format!("{ISSUER}/oauth/token")]);
    assert_eq!(assert_with(&site, &signed(&endpoint), &[("client_id", "worker")]).await.error(), "");

    let now = site.now().unix_timestamp();
    for (member, value) in [
        ("aud", json!("https://evil.example")),
        ("aud", json!(["https://evil.example", ISSUER])),
        ("aud", Value::Null),
        ("iss", json!("desk")),
        ("sub", json!("desk")),
        ("exp", json!(now)),
        ("exp", json!(now + 3601)),
        ("exp", Value::Null),
        ("nbf", json!(now + 61)),
        ("iat", json!(now + 61)),
        ("jti", json!("")),
        ("jti", Value::Null),
    ] {
        let mut claims = assertion_claims(&site, "three");
        claims[member] = value.clone();
        let reply = assert_with(&site, &signed(&claims), &[]).await;
        assert_eq!(reply.error(), "invalid_client", "{member} {value}");
    }
    let other = assert_with(&site, &signed(&assertion_claims(&site, "four")), &[("client_id", "desk")]).await;
    assert_eq!(other.error(), "invalid_client");
    let wrong_type =
        [("grant_type", "client_credentials"), ("client_assertion_type", "x"), ("client_assertion", "y")];
    assert_eq!(site.token(&wrong_type).await.error(), "invalid_request");
    site.later(Duration::seconds(61));
    assert_eq!(assert_with(&site, &good, &[]).await.error(), "invalid_client");
}

#[tokio::test]
async fn an_assertion_is_signed_by_a_key_of_the_client_with_an_asymmetric_algorithm() {
    let site = Site::new().await;
    let prover = Prover::p256();
    with_key(&site, &prover).await;
    let claims = assertion_claims(&site, "one");
    let b64 = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());

    let unsigned = format!("{}.{}.", b64(&json!({"typ": "JWT", "alg": "none"})), b64(&claims));
    assert_eq!(assert_with(&site, &unsigned, &[]).await.error(), "invalid_client");

    // HS256, with what everybody knows of the key as the secret.
    let public = prover.jwk();
    let point: Vec<u8> = [
        vec![4],
        URL_SAFE_NO_PAD.decode(public["x"].as_str().expect("x")).expect("base64"),
        URL_SAFE_NO_PAD.decode(public["y"].as_str().expect("y")).expect("base64"),
    ]
    .concat();
    for secret in [point, public.to_string().into_bytes()] {
        let key = jsonwebtoken::EncodingKey::from_secret(&secret).expect("key");
        let header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::HS256);
        let forged = jsonwebtoken::encode(&header, &claims, &key).expect("signed");
        assert_eq!(assert_with(&site, &forged, &[]).await.error(), "invalid_client");
    }

    let thief = Prover::p256().sign(&json!({"typ": "JWT", "alg": "ES256"}), &claims);
    assert_eq!(assert_with(&site, &thief, &[]).await.error(), "invalid_client");
    let other_kind = prover.sign(&json!({"typ": "at+jwt", "alg": "ES256"}), &claims);
    assert_eq!(assert_with(&site, &other_kind, &[]).await.error(), "invalid_client");
    let unknown_key = prover.sign(&json!({"alg": "ES256", "crit": ["x"]}), &claims);
    assert_eq!(assert_with(&site, &unknown_key, &[]).await.error(), "invalid_client");
    // None of them has used the name up.
    let good = prover.sign(&json!({"alg": "ES256"}), &claims);
    assert_eq!(assert_with(&site, &good, &[]).await.status, StatusCode::OK);
}

/// `aldgate clients add worker --service main --scope tools:read --keys FILE`, and the same without `--scope`.
#[tokio::test]
async fn a_service_as_the_documentation_adds_it_gets_its_scope_and_one_without_is_not_added() {
    let site = Site::new().await;
    let prover = Prover::p256();
    let mut record = ClientRecord {
        name: "worker".into(),
        redirect_uris: Vec::new(),
        method: ClientMethod::Assertion,
        jwks: serde_json::from_value(json!({"keys": [prover.jwk()]})).expect("keys"),
        refresh: false,
        scope: None,
        service: Some(Service { tenant: "main".into(), roles: [].into() }),
        exchange_for: Vec::new(),
    };
    let refused = site.clients.add("worker", &record, site.now()).await;
    assert!(matches!(refused, Err(ClientsFault::Client(ClientFault::Unscoped))));
    record.scope = Some("tools:read".into());
    site.clients.add("worker", &record, site.now()).await.expect("client");
    let header = json!({"alg": "ES256", "typ": "JWT"});
    let assertion = prover.sign(&header, &assertion_claims(&site, "one"));
    let reply = assert_with(&site, &assertion, &[]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(reply.json()["scope"], "tools:read");
}

#[tokio::test]
async fn who_is_new_stands_from_its_first_token_on() {
    let site = Site::new().await;
    let mut record = service();
    record.method = ClientMethod::Secret;
    let added = site.clients.add("fresh", &record, site.now()).await.expect("client");
    let basic = format!("Basic {}", STANDARD.encode(format!("fresh:{}", added.secret.expect("secret"))));
    // The picture of the store is older than the client.
    assert!(!site.server.stands("fresh", None));
    let form = [("grant_type", "client_credentials")];
    let reply = site.post("/oauth/token", &form, &[("authorization", &basic)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert!(site.server.stands("fresh", None));
    site.clients.set_disabled("fresh", true, site.now()).await.expect("disabled");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("fresh", None));
}
