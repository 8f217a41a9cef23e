use std::sync::Arc;

use http::header::AUTHORIZATION;
use serde_json::json;
use time::Duration;

use aldgate_authority::PrincipalKind;

use super::*;
use crate::Scopes;
use crate::client::ClientAuthentication;
use crate::client::fake::{self, Fake, Reply, SERVER, reply};

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

fn program(fake: &Fake) -> Program {
    Program {
        issuer: fake.base.clone(),
        token_endpoint: None,
        client_id: "gateway".to_owned(),
        authentication: ClientAuthentication::Basic(Secret::new("canary".to_owned())),
        resource: Some("https://parts.example/mcp".to_owned()),
        scopes: Some(Scopes::parse("parts:read").unwrap()),
    }
}

fn credentials(fake: &Fake) -> ClientCredentials {
    ClientCredentials::new(Arc::new(fake::http()), program(fake)).unwrap()
}

fn exchange(fake: &Fake) -> TokenExchange {
    let settings = TokenExchangeSettings {
        program: program(fake),
        audience: Some("parts".to_owned()),
        takes: vec![ISSUER.to_owned()],
    };
    TokenExchange::new(Arc::new(fake::http()), settings).unwrap()
}

const ISSUER: &str = "https://login.example";

fn principal(issuer: &str, name: &str, kind: PrincipalKind) -> Arc<Principal> {
    Arc::new(Principal {
        issuer: issuer.to_owned(),
        subject: name.to_owned(),
        tenant: "default".to_owned(),
        kind,
        roles: Default::default(),
        name: name.to_owned(),
        client: "app".to_owned(),
        actors: Vec::new(),
    })
}

fn caller(name: &str, ends: i64) -> Caller {
    let token = SubjectToken {
        token: Secret::new(format!("subject-of-{name}")),
        expires_at: Some(NOW + Duration::seconds(ends)),
    };
    Caller { principal: principal(ISSUER, name, PrincipalKind::Person), token: Some(token) }
}

async fn shown(
    credential: &dyn UpstreamCredential,
    caller: Option<&Caller>,
    now: OffsetDateTime,
) -> Result<String, CredentialFault> {
    let header = credential.authorization(caller, now).await?.unwrap();
    assert!(header.value.is_sensitive() && !format!("{header:?}").contains(header.value.to_str().unwrap()));
    Ok(format!("{}: {}", header.name, header.value.to_str().unwrap()))
}

#[tokio::test]
async fn a_file_is_read_again_once_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "first\n").unwrap();
    let source = HeaderSource::File(path.clone());
    let name = HeaderName::from_static("x-api-key");
    let credential = HeaderCredential::new(name, None, source.clone()).unwrap();
    assert_eq!(shown(&credential, None, NOW).await.unwrap(), "x-api-key: first");
    std::fs::write(folder.path().join("next"), "second").unwrap();
    std::fs::rename(folder.path().join("next"), &path).unwrap();
    let later = |seconds| NOW + time::Duration::seconds(seconds);
    assert_eq!(shown(&credential, None, NOW).await.unwrap(), "x-api-key: first", "looked at once a second");
    assert_eq!(shown(&credential, None, later(1)).await.unwrap(), "x-api-key: second");
    // What is gone or no value is not replaced by what was there before.
    for content in ["", "\n", "a\nb", "ü", "\u{7f}", &"a".repeat(70_000)] {
        std::fs::write(&path, content).unwrap();
        let fault = shown(&credential, None, later(2)).await.unwrap_err();
        assert!(matches!(fault, CredentialFault::Value { .. }), "{content:?}: {fault}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(shown(&credential, None, later(2)).await, Err(CredentialFault::File { .. })));
    assert!(HeaderCredential::new(AUTHORIZATION, None, source).is_err(), "an operator learns of it at once");
}

#[tokio::test]
async fn a_value_is_sent_behind_its_scheme() {
    let source = HeaderSource::Value(Secret::new("canary".to_owned()));
    let credential = HeaderCredential::new(AUTHORIZATION, Some("Bearer".to_owned()), source).unwrap();
    assert_eq!(shown(&credential, None, NOW).await.unwrap(), "authorization: Bearer canary");
    assert!(!format!("{credential:?}").contains("canary"));
    let bad = HeaderSource::Value(Secret::new("canary\r\nx: y".to_owned()));
    let fault = HeaderCredential::new(AUTHORIZATION, None, bad).unwrap_err();
    assert!(!format!("{fault} {fault:?}").contains("canary"));
    assert!(NoCredential.authorization(None, NOW).await.unwrap().is_none());
}

#[tokio::test]
async fn a_token_of_the_gateway_is_kept_until_shortly_before_it_ends() {
    let fake = Fake::start().await;
    let credential = credentials(&fake);
    for seconds in [0, 1, 269] {
        let now = NOW + Duration::seconds(seconds);
        assert_eq!(shown(&credential, None, now).await.unwrap(), "authorization: Bearer access-1");
    }
    let later = NOW + Duration::seconds(270);
    assert_eq!(shown(&credential, None, later).await.unwrap(), "authorization: Bearer access-2");
    let form = &fake.asked("/token")[0].form;
    assert_eq!(
        (form["resource"].as_str(), form["scope"].as_str()),
        ("https://parts.example/mcp", "parts:read")
    );
}

#[tokio::test]
async fn many_requests_wait_for_one_token_and_for_one_failure() {
    let fake = Fake::start().await;
    let slow = std::time::Duration::from_millis(200);
    fake.on("/token", move |fake, asked| Reply { after: slow, ..fake.good(asked) });
    let credential = credentials(&fake);
    let all = async || futures::future::join_all((0..20).map(|_| shown(&credential, None, NOW))).await;
    assert!(all().await.iter().all(|found| found.as_ref().unwrap() == "authorization: Bearer access-1"));
    assert_eq!(fake.asked("/token").len(), 1);
    fake.on("/token", move |_, _| Reply { after: slow, ..reply(503, json!({})) });
    let header = credential.authorization(None, NOW).await.unwrap().unwrap();
    credential.refused(None, &header);
    assert!(all().await.iter().all(Result::is_err));
    assert_eq!(fake.asked("/token").len(), 2, "whoever waited is told the same");
    fake.on("/token", |fake, asked| fake.good(asked));
    assert!(shown(&credential, None, NOW).await.is_err(), "nobody asks again at once");
    assert!(shown(&credential, None, NOW + Duration::seconds(1)).await.is_ok());
}

#[tokio::test]
async fn a_refused_token_is_forgotten_and_a_fresh_one_is_not() {
    let fake = Fake::start().await;
    let credential = credentials(&fake);
    let first = credential.authorization(None, NOW).await.unwrap().unwrap();
    credential.refused(None, &first);
    assert_eq!(shown(&credential, None, NOW).await.unwrap(), "authorization: Bearer access-2");
    credential.refused(None, &first);
    assert_eq!(shown(&credential, None, NOW).await.unwrap(), "authorization: Bearer access-2");
}

#[tokio::test]
async fn each_caller_has_a_token_of_its_own_that_does_not_outlive_the_caller() {
    let fake = Fake::start().await;
    let credential = exchange(&fake);
    let (alice, bob) = (caller("alice", 100), caller("bob", 1000));
    assert!(matches!(shown(&credential, None, NOW).await, Err(CredentialFault::NoCaller)));
    assert_eq!(shown(&credential, Some(&alice), NOW).await.unwrap(), "authorization: Bearer access-1");
    assert_eq!(shown(&credential, Some(&bob), NOW).await.unwrap(), "authorization: Bearer access-2");
    assert_eq!(shown(&credential, Some(&alice), NOW).await.unwrap(), "authorization: Bearer access-1");
    let later = NOW + Duration::seconds(71);
    assert_eq!(shown(&credential, Some(&alice), later).await.unwrap(), "authorization: Bearer access-3");
    assert_eq!(shown(&credential, Some(&bob), later).await.unwrap(), "authorization: Bearer access-2");
    let ended = NOW + Duration::seconds(100);
    assert!(matches!(shown(&credential, Some(&alice), ended).await, Err(CredentialFault::CallerEnded)));
    let form = &fake.asked("/token")[0].form;
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", "subject-of-alice"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("resource", "https://parts.example/mcp"),
        ("audience", "parts"),
        ("scope", "parts:read"),
    ] {
        assert_eq!(form[name], value, "{name}");
    }
}

#[tokio::test]
async fn a_token_that_was_exchanged_is_of_use_with_the_callers_token_alone() {
    let fake = Fake::start().await;
    let credential = exchange(&fake);
    let first = caller("alice", 1000);
    assert_eq!(shown(&credential, Some(&first), NOW).await.unwrap(), "authorization: Bearer access-1");
    // Another grant of the same person: what the first one gave ends with the first one.
    let token = SubjectToken { token: Secret::new("another".to_owned()), expires_at: None };
    let second = Caller { token: Some(token), ..first.clone() };
    assert_eq!(shown(&credential, Some(&second), NOW).await.unwrap(), "authorization: Bearer access-2");
    let header = credential.authorization(Some(&second), NOW).await.unwrap().unwrap();
    credential.refused(Some(&second), &header);
    assert_eq!(shown(&credential, Some(&second), NOW).await.unwrap(), "authorization: Bearer access-3");
    assert_eq!(shown(&credential, Some(&first), NOW).await.unwrap(), "authorization: Bearer access-1");
}

#[tokio::test]
async fn a_token_goes_to_no_server_that_does_not_take_its_issuers() {
    let fake = Fake::start().await;
    let credential = exchange(&fake);
    for issuer in ["config", "https://login.example/", "https://other.example"] {
        let principal = principal(issuer, "alice", PrincipalKind::Person);
        let other = Caller { principal, ..caller("alice", 100) };
        let fault = shown(&credential, Some(&other), NOW).await.unwrap_err();
        assert!(matches!(fault, CredentialFault::Unfit(_)), "{fault}");
    }
    let bound = Caller { token: None, ..caller("alice", 100) };
    let fault = shown(&credential, Some(&bound), NOW).await.unwrap_err();
    assert!(matches!(fault, CredentialFault::Unfit(why) if why.contains("bound to a key")), "{fault}");
    assert_eq!(fake.asked("/token").len(), 0);
}

#[tokio::test]
async fn a_server_that_hands_the_callers_token_on_is_refused() {
    let fake = Fake::start().await;
    fake.change("/token", json!({ "access_token": "subject-of-alice" }));
    let fault = shown(&exchange(&fake), Some(&caller("alice", 100)), NOW).await.unwrap_err();
    assert!(
        matches!(fault, CredentialFault::Refused(_)) && !fault.to_string().contains("subject-of"),
        "{fault}"
    );
    for kind in [json!(null), json!("urn:ietf:params:oauth:token-type:refresh_token"), json!("N_A")] {
        fake.change("/token", json!({ "issued_token_type": kind }));
        let fault = shown(&exchange(&fake), Some(&caller("alice", 100)), NOW).await.unwrap_err();
        assert!(matches!(fault, CredentialFault::Refused(_)), "{fault}");
    }
}

#[tokio::test]
async fn credentials_go_to_the_issuer_that_they_are_for_alone() {
    let fake = Fake::start().await;
    fake.change(SERVER, json!({ "issuer": format!("{}/", fake.base) }));
    assert!(matches!(shown(&credentials(&fake), None, NOW).await, Err(CredentialFault::Server { .. })));
    fake.change(SERVER, json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }));
    let fault = shown(&credentials(&fake), None, NOW).await.unwrap_err();
    assert!(matches!(fault, CredentialFault::Method { method: "client_secret_basic", .. }), "{fault}");
    fake.change(SERVER, json!({ "token_endpoint": "http://as.example/token" }));
    assert!(shown(&credentials(&fake), None, NOW).await.is_err());
    assert_eq!(fake.asked("/token").len(), 0);
}

#[tokio::test]
async fn no_program_decides_approvals() {
    let fake = Fake::start().await;
    let scopes = Some(Scopes::parse("approvals:decide").unwrap());
    let asked = ClientCredentials::new(Arc::new(fake::http()), Program { scopes, ..program(&fake) });
    assert!(matches!(asked, Err(CredentialFault::Decides)));
    fake.change("/token", json!({ "scope": "parts:read approvals:decide" }));
    assert!(matches!(shown(&credentials(&fake), None, NOW).await, Err(CredentialFault::Decides)));
}
