use http::StatusCode;
use time::Duration;

use super::site::{REDIRECT, Site, asking, claims, encoded, redeeming};
use crate::proof::prover::Prover;

const ENDPOINT: &str = "https://gateway.example.com/oauth/token";

#[tokio::test]
async fn a_code_is_good_for_its_client_redirect_and_verifier_alone() {
    let site = Site::new().await;
    let code = site.code().await;
    let check = async |changes: &[(&str, &str)], error: &str| {
        let reply = site.token(&redeeming(&code, changes)).await;
        assert_eq!(reply.error(), error, "{changes:?} {reply:?}");
        assert!(reply.json()["error_description"].as_str().expect("text").contains("(request "));
        assert_eq!(reply.header("cache-control"), "no-store");
    };
    check(&[("client_id", "other")], "invalid_grant").await;
    check(&[("client_id", "nobody")], "invalid_client").await;
    check(&[("redirect_uri", "https://app.example.com/cb2")], "invalid_grant").await;
    check(&[("redirect_uri", "")], "invalid_grant").await;
    check(&[("code_verifier", "")], "invalid_grant").await;
    check(&[("code_verifier", "another-another-another-another-another-another")], "invalid_grant").await;
    check(&[("code_verifier", "short")], "invalid_grant").await;
    check(&[("resource", "https://admin.example.com/v1")], "invalid_target").await;
    check(&[("code", "agc_AAAA")], "invalid_grant").await;
    check(&[("code", "")], "invalid_request").await;
    check(&[("grant_type", "")], "invalid_request").await;
    check(&[("grant_type", "password")], "unsupported_grant_type").await;
    check(&[("client_secret", "x")], "invalid_client").await;
    // None of that has used it up.
    let good = [("resource", "https://gateway.example.com/mcp")];
    assert_eq!(site.token(&redeeming(&code, &good)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_code_is_good_once_and_its_second_use_revokes_what_it_gave() {
    let site = Site::new().await;
    let code = site.code().await;
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    let claims = claims(tokens["access_token"].as_str().expect("token"));
    let grant = claims["grant"].as_str();
    assert!(site.server.stands("alice", grant));
    let again = site.token(&redeeming(&code, &[])).await;
    assert_eq!(again.error(), "invalid_grant");
    assert!(!site.server.stands("alice", grant));
    let refresh = tokens["refresh_token"].as_str().expect("token");
    let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", refresh)];
    assert_eq!(site.token(&form).await.error(), "invalid_grant");
    // And the store has it, for other processes.
    site.server.refresh().await.expect("refreshed");
    assert!(!site.server.stands("alice", grant));
}

#[tokio::test]
async fn of_many_who_redeem_a_code_at_once_one_at_most_gets_tokens() {
    let site = Site::new().await;
    let code = site.code().await;
    let form = redeeming(&code, &[]);
    let all = futures::future::join_all((0..8).map(|_| site.token(&form))).await;
    let good = all.iter().filter(|reply| reply.status == StatusCode::OK).count();
    assert_eq!(good, 1, "{all:?}");
}

#[tokio::test]
async fn a_code_is_good_for_a_minute() {
    let site = Site::new().await;
    let code = site.code().await;
    site.later(Duration::seconds(60));
    assert_eq!(site.token(&redeeming(&code, &[])).await.error(), "invalid_grant");
}

#[tokio::test]
async fn a_code_of_a_disabled_person_is_worth_nothing() {
    let site = Site::new().await;
    let code = site.code().await;
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = true;
    assert_eq!(site.token(&redeeming(&code, &[])).await.error(), "invalid_grant");
}

#[tokio::test]
async fn a_refresh_token_is_no_code_and_a_code_no_refresh_token() {
    let site = Site::new().await;
    let code = site.code().await;
    let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", code.as_str())];
    assert_eq!(site.token(&form).await.error(), "invalid_grant");
    let renamed = code.replacen("agc_", "agr_", 1);
    let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", renamed.as_str())];
    assert_eq!(site.token(&form).await.error(), "invalid_grant");
    let tokens = site.token(&redeeming(&code, &[])).await.json();
    let refresh = tokens["refresh_token"].as_str().expect("token").replacen("agr_", "agc_", 1);
    assert_eq!(site.token(&redeeming(&refresh, &[])).await.error(), "invalid_grant");
}

#[tokio::test]
async fn the_form_is_held_to_its_size_its_type_and_one_of_each() {
    let site = Site::new().await;
    let code = site.code().await;
    let twice = format!("{}&code={code}", encoded(&redeeming(&code, &[])));
    let send = async |kind: &str, body: String| {
        let request = http::Request::post("/oauth/token").header("content-type", kind);
        site.send(request.body(body.into()).expect("request")).await.error()
    };
    let form = "application/x-www-form-urlencoded";
    assert_eq!(send(form, twice).await, "invalid_request");
    assert_eq!(send(form, format!("x={}", "y".repeat(20_000))).await, "invalid_request");
    assert_eq!(send("application/json", "{}".into()).await, "invalid_request");
    let good = encoded(&redeeming(&code, &[]));
    assert_eq!(send(&format!("{form}; charset=utf-8"), good).await, "");
}

#[tokio::test]
async fn a_proof_binds_the_tokens_to_its_key() {
    let site = Site::new().await;
    let (prover, thief) = (Prover::p256(), Prover::ed25519());
    let proof = prover.proof("POST", ENDPOINT, "one", site.now());
    let code = site.code().await;
    let reply = site.post("/oauth/token", &redeeming(&code, &[]), &[("dpop", &proof)]).await;
    let tokens = reply.json();
    assert_eq!(tokens["token_type"], "DPoP", "{tokens}");
    let bound = claims(tokens["access_token"].as_str().expect("token"))["cnf"]["jkt"].clone();
    assert_eq!(bound.as_str().expect("thumbprint").len(), 43);

    let refresh = tokens["refresh_token"].as_str().expect("token").to_owned();
    let form = [("grant_type", "refresh_token"), ("client_id", "desk"), ("refresh_token", refresh.as_str())];
    assert_eq!(site.token(&form).await.error(), "invalid_grant");
    let stolen = thief.proof("POST", ENDPOINT, "one", site.now());
    assert_eq!(site.post("/oauth/token", &form, &[("dpop", &stolen)]).await.error(), "invalid_grant");
    assert_eq!(site.post("/oauth/token", &form, &[("dpop", &proof)]).await.error(), "invalid_dpop_proof");
    let fresh = prover.proof("POST", ENDPOINT, "two", site.now());
    let reply = site.post("/oauth/token", &form, &[("dpop", &fresh)]).await;
    assert_eq!(claims(reply.json()["access_token"].as_str().expect("token"))["cnf"]["jkt"], bound);
}

#[tokio::test]
async fn a_bad_proof_is_refused_and_never_ignored() {
    let site = Site::new().await;
    let prover = Prover::p256();
    let code = site.code().await;
    let form = redeeming(&code, &[]);
    for proof in [
        prover.proof("POST", "https://evil.example/oauth/token", "a", site.now()),
        prover.proof("GET", ENDPOINT, "b", site.now()),
        prover.proof("POST", ENDPOINT, "c", site.now() - Duration::seconds(61)),
        "x".to_owned(),
    ] {
        let reply = site.post("/oauth/token", &form, &[("dpop", &proof)]).await;
        assert_eq!(reply.error(), "invalid_dpop_proof", "{reply:?}");
    }
    let one = prover.proof("POST", ENDPOINT, "d", site.now());
    let two = prover.proof("POST", ENDPOINT, "e", site.now());
    let reply = site.post("/oauth/token", &form, &[("dpop", &one), ("dpop", &two)]).await;
    assert_eq!(reply.error(), "invalid_dpop_proof");
    assert_eq!(site.token(&form).await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_gets_nothing_takes_no_room_for_proofs_and_no_proof_gives_two_tokens() {
    let site = Site::new().await;
    let prover = Prover::p256();
    let proof = prover.proof("POST", ENDPOINT, "one", site.now());
    let with_proof = [("dpop", proof.as_str())];
    for (changes, error) in [
        (&[("client_id", "nobody")][..], "invalid_client"),
        (&[("code", "x")], "invalid_grant"),
        (&[("grant_type", "password")], "unsupported_grant_type"),
        (&[("grant_type", "client_credentials")], "unauthorized_client"),
    ] {
        let reply = site.post("/oauth/token", &redeeming("x", changes), &with_proof).await;
        assert_eq!(reply.error(), error, "{reply:?}");
    }
    let codes = [site.code().await, site.code().await, site.code().await];
    let forms = codes.each_ref().map(|code| redeeming(code, &[]));
    let all = forms.iter().map(|form| site.post("/oauth/token", form, &with_proof));
    let all = futures::future::join_all(all).await;
    let good = all.iter().filter(|reply| reply.status == StatusCode::OK).count();
    assert_eq!(good, 1, "{all:?}");
    let told = all.iter().filter(|reply| reply.body.contains("invalid_dpop_proof")).count();
    assert_eq!(told, 2, "{all:?}");
}

#[tokio::test]
async fn a_full_memory_of_proofs_is_told_as_such_and_uses_nothing_up() {
    let site = Site::new().await;
    let until = site.now() + Duration::seconds(60);
    for number in 0..100_000_u32 {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let proven = crate::proof::Proven { thumbprint: String::new(), id, until };
        site.server.replays.first(&proven, site.now()).expect("room");
    }
    let prover = Prover::p256();
    let proof = prover.proof("POST", ENDPOINT, "one", site.now());
    let code = site.code().await;
    let reply = site.post("/oauth/token", &redeeming(&code, &[]), &[("dpop", &proof)]).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{reply:?}");
    assert_eq!(reply.error(), "temporarily_unavailable");
    assert_eq!(site.token(&redeeming(&code, &[])).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_code_can_be_bound_to_a_key_beforehand() {
    let site = Site::new().await;
    let prover = Prover::p256();
    let proof = prover.proof("POST", ENDPOINT, "one", site.now());
    let asked = crate::proof::Asked {
        method: "POST",
        url: ENDPOINT,
        access_token: None,
        nonce: crate::proof::NonceRule::Open,
    };
    let jkt = crate::proof::check(proof.as_bytes(), &asked, site.now()).expect("good").thumbprint;
    let code = site.code_for("alice", &asking(&[("dpop_jkt", &jkt)])).await;
    assert_eq!(site.token(&redeeming(&code, &[])).await.error(), "invalid_grant");
    let reply = site.post("/oauth/token", &redeeming(&code, &[]), &[("dpop", &proof)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
}

#[tokio::test]
async fn a_nonce_is_asked_for_where_it_is_required() {
    let site = Site::with(|settings| settings.require_nonce = true).await;
    let prover = Prover::p256();
    let code = site.code().await;
    let form = redeeming(&code, &[]);
    let proof = prover.proof("POST", ENDPOINT, "one", site.now());
    let reply = site.post("/oauth/token", &form, &[("dpop", &proof)]).await;
    assert_eq!(reply.error(), "use_dpop_nonce");
    let mut claims = Prover::claims("POST", ENDPOINT, "two", site.now());
    claims["nonce"] = reply.header("dpop-nonce").into();
    let proof = prover.sign(&prover.header(), &claims);
    let reply = site.post("/oauth/token", &form, &[("dpop", &proof)]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(REDIRECT, "https://app.example.com/cb");
}
