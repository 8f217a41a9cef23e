//! Answers of people: once each, and from the page that asked.

use http::StatusCode;

use super::site::{ISSUER, Reply, Site, asking, field};

#[tokio::test]
async fn a_request_is_answered_once_whatever_the_answer() {
    let site = Site::new().await;
    for decision in ["allow", "deny"] {
        let back = site.authorize(&asking(&[]), None).await.back();
        let cookie = site.sign_in("alice");
        let (shown, again) = (site.get(&back, Some(&cookie)).await, site.get(&back, Some(&cookie)).await);
        let send = async |shown: &Reply| {
            let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
            let form = [
                ("csrf", csrf.as_str()),
                ("question", &question),
                ("scope:tools:read", "on"),
                ("decision", decision),
            ];
            site.post("/oauth/authorize/consent", &form, &[("cookie", &cookie)]).await
        };
        let first = send(&shown).await.answer();
        assert_eq!(first.contains_key("code"), decision == "allow", "{first:?}");
        for late in [send(&shown).await, send(&again).await, site.get(&back, Some(&cookie)).await] {
            assert_eq!(late.status, StatusCode::BAD_REQUEST, "{late:?}");
            assert!(
                !late.body.contains("http-equiv") && late.body.contains("answered before"),
                "{}",
                late.body
            );
            assert_eq!(late.header("location"), "");
        }
    }
}

#[tokio::test]
async fn of_many_answers_at_once_one_gets_a_code() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&asking(&[]), Some(&cookie)).await;
    let all = futures::future::join_all((0..8).map(|_| site.consent(&shown, &cookie))).await;
    let codes = all.iter().filter(|reply| reply.body.contains("http-equiv")).count();
    assert_eq!(codes, 1, "{all:?}");
}

#[tokio::test]
async fn consent_is_not_taken_from_another_page() {
    let site = Site::new().await;
    let cookie = site.sign_in("alice");
    let shown = site.authorize(&asking(&[]), Some(&cookie)).await;
    let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
    let form =
        [("csrf", csrf.as_str()), ("question", &question), ("scope:tools:read", "on"), ("decision", "allow")];
    let tries: [&[(&str, &str)]; 6] = [
        &[("origin", "https://evil.example")],
        &[("origin", "https://gateway.example.com:8443")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", ISSUER), ("origin", "https://evil.example")],
    ];
    for headers in tries {
        let headers = [&[("cookie", cookie.as_str())], headers].concat();
        let reply = site.post("/oauth/authorize/consent", &form, &headers).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{headers:?}");
        assert!(!reply.body.contains("http-equiv"), "{}", reply.body);
    }
    let own = [("cookie", cookie.as_str()), ("origin", ISSUER), ("sec-fetch-site", "same-origin")];
    let reply = site.post("/oauth/authorize/consent", &form, &own).await;
    assert!(reply.answer().contains_key("code"));
}
