//! `approvals:decide`: for people, fresh, short, and by no other way.

use http::StatusCode;
use time::Duration;

use super::services::{secret_of, service};
use super::site::{Site, asking, claims, redeeming};
use crate::authorization::tokens::{Handle, HandleKind};

const DECISIONS: &str = "https://admin.example.com/v1/approvals";
const DECIDE: [(&str, &str); 2] = [("scope", "approvals:decide"), ("resource", DECISIONS)];

#[tokio::test]
async fn a_person_who_signs_in_for_it_may_decide_for_five_minutes() {
    let site = Site::new().await;
    let before = site.sign_in("maya");
    site.later(Duration::seconds(1));
    let begun = site.authorize(&asking(&DECIDE), Some(&before)).await;
    let back = begun.back();
    assert_eq!(site.get(&back, Some(&before)).await.status, StatusCode::SEE_OTHER);
    site.later(Duration::seconds(1));
    let fresh = site.sign_in_for("maya", &back);
    let shown = site.get(&back, Some(&fresh)).await;
    assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
    let code = site.consent(&shown, &fresh).await.answer()["code"].clone();
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    assert_eq!(tokens["expires_in"], 300);
    assert!(tokens.get("refresh_token").is_none());
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    assert_eq!(claims["aud"], DECISIONS);
    assert_eq!(claims["scope"], "approvals:decide");
    assert_eq!(claims["auth_time"], site.now().unix_timestamp());
}

#[tokio::test]
async fn a_sign_in_for_something_else_does_not_do() {
    let site = Site::new().await;
    site.people.users.lock().expect("lock").get_mut("maya").expect("maya").roles =
        ["approver".into(), "reader".into()].into();
    // Made before, without anybody, and kept.
    let kept = site.authorize(&asking(&DECIDE), None).await.back();
    site.later(Duration::seconds(1));
    for other in [asking(&[]), asking(&DECIDE)] {
        let back = site.authorize(&other, None).await.back();
        let cookie = site.sign_in_for("maya", &back);
        let shown = site.get(&kept, Some(&cookie)).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "{shown:?}");
        assert_eq!(shown.answer()["again"], "1");
        // Nor does the answer to another question reach it.
        assert_eq!(site.get(&back, Some(&cookie)).await.status, StatusCode::OK);
    }
    let cookie = site.sign_in("maya");
    assert_eq!(site.get(&kept, Some(&cookie)).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn the_sign_in_for_it_is_five_minutes_old_at_most_at_each_step() {
    let site = Site::new().await;
    let back = site.authorize(&asking(&DECIDE), None).await.back();
    let cookie = site.sign_in_for("maya", &back);
    site.later(Duration::minutes(5) - Duration::SECOND);
    let shown = site.get(&back, Some(&cookie)).await;
    assert_eq!(shown.status, StatusCode::OK);
    site.later(Duration::SECOND);
    assert_eq!(site.get(&back, Some(&cookie)).await.status, StatusCode::SEE_OTHER);
    let late = site.consent(&shown, &cookie).await;
    assert_eq!(late.status, StatusCode::BAD_REQUEST, "{late:?}");
    assert!(!late.body.contains("http-equiv"), "{}", late.body);
    // Whoever signs in for it again goes on.
    let cookie = site.sign_in_for("maya", &back);
    let shown = site.get(&back, Some(&cookie)).await;
    site.later(Duration::minutes(5) - Duration::SECOND);
    assert!(site.consent(&shown, &cookie).await.answer().contains_key("code"));
}

#[tokio::test]
async fn a_code_for_it_is_worth_nothing_ten_minutes_after_the_sign_in() {
    let site = Site::new().await;
    let code = site.code_for("maya", &asking(&DECIDE)).await;
    let handle = Handle::open(HandleKind::Code, &site.seal, &code).expect("handle");
    let kept = site.store.grant(&handle.grant).await.expect("store").expect("grant");
    for (age, good) in [(600, false), (599, true)] {
        let mut grant = kept.clone();
        grant.id = format!("aged-{age}");
        let mut record: serde_json::Value = serde_json::from_str(&grant.record).expect("json");
        record["auth_time"] = (site.now().unix_timestamp() - age).into();
        grant.record = record.to_string();
        site.store.add_grant(&grant).await.expect("store");
        let aged = Handle { grant: grant.id, generation: 0 }.seal(HandleKind::Code, &site.seal);
        let reply = site.token(&redeeming(&aged.expect("code"), &[])).await;
        assert_eq!(reply.status == StatusCode::OK, good, "{reply:?}");
        assert_eq!(reply.error() == "invalid_grant", !good);
    }
}

#[tokio::test]
async fn it_stands_alone_and_at_its_own_door() {
    let site = Site::new().await;
    let cookie = site.sign_in("maya");
    for changes in [
        &[("scope", "approvals:decide")][..],
        &[("scope", "approvals:decide"), ("resource", "https://admin.example.com/v1")][..],
        &[("scope", "approvals:decide tools:read"), ("resource", DECISIONS)][..],
        &[("scope", "tools:read"), ("resource", DECISIONS)][..],
        &[("resource", DECISIONS)][..],
    ] {
        let answer = site.authorize(&asking(changes), Some(&cookie)).await.answer();
        assert_eq!(answer["error"], "invalid_scope", "{changes:?}");
    }
}

#[tokio::test]
async fn who_is_no_approver_may_not() {
    let site = Site::new().await;
    let back = site.authorize(&asking(&DECIDE), None).await.back();
    let cookie = site.sign_in_for("alice", &back);
    let answer = site.get(&back, Some(&cookie)).await.answer();
    assert_eq!(answer["error"], "access_denied");
}

#[tokio::test]
async fn no_service_and_no_exchange_gets_it() {
    let site = Site::new().await;
    let mut record = service();
    record.scope = Some("tools:read approvals:decide".into());
    record.exchange_for = vec![DECISIONS.into(), "https://gateway.example.com/mcp".into()];
    let secret = secret_of(&site, "worker", &record).await;
    let own = [("client_id", "worker"), ("client_secret", secret.as_str())];
    let ask = async |more: &[(&str, &str)]| site.token(&[&own, more].concat()).await.error();
    let itself = ("grant_type", "client_credentials");
    assert_eq!(ask(&[itself, DECIDE[0], DECIDE[1]]).await, "invalid_target");
    assert_eq!(ask(&[itself, DECIDE[0]]).await, "invalid_scope");
    assert_eq!(ask(&[itself, DECIDE[1]]).await, "invalid_target");

    let code = site.code_for("maya", &asking(&DECIDE)).await;
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    let token = tokens["access_token"].as_str().expect("token");
    let exchange = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
    ];
    for resource in [DECISIONS, "https://gateway.example.com/mcp"] {
        let more = [&exchange[..], &[("subject_token", token), ("resource", resource)]].concat();
        assert_eq!(ask(&more).await, "invalid_request");
    }
    let alices = site.tokens().await;
    let alices = alices["access_token"].as_str().expect("token");
    let more = [&exchange[..], &[("subject_token", alices), DECIDE[0], DECIDE[1]]].concat();
    assert_eq!(ask(&more).await, "invalid_scope");
}

#[tokio::test]
async fn settings_that_would_weaken_it_are_refused() {
    let doors = crate::Doors::at("https://gateway.example.com", "https://admin.example.com");
    let check = |change: fn(&mut crate::authorization::Settings)| {
        let mut settings =
            crate::authorization::Settings::new("https://gateway.example.com".into(), doors.clone());
        change(&mut settings);
        settings.check().is_ok()
    };
    assert!(check(|_| ()));
    assert!(!check(|settings| settings.decision_token_life = Duration::seconds(301)));
    assert!(!check(|settings| settings.default_scopes = super::site::scopes("approvals:decide")));
    assert!(!check(|settings| settings.access_token_life = Duration::ZERO));
    for issuer in [
        "http://gateway.example.com",
        "https://gateway.example.com/",
        "https://x/y",
        "gateway",
        "https://u@x",
    ] {
        let mut settings = crate::authorization::Settings::new(issuer.into(), doors.clone());
        settings.issuer = issuer.into();
        assert!(settings.check().is_err(), "{issuer}");
    }
    let local = crate::authorization::Settings::new("http://127.0.0.1:7300".into(), doors);
    assert!(local.check().is_ok());
}
