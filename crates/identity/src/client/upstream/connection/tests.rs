use std::path::Path;

use serde_json::json;

use super::*;
use crate::Scopes;
use crate::client::ClientAuthentication;
use crate::client::callback::CallbackFault;
use crate::client::fake::{self, Fake, SERVER, reply};

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

fn at(fake: &Fake, folder: &Path) -> Connections {
    let program = Program {
        issuer: fake.base.clone(),
        token_endpoint: None,
        client_id: "gateway".to_owned(),
        authentication: ClientAuthentication::Post(Secret::new("canary-secret".to_owned())),
        resource: Some("https://parts.example/mcp".to_owned()),
        scopes: Some(Scopes::parse("parts:read").unwrap()),
    };
    let redirect = Url::parse("https://gateway.example/connections/callback").unwrap();
    let settings = ConnectionSettings { upstream: "parts".to_owned(), program, redirect };
    let seal = SealKey::derive(&[7; 32]).unwrap();
    Connections::new(Arc::new(fake::http()), folder, seal, settings).unwrap()
}

/// The query that the user's browser comes back with.
async fn answer(connections: &Connections, user: &str) -> String {
    let url = connections.begin(user, NOW).await.unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only(std::iter::empty())
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let response = client.get(url).send().await.unwrap();
    let to = Url::parse(response.headers()["location"].to_str().unwrap()).unwrap();
    assert_eq!(to.host_str(), Some("gateway.example"));
    to.query().unwrap().to_owned()
}

async fn connect(connections: &Connections, user: &str) {
    let query = answer(connections, user).await;
    connections.finish(&query, user, NOW).await.unwrap();
}

fn caller(user: &str) -> Caller {
    Caller { user: user.to_owned(), rights: format!("{user} with some client"), token: None }
}

async fn shown(connections: &Connections, user: &str, seconds: i64) -> Result<String, CredentialFault> {
    let now = NOW + time::Duration::seconds(seconds);
    let header = connections.authorization(Some(&caller(user)), now).await?.unwrap();
    assert!(header.value.is_sensitive());
    Ok(header.value.to_str().unwrap().to_owned())
}

fn is_unconnected(found: &Result<String, CredentialFault>) -> bool {
    matches!(found, Err(CredentialFault::NotConnected { upstream }) if upstream == "parts")
}

#[tokio::test]
async fn a_user_connects_once_and_nobody_else_is_connected_by_it() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let connections = at(&fake, &path);
    assert!(is_unconnected(&shown(&connections, "alice", 0).await));
    connect(&connections, "alice").await;
    assert_eq!(
        shown(&connections, "alice", 0).await.unwrap(),
        "Bearer access-1",
        "at once, not after a pause"
    );
    assert!(is_unconnected(&shown(&connections, "bob", 0).await));
    assert!(connections.is_connected("alice").unwrap() && !connections.is_connected("bob").unwrap());
    let (page, token) = (&fake.asked("/authorize")[0].query, &fake.asked("/token")[0].form);
    assert_eq!(
        (page["resource"].as_str(), page["scope"].as_str()),
        ("https://parts.example/mcp", "parts:read")
    );
    assert_eq!((&token["resource"], &token["redirect_uri"]), (&page["resource"], &page["redirect_uri"]));
    assert!(!page["state"].contains(&token["code_verifier"]));
    // Another process of the gateway has it too; one with another key does not.
    assert_eq!(shown(&at(&fake, &path), "alice", 0).await.unwrap(), "Bearer access-1");
    let other = Connections { seal: SealKey::derive(&[8; 32]).unwrap(), ..at(&fake, &path) };
    let vault = Vault::open(&path, other.seal.clone(), &other.settings).unwrap();
    assert!(matches!(
        shown(&Connections { vault, ..other }, "alice", 0).await,
        Err(CredentialFault::Kept(_))
    ));
}

#[tokio::test]
async fn what_is_kept_is_sealed_for_its_user() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    let connections = at(&fake, &path);
    connect(&connections, "alice").await;
    let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains("access-") && !text.contains("refresh-") && !text.contains("alice"), "{text}");
    }
    // Alice's file, put in Bob's place.
    let kept = std::fs::read(file_of(&connections, &path, "alice")).unwrap();
    let placed = file_of(&connections, &path, "bob");
    std::fs::write(&placed, kept).unwrap();
    std::fs::set_permissions(&placed, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    assert!(matches!(shown(&connections, "bob", 0).await, Err(CredentialFault::Kept(_))));
    assert!(!format!("{connections:?}").contains("canary"));
}

fn file_of(connections: &Connections, folder: &Path, user: &str) -> std::path::PathBuf {
    let name = vault::purpose("kept", &connections.settings, user);
    folder.join(format!("connection-{}.json", name.rsplit(' ').next().unwrap()))
}

#[tokio::test]
async fn an_answer_of_another_user_server_or_time_connects_nothing() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, &folder.path().join("c"));
    let query = answer(&connections, "mallory").await;
    let finish = async |query: &str, user: &str, seconds: i64| {
        let now = NOW + time::Duration::seconds(seconds);
        connections.finish(query, user, now).await.unwrap_err()
    };
    assert!(matches!(finish(&query, "alice", 0).await, ConnectionFault::OtherUser));
    assert!(matches!(finish(&query, "mallory", 600).await, ConnectionFault::Late));
    for altered in [query.replace("state=", "state=A"), query.replace("state", "stat"), String::new()] {
        assert!(matches!(finish(&altered, "mallory", 0).await, ConnectionFault::State), "{altered}");
    }
    let twice = format!("{query}&state=x");
    assert!(matches!(finish(&twice, "mallory", 0).await, ConnectionFault::State));
    let mixed = query.replace("iss=", "iss=https%3A%2F%2Fevil.example");
    let fault = finish(&format!("{mixed}&error=canary"), "mallory", 0).await;
    assert!(matches!(fault, ConnectionFault::Callback(CallbackFault::OtherIssuer { .. })), "{fault}");
    assert!(!format!("{fault} {fault:?}").contains("canary"));
    let without: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("iss=")).collect();
    assert!(matches!(finish(&without.join("&"), "mallory", 0).await, ConnectionFault::Callback(_)));
    assert_eq!(fake.asked("/token").len(), 0);
    connections.finish(&query, "mallory", NOW).await.unwrap();
    // The page of one upstream's connection is of no use for another's.
    let mut other = at(&fake, &folder.path().join("c"));
    other.settings.upstream = "ledger".to_owned();
    assert!(matches!(other.finish(&query, "mallory", NOW).await, Err(ConnectionFault::State)));
}

#[tokio::test]
async fn a_connection_is_refreshed_by_one_and_ends_when_the_server_says_so() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("c");
    connect(&at(&fake, &path), "alice").await;
    let replicas = [at(&fake, &path), at(&fake, &path)];
    let both = futures::future::join_all(replicas.iter().map(|one| shown(one, "alice", 280))).await;
    assert!(both.iter().all(|found| found.as_ref().unwrap() == "Bearer access-2"), "{both:?}");
    assert_eq!(fake.asked("/token").len(), 2);
    let [connections, _] = &replicas;
    // Refused although it has not ended: another one, once.
    let header = connections.authorization(Some(&caller("alice")), NOW).await.unwrap().unwrap();
    connections.refused(Some(&caller("alice")), &header);
    assert_eq!(shown(connections, "alice", 281).await.unwrap(), "Bearer access-3");
    assert_eq!(shown(connections, "alice", 281).await.unwrap(), "Bearer access-3");
    fake.on("/token", |_, _| reply(503, json!({})));
    assert!(matches!(shown(connections, "alice", 900).await, Err(CredentialFault::Kept(_))));
    assert!(connections.is_connected("alice").unwrap(), "a server that is away ends nothing");
    fake.on("/token", |_, _| reply(400, json!({ "error": "invalid_grant" })));
    assert!(is_unconnected(&shown(connections, "alice", 902).await));
    assert!(!connections.is_connected("alice").unwrap());
}

#[tokio::test]
async fn a_connection_that_is_forgotten_is_revoked() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, &folder.path().join("c"));
    connect(&connections, "alice").await;
    assert!(shown(&connections, "alice", 0).await.is_ok());
    assert!(connections.forget("alice", NOW).await.unwrap());
    assert_eq!(fake.asked("/revoke")[0].form["token"], "refresh-1");
    assert!(is_unconnected(&shown(&connections, "alice", 0).await));
    assert!(!connections.forget("alice", NOW).await.unwrap());
    connect(&connections, "bob").await;
    fake.change(SERVER, json!({ "revocation_endpoint": null }));
    assert!(!connections.forget("bob", NOW).await.unwrap());
    assert!(is_unconnected(&shown(&connections, "bob", 2).await));
}

#[tokio::test]
async fn a_server_without_s256_is_not_connected_to() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    fake.change(SERVER, json!({ "code_challenge_methods_supported": ["plain"] }));
    let fault = at(&fake, &folder.path().join("c")).begin("alice", NOW).await.unwrap_err();
    assert!(matches!(fault, ConnectionFault::Server(_)), "{fault}");
}
