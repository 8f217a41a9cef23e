use super::*;

fn expected() -> Expected {
    Expected { state: Secret::new("s1".to_owned()), issuer: "https://as.example".to_owned(), promised: true }
}

async fn asked(url: String) -> (u16, HeaderMap, String) {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty()).build().unwrap();
    let response = client.get(url).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.text().await.unwrap())
}

#[tokio::test]
async fn only_the_answer_with_the_right_state_is_taken_and_only_once() {
    let loopback = Loopback::bind(0).await.unwrap();
    let port = loopback.port();
    let at = move |path: &str| format!("http://127.0.0.1:{port}{path}");
    let waiting = tokio::spawn(loopback.answer(expected(), Duration::from_secs(30)));
    for foreign in [
        "/",
        "/favicon.ico",
        "/callback/x?code=c&state=s1&iss=https://as.example",
        "//callback?code=c&state=s1&iss=https://as.example",
        "/callback",
        "/callback?code=evil&state=s2&iss=https://as.example",
        "/callback?error=canary&state=s2",
    ] {
        let (status, headers, text) = asked(at(foreign)).await;
        assert!(matches!(status, 400 | 404), "{foreign}: {status}");
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(
            headers["content-security-policy"].to_str().unwrap().split(';').next(),
            Some("default-src 'none'")
        );
    }
    assert!(!waiting.is_finished());
    // A name that leads here is another host.
    let rebound = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only(std::iter::empty())
        .resolve("evil.example", SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .build()
        .unwrap();
    let url = format!("http://evil.example:{port}/callback?code=c&state=s1&iss=https://as.example");
    assert_eq!(rebound.get(url).send().await.unwrap().status(), 400);
    assert!(!waiting.is_finished());
    let good = at("/callback?code=c&state=s1&iss=https%3A%2F%2Fas.example");
    let ((first, ..), (second, ..)) = tokio::join!(asked(good.clone()), async { asked(good.clone()).await });
    assert_eq!([first.min(second), first.max(second)], [200, 400]);
    assert_eq!(waiting.await.unwrap().unwrap().unwrap().expose(), "c");
}

#[tokio::test]
async fn the_page_tells_nothing_of_what_another_server_says() {
    let loopback = Loopback::bind(0).await.unwrap();
    let url = format!("http://127.0.0.1:{}/callback?error=canary&state=s1&iss=https://evil", loopback.port());
    let waiting = tokio::spawn(loopback.answer(expected(), Duration::from_secs(30)));
    let (status, _, text) = asked(url).await;
    assert!(status == 400 && text.contains("came to nothing") && !text.contains("canary"), "{text}");
    let fault = waiting.await.unwrap().unwrap().unwrap_err();
    assert!(!fault.to_string().contains("canary"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_for_ever() {
    let loopback = Loopback::bind(0).await.unwrap();
    assert!(loopback.answer(expected(), Duration::from_secs(300)).await.is_none());
}
