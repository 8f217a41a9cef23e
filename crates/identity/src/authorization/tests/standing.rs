//! Revocation, sign-out, rotation: what stands, and what does not any more.

use http::StatusCode;
use serde_json::Value;
use time::Duration;

use super::services::{secret_of, service};
use super::site::{Site, claims, header};
use crate::authorization::{AuthorizationServer, rotate};

fn grant(tokens: &Value) -> String {
    claims(tokens["access_token"].as_str().expect("token"))["grant"].as_str().expect("grant").to_owned()
}

#[tokio::test]
async fn a_client_gives_back_what_it_has_and_nothing_else() {
    let site = Site::new().await;
    for kind in ["refresh_token", "access_token"] {
        let tokens = site.tokens().await;
        let token = tokens[kind].as_str().expect("token");
        let grant = grant(&tokens);
        let other = [("client_id", "other"), ("token", token)];
        assert_eq!(site.post("/oauth/revoke", &other, &[]).await.status, StatusCode::OK);
        assert!(site.server.stands("alice", Some(&grant)), "{kind}");
        let own = [("client_id", "desk"), ("token", token)];
        assert_eq!(site.post("/oauth/revoke", &own, &[]).await.status, StatusCode::OK);
        assert!(!site.server.stands("alice", Some(&grant)), "{kind}");
        let refresh = tokens["refresh_token"].as_str().expect("token");
        let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", refresh)];
        assert_eq!(site.token(&form).await.error(), "invalid_grant");
    }
    let unknown = [("client_id", "desk"), ("token", "x")];
    assert_eq!(site.post("/oauth/revoke", &unknown, &[]).await.status, StatusCode::OK);
    let nobody = [("client_id", "nobody"), ("token", "x")];
    assert_eq!(site.post("/oauth/revoke", &nobody, &[]).await.error(), "invalid_client");
    assert_eq!(site.post("/oauth/revoke", &[("client_id", "desk")], &[]).await.error(), "invalid_request");
}

#[tokio::test]
async fn a_token_of_a_service_ends_by_itself() {
    let site = Site::new().await;
    let secret = secret_of(&site, "worker", &service()).await;
    let own = [("client_id", "worker"), ("client_secret", secret.as_str())];
    let tokens = site.token(&[&own[..], &[("grant_type", "client_credentials")]].concat()).await.json();
    let token = tokens["access_token"].as_str().expect("token");
    let reply = site.post("/oauth/revoke", &[&own[..], &[("token", token)]].concat(), &[]).await;
    assert_eq!(reply.error(), "unsupported_token_type");
}

#[tokio::test]
async fn who_signs_out_everywhere_takes_back_what_was_granted_before() {
    let site = Site::new().await;
    let before = grant(&site.tokens().await);
    site.later(Duration::seconds(1));
    site.people.signed_out.lock().expect("lock").insert("alice".into(), site.now());
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some(&before)));
    site.later(Duration::seconds(1));
    let after = grant(&site.tokens().await);
    site.server.refresh().await.expect("refreshed");
    assert!(site.server.stands("alice", Some(&after)));
}

#[tokio::test]
async fn a_disabled_person_and_a_disabled_client_stand_no_more() {
    let site = Site::new().await;
    let first = grant(&site.tokens().await);
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = true;
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some(&first)));
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = false;
    site.server.refresh().await.expect("refreshed");
    assert!(site.server.stands("alice", Some(&first)));
    site.clients.set_disabled("desk", true, site.now()).await.expect("disabled");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some(&first)));
}

#[tokio::test]
async fn an_old_picture_is_believed_by_nobody() {
    let site = Site::new().await;
    let grant = grant(&site.tokens().await);
    site.later(Duration::seconds(30));
    assert!(site.server.stands("alice", Some(&grant)));
    site.later(Duration::seconds(1));
    assert!(!site.server.stands("alice", Some(&grant)));
    assert!(!site.server.is_current());
    site.server.refresh().await.expect("refreshed");
    assert!(site.server.is_current());
    assert!(site.server.stands("alice", Some(&grant)));
}

#[tokio::test]
async fn a_rotation_by_another_process_is_taken_over() {
    let site = Site::new().await;
    let before = site.tokens().await;
    let before = header(before["access_token"].as_str().expect("token"))["kid"].clone();
    let kid = rotate(&site.store, &site.seal, &site.server.settings, site.now()).await.expect("rotated");
    site.server.refresh().await.expect("refreshed");
    let after = site.tokens().await;
    assert_eq!(header(after["access_token"].as_str().expect("token"))["kid"], kid);
    let published = site.get("/oauth/jwks.json", None).await.json();
    let kids: Vec<_> = published["keys"].as_array().expect("keys").iter().map(|key| &key["kid"]).collect();
    assert_eq!(kids, [&Value::from(kid), &before]);
    assert_eq!(site.server.jwks().keys.len(), 2);
}

#[tokio::test]
async fn what_is_over_is_swept_out_and_what_stands_is_not() {
    let site = Site::new().await;
    let unused = site.code().await;
    let kept = grant(&site.tokens().await);
    site.later(Duration::hours(2));
    site.server.sweep().await.expect("swept");
    assert!(site.store.grant(&kept).await.expect("asked").is_some());
    let form = super::site::redeeming(&unused, &[]);
    assert_eq!(site.token(&form).await.error(), "invalid_grant");
    site.later(Duration::days(30));
    site.server.sweep().await.expect("swept");
    assert!(site.store.grant(&kept).await.expect("asked").is_none());
}

#[tokio::test]
async fn a_sign_out_everywhere_is_written_until_it_is_settled_and_a_later_one_again() {
    let site = Site::new().await;
    let first = grant(&site.tokens().await);
    site.later(Duration::minutes(2));
    let signed_out = site.now();
    site.people.signed_out.lock().expect("lock").insert("alice".into(), signed_out);
    site.later(Duration::minutes(2));
    // Where it fails, it is tried again.
    site.meddle("CREATE TRIGGER full BEFORE UPDATE ON grants BEGIN SELECT RAISE(ABORT, 'full'); END").await;
    assert!(site.server.refresh().await.is_err());
    site.meddle("DROP TRIGGER full").await;
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some(&first)));

    // From then on nothing is written for it.
    site.meddle("UPDATE grants SET revoked_at = NULL").await;
    site.server.refresh().await.expect("refreshed");
    let kept = site.store.grant(&first).await.expect("asked").expect("grant");
    assert_eq!(kept.revoked_at, None);

    site.people.signed_out.lock().expect("lock").insert("alice".into(), signed_out + Duration::seconds(1));
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some(&first)));
}

#[tokio::test]
async fn a_grant_that_was_on_its_way_at_the_sign_out_is_revoked() {
    let site = Site::new().await;
    let first = grant(&site.tokens().await);
    site.later(Duration::seconds(1));
    site.people.signed_out.lock().expect("lock").insert("alice".into(), site.now());
    site.server.refresh().await.expect("refreshed");
    let stored = site.store.grant(&first).await.expect("asked").expect("grant");
    let late = aldgate_store::identity::StoredGrant { id: "late".into(), ..stored };
    site.store.add_grant(&late).await.expect("added");
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", Some("late")));
}

#[tokio::test]
async fn the_picture_is_kept_new_for_as_long_as_somebody_has_the_server() {
    let site = Site::new().await;
    let keeping = tokio::spawn(AuthorizationServer::keep_current(std::sync::Arc::downgrade(&site.server)));
    // Whoever checks tokens has the server, and nothing else of what made it.
    let checking = site.server.clone();
    drop(site);
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert!(!keeping.is_finished());
    drop(checking);
    tokio::time::timeout(std::time::Duration::from_secs(60), keeping)
        .await
        .expect("it ends")
        .expect("no panic");
}
