use http::StatusCode;
use time::Duration;

use super::site::{
    ISSUER, REDIRECT, Site, asking, challenge, claims, encoded, field, header, public, redeeming,
};

#[tokio::test]
async fn the_metadata_says_what_clients_look_for() {
    let site = Site::new().await;
    let reply = site.get("/.well-known/oauth-authorization-server", None).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), "application/json");
    let document = reply.json();
    assert_eq!(document["issuer"], ISSUER);
    assert_eq!(document["code_challenge_methods_supported"], serde_json::json!(["S256"]));
    assert_eq!(document["response_types_supported"], serde_json::json!(["code"]));
    assert_eq!(document["authorization_response_iss_parameter_supported"], true);
    assert_eq!(document["client_id_metadata_document_supported"], true);
    assert!(document.get("registration_endpoint").is_none());
    let on = Site::with(|settings| settings.dynamic_registration = true).await;
    let document = on.get("/.well-known/oauth-authorization-server", None).await.json();
    assert_eq!(document["registration_endpoint"], format!("{ISSUER}/oauth/register"));
    let keys = site.get("/oauth/jwks.json", None).await.json();
    assert_eq!(keys["keys"].as_array().expect("keys").len(), 1);
    assert!(keys["keys"][0].get("d").is_none());
}

#[tokio::test]
async fn a_person_signs_in_consents_and_the_client_gets_a_token() {
    let site = Site::new().await;
    // Nobody is signed in yet.
    let begun = site.authorize(&asking(&[]), None).await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER);
    let back = begun.back();
    assert!(back.starts_with("/oauth/authorize/continue?request="), "{back}");

    let cookie = site.sign_in("alice");
    let shown = site.get(&back, Some(&cookie)).await;
    assert_eq!(shown.status, StatusCode::OK);
    for told in ["Desk", "app.example.com", "registered beforehand", "Use tools that only read", "ALICE"] {
        assert!(shown.body.contains(told), "{told} in {}", shown.body);
    }
    assert!(!shown.body.contains("Take care"));
    assert!(shown.header("content-security-policy").contains("frame-ancestors 'none'"));
    assert_eq!(shown.header("x-frame-options"), "DENY");

    let answered = site.consent(&shown, &cookie).await;
    // No redirect: browsers hold those that follow a form to the page's policy.
    assert_eq!(answered.status, StatusCode::OK);
    assert_eq!(answered.header("referrer-policy"), "no-referrer");
    assert!(answered.target().starts_with(&format!("{REDIRECT}?code=")));
    let answer = answered.answer();
    assert_eq!(answer["state"], "s t&1");
    assert_eq!(answer["iss"], ISSUER);

    let reply = site.token(&redeeming(&answer["code"], &[])).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(reply.header("cache-control"), "no-store");
    let tokens = reply.json();
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 600);
    assert_eq!(tokens["scope"], "tools:read tools:write");
    let token = tokens["access_token"].as_str().expect("token");
    assert_eq!(header(token)["typ"], "at+jwt");
    assert_eq!(header(token)["alg"], "ES256");
    let claims = claims(token);
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["aud"], format!("{ISSUER}/mcp"));
    assert_eq!(claims["sub"], "alice");
    assert_eq!(claims["client_id"], "desk");
    assert_eq!(claims["kind"], "person");
    assert_eq!(claims["tenant"], "main");
    assert_eq!(claims["roles"], serde_json::json!(["operator"]));
    assert_eq!(claims["name"], "ALICE");
    assert!(site.server.stands("alice", claims["grant"].as_str()));
}

#[tokio::test]
async fn who_is_not_known_is_sent_nowhere() {
    let site = Site::new().await;
    let loopback = public("http://127.0.0.1/cb");
    site.clients.add("shell", &loopback, site.now()).await.expect("client");
    let tricks = [
        ("desk", "https://app.example.com/cb2"),
        ("desk", "https://app.example.com/cb/../evil"),
        ("desk", "https://app.example.com/cb?x=1"),
        ("desk", "https://app.example.com/cb#x"),
        ("desk", "https://app.example.com:8443/cb"),
        ("desk", "https://app.example.com@evil.example/cb"),
        ("desk", "https://APP.example.com/cb"),
        ("desk", "HTTPS://app.example.com/cb"),
        ("desk", "http://app.example.com/cb"),
        ("desk", "https://other.example.com/cb"),
        ("desk", "javascript:alert(1)"),
        ("shell", "http://127.0.0.1:80@evil.example/cb"),
        ("shell", "http://127.0.0.1.evil.example/cb"),
        ("shell", "http://localhost:5/cb"),
        ("nobody", "https://app.example.com/cb"),
        ("https://127.0.0.1/client", "https://app.example.com/cb"),
    ];
    for (client, redirect_uri) in tricks {
        let form = asking(&[("client_id", client), ("redirect_uri", redirect_uri)]);
        let reply = site.authorize(&form, None).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{client} {redirect_uri}");
        assert_eq!(reply.header("location"), "");
        assert!(!reply.body.contains("http-equiv"), "{}", reply.body);
        assert!(reply.body.contains("Request"), "{}", reply.body);
    }
    let any_port = asking(&[("client_id", "shell"), ("redirect_uri", "http://127.0.0.1:49152/cb")]);
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&any_port, Some(&cookie)).await;
    assert!(shown.body.contains("Take care"), "{}", shown.body);
    let answered = site.consent(&shown, &cookie).await;
    assert!(answered.target().starts_with("http://127.0.0.1:49152/cb?code="));
}

#[tokio::test]
async fn what_is_wrong_otherwise_is_told_to_the_client_with_the_issuer() {
    let site = Site::new().await;
    let check = async |changes: &[(&str, &str)], error: &str| {
        let reply = site.authorize(&asking(changes), None).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER, "{changes:?} {reply:?}");
        assert!(reply.target().starts_with(&format!("{REDIRECT}?")), "{changes:?}");
        let answer = reply.answer();
        assert_eq!(answer["error"], error, "{changes:?} {answer:?}");
        assert_eq!(answer["iss"], ISSUER);
        assert_eq!(answer["state"], "s t&1");
        assert!(answer["error_description"].contains("(request "), "{answer:?}");
        assert!(!answer.contains_key("code"));
    };
    check(&[("response_type", "token")], "unsupported_response_type").await;
    check(&[("response_type", "")], "invalid_request").await;
    check(&[("response_mode", "fragment")], "invalid_request").await;
    check(&[("code_challenge", "")], "invalid_request").await;
    check(&[("code_challenge_method", "plain")], "invalid_request").await;
    check(&[("code_challenge_method", "")], "invalid_request").await;
    check(&[("code_challenge", "short")], "invalid_request").await;
    check(&[("resource", "https://evil.example/mcp")], "invalid_target").await;
    check(&[("resource", "https://gateway.example.com/mcp/")], "invalid_target").await;
    check(&[("scope", "a\"b")], "invalid_scope").await;
    check(&[("max_age", "-1")], "invalid_request").await;
    check(&[("prompt", "none login")], "invalid_request").await;
    check(&[("prompt", "select_account")], "invalid_request").await;
    check(&[("prompt", "none")], "login_required").await;
    check(&[("request", "x")], "request_not_supported").await;
    check(&[("request_uri", "urn:x")], "request_uri_not_supported").await;
    check(&[("dpop_jkt", "x")], "invalid_request").await;
}

#[tokio::test]
async fn a_parameter_that_stands_twice_and_a_huge_query_are_refused() {
    let site = Site::new().await;
    for name in ["client_id", "redirect_uri", "state", "resource", "scope"] {
        let query = format!("{}&{name}=x&{name}=y", encoded(&asking(&[])));
        let reply = site.get(&format!("/oauth/authorize?{query}"), None).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{name}");
        assert_eq!(reply.header("location"), "");
    }
    let long = "x".repeat(20_000);
    let reply = site.authorize(&asking(&[("x", &long)]), None).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    let reply = site.authorize(&asking(&[("state", &"x".repeat(3000))]), None).await;
    assert_eq!(reply.answer()["error"], "invalid_request");
}

#[tokio::test]
async fn a_request_that_could_not_come_back_from_the_sign_in_is_refused_at_once() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    for (length, fits) in [(700, true), (1200, false)] {
        let state = "x".repeat(length);
        let form = asking(&[("state", &state)]);
        let (signed_in, nobody) =
            (site.authorize(&form, Some(&cookie)).await, site.authorize(&form, None).await);
        assert_eq!(signed_in.status == StatusCode::OK, fits, "{length}");
        assert_eq!(!nobody.answer().contains_key("error"), fits, "{length}");
        if fits {
            assert!(nobody.back().len() <= 2048);
        }
    }
}

#[tokio::test]
async fn a_sealed_request_goes_on_as_it_was_and_for_a_quarter_of_an_hour() {
    let site = Site::new().await;
    let back = site.authorize(&asking(&[]), None).await.back();
    let cookie = site.sign_in("alice");
    for sealed in ["", "AAAA", "https://evil.example"] {
        let reply = site.get(&format!("/oauth/authorize/continue?request={sealed}"), Some(&cookie)).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{sealed}");
        assert_eq!(reply.header("location"), "");
    }
    let altered = back.replacen("request=", "request=A", 1);
    assert_eq!(site.get(&altered, Some(&cookie)).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(site.get(&back, Some(&cookie)).await.status, StatusCode::OK);
    site.later(Duration::minutes(15));
    assert_eq!(site.get(&back, Some(&cookie)).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_sign_in_that_is_too_old_is_asked_for_again() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    site.later(Duration::seconds(100));
    let goes = async |changes: &[(&str, &str)]| {
        site.authorize(&asking(changes), Some(&cookie)).await.status == StatusCode::OK
    };
    assert!(goes(&[]).await);
    assert!(goes(&[("prompt", "consent")]).await);
    assert!(goes(&[("max_age", "100")]).await);
    assert!(!goes(&[("max_age", "99")]).await);
    assert!(!goes(&[("max_age", "0")]).await);
    assert!(!goes(&[("prompt", "login")]).await);
    let cookie_of_now = site.sign_in("alice");
    for fresh in [("max_age", "0"), ("prompt", "login")] {
        // Signed in just now, for something else.
        let begun = site.authorize(&asking(&[fresh]), Some(&cookie_of_now)).await;
        assert_eq!(site.get(&begun.back(), Some(&cookie_of_now)).await.status, StatusCode::SEE_OTHER);
    }
    // Each grant is consented to: nobody can be asked nothing.
    let silent = site.authorize(&asking(&[("prompt", "none")]), Some(&cookie)).await;
    assert_eq!(silent.answer()["error"], "consent_required");

    let back = site.authorize(&asking(&[("max_age", "0")]), Some(&cookie)).await.back();
    assert_eq!(site.get(&back, Some(&cookie)).await.status, StatusCode::SEE_OTHER);
    site.later(Duration::seconds(5));
    let fresh = site.sign_in_for("alice", &back);
    assert_eq!(site.get(&back, Some(&fresh)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn consent_is_taken_from_the_person_and_the_page_that_was_asked() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&asking(&[]), Some(&cookie)).await;
    let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
    let others = site.sign_in("bob");
    let shown_to_bob = site.authorize(&asking(&[]), Some(&others)).await;
    let csrf_of_bob = field(&shown_to_bob.body, "csrf");
    let check = async |csrf: &str, question: &str, cookie: Option<&str>| {
        let form =
            [("csrf", csrf), ("question", question), ("scope:tools:read", "on"), ("decision", "allow")];
        let headers: Vec<_> = cookie.iter().map(|cookie| ("cookie", *cookie)).collect();
        let reply = site.post("/oauth/authorize/consent", &form, &headers).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{reply:?}");
        assert!(!reply.body.contains("http-equiv"));
    };
    check("", &question, Some(&cookie)).await;
    check("other", &question, Some(&cookie)).await;
    check(&csrf_of_bob, &question, Some(&cookie)).await;
    check(&csrf, &question, None).await;
    check(&csrf_of_bob, &question, Some(&others)).await;
    check(&csrf, "AAAA", Some(&cookie)).await;
    // Signed in anew in between: another session, another question.
    site.later(Duration::seconds(1));
    let again = site.sign_in("alice");
    check(&format!("csrf-of-{again}"), &question, Some(&again)).await;
}

#[tokio::test]
async fn a_person_may_grant_less_and_never_more_than_the_roles_allow() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    let form = asking(&[("scope", "tools:read tools:write admin offline_access")]);
    let shown = site.authorize(&form, Some(&cookie)).await;
    assert!(!shown.body.contains("scope:admin"), "{}", shown.body);
    assert!(shown.body.contains("admin offline_access"), "{}", shown.body);
    let post = async |more: &[(&str, &str)]| {
        let shown = site.authorize(&form, Some(&cookie)).await;
        let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
        let form = [&[("csrf", csrf.as_str()), ("question", question.as_str())], more].concat();
        site.post("/oauth/authorize/consent", &form, &[("cookie", &cookie)]).await.answer()
    };
    let answer = post(&[("scope:tools:read", "on"), ("scope:admin", "on"), ("decision", "allow")]).await;
    let tokens = site.token(&redeeming(&answer["code"], &[])).await.json();
    assert_eq!(tokens["scope"], "tools:read");
    for more in [
        &[("scope:tools:read", "on"), ("decision", "deny")][..],
        &[("scope:tools:read", "on")][..],
        &[("decision", "allow")][..],
        &[("scope:admin", "on"), ("decision", "allow")][..],
    ] {
        let answer = post(more).await;
        assert_eq!(answer["error"], "access_denied", "{more:?}");
        assert_eq!(answer["iss"], ISSUER);
    }

    let bob = site.sign_in("bob");
    let refused = site.authorize(&asking(&[("scope", "tools:write")]), Some(&bob)).await;
    let answer = refused.answer();
    assert_eq!(answer["error"], "access_denied");
    assert!(answer["error_description"].contains("tools:write"), "{answer:?}");
    assert!(answer["error_description"].contains("allow: tools:read"), "{answer:?}");
}

#[tokio::test]
async fn what_was_not_shown_is_not_granted() {
    let site = Site::new().await;
    let cookie = site.sign_in("bob");
    let shown = site.authorize(&asking(&[]), Some(&cookie)).await;
    assert!(!shown.body.contains("scope:tools:write"), "{}", shown.body);
    site.people.users.lock().expect("lock").get_mut("bob").expect("bob").roles = ["operator".into()].into();
    let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
    let form = [
        ("csrf", csrf.as_str()),
        ("question", &question),
        ("scope:tools:read", "on"),
        ("scope:tools:write", "on"),
        ("decision", "allow"),
    ];
    let reply = site.post("/oauth/authorize/consent", &form, &[("cookie", &cookie)]).await;
    let tokens = site.token(&redeeming(&reply.answer()["code"], &[])).await.json();
    assert_eq!(tokens["scope"], "tools:read");
}

#[tokio::test]
async fn what_others_wrote_is_shown_as_text() {
    let site = Site::new().await;
    let mut record = public("com.example.app:/cb");
    record.name = "<script>alert(1)</script>".into();
    site.clients.add("odd", &record, site.now()).await.expect("client");
    let cookie = site.sign_in("alice");
    let form = asking(&[
        ("client_id", "odd"),
        ("redirect_uri", "com.example.app:/cb"),
        ("state", "\"><script>alert(2)</script>"),
    ]);
    let shown = site.authorize(&form, Some(&cookie)).await;
    assert!(!shown.body.contains("<script>"), "{}", shown.body);
    assert!(shown.body.contains("Take care"));
    let answered = site.consent(&shown, &cookie).await;
    assert!(!answered.body.contains("<script>"), "{}", answered.body);
    assert!(answered.target().starts_with("com.example.app:/cb?code="));
    assert_eq!(answered.answer()["state"], "\"><script>alert(2)</script>");
    let unknown = asking(&[("client_id", "<script>alert(3)</script>")]);
    assert!(!site.authorize(&unknown, None).await.body.contains("<script>"));
    assert_eq!(challenge().len(), 43);
}

#[tokio::test]
async fn a_disabled_person_is_signed_in_nowhere() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    site.people.users.lock().expect("lock").get_mut("alice").expect("alice").disabled = true;
    assert_eq!(site.authorize(&asking(&[]), Some(&cookie)).await.status, StatusCode::SEE_OTHER);
}
