use std::path::Path;

use aldgate_approval::SealKey;
use serde_json::json;

use super::*;
use crate::Scopes;
use crate::client::ClientAuthentication;
use crate::client::callback::CallbackFault;
use crate::client::fake::{self, Fake, SERVER, reply};

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

const PEOPLE: &str = "https://gateway.example";

/// What another process of the gateway has, too.
async fn kept(folder: &Path, key: u8) -> Arc<ConnectionStore> {
    fake::connections(folder, SealKey::derive(&[key; 32]).unwrap()).await
}

fn on(fake: &Fake, kept: &Arc<ConnectionStore>) -> Connections {
    let program = Program {
        issuer: fake.base.clone(),
        token_endpoint: None,
        client_id: "gateway".to_owned(),
        authentication: ClientAuthentication::Post(Secret::new("canary-secret".to_owned())),
        resource: Some("https://parts.example/mcp".to_owned()),
        scopes: Some(Scopes::parse("parts:read").unwrap()),
    };
    let settings = ConnectionSettings {
        upstream: "parts".to_owned(),
        program,
        page: Url::parse("https://gateway.example/connections/parts").unwrap(),
        redirect: Url::parse("https://gateway.example/connections/parts/callback").unwrap(),
        people: PEOPLE.to_owned(),
    };
    Connections::new(Arc::new(fake::http()), kept.clone(), settings).unwrap()
}

async fn at(fake: &Fake, folder: &Path) -> Connections {
    on(fake, &kept(folder, 7).await)
}

fn who(user: &str) -> Who<'_> {
    Who { user, session: "a session" }
}

/// The query that the user's browser comes back with.
async fn answer(connections: &Connections, user: &str) -> String {
    let url = connections.begin(who(user), "/connections/parts?key=k", NOW).await.unwrap();
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
    finish(connections, &query, who(user), 0).await.unwrap();
}

async fn finish(
    connections: &Connections,
    query: &str,
    who: Who<'_>,
    seconds: i64,
) -> Result<(), ConnectionFault> {
    let now = NOW + time::Duration::seconds(seconds);
    let answer = connections.answer(query, now)?;
    assert_eq!(answer.back(), "/connections/parts?key=k");
    connections.finish(answer, who, now).await
}

fn caller(user: &str) -> Caller {
    caller_of(PEOPLE, PrincipalKind::Person, user)
}

fn caller_of(issuer: &str, kind: PrincipalKind, user: &str) -> Caller {
    let principal = aldgate_authority::Principal {
        issuer: issuer.to_owned(),
        subject: user.to_owned(),
        tenant: "default".to_owned(),
        kind,
        roles: Default::default(),
        name: user.to_owned(),
        client: "some client".to_owned(),
        actors: Vec::new(),
    };
    Caller { principal: Arc::new(principal), token: None }
}

async fn shown(connections: &Connections, user: &str, seconds: i64) -> Result<String, CredentialFault> {
    let now = NOW + time::Duration::seconds(seconds);
    let header = connections.authorization(Some(&caller(user)), now).await?.unwrap();
    assert!(header.value.is_sensitive());
    Ok(header.value.to_str().unwrap().to_owned())
}

fn is_unconnected(found: &Result<String, CredentialFault>) -> bool {
    matches!(found, Err(CredentialFault::NotConnected { upstream, page })
        if upstream == "parts" && page == "https://gateway.example/connections/parts")
}

#[tokio::test]
async fn a_user_connects_once_and_nobody_else_is_connected_by_it() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    assert!(is_unconnected(&shown(&connections, "alice", 0).await));
    connect(&connections, "alice").await;
    assert_eq!(
        shown(&connections, "alice", 0).await.unwrap(),
        "Bearer access-1",
        "at once, not after a pause"
    );
    assert!(is_unconnected(&shown(&connections, "bob", 0).await));
    assert!(connections.is_connected("alice").await.unwrap());
    assert!(!connections.is_connected("bob").await.unwrap());
    let (page, token) = (&fake.asked("/authorize")[0].query, &fake.asked("/token")[0].form);
    assert_eq!(
        (page["resource"].as_str(), page["scope"].as_str()),
        ("https://parts.example/mcp", "parts:read")
    );
    assert_eq!((&token["resource"], &token["redirect_uri"]), (&page["resource"], &page["redirect_uri"]));
    assert!(!page["state"].contains(&token["code_verifier"]));
    // Another process of the gateway has it too; one with another key asks to connect anew.
    assert_eq!(shown(&at(&fake, folder.path()).await, "alice", 0).await.unwrap(), "Bearer access-1");
    let other = on(&fake, &kept(folder.path(), 8).await);
    assert!(is_unconnected(&shown(&other, "alice", 0).await));
}

#[tokio::test]
async fn what_is_kept_is_sealed_for_its_user() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    connect(&connections, "alice").await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in ["access-", "refresh-"] {
            assert!(!bytes.windows(secret.len()).any(|found| found == secret.as_bytes()), "{secret}");
        }
    }
    // Alice's row, put in Bob's place.
    let store = aldgate_store::identity::IdentityStore::open(folder.path()).await.unwrap();
    let key = |user| aldgate_store::identity::ConnectionKey { issuer: &fake.base, upstream: "parts", user };
    let sealed = store.connection(key("alice")).await.unwrap().unwrap();
    store.connect(key("bob"), &sealed, 0).await.unwrap();
    assert!(is_unconnected(&shown(&connections, "bob", 0).await));
    assert!(matches!(connections.is_connected("bob").await, Err(ConnectionFault::Sealed(_))));
    assert!(!format!("{connections:?}").contains("canary"));
}

#[tokio::test]
async fn only_people_of_the_gateways_own_server_have_accounts() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    connect(&connections, "alice").await;
    for other in [
        caller_of(PEOPLE, PrincipalKind::Service, "alice"),
        caller_of("config", PrincipalKind::Person, "alice"),
        caller_of("https://login.example", PrincipalKind::Person, "alice"),
    ] {
        let found = connections.authorization(Some(&other), NOW).await;
        assert!(matches!(found, Err(CredentialFault::Unfit(_))), "{found:?}");
    }
    assert!(matches!(connections.authorization(None, NOW).await, Err(CredentialFault::NoCaller)));
}

#[tokio::test]
async fn nobody_who_is_disabled_uses_an_account() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    connect(&at(&fake, folder.path()).await, "alice").await;
    let store = aldgate_store::identity::IdentityStore::open(folder.path()).await.unwrap();
    store.set_disabled("alice", true, 1).await.unwrap();
    assert!(is_unconnected(&shown(&at(&fake, folder.path()).await, "alice", 0).await));
}

/// From now on the server gives tokens only once this says so.
fn held(fake: &Fake) -> tokio::sync::watch::Sender<bool> {
    let (go, gate) = tokio::sync::watch::channel(false);
    fake.on("/token", move |fake, asked| fake::Reply { gate: Some(gate.clone()), ..fake.good(asked) });
    go
}

async fn until_asked(fake: &Fake, times: usize) {
    while fake.asked("/token").len() < times {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_a_server_gave_is_kept_when_nobody_waits_for_it_any_more() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = Arc::new(at(&fake, folder.path()).await);
    for step in ["connect", "refresh"] {
        let go = held(&fake);
        let asked = fake.asked("/token").len() + 1;
        let works = connections.clone();
        let query = answer(&connections, "alice").await;
        let waits = tokio::spawn(async move {
            match step {
                "connect" => finish(&works, &query, who("alice"), 0).await.is_ok(),
                _ => shown(&works, "alice", 900).await.is_ok(),
            }
        });
        until_asked(&fake, asked).await;
        waits.abort();
        assert!(waits.await.is_err(), "{step}");
        go.send(true).unwrap();
        // The work goes on, with the lock of the connection.
        drop(connections.site.vault.lock("alice").await);
        let kept = connections.site.vault.read("alice").await.unwrap().expect("a connection");
        assert_eq!(kept.access().authorization().unwrap(), format!("Bearer access-{asked}"), "{step}");
        assert_eq!(fake.asked("/token").len(), asked);
    }
}

#[tokio::test]
async fn a_client_that_is_refused_ends_no_connection() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    connect(&connections, "alice").await;
    for (seconds, code) in [(900, "invalid_client"), (902, "unauthorized_client")] {
        fake.on("/token", move |_, _| reply(401, json!({ "error": code })));
        assert!(matches!(shown(&connections, "alice", seconds).await, Err(CredentialFault::Kept(_))));
        assert!(connections.is_connected("alice").await.unwrap(), "{code}");
    }
}

#[tokio::test]
async fn a_second_account_is_connected_after_the_first_was_disconnected() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    let second = answer(&connections, "alice").await;
    connect(&connections, "alice").await;
    let refused = finish(&connections, &second, who("alice"), 0).await;
    assert!(matches!(refused, Err(ConnectionFault::Connected)), "{refused:?}");
    assert_eq!(fake.asked("/token").len(), 1, "no token is left that nobody gives up");
    connections.forget("alice", NOW).await.unwrap();
    connect(&connections, "alice").await;
}

#[tokio::test]
async fn an_upstream_that_was_connected_with_two_servers_is_listed_once_and_ends_whole() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let kept = kept(folder.path(), 7).await;
    let connections = on(&fake, &kept);
    connect(&connections, "alice").await;
    let store = aldgate_store::identity::IdentityStore::open(folder.path()).await.unwrap();
    let before = aldgate_store::identity::ConnectionKey {
        issuer: "https://before.example",
        upstream: "parts",
        user: "alice",
    };
    store.connect(before, "sealed", i64::MAX).await.unwrap();
    assert_eq!(kept.of("alice").await.unwrap(), [("parts".to_owned(), NOW)]);
    connections.forget("alice", NOW).await.unwrap();
    assert!(kept.of("alice").await.unwrap().is_empty());
}

#[tokio::test]
async fn nobody_waits_for_the_work_on_another_users_connection() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    let _first = connections.site.vault.lock("0").await;
    // More than any fixed number of locks could tell apart.
    for user in 1..1000 {
        let user = user.to_string();
        let other = connections.site.vault.lock(&user);
        drop(tokio::time::timeout(std::time::Duration::from_secs(5), other).await.expect("it is free"));
    }
    let same = connections.site.vault.lock("0");
    assert!(tokio::time::timeout(std::time::Duration::from_millis(20), same).await.is_err());
}

#[tokio::test]
async fn no_connection_decides_approvals() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    let query = answer(&connections, "alice").await;
    fake.on("/token", |_, _| {
        reply(
            200,
            json!({ "access_token": "a", "token_type": "Bearer", "scope": "parts:read approvals:decide" }),
        )
    });
    let fault = finish(&connections, &query, who("alice"), 0).await.unwrap_err();
    assert!(matches!(fault, ConnectionFault::Decides), "{fault}");
    assert!(!connections.is_connected("alice").await.unwrap());
    fake.change(SERVER, json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }));
    let fault = connections.begin(who("alice"), "/", NOW).await.unwrap_err();
    assert!(matches!(fault, ConnectionFault::Method("client_secret_post")), "{fault}");
}

#[tokio::test]
async fn what_ended_while_it_was_refreshed_stays_ended() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = Arc::new(at(&fake, folder.path()).await);
    connect(&connections, "alice").await;
    let store = aldgate_store::identity::IdentityStore::open(folder.path()).await.unwrap();
    let go = held(&fake);
    let refreshing = connections.clone();
    let refreshing = tokio::spawn(async move { shown(&refreshing, "alice", 900).await });
    until_asked(&fake, 2).await;
    store.disconnect("parts", "alice").await.unwrap();
    go.send(true).unwrap();
    assert!(is_unconnected(&refreshing.await.unwrap()));
    assert!(!connections.is_connected("alice").await.unwrap());
}

#[tokio::test]
async fn an_answer_of_another_user_server_or_time_connects_nothing() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
    let query = answer(&connections, "mallory").await;
    let finish = async |query: &str, user: &str, seconds: i64| {
        finish(&connections, query, who(user), seconds).await.unwrap_err()
    };
    assert!(matches!(finish(&query, "alice", 0).await, ConnectionFault::OtherUser));
    let elsewhere = Who { user: "mallory", session: "another session" };
    let answer = connections.answer(&query, NOW).unwrap();
    assert!(matches!(connections.finish(answer, elsewhere, NOW).await, Err(ConnectionFault::OtherUser)));
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
    connections.finish(connections.answer(&query, NOW).unwrap(), who("mallory"), NOW).await.unwrap();
    // The page of one upstream's connection is of no use for another's.
    let mut other = at(&fake, folder.path()).await;
    Arc::get_mut(&mut other.site).unwrap().settings.upstream = "ledger".to_owned();
    assert!(matches!(other.answer(&query, NOW), Err(ConnectionFault::State)));
}

#[tokio::test]
async fn a_connection_is_refreshed_by_one_and_ends_when_the_server_says_so() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    // Two configurations of one gateway, as after a reload.
    let kept = kept(folder.path(), 7).await;
    connect(&on(&fake, &kept), "alice").await;
    let replicas = [on(&fake, &kept), on(&fake, &kept)];
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
    assert!(connections.is_connected("alice").await.unwrap(), "a server that is away ends nothing");
    fake.on("/token", |_, _| reply(400, json!({ "error": "invalid_grant" })));
    assert!(is_unconnected(&shown(connections, "alice", 902).await));
    assert!(!connections.is_connected("alice").await.unwrap());
}

#[tokio::test]
async fn a_connection_that_is_forgotten_is_revoked() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let connections = at(&fake, folder.path()).await;
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
    let fault = at(&fake, folder.path()).await.begin(who("alice"), "/", NOW).await.unwrap_err();
    assert!(matches!(fault, ConnectionFault::Server(_)), "{fault}");
}
