use http::{Request, StatusCode};
use serde_json::{Value, json};
use time::Duration;

use crate::people::{Rate, Source};

use super::site::{Reply, Site, asking, redeeming};

async fn register(site: &Site, body: &Value) -> Reply {
    let request = Request::post("/oauth/register").header("content-type", "application/json");
    site.send(request.body(body.to_string().into()).expect("request")).await
}

async fn open() -> Site {
    Site::with(|settings| {
        settings.dynamic_registration = true;
        settings.most_dynamic_clients = 3;
    })
    .await
}

#[tokio::test]
async fn it_is_off_unless_somebody_turns_it_on() {
    let site = Site::new().await;
    let reply = register(&site, &json!({"redirect_uris": ["https://app.example.com/cb"]})).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_client_that_registered_itself_can_be_used_and_says_so_to_the_person() {
    let site = open().await;
    let body = json!({
        "redirect_uris": ["http://localhost:3000/cb"], "client_name": "Tool", "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "client_secret_post",
    });
    let reply = register(&site, &body).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    assert_eq!(reply.header("cache-control"), "no-store");
    let client = reply.json();
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert!(client.get("client_secret").is_none());
    let id = client["client_id"].as_str().expect("id");
    let changes = [("client_id", id), ("redirect_uri", "http://localhost:49152/cb")];
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&asking(&changes), Some(&cookie)).await;
    assert!(shown.body.contains("it registered itself"), "{}", shown.body);
    let code = site.consent(&shown, &cookie).await.answer()["code"].clone();
    let tokens = site.token(&redeeming(&code, &changes)).await.json();
    assert!(tokens["refresh_token"].is_string(), "{tokens}");
    // It is no service, whatever it says of itself.
    let itself = [("grant_type", "client_credentials"), ("client_id", id)];
    assert_eq!(site.token(&itself).await.error(), "unauthorized_client");
}

#[tokio::test]
async fn what_no_client_may_be_is_refused() {
    let site = open().await;
    let long = "x".repeat(20_000);
    let good = json!({"redirect_uris": ["https://app.example.com/cb"], "client_name": "Tool"});
    let check = async |member: &str, value: Value, error: &str| {
        let mut body = good.clone();
        body[member] = value.clone();
        assert_eq!(register(&site, &body).await.error(), error, "{member} {value}");
    };
    check("redirect_uris", json!([]), "invalid_redirect_uri").await;
    check("redirect_uris", Value::Null, "invalid_redirect_uri").await;
    check("redirect_uris", json!(["http://app.example.com/cb"]), "invalid_redirect_uri").await;
    check("redirect_uris", json!(["javascript:alert(1)"]), "invalid_redirect_uri").await;
    check("redirect_uris", json!(["tool:/cb"]), "invalid_redirect_uri").await;
    check("redirect_uris", json!(["https://app.example.com/cb", "slack://cb"]), "invalid_redirect_uri").await;
    check("redirect_uris", json!(["https://app.example.com/cb#x"]), "invalid_redirect_uri").await;
    check("redirect_uris", json!(vec!["https://app.example.com/cb"; 21]), "invalid_redirect_uri").await;
    check("redirect_uris", json!("https://app.example.com/cb"), "invalid_client_metadata").await;
    check("client_name", json!("a\u{202e}b"), "invalid_client_metadata").await;
    check("client_name", json!("x".repeat(101)), "invalid_client_metadata").await;
    check("client_name", json!(long), "invalid_request").await;
    check("grant_types", json!(["implicit"]), "invalid_client_metadata").await;
    check("response_types", json!(["token"]), "invalid_client_metadata").await;
    check("token_endpoint_auth_method", json!("tls_client_auth"), "invalid_client_metadata").await;
    check("token_endpoint_auth_method", json!("private_key_jwt"), "invalid_client_metadata").await;
    check("application_type", json!("other"), "invalid_client_metadata").await;
    let mut web = good.clone();
    web["application_type"] = json!("web");
    web["redirect_uris"] = json!(["http://127.0.0.1/cb"]);
    assert_eq!(register(&site, &web).await.error(), "invalid_redirect_uri");
    let request = Request::post("/oauth/register").body(good.to_string().into()).expect("request");
    assert_eq!(site.send(request).await.error(), "invalid_request");
}

#[tokio::test]
async fn their_number_is_bounded_and_unused_ones_make_room() {
    let site = open().await;
    let body = json!({"redirect_uris": ["https://app.example.com/cb"]});
    let register = async || register(&site, &body).await;
    let used = register().await.json()["client_id"].as_str().expect("id").to_owned();
    let code = site.code_for("alice", &asking(&[("client_id", &used)])).await;
    assert_eq!(site.token(&redeeming(&code, &[("client_id", &used)])).await.status, StatusCode::OK);
    for _ in 0..2 {
        assert_eq!(register().await.status, StatusCode::CREATED);
    }
    assert_eq!(register().await.status, StatusCode::SERVICE_UNAVAILABLE);
    let dynamic = async || {
        let listed = site.clients.list().await.expect("clients");
        assert!(listed.iter().any(|client| client.id == "desk"));
        listed.into_iter().filter(|client| client.dynamic).map(|client| client.id).collect::<Vec<_>>()
    };
    site.later(Duration::minutes(61));
    assert_eq!(register().await.status, StatusCode::CREATED);
    let left = dynamic().await;
    assert_eq!(left.len(), 2);
    assert!(left.contains(&used));
    site.later(Duration::days(90));
    assert_eq!(register().await.status, StatusCode::CREATED);
    assert_eq!(dynamic().await.len(), 1);
}

#[tokio::test]
async fn one_source_registers_so_many_and_nobody_else_waits_for_it() {
    let site = Site::with(|settings| {
        settings.dynamic_registration = true;
        settings.registrations = Rate { burst: 2, every: std::time::Duration::from_secs(10) };
    })
    .await;
    let body = json!({"redirect_uris": ["https://app.example.com/cb"], "client_name": "Tool"});
    let from = async |source: &str| {
        let source = Source(source.parse().expect("address"));
        let request =
            Request::post("/oauth/register").header("content-type", "application/json").extension(source);
        site.send(request.body(body.to_string().into()).expect("request")).await
    };
    assert_eq!(from("192.0.2.1").await.status, StatusCode::CREATED);
    assert_eq!(from("192.0.2.1").await.status, StatusCode::CREATED);
    let refused = from("192.0.2.1").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.error(), "temporarily_unavailable");
    assert!(refused.body.contains("try again in 11 s"), "{}", refused.body);
    assert_eq!(from("192.0.2.2").await.status, StatusCode::CREATED);
    site.later(Duration::seconds(10));
    assert_eq!(from("192.0.2.1").await.status, StatusCode::CREATED);
}
