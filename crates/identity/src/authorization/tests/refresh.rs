use http::StatusCode;
use serde_json::Value;
use time::Duration;

use super::site::{Reply, Site, asking, claims, public, redeeming};

async fn refresh(site: &Site, token: &str, more: &[(&str, &str)]) -> Reply {
    let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
    let client = [("client_id", "desk")];
    let client = if more.iter().any(|(name, _)| *name == "client_id") { &[][..] } else { &client[..] };
    site.token(&[&form, client, more].concat()).await
}

fn refresh_token(tokens: &Value) -> String {
    tokens["refresh_token"].as_str().expect("refresh token").to_owned()
}

#[tokio::test]
async fn each_refresh_gives_another_token_and_the_old_one_revokes_the_family() {
    let site = Site::new().await;
    let first = site.tokens().await;
    let one = refresh_token(&first);
    site.later(Duration::minutes(9));
    site.server.refresh().await.expect("refreshed");
    let reply = refresh(&site, &one, &[("resource", "https://gateway.example.com/mcp")]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let tokens = reply.json();
    let two = refresh_token(&tokens);
    assert_ne!(one, two);
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    assert_eq!(claims["scope"], "tools:read tools:write");
    assert_eq!(claims["auth_time"], super::site::START.unix_timestamp());
    let grant = claims["grant"].as_str();
    assert!(site.server.stands("alice", grant));

    assert_eq!(refresh(&site, &one, &[]).await.error(), "invalid_grant");
    assert!(!site.server.stands("alice", grant));
    assert_eq!(refresh(&site, &two, &[]).await.error(), "invalid_grant");
}

#[tokio::test]
async fn of_many_who_refresh_at_once_one_at_most_gets_tokens_and_the_family_ends() {
    let site = Site::new().await;
    let one = refresh_token(&site.tokens().await);
    let all = futures::future::join_all((0..6).map(|_| refresh(&site, &one, &[]))).await;
    let good: Vec<_> = all.iter().filter(|reply| reply.status == StatusCode::OK).collect();
    assert_eq!(good.len(), 1, "{all:?}");
    let two = refresh_token(&good[0].json());
    assert_eq!(refresh(&site, &two, &[]).await.error(), "invalid_grant");
}

#[tokio::test]
async fn a_refresh_never_widens() {
    let site = Site::new().await;
    let code = site.code_for("alice", &asking(&[("scope", "tools:read")])).await;
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    let one = refresh_token(&tokens);
    let check = async |more: &[(&str, &str)], error: &str| {
        let reply = refresh(&site, &one, more).await;
        assert_eq!(reply.error(), error, "{more:?} {reply:?}");
    };
    check(&[("scope", "tools:read tools:write")], "invalid_scope").await;
    check(&[("scope", "approvals:decide")], "invalid_scope").await;
    check(&[("scope", "a\"b")], "invalid_scope").await;
    check(&[("resource", "https://admin.example.com/v1")], "invalid_target").await;
    check(&[("client_id", "other")], "invalid_grant").await;
    // None of it has used the token up.
    assert_eq!(refresh(&site, &one, &[]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_narrower_token_leaves_the_family_as_it_was() {
    let site = Site::new().await;
    let one = refresh_token(&site.tokens().await);
    let narrow = refresh(&site, &one, &[("scope", "tools:read")]).await.json();
    assert_eq!(narrow["scope"], "tools:read");
    let wide = refresh(&site, &refresh_token(&narrow), &[]).await.json();
    assert_eq!(wide["scope"], "tools:read tools:write");
}

#[tokio::test]
async fn roles_that_were_taken_away_are_gone_at_the_next_refresh() {
    let site = Site::new().await;
    let one = refresh_token(&site.tokens().await);
    let set = |role: &str| {
        let mut users = site.people.users.lock().expect("lock");
        users.get_mut("alice").expect("alice").roles = [role.to_owned()].into();
    };
    set("reader");
    let tokens = refresh(&site, &one, &[]).await.json();
    assert_eq!(tokens["scope"], "tools:read");
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    assert_eq!(claims["roles"], serde_json::json!(["reader"]));
    set("nothing");
    assert_eq!(refresh(&site, &refresh_token(&tokens), &[]).await.error(), "invalid_scope");
}

#[tokio::test]
async fn a_family_ends_with_its_time_its_person_and_its_client() {
    let site = Site::new().await;
    let one = refresh_token(&site.tokens().await);
    site.later(Duration::days(29));
    let two = refresh_token(&refresh(&site, &one, &[]).await.json());
    site.later(Duration::days(1));
    assert_eq!(refresh(&site, &two, &[]).await.error(), "invalid_grant");

    let three = refresh_token(&site.tokens().await);
    site.clients.set_disabled("desk", true, site.now()).await.expect("disabled");
    assert_eq!(refresh(&site, &three, &[]).await.error(), "invalid_client");
    site.clients.set_disabled("desk", false, site.now()).await.expect("enabled");
    assert_eq!(refresh(&site, &three, &[]).await.error(), "invalid_grant");

    let four = refresh_token(&site.tokens().await);
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = true;
    assert_eq!(refresh(&site, &four, &[]).await.error(), "invalid_grant");
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = false;
    assert_eq!(refresh(&site, &four, &[]).await.error(), "invalid_grant");
}

#[tokio::test]
async fn a_client_that_does_not_refresh_gets_no_refresh_token() {
    let site = Site::new().await;
    let mut record = public("https://once.example.com/cb");
    record.refresh = false;
    site.clients.add("once", &record, site.now()).await.expect("client");
    let changes = [("client_id", "once"), ("redirect_uri", "https://once.example.com/cb")];
    let code = site.code_for("alice", &asking(&changes)).await;
    let tokens = site.token(&redeeming(&code, &changes)).await.json();
    assert!(tokens["access_token"].is_string());
    assert!(tokens.get("refresh_token").is_none());
}

#[tokio::test]
async fn a_use_that_cannot_be_noted_loses_no_answer() {
    let site = Site::new().await;
    let one = refresh_token(&site.tokens().await);
    site.meddle(
        "CREATE TRIGGER full BEFORE UPDATE OF used_at ON clients BEGIN SELECT RAISE(ABORT, 'full'); END",
    )
    .await;
    let reply = refresh(&site, &one, &[]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(refresh(&site, &refresh_token(&reply.json()), &[]).await.status, StatusCode::OK);
}
