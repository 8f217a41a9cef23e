use http::StatusCode;
use serde_json::json;
use time::Duration;

use super::services::{secret_of, service};
use super::site::{ISSUER, Reply, Site, claims, redeeming};
use crate::proof::prover::Prover;
use crate::resource::{self, ClaimNames, Issuer, KeySource, Tenants, Verifier};
use crate::{Authenticator as _, Door, Doors, Presented, Proof};

const UPSTREAM: &str = "https://upstream.example.com/mcp";
const TYPE: (&str, &str) = ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token");

async fn exchange(site: &Site, client: &str, secret: &str, token: &str, more: &[(&str, &str)]) -> Reply {
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("client_id", client),
        ("client_secret", secret),
        ("subject_token", token),
        TYPE,
    ];
    site.token(&[&form, more].concat()).await
}

async fn with_gateway() -> (Site, String, String) {
    let site = Site::new().await;
    let mut record = service();
    record.exchange_for = vec![UPSTREAM.into()];
    let secret = secret_of(&site, "gateway", &record).await;
    let tokens = site.tokens().await;
    let token = tokens["access_token"].as_str().expect("token").to_owned();
    (site, secret, token)
}

#[tokio::test]
async fn an_exchanged_token_is_of_the_same_person_and_says_who_acts() {
    let (site, secret, token) = with_gateway().await;
    site.later(Duration::minutes(4));
    site.server.refresh().await.expect("refreshed");
    let more = [("resource", UPSTREAM), ("scope", "tools:read")];
    let reply = exchange(&site, "gateway", &secret, &token, &more).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let answer = reply.json();
    assert_eq!(answer["issued_token_type"], TYPE.1);
    assert_eq!(answer["expires_in"], 360);
    let exchanged = claims(answer["access_token"].as_str().expect("token"));
    assert_eq!(exchanged["sub"], "alice");
    assert_eq!(exchanged["aud"], UPSTREAM);
    assert_eq!(exchanged["scope"], "tools:read");
    assert_eq!(exchanged["client_id"], "gateway");
    assert_eq!(exchanged["act"], json!({"sub": "gateway"}));
    assert_eq!(exchanged["grant"], claims(&token)["grant"]);

    // And again: the first actor stays in the row.
    let mut record = service();
    record.exchange_for = vec![UPSTREAM.into()];
    let second = secret_of(&site, "second", &record).await;
    let token = answer["access_token"].as_str().expect("token");
    let reply = exchange(&site, "second", &second, token, &[("audience", UPSTREAM)]).await;
    let exchanged = claims(reply.json()["access_token"].as_str().expect("token"));
    assert_eq!(exchanged["act"], json!({"sub": "second", "act": {"sub": "gateway"}}));
    let wider =
        exchange(&site, "second", &second, token, &[("audience", UPSTREAM), ("scope", "tools:write")]);
    assert_eq!(wider.await.error(), "invalid_scope");
}

#[tokio::test]
async fn only_what_was_written_down_is_exchanged() {
    let (site, secret, token) = with_gateway().await;
    let check = async |token: &str, more: &[(&str, &str)], error: &str| {
        let reply = exchange(&site, "gateway", &secret, token, more).await;
        assert_eq!(reply.error(), error, "{more:?} {reply:?}");
    };
    let to = ("resource", UPSTREAM);
    check(&token, &[], "invalid_target").await;
    check(&token, &[("resource", "https://evil.example")], "invalid_target").await;
    check(&token, &[to, ("audience", "https://evil.example")], "invalid_target").await;
    check(&token, &[to, ("scope", "admin")], "invalid_scope").await;
    check(&token, &[to, ("actor_token", "x")], "invalid_request").await;
    check(&token, &[to, ("requested_token_type", "urn:ietf:params:oauth:token-type:jwt")], "invalid_request")
        .await;
    check("x", &[to], "invalid_request").await;
    let (head, tail) = token.rsplit_once('.').expect("token");
    let first = if tail.starts_with('A') { 'B' } else { 'A' };
    check(&format!("{head}.{first}{}", tail.get(1..).expect("tail")), &[to], "invalid_request").await;

    let plain = secret_of(&site, "plain", &service()).await;
    let reply = exchange(&site, "plain", &plain, &token, &[to]).await;
    assert_eq!(reply.error(), "unauthorized_client");

    let grant = claims(&token)["grant"].as_str().expect("grant").to_owned();
    site.store.revoke_grant(&grant, 1 + site.now().unix_timestamp() * 1000).await.expect("revoked");
    site.server.refresh().await.expect("refreshed");
    check(&token, &[to], "invalid_request").await;
}

#[tokio::test]
async fn where_nobody_knows_what_was_revoked_nothing_is_exchanged() {
    let (site, secret, token) = with_gateway().await;
    site.later(Duration::seconds(31));
    let reply = exchange(&site, "gateway", &secret, &token, &[("resource", UPSTREAM)]).await;
    assert_eq!(
        (reply.status, reply.error().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable")
    );
    site.server.refresh().await.expect("refreshed");
    let reply = exchange(&site, "gateway", &secret, &token, &[("resource", UPSTREAM)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
}

#[tokio::test]
async fn a_token_that_has_expired_is_not_exchanged() {
    let (site, secret, token) = with_gateway().await;
    let to = [("resource", UPSTREAM)];
    for (seconds, good) in [(599, true), (1, false)] {
        site.later(Duration::seconds(seconds));
        site.server.refresh().await.expect("refreshed");
        let reply = exchange(&site, "gateway", &secret, &token, &to).await;
        assert_eq!(reply.status == StatusCode::OK, good, "{reply:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_bound_to_a_key_is_exchanged_with_that_key_alone() {
    let (site, secret, _) = with_gateway().await;
    let (prover, other) = (Prover::p256(), Prover::ed25519());
    let endpoint = format!("{ISSUER}/oauth/token");
    let proof = prover.proof("POST", &endpoint, "one", site.now());
    let code = site.code().await;
    let tokens = site.post("/oauth/token", &redeeming(&code, &[]), &[("dpop", &proof)]).await.json();
    let token = tokens["access_token"].as_str().expect("token");
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("client_id", "gateway"),
        ("client_secret", &secret),
        ("subject_token", token),
        TYPE,
        ("resource", UPSTREAM),
    ];
    assert_eq!(site.token(&form).await.error(), "invalid_request");
    let wrong = other.proof("POST", &endpoint, "two", site.now());
    assert_eq!(site.post("/oauth/token", &form, &[("dpop", &wrong)]).await.error(), "invalid_request");
    let right = prover.proof("POST", &endpoint, "three", site.now());
    let reply = site.post("/oauth/token", &form, &[("dpop", &right)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let exchanged = claims(reply.json()["access_token"].as_str().expect("token"));
    assert_eq!(exchanged["cnf"], claims(token)["cnf"]);
}

#[tokio::test]
async fn an_exchanged_token_stands_while_all_who_exchanged_it_do() {
    let (site, secret, token) = with_gateway().await;
    let mcp = format!("{ISSUER}/mcp");
    let mut record = service();
    record.exchange_for = vec![UPSTREAM.into(), mcp.clone()];
    let second = secret_of(&site, "second", &record).await;
    let answer = exchange(&site, "gateway", &secret, &token, &[("resource", UPSTREAM)]).await.json();
    let first = answer["access_token"].as_str().expect("token").to_owned();
    let answer = exchange(&site, "second", &second, &first, &[("resource", &mcp)]).await.json();
    let twice = answer["access_token"].as_str().expect("token").to_owned();

    let keys = KeySource::Held(site.server.clone());
    let tenants = Tenants::Claimed(["main".to_owned()].into());
    let issuer = Issuer { claims: ClaimNames::own(), ..Issuer::new(ISSUER, keys, tenants) };
    let doors = Doors::at(ISSUER, "https://admin.example.com");
    let verifier = Verifier::new(resource::Settings::new(doors, vec![issuer])).expect("verifier");
    let header = format!("Bearer {twice}");
    let good = async || {
        let presented = Presented {
            authorization: Some(header.as_bytes()),
            door: Door::Mcp,
            method: "POST",
            url: &mcp,
            proof: Proof::Sent(None),
        };
        verifier.authenticate(&presented, site.now()).await
    };
    good().await.expect("good");
    for client in ["gateway", "second"] {
        site.clients.set_disabled(client, true, site.now()).await.expect("disabled");
        site.server.refresh().await.expect("refreshed");
        assert!(good().await.is_err(), "{client}");
        site.clients.set_disabled(client, false, site.now()).await.expect("enabled");
        site.server.refresh().await.expect("refreshed");
        good().await.expect("good");
    }
    site.clients.set_disabled("gateway", true, site.now()).await.expect("disabled");
    site.server.refresh().await.expect("refreshed");
    let reply = exchange(&site, "second", &second, &first, &[("resource", UPSTREAM)]).await;
    assert_eq!(reply.error(), "invalid_request");
}
