use std::path::Path;

use serde_json::json;
use time::Duration;

use super::*;
use crate::client::fake::{self, Fake, SERVER, reply};
use crate::client::{LoginSettings, login};

async fn signed_in(fake: &Fake, folder: &Path) -> Session {
    let keep = Keep::open(folder).unwrap();
    let settings = LoginSettings { keep: Some(keep), dpop: true, ..fake.settings() };
    login(&fake::http(), &settings, &mut fake::browser).await.unwrap();
    session(fake, folder)
}

/// As another process has it.
fn session(fake: &Fake, folder: &Path) -> Session {
    let (http, keep) = (Arc::new(fake::http()), Keep::open(folder).unwrap());
    Session::new(http, keep, fake.resource(), "default".to_owned())
}

fn shown(token: &AccessToken) -> String {
    token.authorization().unwrap().to_str().unwrap().to_owned()
}

fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

#[tokio::test]
async fn a_token_is_refreshed_half_a_minute_before_it_ends() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    assert_eq!(shown(&session.token(now()).await.unwrap()), "Bearer access-1");
    assert_eq!(shown(&session.token(now() + Duration::seconds(265)).await.unwrap()), "Bearer access-1");
    let then = now() + Duration::seconds(275);
    let token = session.token(then).await.unwrap();
    assert_eq!(shown(&token), "Bearer access-2");
    assert_eq!(token.scopes.unwrap().to_string(), "tools:read", "what was granted before still is");
    assert_eq!(token.expires_at, Some(then + Duration::seconds(300)));
    let asked = &fake.asked("/token")[1].form;
    assert_eq!(
        (asked["resource"].as_str(), asked["refresh_token"].as_str()),
        (fake.resource().as_str(), "refresh-1")
    );
    assert_eq!(asked["client_id"], "registered");
}

#[tokio::test]
async fn sessions_at_once_do_not_burn_a_refresh_token() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    signed_in(&fake, &at).await;
    fake.on("/token", |fake, asked| fake::Reply {
        after: std::time::Duration::from_millis(200),
        ..fake.good(asked)
    });
    let then = now() + Duration::seconds(280);
    let several = (0..6).map(|_| {
        let session = session(&fake, &at);
        tokio::spawn(async move { session.token(then).await.map(|token| shown(&token)) })
    });
    for one in futures::future::join_all(several).await {
        assert_eq!(one.unwrap().unwrap(), "Bearer access-2");
    }
    assert_eq!(fake.asked("/token").len(), 2, "one sign-in, one refresh");
}

/// Half of the test below, in a process of its own.
#[tokio::test]
#[ignore = "started by `processes_do_not_burn_a_refresh_token`"]
async fn another_process() {
    let [folder, url] = ["FOLDER", "URL"].map(|name| std::env::var(format!("ALDGATE_TEST_{name}")).unwrap());
    let (http, keep) = (Arc::new(fake::http()), Keep::open(Path::new(&folder)).unwrap());
    let session = Session::new(http, keep, Url::parse(&url).unwrap(), "default".to_owned());
    println!("has {}.", shown(&session.token(now() + Duration::seconds(280)).await.unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_do_not_burn_a_refresh_token() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    signed_in(&fake, &at).await;
    // Long enough for the other to find its lock held.
    let slow = std::time::Duration::from_secs(1);
    fake.on("/token", move |fake, asked| fake::Reply { after: slow, ..fake.good(asked) });
    let start = || {
        tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "client::session::tests::another_process", "--ignored", "--nocapture"])
            .env("ALDGATE_TEST_FOLDER", &at)
            .env("ALDGATE_TEST_URL", fake.resource().as_str())
            .output()
    };
    let (one, other) = tokio::join!(start(), start());
    for output in [one.unwrap(), other.unwrap()] {
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && told.contains("has Bearer access-2."), "{told}");
    }
    assert_eq!(fake.asked("/token").len(), 2, "one sign-in, one refresh");
}

#[tokio::test]
async fn a_refused_client_leaves_the_tokens() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    let later = now() + time::Duration::hours(1);
    fake.on("/token", |_, _| fake::reply(401, serde_json::json!({ "error": "invalid_client" })));
    let refused = session.token(later).await;
    assert!(matches!(refused, Err(SessionFault::Refresh(_))), "{refused:?}");
    // Its secret was put right.
    fake.on("/token", |fake, asked| fake.good(asked));
    session.token(later).await.unwrap();
}

#[tokio::test]
async fn a_refused_refresh_takes_the_tokens_away() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    let session = signed_in(&fake, &at).await;
    let then = now() + Duration::seconds(600);
    fake.on("/token", |_, _| {
        reply(400, json!({ "error": "invalid_grant", "error_description": "refresh-1 was used" }))
    });
    let fault = session.token(then).await.unwrap_err();
    let told = fault.to_string();
    assert!(
        told.contains("sign in again") && told.contains("invalid_grant") && !told.contains("refresh-1"),
        "{told}"
    );
    fake.on("/token", |fake, asked| fake.good(asked));
    assert!(matches!(session.token(then).await, Err(SessionFault::SignIn { .. })));
    assert_eq!(fake.asked("/token").len(), 2, "what was refused is not shown again");
}

#[tokio::test]
async fn a_server_that_is_away_takes_nothing_away() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    let (soon, late) = (now() + Duration::seconds(280), now() + Duration::seconds(600));
    for path in ["/token", SERVER] {
        fake.on(path, |_, _| reply(503, json!({})));
        assert_eq!(
            shown(&session.token(soon).await.unwrap()),
            "Bearer access-1",
            "it is good for some seconds yet"
        );
        let fault = session.token(late).await.unwrap_err();
        assert!(matches!(fault, SessionFault::Refresh(_) | SessionFault::Server(_)), "{fault}");
        fake.on(path, |fake, asked| fake.good(asked));
    }
    // Another issuer at the same place gets no refresh token.
    fake.change(SERVER, json!({ "issuer": "https://other.example" }));
    let asked = fake.asked("/token").len();
    assert!(matches!(session.token(late).await, Err(SessionFault::Server(ServerFault::OtherIssuer { .. }))));
    assert_eq!(fake.asked("/token").len(), asked);
    fake.on(SERVER, |fake, asked| fake.good(asked));
    assert_eq!(shown(&session.token(late).await.unwrap()), "Bearer access-2");
}

#[tokio::test]
async fn a_token_that_a_resource_refused_is_replaced_once() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    let first = session.token(now()).await.unwrap();
    let second = session.after_refusal(&first, now()).await.unwrap();
    assert_eq!(shown(&second), "Bearer access-2");
    assert_eq!(
        shown(&session.after_refusal(&first, now()).await.unwrap()),
        "Bearer access-2",
        "it was replaced already"
    );
    fake.on("/token", |_, _| reply(503, json!({})));
    assert!(session.after_refusal(&second, now()).await.is_err(), "a refused token is not given again");
}

#[tokio::test]
async fn a_refresh_that_brings_the_right_to_decide_is_not_written() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    fake.change("/token", json!({ "scope": "approvals:decide" }));
    session.token(now() + Duration::seconds(280)).await.unwrap();
    assert!(matches!(session.token(now()).await, Err(SessionFault::SignIn { .. })));
}

#[tokio::test]
async fn signing_out_revokes_and_takes_away_whatever_the_server_says() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let at = folder.path().join("t");
    let session = signed_in(&fake, &at).await;
    assert_eq!(session.sign_out(now()).await.unwrap(), SignedOut::Revoked);
    let form = &fake.asked("/revoke")[0].form;
    assert_eq!((form["token"].as_str(), form["token_type_hint"].as_str()), ("refresh-1", "refresh_token"));
    assert_eq!(session.sign_out(now()).await.unwrap(), SignedOut::Nobody);
    assert!(matches!(session.token(now()).await, Err(SessionFault::SignIn { .. })));
    fake.on("/revoke", |_, _| reply(503, json!({})));
    let session = signed_in(&fake, &at).await;
    assert_eq!(session.sign_out(now()).await.unwrap(), SignedOut::Here);
    assert!(session.token(now()).await.is_err());
    fake.change(SERVER, json!({ "revocation_endpoint": null }));
    assert_eq!(signed_in(&fake, &at).await.sign_out(now()).await.unwrap(), SignedOut::Here);
}

#[tokio::test]
async fn a_bound_token_is_refreshed_with_its_key() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    fake.change(SERVER, json!({ "dpop_signing_alg_values_supported": ["ES256"] }));
    let session = signed_in(&fake, &folder.path().join("t")).await;
    let token = session.token(now() + Duration::seconds(280)).await.unwrap();
    assert_eq!(shown(&token), "DPoP access-2");
    let key = |index: usize| {
        let proof = fake.asked("/token")[index].header("dpop").to_owned();
        serde_json::to_string(&jsonwebtoken::decode_header(proof).unwrap().jwk.unwrap()).unwrap()
    };
    assert_eq!(key(0), key(1));
}

#[tokio::test]
async fn a_given_secret_goes_to_its_issuer_alone() {
    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let session = signed_in(&fake, &folder.path().join("t")).await;
    let given = |issuer: &str| {
        let authentication = ClientAuthentication::Post(Secret::new("canary".to_owned()));
        Preregistered { issuer: issuer.to_owned(), client_id: "registered".to_owned(), authentication }
    };
    for (issuer, is_sent) in [("https://other.example", false), (fake.base.as_str(), true)] {
        let session = session.clone().knowing(vec![given(issuer)]);
        let token = session.token(now()).await.unwrap();
        session.after_refusal(&token, now()).await.unwrap();
        let form = fake.asked("/token").pop().unwrap().form;
        assert_eq!(form.contains_key("client_secret"), is_sent, "{issuer}");
    }
}
