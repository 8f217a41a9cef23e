use super::*;

#[tokio::test]
async fn a_password_is_changed_by_who_knows_it() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    let mut elsewhere = site.browser();
    elsewhere.sign_in("maya", GOOD).await;
    let new = "three quiet lanterns burn";
    let csrf = site.who(&browser).await.unwrap().csrf;
    for (current, first, second, status) in [
        ("wrong wrong wrong", new, new, StatusCode::FORBIDDEN),
        (GOOD, new, "three quiet lanterns", StatusCode::UNPROCESSABLE_ENTITY),
        (GOOD, "short", "short", StatusCode::UNPROCESSABLE_ENTITY),
        (GOOD, "password1234", "password1234", StatusCode::UNPROCESSABLE_ENTITY),
        (GOOD, GOOD, GOOD, StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let fields = [("csrf", csrf.as_str()), ("current", current), ("new", first), ("repeated", second)];
        let answer = browser.post("/account/password", &fields).await;
        assert_eq!(answer.status, status, "{first}");
        assert!(answer.body.contains("role=\"alert\"") && !answer.body.contains(first), "{}", answer.body);
    }
    let before = browser.cookie("aldgate");
    assert_eq!(browser.change(GOOD, new).await.header("location"), Some("/account"));
    assert_ne!(browser.cookie("aldgate"), before);
    assert!(site.who(&browser).await.is_some());
    // Whoever was signed in with the one until now is out.
    assert_eq!(site.who(&elsewhere).await, None);
    assert_eq!(site.browser().sign_in("maya", GOOD).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.browser().sign_in("maya", new).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_change_of_the_password_takes_back_what_programs_were_granted() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let called = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&called);
    site.people.on_sign_out_everywhere(Box::new(move |id| {
        note.lock().unwrap().push(id);
        Box::pin(async { Ok(()) })
    }));
    site.pass(Duration::from_secs(5));
    let page = browser.get("/account/password").await;
    assert!(page.body.contains("takes back what programs were granted"), "{}", page.body);
    let new = "three quiet lanterns burn";
    assert_eq!(browser.change("wrong wrong wrong", new).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.people.signed_out_at(&user.id).await.unwrap(), Some(START));
    assert!(called.lock().unwrap().is_empty());
    assert_eq!(browser.change(GOOD, new).await.status, StatusCode::SEE_OTHER);
    assert_eq!(site.people.signed_out_at(&user.id).await.unwrap(), Some(site.now()));
    assert_eq!(*called.lock().unwrap(), [user.id]);
}

#[tokio::test]
async fn a_password_of_ours_is_not_kept() {
    let site = Site::new().await;
    let (_, password) = site.add("maya").await;
    let mut browser = site.browser();
    browser.sign_in("maya", &password).await;
    assert_eq!(browser.change("", &password).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(browser.change("", "maya of the tests").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(site.who(&browser).await, None);
}

#[tokio::test]
async fn a_password_can_be_guessed_by_a_stolen_session_only_a_few_times() {
    let site = Site::new().await;
    let (_, mut browser) = site.person("maya").await;
    let csrf = site.who(&browser).await.unwrap().csrf;
    let new = "three quiet lanterns burn";
    let fields = [("csrf", csrf.as_str()), ("current", "wrong wrong wrong"), ("new", new), ("repeated", new)];
    for _ in 0..Tries::default().device.burst {
        assert_eq!(browser.post("/account/password", &fields).await.status, StatusCode::FORBIDDEN);
    }
    let answer = browser.post("/account/password", &fields).await;
    assert_eq!((answer.status, answer.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, Some("30")));
    // The person signs in elsewhere all the same.
    assert_eq!(site.browser().sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_device_that_other_programs_may_have_seen_gets_no_better_place() {
    let site = Site::with(settings("http://127.0.0.1:7300")).await;
    let (_, mut known) = site.person("maya").await;
    let all_turns = site.people.hasher.occupied().await;
    let mut waiting = Vec::new();
    for _ in 0..cheap().waiting {
        let mut browser = site.browser();
        let form = browser.get("/oauth/sign-in").await.field("csrf");
        waiting.push(tokio::spawn(async move {
            browser.post("/oauth/sign-in", &[("csrf", &form), ("name", "x"), ("password", "y")]).await
        }));
    }
    site.until("all places are taken", |site| site.people.hasher.places() == 0).await;
    assert!(!known.cookie("aldgate-device").is_empty());
    // It is sent away, and does not wait for its turn.
    let sent_away = tokio::time::timeout(Duration::from_secs(20), known.sign_in("maya", GOOD)).await.unwrap();
    assert_eq!(sent_away.status, StatusCode::SERVICE_UNAVAILABLE);
    drop(all_turns);
    for answer in waiting {
        assert_eq!(answer.await.unwrap().status, StatusCode::FORBIDDEN);
    }
}

#[tokio::test]
async fn a_password_is_hashed_anew_when_the_parameters_changed() {
    let site = Site::new().await;
    let (user, _) = site.person("maya").await;
    let store = Arc::clone(&site.people.store);
    let kept = |store: Arc<IdentityStore>, id: String| async move {
        store.account(&id).await.unwrap().unwrap().password
    };
    let before = kept(Arc::clone(&store), user.id.clone()).await;
    assert!(before.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{before}");

    let dearer = Hashing { params: argon2::Params::new(128, 2, 1, None).unwrap(), ..cheap() };
    let settings = Settings { hashing: dearer, ..settings("https://gate.example") };
    let people = People::with_clock(settings, Arc::clone(&store), &[7; 32], Box::new(|| START));
    let mut browser = Browser { router: people.router(), ..site.browser() };
    assert_eq!(browser.sign_in("maya", "wrong wrong wrong").await.status, StatusCode::FORBIDDEN);
    assert_eq!(kept(Arc::clone(&store), user.id.clone()).await, before);
    assert_eq!(browser.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    assert!(site.who(&browser).await.is_some());
    let after = kept(Arc::clone(&store), user.id.clone()).await;
    assert!(after.starts_with("$argon2id$v=19$m=128,t=2,p=1$"), "{after}");
    assert_eq!(browser.sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
    assert_eq!(kept(store, user.id).await, after);
}

#[tokio::test]
async fn a_reset_ends_all_sessions_and_the_password_until_now() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    site.pass(Duration::from_secs(5));
    let (_, once) = site.accounts.reset("maya", site.now()).await.unwrap();
    assert_eq!(site.who(&browser).await, None);
    // A session from before is not one that may choose the new password.
    let change = browser.get("/account/password").await;
    assert_eq!(change.header("location"), Some("/oauth/sign-in?continue=%2Faccount"));
    assert_eq!(site.people.store.sessions_of(&user.id).await.unwrap(), []);
    assert_eq!(site.people.signed_out_at(&user.id).await.unwrap(), Some(site.now()));
    assert_eq!(browser.sign_in("maya", GOOD).await.status, StatusCode::FORBIDDEN);
    assert_eq!(once.until, site.now() + Duration::from_secs(24 * 3600));
    let location = browser.sign_in("maya", &once.password).await;
    assert_eq!(location.header("location"), Some("/account/password?continue=%2Faccount"));
}

#[tokio::test]
async fn where_too_many_wait_people_are_asked_to_try_again() {
    let site = Site::new().await;
    let (_, known) = site.person("maya").await;
    let all_turns = site.people.hasher.occupied().await;
    let mut waiting = Vec::new();
    for _ in 0..cheap().waiting {
        let mut browser = site.browser();
        let form = browser.get("/oauth/sign-in").await.field("csrf");
        waiting.push(tokio::spawn(async move {
            browser.post("/oauth/sign-in", &[("csrf", &form), ("name", "x"), ("password", "y")]).await
        }));
    }
    site.until("all places are taken", |site| site.people.hasher.places() == 0).await;
    let full = site.browser().sign_in("maya", GOOD).await;
    assert_eq!((full.status, full.header("retry-after")), (StatusCode::SERVICE_UNAVAILABLE, Some("5")));
    assert!(full.body.contains("Try again"), "{}", full.body);
    // Strangers do not take the place of whoever was here before.
    let mut known = known.clone();
    let welcome = tokio::spawn(async move { known.sign_in("maya", GOOD).await });
    drop(all_turns);
    assert_eq!(welcome.await.unwrap().status, StatusCode::SEE_OTHER);
    for answer in waiting {
        assert_eq!(answer.await.unwrap().status, StatusCode::FORBIDDEN);
    }
    // Nobody was counted who was sent away.
    assert_eq!(site.browser().sign_in("maya", GOOD).await.status, StatusCode::SEE_OTHER);
}
