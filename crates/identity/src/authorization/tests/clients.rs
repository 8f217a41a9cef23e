use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use http::{Request, StatusCode, header};
use serde_json::json;

use super::site::{Site, asking, claims, public, redeeming};
use crate::authorization::{ClientFault, ClientMethod, ClientsFault, Service};

/// A client that is known by its document alone; its id.
async fn documented() -> String {
    documented_and_counted("http://127.0.0.1/cb").await.0
}

/// The same with this redirect URI, and how often its document was fetched.
async fn documented_and_counted(redirect_uri: &str) -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let id = format!("http://{}/client.json", listener.local_addr().expect("address"));
    let body = json!({
        "client_id": id, "client_name": "Editor", "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
    });
    let body = body.to_string();
    let fetched = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&fetched);
    let serve = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let body = body.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], body) }
    };
    let router = Router::new().route("/client.json", get(serve));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (id, fetched)
}

#[tokio::test]
async fn no_document_is_fetched_where_clients_are_not_known_by_them() {
    let site = Site::with(|settings| {
        settings.allow_loopback_metadata = true;
        settings.client_metadata = false;
    })
    .await;
    let (id, fetched) = documented_and_counted("http://127.0.0.1/cb").await;
    let form = asking(&[("client_id", &id), ("redirect_uri", "http://127.0.0.1:49152/cb")]);
    assert_eq!(site.authorize(&form, None).await.status, StatusCode::BAD_REQUEST);
    let form = redeeming("x", &[("client_id", &id)]);
    assert_eq!(site.token(&form).await.error(), "invalid_client");
    assert_eq!(fetched.load(Ordering::Relaxed), 0);
    let document = site.get("/.well-known/oauth-authorization-server", None).await.json();
    assert_eq!(document["client_id_metadata_document_supported"], false);
}

#[tokio::test]
async fn a_client_is_known_by_its_document_until_somebody_disables_it() {
    let site = Site::with(|settings| settings.allow_loopback_metadata = true).await;
    let id = documented().await;
    let changes = [("client_id", id.as_str()), ("redirect_uri", "http://127.0.0.1:49152/cb")];
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&asking(&changes), Some(&cookie)).await;
    for told in ["Editor", "described by", "this computer", "Take care"] {
        assert!(shown.body.contains(told), "{told} in {}", shown.body);
    }
    let code = site.consent(&shown, &cookie).await.answer()["code"].clone();
    let tokens = site.token(&redeeming(&code, &changes)).await.json();
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    assert_eq!(claims["client_id"], id.as_str());
    let grant = claims["grant"].as_str();

    site.clients.set_disabled(&id, true, site.now()).await.expect("disabled");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", grant));
    assert!(!site.server.stands(&id, None));
    let refused = site.authorize(&asking(&changes), Some(&cookie)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    site.clients.set_disabled(&id, false, site.now()).await.expect("enabled");
    assert_eq!(site.authorize(&asking(&changes), Some(&cookie)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_client_in_a_browser_may_read_what_programs_ask_and_no_page() {
    let site = Site::new().await;
    let ask = async |path: &str| {
        let request = Request::options(path)
            .header("origin", "https://inspector.example.com")
            .header("access-control-request-method", "POST");
        site.send(request.body(axum::body::Body::empty()).expect("request")).await
    };
    for path in
        ["/oauth/token", "/oauth/revoke", "/oauth/jwks.json", "/.well-known/oauth-authorization-server"]
    {
        let reply = ask(path).await;
        assert_eq!(reply.status, StatusCode::NO_CONTENT, "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert!(reply.header("access-control-allow-headers").contains("dpop"));
        assert_eq!(reply.header("access-control-allow-credentials"), "");
    }
    assert_eq!(site.token(&[]).await.header("access-control-allow-origin"), "*");
    for path in ["/oauth/authorize", "/oauth/authorize/continue", "/oauth/authorize/consent"] {
        assert_eq!(ask(path).await.header("access-control-allow-origin"), "", "{path}");
    }
    let page = site.authorize(&asking(&[]), None).await;
    assert_eq!(page.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn an_id_is_taken_once_and_of_plain_letters() {
    let site = Site::new().await;
    let record = public("https://app.example.com/cb");
    let add = async |id: &str| site.clients.add(id, &record, site.now()).await.map(|added| added.id);
    assert!(matches!(add("desk").await, Err(ClientsFault::Taken { .. })));
    for id in ["", "a b", "https://app.example.com/client", "dyn_1", &"x".repeat(101)] {
        assert!(matches!(add(id).await, Err(ClientsFault::Id { .. })), "{id}");
    }
    assert_eq!(add("agent-2.x").await.expect("added"), "agent-2.x");
    let unknown = site.clients.remove("nobody", site.now()).await;
    assert!(matches!(unknown, Err(ClientsFault::Unknown { .. })));
    let ids: Vec<_> = site.clients.list().await.expect("list").into_iter().map(|client| client.id).collect();
    assert_eq!(ids, ["agent-2.x", "desk", "other"]);
}

#[test]
fn a_client_that_acts_without_a_person_proves_who_it_is() {
    let mut record = public("https://app.example.com/cb");
    record.service = Some(Service { tenant: "main".into(), roles: [].into() });
    assert_eq!(record.check(), Err(ClientFault::Unproven));
    record.method = ClientMethod::Secret;
    assert_eq!(record.check(), Err(ClientFault::Unscoped));
    record.scope = Some(String::new());
    assert_eq!(record.check(), Err(ClientFault::Unscoped));
    record.scope = Some("tools:read".into());
    assert_eq!(record.check(), Ok(()));
    record.method = ClientMethod::Assertion;
    assert_eq!(record.check(), Err(ClientFault::Keys));
    for key in [
        serde_json::json!({"kty": "oct", "k": "AAAA"}),
        serde_json::json!({"kty": "RSA", "n": "AAAA", "e": "AQAB"}),
        serde_json::json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}),
    ] {
        record.jwks = serde_json::from_value(serde_json::json!({"keys": [key]})).ok();
        assert_eq!(record.check(), Err(ClientFault::Keys), "{:?}", record.jwks);
    }
}

#[tokio::test]
async fn a_wrong_request_of_a_stranger_leads_nobody_anywhere_by_itself() {
    let site = Site::with(|settings| settings.allow_loopback_metadata = true).await;
    let cookie = site.sign_in("alice");
    for uri in ["https://evil.example/cb", "com.example.evil:/cb"] {
        let (id, _) = documented_and_counted(uri).await;
        let stored = aldgate_store::identity::StoredClient {
            id: "dyn_1".into(),
            dynamic: true,
            record: serde_json::to_string(&public(uri)).expect("record"),
            secret: None,
            disabled: false,
            created_at: 0,
            used_at: None,
        };
        site.store.add_client(&stored).await.expect("added");
        for client in [id.as_str(), "dyn_1"] {
            let usual = [("client_id", client), ("redirect_uri", uri)];
            for wrong in [("response_type", "token"), ("prompt", "none"), ("scope", "admin")] {
                let form = asking(&[usual[0], usual[1], wrong]);
                let reply = site.authorize(&form, Some(&cookie)).await;
                assert!(reply.status.is_client_error(), "{wrong:?} {reply:?}");
                assert_eq!(reply.header("location"), "");
                assert!(!reply.body.contains("http-equiv=\"refresh\""), "{}", reply.body);
                let host = if uri.starts_with("https") { "evil.example" } else { "com.example.evil:" };
                assert!(reply.body.contains(&format!("<strong>{host}</strong>")), "{}", reply.body);
                assert!(reply.body.contains(&format!("href=\"{uri}?error=")), "{}", reply.body);
                assert_eq!(reply.header("referrer-policy"), "no-referrer");
            }
            // Nor when the person comes back from signing in.
            let back = site.authorize(&asking(&[usual[0], usual[1], ("scope", "admin")]), None).await.back();
            let reply = site.get(&back, Some(&cookie)).await;
            assert!(reply.status.is_client_error() && !reply.body.contains("http-equiv"), "{reply:?}");
        }
        site.clients.remove("dyn_1", site.now()).await.expect("removed");
    }
    // Who listens on the person's own computer is told at once.
    let id = documented().await;
    let near =
        [("client_id", id.as_str()), ("redirect_uri", "http://127.0.0.1:5/cb"), ("response_type", "x")];
    assert!(site.authorize(&asking(&near), None).await.target().starts_with("http://127.0.0.1:5/cb?error="));
}

#[tokio::test]
async fn who_is_written_down_may_have_a_scheme_of_its_own() {
    let site = Site::new().await;
    site.clients.add("tool", &public("tool:/cb"), site.now()).await.expect("client");
    let refused = site.clients.add("bad", &public("javascript:x"), site.now()).await;
    assert!(matches!(refused, Err(ClientsFault::Client(ClientFault::Redirect { .. }))));
}
