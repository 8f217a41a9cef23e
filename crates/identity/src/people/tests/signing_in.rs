use super::*;

#[tokio::test]
async fn a_person_signs_in_from_the_form_to_the_own_page() {
    let site = Site::new().await;
    let (user, password) = site.add("Maya").await;
    let mut browser = site.browser();
    let asked = browser.get("/account").await;
    assert_eq!(
        (asked.status, asked.header("location")),
        (StatusCode::SEE_OTHER, Some("/oauth/sign-in?continue=%2Faccount"))
    );

    let first = browser.sign_in(" mAYA ", &password).await;
    assert_eq!(first.header("location"), Some("/account/password?continue=%2Faccount"));
    // Nothing can be done with a password that is good once, but to change it.
    assert_eq!(site.who(&browser).await, None);
    assert_eq!(browser.get("/account").await.header("location"), Some("/account/password"));

    let changed = browser.change("", GOOD).await;
    assert_eq!((changed.status, changed.header("location")), (StatusCode::SEE_OTHER, Some("/account")));
    let who = site.who(&browser).await.unwrap();
    assert_eq!((&*who.user, who.at), (&user, START));
    assert_eq!((user.name.as_str(), user.tenant.as_str()), ("maya", "main"));
    let page = browser.get("/account").await;
    for told in ["Maya of the tests", "main", "writer", "<span class=\"whole\">12:00 UTC", "this browser"] {
        assert!(page.body.contains(told), "{told} in {}", page.body);
    }
    assert_eq!(page.field("csrf"), who.csrf);

    let mut other = site.browser();
    assert_eq!(other.sign_in("maya", &password).await.status, StatusCode::FORBIDDEN);
    assert_eq!(other.sign_in("maya", GOOD).await.header("location"), Some("/account"));
    assert_eq!(site.people.user(&user.id).await.unwrap(), Some(user));
    assert_eq!(site.people.user("nobody").await.unwrap(), None);
}

#[tokio::test]
async fn who_is_signed_in_goes_on_unless_asked_again() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let go_on = "/oauth/authorize/continue?request=r1&x=%2F";
    let path = format!("/oauth/sign-in?{}", query("continue", go_on));
    assert_eq!(browser.get(&path).await.header("location"), Some(go_on));

    site.pass(Duration::from_secs(300));
    let form = browser.get(&format!("{path}&again=1")).await;
    assert_eq!((form.status, form.field("continue").as_str()), (StatusCode::OK, go_on));
    assert!(form.body.contains("value=\"maya\""), "{}", form.body);
    let before = browser.cookie("aldgate");
    let page = browser.sign_in_to(go_on, "maya", GOOD).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body.contains(r#"content="0; url=/oauth/authorize/continue?request=r1&amp;x=%2F""#),
        "{}",
        page.body
    );
    let who = site.who(&browser).await.unwrap();
    assert_eq!((who.at, &who.user.id), (START + Duration::from_secs(300), &user.id));
    assert_ne!(browser.cookie("aldgate"), before);
    // The session before has ended, not only been forgotten by the browser.
    browser.cookies.insert("__Host-aldgate".to_owned(), before);
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn who_has_to_change_the_password_is_led_there_and_on_from_there() {
    let site = Site::new().await;
    let (_, password) = site.add("maya").await;
    let mut browser = site.browser();
    let go_on = "/oauth/authorize/continue?request=r1";
    let first = browser.sign_in_to(go_on, "maya", &password).await;
    let change = format!("/account/password?{}", query("continue", go_on));
    assert_eq!(first.header("location"), Some(change.as_str()));
    let back = browser.get(&format!("/oauth/sign-in?{}", query("continue", go_on))).await;
    assert_eq!(back.header("location"), Some(change.as_str()));
    let form = browser.get(&change).await;
    let (csrf, go) = (form.field("csrf"), form.field("continue"));
    let fields = [("csrf", csrf.as_str()), ("continue", &go), ("new", GOOD), ("repeated", GOOD)];
    let changed = browser.post("/account/password", &fields).await;
    assert!(changed.body.contains(&format!("content=\"0; url={go_on}\"")), "{}", changed.body);
}

#[tokio::test]
async fn a_session_knows_for_which_request_it_was_begun() {
    let site = Site::new().await;
    let (_, password) = site.add("maya").await;
    let way = "/oauth/authorize/continue?request=r1";
    let mut browser = site.browser();
    browser.sign_in_to(way, "maya", &password).await;
    // Still so after the password that was good once is changed on the way.
    browser.change("", GOOD).await;
    let of_one = site.who(&browser).await.unwrap().signed_in_for;
    assert_eq!(of_one, Some(digest("r1")));
    for (way, expected) in [
        ("/account", None),
        (way, of_one),
        ("/oauth/authorize/continue?request=r2", Some(digest("r2"))),
        ("/oauth/authorize/continue?request=%722", Some(digest("r2"))),
        ("/oauth/authorize/continue?request=r1&request=r2", None),
        ("/oauth/authorize/continue?other=r1", None),
    ] {
        browser.sign_in_to(way, "maya", GOOD).await;
        assert_eq!(site.who(&browser).await.unwrap().signed_in_for, expected, "{way}");
    }
}

#[tokio::test]
async fn another_person_can_take_over_the_browser() {
    let site = Site::new().await;
    let (alice, _) = site.person("alice").await;
    let (_, mut browser) = site.person("bob").await;
    browser.sign_in("alice", GOOD).await;
    assert_eq!(site.who(&browser).await.unwrap().user.id, alice.id);
    assert_eq!(browser.get("/account").await.body.matches("<strong>this browser").count(), 1);
}

#[tokio::test]
async fn a_password_of_ours_is_good_for_a_day() {
    let site = Site::new().await;
    let (_, password) = site.add("maya").await;
    site.pass(Duration::from_secs(24 * 3600 - 1));
    let mut browser = site.browser();
    assert_eq!(browser.sign_in("maya", &password).await.status, StatusCode::SEE_OTHER);
    let form = browser.get("/account/password").await;
    site.pass(Duration::from_secs(1));
    assert_eq!(site.browser().sign_in("maya", &password).await.status, StatusCode::FORBIDDEN);
    // Neither can it be changed any more by who signed in before.
    let csrf = form.field("csrf");
    let late = browser.post("/account/password", &[("csrf", &csrf), ("new", GOOD), ("repeated", GOOD)]).await;
    assert_eq!(late.header("location"), Some("/oauth/sign-in?continue=%2Faccount"));
    assert_eq!(site.browser().sign_in("maya", GOOD).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn of_two_who_have_a_password_of_ours_one_gets_in() {
    let site = Site::new().await;
    let (_, password) = site.add("maya").await;
    let (mut one, mut other) = (site.browser(), site.browser());
    one.sign_in("maya", &password).await;
    other.sign_in("maya", &password).await;
    let csrf = other.get("/account/password").await.field("csrf");
    one.change("", GOOD).await;
    let late = [
        ("csrf", csrf.as_str()),
        ("new", "another good anchor word"),
        ("repeated", "another good anchor word"),
    ];
    assert_eq!(other.post("/account/password", &late).await.status, StatusCode::SEE_OTHER);
    assert!(site.who(&one).await.is_some() && site.who(&other).await.is_none());
}
