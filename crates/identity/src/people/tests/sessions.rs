use super::*;

#[tokio::test]
async fn an_id_that_somebody_else_chose_is_never_a_session() {
    let site = Site::new().await;
    site.person("maya").await;
    let mut victim = site.browser();
    let (_, attacker) = site.person("attacker").await;
    for planted in ["x".repeat(43), attacker.cookie("aldgate")] {
        victim.cookies.insert("__Host-aldgate".to_owned(), planted.clone());
        assert_eq!(victim.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
        assert_ne!(victim.cookie("aldgate"), planted);
        let mut other = site.browser();
        other.cookies.insert("__Host-aldgate".to_owned(), planted);
        assert_eq!(site.who(&other).await, None);
    }
}

#[tokio::test]
async fn the_store_does_not_hold_what_a_browser_shows() {
    let site = Site::new().await;
    let (_, browser) = site.person("maya").await;
    let id = browser.cookie("aldgate");
    assert_eq!(id.len(), 43);
    for entry in std::fs::read_dir(site.folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in [id.as_bytes(), GOOD.as_bytes()] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }
    let csrf = site.who(&browser).await.unwrap().csrf;
    assert!(!csrf.contains(&id) && !id.contains(&csrf));
}

#[tokio::test]
async fn a_session_that_is_not_used_ends() {
    let site = Site::new().await;
    let (_, browser) = site.person("maya").await;
    let idle = site.people.settings.idle;
    for _ in 0..3 {
        site.pass(idle - Duration::from_secs(1));
        assert!(site.who(&browser).await.is_some());
    }
    site.pass(idle);
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn a_session_ends_however_much_it_is_used() {
    let site = Site::new().await;
    let (_, browser) = site.person("maya").await;
    let hour = Duration::from_secs(3600);
    for _ in 0..7 * 24 - 1 {
        site.pass(hour);
        assert!(site.who(&browser).await.is_some());
    }
    site.pass(hour);
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn ends_can_be_set() {
    let spans = (Duration::from_secs(60), Duration::from_secs(100));
    let site =
        Site::with(Settings { idle: spans.0, absolute: spans.1, ..settings("https://gate.example") }).await;
    let (_, browser) = site.person("maya").await;
    site.pass(Duration::from_secs(59));
    assert!(site.who(&browser).await.is_some());
    site.pass(Duration::from_secs(40));
    assert!(site.who(&browser).await.is_some());
    site.pass(Duration::from_secs(1));
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn signing_out_ends_this_session_alone() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    let mut elsewhere = site.browser();
    elsewhere.sign_in("maya", GOOD).await;
    let kept = browser.clone();
    let csrf = site.who(&browser).await.unwrap().csrf;
    let answer = browser.post("/oauth/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.cookies(), ["__Host-aldgate=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0"]);
    // Not only is the cookie gone.
    assert_eq!(site.who(&kept).await, None);
    assert!(site.who(&elsewhere).await.is_some());
    assert_eq!(
        browser.post("/oauth/sign-out", &[("csrf", &csrf)]).await.header("location"),
        Some("/oauth/sign-in")
    );
}

#[tokio::test]
async fn signing_out_everywhere_ends_all_and_calls_for_the_grants() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let (_, bob) = site.person("bob").await;
    let mut elsewhere = site.browser();
    elsewhere.sign_in("maya", GOOD).await;
    let called = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&called);
    site.people.on_sign_out_everywhere(Box::new(move |id| {
        note.lock().unwrap().push(id);
        Box::pin(async { Ok(()) })
    }));
    assert_eq!(browser.get("/account").await.body.matches("<tr>").count(), 3);
    site.pass(Duration::from_secs(1));
    let csrf = site.who(&browser).await.unwrap().csrf;
    let kept = browser.clone();
    assert_eq!(browser.post("/oauth/sign-out-everywhere", &[("csrf", &csrf)]).await.status, StatusCode::OK);
    assert_eq!(*called.lock().unwrap(), std::slice::from_ref(&user.id));
    for gone in [&browser, &kept, &elsewhere] {
        assert_eq!(site.who(gone).await, None);
    }
    assert!(site.who(&bob).await.is_some());
    assert_eq!(site.people.signed_out_at(&user.id).await.unwrap(), Some(site.now()));
}

#[tokio::test]
async fn grants_that_could_not_be_taken_back_are_told_of() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    site.people.on_sign_out_everywhere(Box::new(|_| Box::pin(async { Err("the disk is full".into()) })));
    let csrf = site.who(&browser).await.unwrap().csrf;
    let answer = browser.post("/oauth/sign-out-everywhere", &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("once more") && !answer.body.contains("disk"), "{}", answer.body);
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn an_account_has_so_many_sessions_and_no_more() {
    let site = Site::new().await;
    let (user, oldest) = site.person("maya").await;
    let mut last = site.browser();
    for _ in 0..50 {
        site.pass(Duration::from_secs(1));
        last = site.browser();
        last.sign_in("maya", GOOD).await;
    }
    assert_eq!(site.people.store.sessions_of(&user.id).await.unwrap().len(), 50);
    assert!(site.who(&last).await.is_some() && site.who(&oldest).await.is_none());
}

#[tokio::test]
async fn cookies_are_for_this_host_and_no_script() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    let first = site.browser().get("/oauth/sign-in").await;
    let flags = "Path=/; HttpOnly; SameSite=Lax; Secure";
    assert_eq!(first.cookies().len(), 1);
    assert!(first.cookies()[0].starts_with("__Host-aldgate-form=") && first.cookies()[0].ends_with(flags));
    let answer = browser.sign_in("maya", GOOD).await;
    let names: Vec<&str> = answer.cookies().iter().map(|cookie| cookie.split('=').next().unwrap()).collect();
    assert_eq!(names, ["__Host-aldgate", "__Host-aldgate-device", "__Host-aldgate-form"]);
    for (cookie, age) in answer.cookies().iter().zip(["604800", "15552000", "0"]) {
        assert!(cookie.ends_with(&format!("; {flags}; Max-Age={age}")), "{cookie}");
    }

    let plain = Site::with(settings("http://127.0.0.1:7300")).await;
    let (_, mut browser) = plain.person("maya").await;
    let answer = browser.sign_in("maya", GOOD).await;
    for (cookie, name) in answer.cookies().iter().zip(["aldgate=", "aldgate-device=", "aldgate-form="]) {
        assert!(cookie.starts_with(name) && !cookie.contains("Secure"), "{cookie}");
        assert!(cookie.contains("; Path=/; HttpOnly; SameSite=Lax"), "{cookie}");
    }
    assert!(plain.who(&browser).await.is_some());
    assert!(answer.header("strict-transport-security").is_none());
}

#[tokio::test]
async fn a_cookie_that_comes_twice_is_nobodys() {
    let site = Site::new().await;
    let (_, browser) = site.person("maya").await;
    let id = browser.cookie("aldgate");
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("__Host-aldgate={id}")).unwrap();
    headers.append(header::COOKIE, value);
    assert!(site.people.signed_in(&headers, &browser.key, START).await.unwrap().is_some());
    headers.append(header::COOKIE, HeaderValue::from_static("a=b; __Host-aldgate=other"));
    assert_eq!(site.people.signed_in(&headers, &browser.key, START).await.unwrap(), None);
}
