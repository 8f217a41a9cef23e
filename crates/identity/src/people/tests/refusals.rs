//! Whom nobody lets in, and what that tells.

use super::*;

/// A page without what is another one each time.
fn words(answer: &Answer) -> String {
    let set = answer.field("challenge");
    let challenge = set.split('.').next().unwrap();
    let body = answer.body.replace(&answer.field("csrf"), "").replace(&set, "").replace(challenge, "");
    let (before, rest) = body.split_once("Request <code>").unwrap();
    let (_, after) = rest.split_once("</code>").unwrap();
    format!("{} {:?} {before}{after}", answer.status, answer.header("retry-after"))
}

#[tokio::test]
async fn an_answer_does_not_tell_whether_there_is_an_account_and_takes_the_same_work() {
    let site = Site::new().await;
    site.person("maya").await;
    site.person("lost").await;
    site.accounts.disable("lost", START).await.unwrap();
    let (_, expired) = site.add("late").await;
    site.pass(Duration::from_secs(24 * 3600));
    site.person("fresh").await;
    site.accounts.reset("fresh", site.now()).await.unwrap();

    let mut told = Vec::new();
    let tries = [
        ("maya", "wrong wrong wrong"),
        ("nobody", GOOD),
        ("lost", GOOD),
        ("late", &expired),
        ("fresh", GOOD),
        ("a b/c", GOOD),
    ];
    for (name, password) in tries {
        let mut browser = site.browser();
        let before = site.people.hashed();
        let answer = browser.sign_in(name, password).await;
        assert_eq!(site.people.hashed() - before, 1, "{name}: one call of argon2");
        assert_eq!(answer.cookies(), Vec::<&str>::new(), "{name}");
        assert!(answer.body.contains("role=\"alert\""));
        assert_eq!(site.who(&browser).await, None, "{name}");
        told.push(words(&answer).replace(&format!("value=\"{name}\""), "value=\"\""));
    }
    assert!(told.iter().all(|one| *one == told[0]), "{told:#?}");
}

#[tokio::test]
async fn a_disabled_account_is_out_at_once_and_can_come_back() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    site.accounts.disable("MAYA", START).await.unwrap();
    assert_eq!(site.who(&browser).await, None);
    assert!(site.people.user(&user.id).await.unwrap().unwrap().disabled);
    assert_eq!(site.people.signed_out_at(&user.id).await.unwrap(), Some(START));
    assert_eq!(browser.sign_in("maya", GOOD).await.status, StatusCode::FORBIDDEN);
    site.accounts.enable("maya", START).await.unwrap();
    // Its sessions ended; they do not come back with it.
    assert_eq!(site.who(&browser).await, None);
    assert_eq!(browser.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn nobody_can_be_signed_in_by_another_page() {
    let site = Site::new().await;
    let (_, mut attacker) = site.person("attacker").await;
    site.person("maya").await;
    let mut victim = site.browser();
    let own = victim.get("/oauth/sign-in").await.field("csrf");
    let foreign = attacker.get("/oauth/sign-in?again=1").await.field("csrf");
    let issuer = site.people.settings.issuer.origin().ascii_serialization();
    let fields = |csrf| [("csrf", csrf), ("name", "attacker"), ("password", GOOD)];
    let here: &[(&str, &str)] = &[("origin", &issuer)];
    let tries: [(&str, &[(&str, &str)]); 7] = [
        ("", here),
        (&foreign, here),
        (&own, &[("origin", "https://evil.example")]),
        (&own, &[("origin", "null")]),
        (&own, &[("sec-fetch-site", "cross-site")]),
        (&own, &[("sec-fetch-site", "same-site")]),
        (&own, &[("sec-fetch-site", "same-origin"), ("origin", &issuer), ("origin", "https://evil.example")]),
    ];
    let before = site.people.hashed();
    for (csrf, headers) in tries {
        let mut request = victim.clone();
        let answer = request.post_from("/oauth/sign-in", &fields(csrf), headers).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert_eq!(site.who(&request).await, None);
    }
    // Without the cookie, a token that was right is none.
    let mut stripped = site.browser();
    assert_eq!(stripped.post_from("/oauth/sign-in", &fields(&own), here).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.people.hashed(), before);
    assert_eq!(victim.post_from("/oauth/sign-in", &fields(&own), here).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn no_form_of_a_session_is_taken_from_another_page() {
    let site = Site::new().await;
    let (_, mut maya) = site.person("maya").await;
    let (_, bob) = site.person("bob").await;
    let foreign = site.who(&bob).await.unwrap().csrf;
    let own = site.who(&maya).await.unwrap().csrf;
    for path in ["/account/password", "/oauth/sign-out", "/oauth/sign-out-everywhere"] {
        let new = "three quiet lanterns burn";
        let fields = |csrf| [("csrf", csrf), ("current", GOOD), ("new", new), ("repeated", new)];
        for csrf in ["", foreign.as_str()] {
            assert_eq!(maya.post(path, &fields(csrf)).await.status, StatusCode::FORBIDDEN, "{path}");
        }
        let evil = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
        assert_eq!(maya.post_from(path, &fields(&own), &evil).await.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(maya.post(path, &[]).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(site.who(&maya).await.is_some());
    assert!(
        site.who(&maya).await.unwrap().is_csrf(&own) && !site.who(&maya).await.unwrap().is_csrf(&foreign)
    );
}

#[tokio::test]
async fn the_way_on_never_leads_to_another_server() {
    let site = Site::new().await;
    site.person("maya").await;
    for evil in [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example/oauth/authorize/continue?",
        "/oauth/authorize/continue?a=b\r\nSet-Cookie: aldgate=evil",
        "/oauth/authorize/continue?\\@evil.example",
        "%2F%2Fevil.example",
        "/%2Fevil.example",
        "/account/../%2Fevil.example",
        "/account@evil.example",
        "javascript:alert(1)",
        " /account",
    ] {
        for path in ["/oauth/sign-in", "/account/password"] {
            let mut browser = site.browser();
            let answer = browser.sign_in_to(evil, "maya", GOOD).await;
            assert_eq!(answer.header("location"), Some("/account"), "{evil}");
            let again = browser.get(&format!("{path}?{}", query("continue", evil))).await;
            assert!(!again.header("location").unwrap_or_default().contains("evil"), "{evil}");
            assert!(!again.body.contains("evil"), "{evil}: {}", again.body);
        }
    }
}

#[tokio::test]
async fn a_form_that_is_none_is_refused() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    for path in ["/oauth/sign-in", "/account/password", "/oauth/sign-out", "/oauth/sign-out-everywhere"] {
        let json =
            Request::post(path).header("content-type", "application/json").body(Body::from("{}")).unwrap();
        assert_eq!(browser.send(json).await.status, StatusCode::FORBIDDEN, "{path}");
        let twice = browser.post(path, &[("csrf", "a"), ("csrf", "b")]).await;
        assert_eq!(twice.status, StatusCode::FORBIDDEN, "{path}");
        let large = "x".repeat(FORM + 1);
        assert_eq!(browser.post(path, &[("name", &large)]).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(site.who(&browser).await.is_some());
}
