//! Whole requests, as browsers send them.

mod anew;
mod log;
mod page_keys;
mod pages;
mod passkeys;
mod passwords;
mod processes;
mod refusals;
mod sessions;
mod signing_in;
mod throttling;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;
use url::Url;

use super::*;

impl People {
    /// How often argon2 was called.
    fn hashed(&self) -> u64 {
        self.hasher.calls()
    }

    /// From when on what was granted in the name of an account is good.
    async fn signed_out_at(&self, id: &str) -> Result<Option<OffsetDateTime>, Fault> {
        let account = self.store.account(id).await?;
        Ok(account.and_then(|account| account.signed_out_at).map(keys::kept))
    }
}

const START: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);
const GOOD: &str = "wooden anchor over Leiden";

/// A server with its store.
struct Site {
    people: Arc<People>,
    accounts: Accounts,
    router: Router,
    clock: Arc<Mutex<OffsetDateTime>>,
    folder: tempfile::TempDir,
}

/// Parameters that a test can afford; only what they cost is different.
fn cheap() -> Hashing {
    Hashing { params: argon2::Params::new(64, 1, 1, None).unwrap(), at_once: 2, waiting: 4 }
}

fn settings(issuer: &str) -> Settings {
    Settings { hashing: cheap(), ..Settings::at(Url::parse(issuer).unwrap()) }
}

impl Site {
    /// Waits until something is so; fails after a minute.
    async fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !so(self) {
            assert!(std::time::Instant::now() < until, "never: {what}");
            tokio::task::yield_now().await;
        }
    }

    async fn new() -> Self {
        Self::with(settings("https://gate.example")).await
    }

    async fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(IdentityStore::open(folder.path()).await.unwrap());
        let clock = Arc::new(Mutex::new(START));
        let accounts = Accounts::new(Arc::clone(&store), &settings.hashing);
        let read = Arc::clone(&clock);
        let now = Box::new(move || *read.lock().unwrap());
        let people = People::with_clock(settings, store, &[7; 32], now);
        Self { router: people.router(), people, accounts, clock, folder }
    }

    /// Changes the store behind the server's back.
    async fn meddle(&self, statement: &'static str) {
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.folder.path().join("identity.sqlite"));
        let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
        sqlx::query(statement).execute(&pool).await.unwrap();
        pool.close().await;
    }

    fn now(&self) -> OffsetDateTime {
        *self.clock.lock().unwrap()
    }

    fn pass(&self, span: Duration) {
        *self.clock.lock().unwrap() += span;
    }

    /// A person whose password is good once.
    async fn add(&self, name: &str) -> (User, String) {
        let person = NewPerson {
            name: name.to_owned(),
            display_name: Some(format!("{name} of the tests")),
            tenant: "main".to_owned(),
            roles: ["writer".to_owned()].into(),
        };
        let (user, password) = self.accounts.add(&person, self.now()).await.unwrap();
        (user, password.password.to_string())
    }

    /// A person who has signed in and has the password [`GOOD`].
    async fn person(&self, name: &str) -> (User, Browser) {
        let (user, password) = self.add(name).await;
        let mut browser = self.browser();
        browser.sign_in(name, &password).await;
        let changed = browser.change("", GOOD).await;
        assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
        (user, browser)
    }

    fn browser(&self) -> Browser {
        self.browser_at(Ipv4Addr::new(192, 0, 2, 1).into())
    }

    fn browser_at(&self, source: IpAddr) -> Browser {
        let issuer = self.people.settings.issuer.origin().ascii_serialization();
        Browser {
            router: self.router.clone(),
            cookies: BTreeMap::new(),
            source,
            issuer,
            key: PageKey::default(),
        }
    }

    async fn who(&self, browser: &Browser) -> Option<SignedIn> {
        self.people.signed_in(&browser.headers(), &browser.key, self.now()).await.unwrap()
    }
}

/// What keeps cookies.
#[derive(Clone)]
struct Browser {
    router: Router,
    cookies: BTreeMap<String, String>,
    source: IpAddr,
    issuer: String,
    /// The key in the last address that the browser was led to.
    key: PageKey,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn field(&self, name: &str) -> String {
        let mark = format!("name=\"{name}\" value=\"");
        let found = self.body.split_once(&mark).and_then(|(_, rest)| rest.split_once('"'));
        let (value, _) = found.unwrap_or_else(|| panic!("no field {name} in {}", self.body));
        value.replace("&amp;", "&")
    }

    /// Where it leads by itself.
    fn target(&self) -> Option<String> {
        let refreshed = self.body.split_once("0; url=").and_then(|(_, rest)| rest.split_once('"'));
        let refreshed = refreshed.map(|(to, _)| to.replace("&amp;", "&"));
        self.header("location").map(str::to_owned).or(refreshed)
    }

    fn cookies(&self) -> Vec<&str> {
        self.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect()
    }
}

impl Browser {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            headers.insert(header::COOKIE, HeaderValue::from_str(&cookies.join("; ")).unwrap());
        }
        headers
    }

    fn cookie(&self, name: &str) -> String {
        let secure = self.issuer.starts_with("https");
        let name = if secure { format!("__Host-{name}") } else { name.to_owned() };
        self.cookies.get(&name).cloned().unwrap_or_default()
    }

    async fn send(&mut self, mut request: Request<Body>) -> Answer {
        request.extensions_mut().insert(Source(self.source));
        for (name, value) in &self.headers() {
            request.headers_mut().insert(name, value.clone());
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all(header::SET_COOKIE) {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let (value, attributes) = rest.split_once(';').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        let answer = Answer { status: parts.status, headers: parts.headers, body };
        if let Some((_, query)) = answer.target().as_deref().and_then(|to| to.split_once('?')) {
            let led = PageKey::of_query(Some(query));
            if led != PageKey::default() {
                self.key = led;
            }
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::get(self.key.at(path)).body(Body::empty()).unwrap()).await
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let issuer = self.issuer.clone();
        self.post_from(path, fields, &[("origin", &issuer), ("sec-fetch-site", "same-origin")]).await
    }

    async fn post_from(&mut self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.key.at(path))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        self.sign_in_to("/account", name, password).await
    }

    async fn sign_in_to(&mut self, destination: &str, name: &str, password: &str) -> Answer {
        let path = format!("/oauth/sign-in?again=1&{}", query("continue", destination));
        let form = self.get(&path).await;
        let (csrf, go_on) = (form.field("csrf"), form.field("continue"));
        let fields = [("csrf", csrf.as_str()), ("continue", &go_on), ("name", name), ("password", password)];
        self.post("/oauth/sign-in", &fields).await
    }

    async fn change(&mut self, current: &str, new: &str) -> Answer {
        let csrf = self.get("/account/password").await.field("csrf");
        let fields = [("csrf", csrf.as_str()), ("current", current), ("new", new), ("repeated", new)];
        self.post("/account/password", &fields).await
    }
}

fn query(name: &str, value: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish()
}
