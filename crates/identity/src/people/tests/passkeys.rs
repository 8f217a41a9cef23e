use serde_json::{Value, json};

use super::*;
use crate::people::passkeys::Authenticator;

/// What a page asks the browser for, by the kind of the ceremony.
fn options(page: &Answer, kind: &str) -> Value {
    let mark = format!("data-passkey=\"{kind}\" data-options=\"");
    let (_, rest) = page.body.split_once(&mark).unwrap_or_else(|| panic!("no {kind} in {}", page.body));
    let text = rest.split_once('"').unwrap().0.replace("&quot;", "\"").replace("&amp;", "&");
    serde_json::from_str(&text).unwrap()
}

fn challenge(options: &Value) -> &str {
    options["challenge"].as_str().unwrap()
}

impl Browser {
    pub(super) async fn add_passkey(&mut self, one: &Authenticator) -> Answer {
        let page = self.get("/account").await;
        let credential = one.create(challenge(&options(&page, "create"))).to_string();
        self.send_created(&page, &credential).await
    }

    async fn send_created(&mut self, page: &Answer, credential: &str) -> Answer {
        self.send_created_with(page, credential, GOOD).await
    }

    async fn send_created_with(&mut self, page: &Answer, credential: &str, password: &str) -> Answer {
        let (csrf, challenge) = (page.field("csrf"), page.field("challenge"));
        let fields = [
            ("csrf", csrf.as_str()),
            ("challenge", &challenge),
            ("credential", credential),
            ("name", "My <key>"),
            ("password", password),
        ];
        self.post("/account/passkeys", &fields).await
    }

    async fn use_passkey(&mut self, one: &Authenticator) -> Answer {
        let page = self.get("/oauth/sign-in?again=1").await;
        let credential = one.get(challenge(&options(&page, "get"))).to_string();
        self.send_answer(&page, &credential).await
    }

    async fn send_answer(&mut self, page: &Answer, credential: &str) -> Answer {
        let (csrf, challenge) = (page.field("csrf"), page.field("challenge"));
        let fields = [("csrf", csrf.as_str()), ("challenge", &challenge), ("credential", credential)];
        self.post("/oauth/passkey", &fields).await
    }
}

#[tokio::test]
async fn a_person_adds_a_passkey_and_signs_in_with_it() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let asked = options(&browser.get("/account").await, "create");
    assert_eq!(asked["user"], json!({"id": user.id, "name": "maya", "displayName": "maya of the tests"}));
    assert_eq!((&asked["rp"]["id"], &asked["attestation"]), (&json!("gate.example"), &json!("none")));
    assert_eq!(asked["authenticatorSelection"]["userVerification"], "required");
    let one = Authenticator::new(&user.id);
    assert_eq!(browser.add_passkey(&one).await.header("location"), Some("/account"));
    let page = browser.get("/account").await;
    assert!(page.body.contains("My &lt;key&gt;"), "{}", page.body);
    assert_eq!(options(&page, "create")["excludeCredentials"].as_array().unwrap().len(), 1);

    site.pass(Duration::from_secs(60));
    let mut other = site.browser();
    let hashed = site.people.hashed();
    let answer = other.use_passkey(&one).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, Some("/account")));
    assert_eq!(site.people.hashed(), hashed);
    let who = site.who(&other).await.unwrap();
    assert_eq!((&who.user.id, who.at), (&user.id, site.now()));

    let page = other.get("/account").await;
    assert!(page.body.contains("last used"), "{}", page.body);
    let (csrf, id) = (page.field("csrf"), page.field("id"));
    let removed =
        other.post("/account/passkeys/remove", &[("csrf", &csrf), ("id", &id), ("password", GOOD)]).await;
    assert_eq!(removed.header("location"), Some("/account"));
    assert_eq!(site.browser().use_passkey(&one).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_passkey_signs_in_for_the_request_that_the_person_is_on_the_way_to() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let one = Authenticator::new(&user.id);
    browser.add_passkey(&one).await;
    let way = "/oauth/authorize/continue?request=r1";
    let page = browser.get(&format!("/oauth/sign-in?again=1&{}", query("continue", way))).await;
    let credential = one.get(challenge(&options(&page, "get"))).to_string();
    let (csrf, set) = (page.field("csrf"), page.field("challenge"));
    let fields =
        [("csrf", csrf.as_str()), ("continue", way), ("challenge", &set), ("credential", &credential)];
    assert_eq!(browser.post("/oauth/passkey", &fields).await.status, StatusCode::OK);
    assert_eq!(site.who(&browser).await.unwrap().signed_in_for, Some(digest("r1")));
}

#[tokio::test]
async fn an_answer_is_good_once_and_for_the_browser_that_was_asked() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let one = Authenticator::new(&user.id);
    browser.add_passkey(&one).await;
    let mut victim = site.browser();
    let page = victim.get("/oauth/sign-in").await;
    let credential = one.get(challenge(&options(&page, "get"))).to_string();

    let mut thief = site.browser();
    let own = thief.get("/oauth/sign-in").await;
    assert_eq!(thief.send_answer(&own, &credential).await.status, StatusCode::FORBIDDEN);
    assert_eq!(thief.send_answer(&page, &credential).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.who(&thief).await, None);

    let again = victim.clone();
    assert_eq!(victim.send_answer(&page, &credential).await.status, StatusCode::SEE_OTHER);
    let mut again = again;
    assert_eq!(again.send_answer(&page, &credential).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.who(&again).await, None);

    let mut late = site.browser();
    let page = late.get("/oauth/sign-in").await;
    let credential = one.get(challenge(&options(&page, "get"))).to_string();
    site.pass(Duration::from_secs(300));
    assert_eq!(late.send_answer(&page, &credential).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_challenge_that_was_not_set_here_is_none() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let (one, other) = (Authenticator::new(&user.id), Authenticator::new(&user.id));
    browser.add_passkey(&one).await;
    let mut thief = site.browser();
    let csrf = thief.get("/oauth/sign-in").await.field("csrf");
    let of_another_browser = site.browser().get("/oauth/sign-in").await.field("challenge");
    let tag = of_another_browser.rsplit('.').next().unwrap().to_owned();
    for field in
        [of_another_browser, format!("chosen.9999999999999.{tag}"), "chosen.9999999999999.".to_owned()]
    {
        let chosen = field.split('.').next().unwrap();
        let credential = one.get(chosen).to_string();
        let fields = [("csrf", csrf.as_str()), ("challenge", &field), ("credential", &credential)];
        assert_eq!(thief.post("/oauth/passkey", &fields).await.status, StatusCode::FORBIDDEN, "{field}");
        let (csrf, credential) = (site.who(&browser).await.unwrap().csrf, other.create(chosen).to_string());
        let fields =
            [("csrf", csrf.as_str()), ("challenge", &field), ("credential", &credential), ("password", GOOD)];
        assert_eq!(browser.post("/account/passkeys", &fields).await.status, StatusCode::FORBIDDEN, "{field}");
    }
    assert_eq!(site.who(&thief).await, None);
}

#[tokio::test]
async fn a_passkey_signs_in_nobody_else() {
    let site = Site::new().await;
    let (maya, mut browser) = site.person("maya").await;
    let (bob, mut bobs) = site.person("bob").await;
    let one = Authenticator::new(&maya.id);
    browser.add_passkey(&one).await;
    bobs.add_passkey(&Authenticator::new(&bob.id)).await;
    for wrong in [
        Authenticator { handle: bob.id.clone(), ..Authenticator::new(&maya.id) },
        Authenticator { id: one.id.clone(), ..Authenticator::new(&maya.id) },
        Authenticator::new(&maya.id),
    ] {
        let mut thief = site.browser();
        let answer = thief.use_passkey(&wrong).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("role=\"alert\"") && !answer.body.contains("maya"), "{}", answer.body);
        assert_eq!(site.who(&thief).await, None);
    }
    // Nobody takes a credential that another has.
    let twin = Authenticator { id: one.id.clone(), ..Authenticator::new(&bob.id) };
    assert_eq!(bobs.add_passkey(&twin).await.status, StatusCode::FORBIDDEN);
    // Nobody removes another's.
    let csrf = site.who(&bobs).await.unwrap().csrf;
    let id = site.people.store.passkeys_of(&maya.id).await.unwrap()[0].id.clone();
    let fields = [("csrf", csrf.as_str()), ("id", &id), ("password", GOOD)];
    bobs.post("/account/passkeys/remove", &fields).await;
    assert_eq!(site.browser().use_passkey(&one).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn an_authenticator_that_counts_is_not_copied() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let mut one = Authenticator { counter: 5, ..Authenticator::new(&user.id) };
    browser.add_passkey(&one).await;
    for (counter, status) in [
        (5, StatusCode::FORBIDDEN),
        (6, StatusCode::SEE_OTHER),
        (6, StatusCode::FORBIDDEN),
        (0, StatusCode::FORBIDDEN),
        (9, StatusCode::SEE_OTHER),
    ] {
        one.counter = counter;
        assert_eq!(site.browser().use_passkey(&one).await.status, status, "{counter}");
    }
}

#[tokio::test]
async fn a_passkey_ends_with_a_reset_and_rests_while_disabled() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let one = Authenticator::new(&user.id);
    browser.add_passkey(&one).await;
    site.accounts.disable("maya", START).await.unwrap();
    assert_eq!(site.browser().use_passkey(&one).await.status, StatusCode::FORBIDDEN);
    site.accounts.enable("maya", START).await.unwrap();
    assert_eq!(site.browser().use_passkey(&one).await.status, StatusCode::SEE_OTHER);
    site.accounts.reset("maya", START).await.unwrap();
    assert_eq!(site.browser().use_passkey(&one).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_passkey_is_added_by_a_page_of_the_session() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let (_, mut other) = site.person("bob").await;
    let one = Authenticator::new(&user.id);
    let page = browser.get("/account").await;
    let credential = one.create(challenge(&options(&page, "create"))).to_string();
    // A challenge of another session, and one that was for signing in.
    let foreign = other.get("/account").await.field("challenge");
    let signing_in = browser.get("/oauth/sign-in?again=1").await.field("challenge");
    for challenge in [foreign, signing_in, String::new()] {
        let fields = [
            ("csrf", page.field("csrf")),
            ("challenge", challenge),
            ("credential", credential.clone()),
            ("password", GOOD.to_owned()),
        ];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(browser.post("/account/passkeys", &fields).await.status, StatusCode::FORBIDDEN);
    }
    let unsigned = [("challenge", page.field("challenge")), ("credential", credential.clone())];
    let unsigned: Vec<(&str, &str)> = unsigned.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(browser.post("/account/passkeys", &unsigned).await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.send_created(&page, "{}").await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.send_created(&page, &credential).await.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.send_created(&page, &credential).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_session_alone_adds_no_passkey_and_removes_none() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    let one = Authenticator::new(&user.id);
    let page = browser.get("/account").await;
    let credential = one.create(challenge(&options(&page, "create"))).to_string();
    for wrong in ["", "wrong wrong wrong"] {
        let answer = browser.send_created_with(&page, &credential, wrong).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("No passkey was added"), "{}", answer.body);
    }
    assert_eq!(site.people.store.passkeys_of(&user.id).await.unwrap(), []);
    assert_eq!(browser.send_created(&page, &credential).await.status, StatusCode::SEE_OTHER);

    site.pass(Duration::from_secs(3600));
    let page = browser.get("/account").await;
    let (csrf, id) = (page.field("csrf"), page.field("id"));
    let remove =
        |password: &'static str| [("csrf", csrf.clone()), ("id", id.clone()), ("password", password.into())];
    let mut send = async |password| {
        let fields = remove(password);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post("/account/passkeys/remove", &fields).await
    };
    for _ in 0..Tries::default().device.burst {
        assert_eq!(send("wrong wrong wrong").await.status, StatusCode::FORBIDDEN);
    }
    // Guessing is held back, as where the password is changed.
    let held = send(GOOD).await;
    assert_eq!((held.status, held.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, Some("30")));
    assert_eq!(site.people.store.passkeys_of(&user.id).await.unwrap().len(), 1);
    site.pass(Duration::from_secs(30));
    assert_eq!(send(GOOD).await.status, StatusCode::SEE_OTHER);
    assert_eq!(site.people.store.passkeys_of(&user.id).await.unwrap(), []);
}

#[tokio::test]
async fn an_account_has_so_many_passkeys_and_no_more() {
    let site = Site::new().await;
    let (user, mut browser) = site.person("maya").await;
    for _ in 0..20 {
        assert_eq!(browser.add_passkey(&Authenticator::new(&user.id)).await.status, StatusCode::SEE_OTHER);
    }
    assert_eq!(browser.add_passkey(&Authenticator::new(&user.id)).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn where_browsers_have_no_passkeys_nobody_is_asked_for_one() {
    for (issuer, there) in [
        ("http://127.0.0.1:7300", false),
        ("https://[::1]:7300", false),
        ("http://gate.example", false),
        ("http://localhost:7300", true),
    ] {
        let site = Site::with(settings(issuer)).await;
        let (_, mut browser) = site.person("maya").await;
        for path in ["/account", "/oauth/sign-in?again=1"] {
            assert_eq!(browser.get(path).await.body.contains("data-passkey"), there, "{issuer}");
        }
    }
}
