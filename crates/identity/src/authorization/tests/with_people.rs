//! The whole way with the real sign-in pages, as a browser goes it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use aldgate_approval::SealKey;
use aldgate_store::identity::IdentityStore;
use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use time::OffsetDateTime;
use tower::ServiceExt as _;

use super::site::{ISSUER, REDIRECT, Reply, asking, encoded, field, public, redeeming, scopes};
use crate::Doors;
use crate::authorization::{AuthorizationServer, ClientStore, Settings};
use crate::people::{Accounts, Hashing, NewPerson, People, Settings as PeopleSettings, Source};

const PASSWORD: &str = "wooden anchor over Leiden";

/// Keeps cookies, and goes on where pages and redirects of this server lead.
struct Browser {
    router: Router,
    cookies: BTreeMap<String, String>,
    issuer: &'static str,
}

impl Browser {
    async fn send(&mut self, mut request: Request<Body>) -> Reply {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        request.headers_mut().insert("cookie", cookies.join("; ").parse().expect("cookies"));
        request.extensions_mut().insert(Source(IpAddr::from(Ipv4Addr::LOCALHOST)));
        let response = self.router.clone().oneshot(request).await.expect("response");
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().expect("text").split_once('=').expect("cookie");
            if rest.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), rest.split(';').next().expect("value").to_owned());
            }
        }
        let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("body");
        let body = String::from_utf8(bytes.to_vec()).expect("text");
        Reply { status: parts.status, headers: parts.headers, body }
    }

    /// Goes to a path, and on until a page waits for the person or leads elsewhere. Counts the steps: none goes in a ring.
    async fn go(&mut self, path: &str) -> Reply {
        let mut path = path.to_owned();
        for _ in 0..5 {
            let reply = self.send(Request::get(&path).body(Body::empty()).expect("request")).await;
            let on = reply.status == StatusCode::SEE_OTHER || reply.body.contains("0; url=/");
            if !on || !reply.target().starts_with('/') {
                return reply;
            }
            path = reply.target();
        }
        panic!("in a ring: {path}");
    }

    async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Reply {
        let request = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", self.issuer)
            .header("sec-fetch-site", "same-origin");
        let reply = self.send(request.body(encoded(form).into()).expect("request")).await;
        let on = reply.status == StatusCode::SEE_OTHER || reply.body.contains("0; url=/");
        if on { self.go(&reply.target()).await } else { reply }
    }

    /// Fills in the sign-in page that was shown.
    async fn sign_in(&mut self, shown: &Reply, password: &str) -> Reply {
        assert!(shown.body.contains("autocomplete=\"current-password\""), "{shown:?}");
        let (csrf, back) = (field(&shown.body, "csrf"), field(&shown.body, "continue").replace("&amp;", "&"));
        let form = [("csrf", csrf.as_str()), ("continue", &back), ("name", "alice"), ("password", password)];
        self.post(&action(shown, "/oauth/sign-in"), &form).await
    }

    async fn allow(&mut self, shown: &Reply) -> Reply {
        self.decide(shown, "allow").await
    }

    async fn decide(&mut self, shown: &Reply, decision: &str) -> Reply {
        assert!(shown.body.contains("May this program act for you?"), "{shown:?}");
        let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
        let form = [
            ("csrf", csrf.as_str()),
            ("question", &question),
            ("scope:tools:read", "on"),
            ("decision", decision),
        ];
        self.post(&action(shown, "/oauth/authorize/consent"), &form).await
    }
}

/// Where a form of the page is sent: to this path, with the key of the page where there is one.
fn action(shown: &Reply, path: &str) -> String {
    let found = shown.body.split("action=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut found = found.filter(|action| action.split('?').next() == Some(path));
    found.next().unwrap_or_else(|| panic!("no form for {path} in {shown:?}")).replace("&amp;", "&")
}

async fn site(folder: &std::path::Path, issuer: &'static str) -> (Browser, String) {
    let store = Arc::new(IdentityStore::open(folder).await.expect("store"));
    let hashing =
        Hashing { params: argon2::Params::new(64, 1, 1, None).expect("params"), at_once: 2, waiting: 4 };
    let accounts = Accounts::new(Arc::clone(&store), &hashing);
    let at = url::Url::parse(issuer).expect("url");
    let people =
        People::new(PeopleSettings { hashing, ..PeopleSettings::at(at) }, Arc::clone(&store), &[7; 32]);
    let person = NewPerson {
        name: "alice".into(),
        display_name: None,
        tenant: "main".into(),
        roles: ["operator".to_owned()].into(),
    };
    let now = OffsetDateTime::now_utc();
    let (_, password) = accounts.add(&person, now).await.expect("account");
    ClientStore::new(Arc::clone(&store)).add("desk", &public(REDIRECT), now).await.expect("client");
    let mut settings = Settings::new(issuer.into(), Doors::at(issuer, "https://admin.example.com"));
    settings.everybody = scopes("tools:read");
    let seal = SealKey::derive(&[7; 32]).expect("key");
    let server = AuthorizationServer::new(settings, store, seal, people.clone()).await.expect("server");
    let router = server.router().merge(people.router());
    people.describes_requests(Box::new(move |sealed| {
        let server = Arc::clone(&server);
        Box::pin(async move { server.described(&sealed).await })
    }));
    (Browser { router, cookies: BTreeMap::new(), issuer }, password.password.to_string())
}

#[tokio::test]
async fn a_person_signs_in_on_the_way_and_again_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut browser, one_time) = site(folder.path(), ISSUER).await;
    let way = format!("/oauth/authorize?{}", encoded(&asking(&[])));

    // With a password that is good once, the person chooses another and comes back.
    let shown = browser.go(&way).await;
    let changing = browser.sign_in(&shown, &one_time).await;
    let (csrf, back) =
        (field(&changing.body, "csrf"), field(&changing.body, "continue").replace("&amp;", "&"));
    let form = [("csrf", csrf.as_str()), ("continue", &back), ("new", PASSWORD), ("repeated", PASSWORD)];
    let shown = browser.post(&action(&changing, "/account/password"), &form).await;
    let answer = browser.allow(&shown).await.answer();
    let redeemed = redeeming(&answer["code"], &[]);
    assert_eq!(browser.post("/oauth/token", &redeemed).await.json()["scope"], "tools:read");

    // Signed in: no form but the one that asks for consent.
    let shown = browser.go(&way).await;
    assert!(browser.allow(&shown).await.target().starts_with(REDIRECT));

    // Signed in, but not for this.
    for fresh in [("max_age", "0"), ("prompt", "login")] {
        let shown = browser.go(&format!("/oauth/authorize?{}", encoded(&asking(&[fresh])))).await;
        let shown = browser.sign_in(&shown, PASSWORD).await;
        assert!(browser.allow(&shown).await.target().starts_with(REDIRECT));
    }
}

/// The sign-in page, filled in by somebody whose password is good once, and the page after the change.
async fn first_sign_in(browser: &mut Browser, way: &str, one_time: &str) -> Reply {
    let shown = browser.go(way).await;
    let changing = browser.sign_in(&shown, one_time).await;
    let (csrf, back) =
        (field(&changing.body, "csrf"), field(&changing.body, "continue").replace("&amp;", "&"));
    let form = [("csrf", csrf.as_str()), ("continue", &back), ("new", PASSWORD), ("repeated", PASSWORD)];
    browser.post(&action(&changing, "/account/password"), &form).await
}

#[tokio::test]
async fn no_program_of_this_computer_gets_to_see_a_session() {
    const HERE: &str = "http://127.0.0.1:7300";
    let folder = tempfile::tempdir().expect("folder");
    let (mut browser, one_time) = site(folder.path(), HERE).await;
    let way = format!("/oauth/authorize?{}", encoded(&asking(&[])));
    let shown = first_sign_in(&mut browser, &way, &one_time).await;

    // What the program sees: the cookies that the browser has when the answer came, and those from before.
    let mut thief = Browser { cookies: browser.cookies.clone(), ..browser_of(&browser) };
    assert!(thief.cookies.contains_key("aldgate"));
    for decision in ["allow", "deny"] {
        let shown = if decision == "allow" {
            Reply { status: shown.status, headers: shown.headers.clone(), body: shown.body.clone() }
        } else {
            let shown = browser.go(&way).await;
            browser.sign_in(&shown, PASSWORD).await
        };
        let answered = browser.decide(&shown, decision).await;
        assert!(answered.target().starts_with(REDIRECT), "{answered:?}");
        let cleared: Vec<_> = answered.headers.get_all("set-cookie").iter().collect();
        assert!(cleared.iter().any(|value| *value == "aldgate=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"));
        let left: Vec<_> = browser.cookies.keys().map(String::as_str).collect();
        assert_eq!(left, ["aldgate-device"], "after {decision}");
    }
    // Not only has the browser forgotten the session.
    let seen = thief.go("/account").await;
    assert!(seen.body.contains("autocomplete=\"current-password\"") && !seen.body.contains("Your account"));

    // A request that cannot be leads to the program too, at once.
    let shown = browser.go("/account").await;
    let account = browser.sign_in(&shown, PASSWORD).await;
    assert!(account.body.contains("Your account"), "{account:?}");
    thief.cookies.clone_from(&browser.cookies);
    // Nor is a session that was begun for nothing good for a request.
    assert!(thief.go(&way).await.body.contains("autocomplete=\"current-password\""));
    let refused = browser.go(&format!("/oauth/authorize?{}", encoded(&asking(&[("prompt", "none")])))).await;
    assert!(refused.target().starts_with(REDIRECT), "{refused:?}");
    // Any page could have led there: the session goes on, and its cookie alone is nothing.
    assert!(browser.cookies.contains_key("aldgate"));
    assert!(!thief.go("/account").await.body.contains("Your account"));
}

#[tokio::test]
async fn where_no_other_program_sees_its_cookie_a_session_stays() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut browser, one_time) = site(folder.path(), ISSUER).await;
    let way = format!("/oauth/authorize?{}", encoded(&asking(&[])));
    let shown = first_sign_in(&mut browser, &way, &one_time).await;
    let answered = browser.allow(&shown).await;
    assert!(answered.target().starts_with(REDIRECT));
    assert!(answered.headers.get("set-cookie").is_none());
    assert!(browser.go("/account").await.body.contains("Your account"));
}

#[tokio::test]
async fn a_program_that_sees_the_cookies_answers_no_request() {
    const HERE: &str = "http://127.0.0.1:7300";
    let folder = tempfile::tempdir().expect("folder");
    let (mut browser, one_time) = site(folder.path(), HERE).await;
    let way = format!("/oauth/authorize?{}", encoded(&asking(&[])));
    let shown = first_sign_in(&mut browser, &way, &one_time).await;
    let (csrf, question) = (field(&shown.body, "csrf"), field(&shown.body, "question"));
    let consent = action(&shown, "/oauth/authorize/consent");
    let form =
        [("csrf", csrf.as_str()), ("question", &question), ("scope:tools:read", "on"), ("decision", "allow")];

    // The cookies, and all that a page of another local program could know besides; not the address of the page.
    let mut thief = Browser { cookies: browser.cookies.clone(), ..browser_of(&browser) };
    for path in
        ["/oauth/authorize/consent", "/oauth/authorize/consent?key=AAAA", "/oauth/authorize/consent?key="]
    {
        let refused = thief.post(path, &form).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
        assert!(!refused.body.contains("http-equiv") && refused.body.contains("sign-in"), "{refused:?}");
    }
    // It knows the request, which it may have made itself, and gets the page to sign in.
    let back = browser.go(&way).await;
    let sealed = field(&back.body, "continue").replace("&amp;", "&");
    let seen = thief.go(&sealed).await;
    assert!(seen.body.contains("autocomplete=\"current-password\""), "{seen:?}");
    assert!(!seen.body.contains("name=\"question\""), "{seen:?}");
    // The person goes on, and nothing of the key goes along.
    let key = consent.split_once("key=").expect("a key").1.to_owned();
    let answered = browser.post(&consent, &form).await;
    assert!(answered.answer().contains_key("code"), "{answered:?}");
    assert!(!answered.target().contains(&key) && !answered.body.contains(&key), "{answered:?}");
    assert_eq!(answered.header("referrer-policy"), "no-referrer");
}

#[tokio::test]
async fn the_page_to_sign_in_says_for_which_program() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut browser, one_time) = site(folder.path(), ISSUER).await;
    let shown = browser.go(&format!("/oauth/authorize?{}", encoded(&asking(&[])))).await;
    let wrong = browser.sign_in(&shown, "wrong wrong wrong").await;
    for page in [&shown, &wrong] {
        for told in ["Desk", "app.example.com", REDIRECT, "Use tools that only read", "tools:read"] {
            assert!(page.body.contains(told), "{told}: {page:?}");
        }
    }
    // Whoever signs in for nothing, or for something that is no request, is told of no program.
    for path in ["/oauth/sign-in", "/oauth/sign-in?continue=%2Foauth%2Fauthorize%2Fcontinue%3Frequest%3Dabc"]
    {
        let shown = browser.go(path).await;
        assert!(shown.body.contains("autocomplete=\"current-password\"") && !shown.body.contains("Desk"));
    }
    assert!(!browser.sign_in(&shown, &one_time).await.body.contains("role=\"alert\""));
}

fn browser_of(other: &Browser) -> Browser {
    Browser { router: other.router.clone(), cookies: BTreeMap::new(), issuer: other.issuer }
}
