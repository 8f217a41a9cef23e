use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::{DocumentFault, Documents, MetadataHosts, read};
use crate::authorization::ClientMethod;
use crate::proof::prover::Prover;

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);

fn document(id: &str) -> Value {
    json!({"client_id": id, "client_name": "Tool", "redirect_uris": ["http://127.0.0.1/cb"]})
}

fn near() -> Documents {
    let mut documents = Documents::new(true, MetadataHosts::default());
    documents.rules.timeout = StdDuration::from_millis(700);
    documents
}

/// A host on this computer, and how often it was asked for the good document.
async fn host() -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let base = format!("http://{}", listener.local_addr().expect("address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let json = |body: String, control: &'static str| {
        ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, control)], body).into_response()
    };
    let (counted, own) = (Arc::clone(&asked), base.clone());
    let good = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let body = document(&format!("{own}/good")).to_string();
        async move { json(body, "max-age=3600") }
    };
    let times = Arc::new(AtomicUsize::new(0));
    let own = base.clone();
    // Good once, then its server has a failure, and at last it is gone.
    let fading = move || {
        let body = document(&format!("{own}/fading")).to_string();
        let status = match times.fetch_add(1, Ordering::Relaxed) {
            0 => http::StatusCode::OK,
            1 => http::StatusCode::BAD_GATEWAY,
            _ => http::StatusCode::GONE,
        };
        async move { (status, json(body, "")).into_response() }
    };
    let own = base.clone();
    let keyed = move || {
        let mut body = document(&format!("{own}/keyed"));
        body["token_endpoint_auth_method"] = json!("private_key_jwt");
        body["jwks_uri"] = json!(format!("{own}/keys"));
        async move { json(body.to_string(), "max-age=86400") }
    };
    let set = json!({"keys": [Prover::p256().jwk(), {"kty": "oct", "k": "AAAA"}]}).to_string();
    let keys = move || {
        let set = set.clone();
        async move { json(set, "") }
    };
    let to = format!("{base}/good");
    let redirecting = move || {
        let to = to.clone();
        async move { (http::StatusCode::FOUND, [(header::LOCATION, to)]).into_response() }
    };
    let own = base.clone();
    let huge = move || {
        let mut body = document(&format!("{own}/huge"));
        body["padding"] = "x".repeat(20_000).into();
        async move { json(body.to_string(), "") }
    };
    let own = base.clone();
    let typed = move || {
        let body = document(&format!("{own}/html")).to_string();
        async move { ([(header::CONTENT_TYPE, "text/html")], body).into_response() }
    };
    let own = base.clone();
    let other = move || {
        let body = document(&format!("{own}/good")).to_string();
        async move { json(body, "") }
    };
    let own = base.clone();
    let turned_times = Arc::new(Mutex::new(BTreeSet::new()));
    // Good the first time, then what its path says.
    let turned = move |axum::extract::Path(into): axum::extract::Path<String>| {
        let mut body = document(&format!("{own}/turned/{into}"));
        let again = !turned_times.lock().expect("lock").insert(into.clone());
        let answered = match into.as_str() {
            "html" if again => ([(header::CONTENT_TYPE, "text/html")], body.to_string()).into_response(),
            "text" if again => json("sold".to_owned(), ""),
            _ => {
                if again {
                    body["padding"] = "x".repeat(20_000).into();
                }
                json(body.to_string(), "")
            }
        };
        async move { answered }
    };
    // Headers come at once, the body never ends.
    let slow = || async {
        let body = futures::stream::once(async { Ok::<_, std::io::Error>("{") });
        let body = futures::StreamExt::chain(body, futures::stream::pending());
        ([(header::CONTENT_TYPE, "application/json")], axum::body::Body::from_stream(body)).into_response()
    };
    let router = Router::new()
        .route("/good", get(good))
        .route("/fading", get(fading))
        .route("/keyed", get(keyed))
        .route("/keys", get(keys))
        .route("/redirect", get(redirecting))
        .route("/huge", get(huge))
        .route("/html", get(typed))
        .route("/other", get(other))
        .route("/turned/{into}", get(turned))
        .route("/slow", get(slow));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (base, asked)
}

#[tokio::test]
async fn a_document_is_fetched_once_and_kept_for_its_time() {
    let (base, asked) = host().await;
    let documents = near();
    let id = format!("{base}/good");
    for _ in 0..3 {
        assert_eq!(documents.client(&id, NOW).await.expect("client").name, "Tool");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    documents.client(&id, NOW + Duration::minutes(59)).await.expect("client");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    documents.client(&id, NOW + Duration::minutes(60)).await.expect("client");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_client_whose_site_is_down_stays_and_one_that_is_gone_does_not() {
    let (base, _) = host().await;
    let documents = near();
    let id = format!("{base}/fading");
    assert!(documents.client(&id, NOW).await.is_ok());
    let later = NOW + Duration::minutes(5);
    assert!(documents.client(&id, later).await.is_ok());
    assert!(documents.client(&id, later + Duration::seconds(59)).await.is_ok());
    assert!(documents.client(&id, later + Duration::seconds(60)).await.is_err());
}

#[tokio::test]
async fn a_client_whose_document_is_another_now_is_not_the_client_that_it_was() {
    let (base, _) = host().await;
    for path in ["/turned/html", "/turned/huge", "/turned/text"] {
        let documents = near();
        let id = format!("{base}{path}");
        assert!(documents.client(&id, NOW).await.is_ok(), "{path}");
        let later = NOW + Duration::minutes(5);
        let fault = documents.client(&id, later).await.expect_err("refused");
        assert!(matches!(fault, DocumentFault::Document(_)), "{path} {fault}");
    }
}

#[tokio::test]
async fn a_slow_host_takes_no_more_than_two_places_and_is_asked_again() {
    let (base, _) = host().await;
    let documents = near();
    let ids = ["/slow", "/slow?a", "/slow?b", "/good"].map(|path| format!("{base}{path}"));
    let all = ids.iter().map(|id| documents.client(id, NOW));
    let all = futures::future::join_all(all).await;
    let busy: Vec<_> = all.iter().map(|found| matches!(found, Err(DocumentFault::Busy))).collect();
    assert_eq!(busy, [false, false, true, true]);
    let good = ids.last().expect("id");
    assert!(documents.client(good, NOW).await.is_ok());
}

#[tokio::test]
async fn keys_may_stand_at_a_url_of_their_own() {
    let (base, _) = host().await;
    let client = near().client(&format!("{base}/keyed"), NOW).await.expect("client");
    assert_eq!(client.method, ClientMethod::Assertion);
    assert_eq!(client.jwks.as_ref().map(|set| set.keys.len()), Some(1));
}

#[tokio::test]
async fn nothing_is_followed_and_size_time_and_type_are_bounded() {
    let (base, asked) = host().await;
    let documents = near();
    let fault =
        async |path: &str| documents.client(&format!("{base}{path}"), NOW).await.expect_err("refused");
    assert!(matches!(fault("/redirect").await, DocumentFault::Document(told) if told.contains("redirects")));
    assert!(matches!(fault("/huge").await, DocumentFault::Document(told) if told.contains("16 KiB")));
    assert!(matches!(fault("/html").await, DocumentFault::Document(told) if told.contains("JSON")));
    assert!(matches!(fault("/slow").await, DocumentFault::Fetch(told) if told.contains("too long")));
    assert!(matches!(fault("/missing").await, DocumentFault::Document(told) if told.contains("404")));
    assert!(matches!(fault("/other").await, DocumentFault::Document(_)));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn this_computer_and_its_networks_are_not_reached() {
    let (base, asked) = host().await;
    let port = base.rsplit(':').next().expect("port");
    // Another host at that port is named.
    let other = format!("clients.example.com:{port}");
    let far = Documents::new(false, MetadataHosts::new([other.as_str()], None).expect("hosts"));
    for id in [
        format!("{base}/good"),
        format!("https://127.0.0.1:{port}/good"),
        format!("https://[::1]:{port}/good"),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://[fe80::1]/client".to_owned(),
        "https://[::ffff:127.0.0.1]/client".to_owned(),
        "https://10.0.0.1/client".to_owned(),
        "https://2130706433/client".to_owned(),
        "https://0x7f.1/client".to_owned(),
    ] {
        assert_eq!(far.client(&id, NOW).await.expect_err("refused"), DocumentFault::Url, "{id}");
    }
    // Names that mean this computer: at a port that nobody named, and at the one of `https`.
    let name = format!("https://localhost:{port}/good");
    assert_eq!(far.client(&name, NOW).await.expect_err("refused"), DocumentFault::Url);
    let name = "https://localhost/good";
    assert_eq!(far.client(name, NOW).await.expect_err("refused"), DocumentFault::Address);
    // One that is named is reached, by TLS alone.
    let named = MetadataHosts::new([format!("localhost:{port}").as_str()], None).expect("hosts");
    let near = Documents::new(false, named);
    let name = format!("https://localhost:{port}/good");
    let fault = near.client(&name, NOW).await.expect_err("no TLS there");
    assert_eq!(fault, DocumentFault::Fetch("the connection failed"));
    let name = format!("http://localhost:{port}/good");
    assert_eq!(near.client(&name, NOW).await.expect_err("refused"), DocumentFault::Url);
    assert_eq!(
        near.client("https://localhost/good", NOW).await.expect_err("refused"),
        DocumentFault::Address
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn an_id_is_a_whole_url_as_it_is_written_when_normalised() {
    let named = MetadataHosts::new(["app.example.com:8443"], None).expect("hosts");
    let documents = Documents::new(false, named);
    for id in ["https://app.example.com/client", "https://app.example.com:8443/a/b.json?c=d"] {
        assert!(documents.url(id).is_ok(), "{id}");
    }
    for id in [
        "http://app.example.com/client",
        "https://app.example.com",
        "https://app.example.com/",
        "https://app.example.com:443/client",
        "https://app.example.com:22/client",
        "https://other.example.com:8443/client",
        "https://APP.example.com/client",
        "https://app.example.com/a/../client",
        "https://app.example.com/./client",
        "https://app.example.com/client#x",
        "https://user@app.example.com/client",
        "https://app.example.com/cli ent",
        "https:app.example.com/client",
    ] {
        assert!(documents.url(id).is_err(), "{id}");
    }
}

#[test]
fn a_document_is_of_its_url_and_holds_no_shared_secret() {
    let id = "https://app.example.com/client";
    let check = |change: fn(&mut Value)| {
        let mut body = document(id);
        change(&mut body);
        let (record, keys_at) = read(id, body.to_string().as_bytes())?;
        assert_eq!(keys_at, None);
        record.check_stranger().map_err(|fault| DocumentFault::Document(fault.to_string())).map(|()| record)
    };
    let good = check(|_| ()).expect("client");
    assert_eq!((good.method, good.refresh), (ClientMethod::Public, false));
    assert!(
        check(|body| body["grant_types"] = json!(["authorization_code", "refresh_token"]))
            .expect("good")
            .refresh
    );
    let changes: [fn(&mut Value); 10] = [
        |body| body["client_id"] = json!("https://app.example.com/other"),
        |body| body["client_name"] = Value::Null,
        |body| body["redirect_uris"] = json!([]),
        |body| body["redirect_uris"] = json!(["http://evil.example/cb"]),
        |body| body["redirect_uris"] = json!(["tool:/cb"]),
        |body| body["token_endpoint_auth_method"] = json!("client_secret_basic"),
        |body| body["client_secret"] = json!("x"),
        |body| body["token_endpoint_auth_method"] = json!("private_key_jwt"),
        |body| body["grant_types"] = json!(["client_credentials"]),
        |body| *body = json!([]),
    ];
    for change in changes {
        assert!(check(change).is_err());
    }
}
