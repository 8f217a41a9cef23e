use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use crate::client::fake::{self, Fake, RESOURCE, SERVER, redirect, reply};
use crate::client::secret::Secret;
use crate::client::{ClientAuthentication, DpopKey};

async fn signed_in(settings: &LoginSettings) -> Result<Login, LoginFault> {
    login(&fake::http(), settings, &mut fake::browser).await
}

fn keeping(fake: &Fake, folder: &Path) -> LoginSettings {
    LoginSettings { keep: Some(Keep::open(folder).unwrap()), ..fake.settings() }
}

fn everything(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn from_a_bare_url_to_a_token() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = keeping(&fake, &folder.path().join("t"));
    let urls = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&urls);
    let mut events = |event: LoginEvent<'_>| {
        let LoginEvent::Open { url, browser } = event;
        assert!(!browser);
        told.lock().unwrap().push(url.clone());
        fake::browser(event);
    };
    let login = login(&fake::http(), &settings, &mut events).await.unwrap();
    assert!(login.kept);
    assert_eq!(login.token.authorization().unwrap().to_str().unwrap(), "Bearer access-1");
    assert_eq!(login.token.scopes.unwrap().to_string(), "tools:read");
    let (page, token) = (&fake.asked("/authorize")[0].query, &fake.asked("/token")[0].form);
    assert_eq!(urls.lock().unwrap()[0].path(), "/authorize");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "registered"),
        ("code_challenge_method", "S256"),
        ("resource", fake.resource().as_str()),
        ("scope", "tools:read"),
    ] {
        assert_eq!(page[name], value, "{name}");
    }
    assert!(
        page["redirect_uri"].starts_with("http://127.0.0.1:") && page["redirect_uri"].ends_with("/callback")
    );
    assert!(page["state"].len() == 43 && page["code_challenge"].len() == 43);
    assert!(!page.contains_key("max_age") && !page.contains_key("prompt"));
    assert_eq!((&token["resource"], &token["redirect_uri"]), (&page["resource"], &page["redirect_uri"]));
    assert_ne!(token["code_verifier"], page["code_challenge"]);
}

#[tokio::test]
async fn a_registration_is_used_again_at_its_issuer_and_never_at_another() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = keeping(&fake, &folder.path().join("t"));
    signed_in(&settings).await.unwrap();
    signed_in(&settings).await.unwrap();
    assert_eq!(fake.asked("/register").len(), 1);
    let ports: Vec<_> =
        fake.asked("/authorize").iter().map(|asked| asked.query["redirect_uri"].clone()).collect();
    assert_eq!(ports[0], ports[1], "the redirect is the one that was registered");
    // The resource moves to another authorization server.
    let other = Fake::start().await;
    let moved = other.base.clone();
    fake.change(RESOURCE, json!({ "authorization_servers": [moved] }));
    let login = signed_in(&settings).await.unwrap();
    assert_eq!(login.issuer, other.base);
    assert_eq!((fake.asked("/register").len(), other.asked("/register").len()), (1, 1));
    assert_eq!(fake.asked("/token").len(), 2, "the other server's code is not shown to the first");
}

#[tokio::test]
async fn a_registered_port_that_is_taken_leads_to_another_registration() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = keeping(&fake, &folder.path().join("t"));
    signed_in(&settings).await.unwrap();
    let port = Url::parse(&fake.asked("/authorize")[0].query["redirect_uri"]).unwrap().port().unwrap();
    let _taken = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    signed_in(&settings).await.unwrap();
    assert_eq!(fake.asked("/register").len(), 2);
}

#[tokio::test]
async fn the_right_to_decide_needs_a_fresh_sign_in_and_is_never_written() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    fake.change(SERVER, json!({ "scopes_supported": ["offline_access"] }));
    let scopes = Some(Scopes::parse("approvals:decide").unwrap());
    let login = signed_in(&LoginSettings { scopes, ..keeping(&fake, &at) }).await.unwrap();
    assert!(!login.kept && login.token.authorization().is_some());
    let page = &fake.asked("/authorize")[0].query;
    assert_eq!((page["max_age"].as_str(), page["scope"].as_str()), ("0", "approvals:decide"));
    let written = everything(&at);
    assert!(
        written.contains("registered") && !written.contains("access-") && !written.contains("refresh-"),
        "{written}"
    );
    // Nor where the server says that it gave less: a refresh might bring it.
    fake.change("/token", json!({ "scope": "tools:read" }));
    let scopes = Some(Scopes::parse("approvals:decide").unwrap());
    let login = signed_in(&LoginSettings { scopes, ..keeping(&fake, &at) }).await.unwrap();
    assert!(!login.kept && !everything(&at).contains("access-"));
    // Nor where the server gives it unasked.
    fake.change("/token", json!({ "scope": "tools:read approvals:decide" }));
    let login = signed_in(&keeping(&fake, &at)).await.unwrap();
    assert!(!login.kept && !everything(&at).contains("access-"));
}

#[tokio::test]
async fn refresh_tokens_are_asked_for_where_that_takes_a_scope() {
    let fake = Fake::start().await;
    fake.change(SERVER, json!({ "scopes_supported": ["offline_access", "tools:read"] }));
    let login = signed_in(&fake.settings()).await.unwrap();
    assert_eq!(login.asked.unwrap().to_string(), "offline_access tools:read");
    assert_eq!(fake.asked("/authorize")[0].query["prompt"], "consent");
    fake.on("/mcp", |_, _| reply(401, json!({})));
    fake.change(RESOURCE, json!({ "scopes_supported": null }));
    let login = signed_in(&fake.settings()).await.unwrap();
    assert!(login.asked.is_none() && !fake.asked("/authorize")[1].query.contains_key("scope"));
}

/// What the browser comes back with, in place of what the server says.
fn coming_back(fake: &Fake, with: &'static [(&'static str, Option<&'static str>)]) {
    fake.on("/authorize", move |fake, asked| {
        let good = fake.good(asked);
        let mut to = Url::parse(&good.headers[0].1).unwrap();
        let mut pairs: Vec<(String, String)> = to.query_pairs().into_owned().collect();
        for (name, value) in with {
            pairs.retain(|(one, _)| one != name);
            pairs.extend(value.map(|value| ((*name).to_owned(), value.replace("BASE", &fake.base))));
        }
        to.query_pairs_mut().clear().extend_pairs(pairs);
        redirect(to.into())
    });
}

#[tokio::test]
async fn an_answer_of_another_server_is_neither_used_nor_shown() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = keeping(&fake, &folder.path().join("t"));
    for with in [
        &[("iss", None)][..],
        &[("iss", Some("https://evil.example"))],
        &[("iss", Some("BASE/"))],
        &[
            ("iss", Some("https://evil.example")),
            ("error", Some("canary")),
            ("error_description", Some("canary")),
        ],
        &[("iss", None), ("error", Some("canary")), ("error_uri", Some("https://canary.example"))],
    ] {
        coming_back(&fake, with);
        let fault = signed_in(&settings).await.unwrap_err();
        assert!(matches!(fault, LoginFault::Callback(CallbackFault::OtherIssuer { .. })), "{fault}");
        assert!(!format!("{fault} {fault:?}").contains("canary"));
    }
    fake.change(SERVER, json!({ "authorization_response_iss_parameter_supported": null }));
    coming_back(&fake, &[("iss", Some("https://evil.example"))]);
    assert!(signed_in(&settings).await.is_err());
    assert_eq!(fake.asked("/token").len(), 0, "no code was shown to anybody");
    coming_back(&fake, &[("iss", None)]);
    assert!(signed_in(&settings).await.is_ok());
}

#[tokio::test]
async fn an_answer_with_another_state_is_waited_past() {
    let fake = Fake::start().await;
    coming_back(&fake, &[("state", Some("other"))]);
    let settings = LoginSettings { wait: Duration::from_millis(500), ..fake.settings() };
    let fault = signed_in(&settings).await.unwrap_err();
    assert!(matches!(fault, LoginFault::TimedOut { .. }), "{fault}");
    assert_eq!(fake.asked("/token").len(), 0);
}

#[tokio::test]
async fn a_refusal_is_told_plainly() {
    let fake = Fake::start().await;
    coming_back(
        &fake,
        &[("code", None), ("error", Some("access_denied")), ("error_description", Some("Not today"))],
    );
    let fault = signed_in(&fake.settings()).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the authorization server refused the sign-in: `access_denied`: `Not today`"
    );
}

#[tokio::test]
async fn a_code_that_another_sign_in_led_to_is_of_no_use() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    fake.on("/authorize", |fake, asked| {
        let mut asked = asked.clone();
        asked.query.insert("code_challenge".to_owned(), "of-another-sign-in".to_owned());
        fake.good(&asked)
    });
    let fault = signed_in(&keeping(&fake, &at)).await.unwrap_err();
    assert!(
        matches!(&fault, LoginFault::Token(TokenFault::Refused { code, .. }) if code == "invalid_grant"),
        "{fault:?}"
    );
    assert!(!everything(&at).contains("access-"));
}

#[tokio::test]
async fn a_server_that_forgot_this_client_is_registered_at_anew() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = keeping(&fake, &folder.path().join("t"));
    signed_in(&settings).await.unwrap();
    fake.on("/token", |_, _| reply(401, json!({ "error": "invalid_client" })));
    assert!(signed_in(&settings).await.is_err());
    fake.on("/token", |fake, asked| fake.good(asked));
    signed_in(&settings).await.unwrap();
    assert_eq!(fake.asked("/register").len(), 2);
}

#[tokio::test]
async fn a_given_client_is_used_and_its_secret_goes_to_its_issuer_alone() {
    let fake = Fake::start().await;
    let authentication = ClientAuthentication::Post(Secret::new("canary".to_owned()));
    let given = Preregistered { issuer: fake.base.clone(), client_id: "given".to_owned(), authentication };
    let settings = LoginSettings { preregistered: vec![given], ..fake.settings() };
    signed_in(&settings).await.unwrap();
    assert_eq!(fake.asked("/token")[0].form["client_secret"], "canary");
    assert_eq!(fake.asked("/register").len(), 0);
    let other = Fake::start().await;
    let moved = other.base.clone();
    fake.change(RESOURCE, json!({ "authorization_servers": [moved] }));
    signed_in(&settings).await.unwrap();
    assert_eq!(other.asked("/register").len(), 1);
    assert!(!other.asked("/token")[0].form.contains_key("client_secret"));
}

#[tokio::test]
async fn tokens_are_bound_to_a_key_where_the_server_can() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let settings = LoginSettings { dpop: true, ..keeping(&fake, &folder.path().join("t")) };
    let login = signed_in(&settings).await.unwrap();
    assert!(login.token.key.is_none(), "the server does not list it");
    fake.change(SERVER, json!({ "dpop_signing_alg_values_supported": ["ES256"] }));
    let login = signed_in(&settings).await.unwrap();
    assert!(login.token.authorization().unwrap().to_str().unwrap().starts_with("DPoP "));
    let now = OffsetDateTime::now_utc();
    assert!(login.token.proof("POST", fake.resource().as_str(), None, now).unwrap().is_some());
    let kept = settings.keep.unwrap().latest(fake.resource().as_str(), "default").unwrap().unwrap();
    let document = |key: &Option<DpopKey>| key.as_ref().unwrap().document().clone();
    assert!(document(&kept.access.key) == document(&login.token.key), "a refresh needs the same key");
}
