//! A server with three people and a few clients, driven in process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use aldgate_approval::SealKey;
use aldgate_store::identity::IdentityStore;
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use time::{Duration, OffsetDateTime};
use tower::ServiceExt as _;

use crate::authorization::{
    AuthorizationServer, Barred, ClientMethod, ClientRecord, ClientStore, People, PeopleFault, Settings,
};
use crate::people::{PageKey, SignedIn, User};
use crate::{Doors, Scopes};

pub(super) const ISSUER: &str = "https://gateway.example.com";
pub(super) const START: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);
pub(super) const REDIRECT: &str = "https://app.example.com/cb";
pub(super) const VERIFIER: &str = "verifier-verifier-verifier-verifier-verifier";

pub(super) struct Site {
    pub(super) server: Arc<AuthorizationServer>,
    pub(super) store: Arc<IdentityStore>,
    pub(super) clients: ClientStore,
    pub(super) people: Arc<Fake>,
    pub(super) seal: SealKey,
    router: Router,
    clock: Arc<Mutex<OffsetDateTime>>,
    folder: tempfile::TempDir,
}

/// Whose session it is, since when, and for which request.
pub(super) type Session = (String, OffsetDateTime, Option<String>);

/// Accounts, and sessions by the value of the `Cookie` header.
#[derive(Default)]
pub(super) struct Fake {
    pub(super) users: Mutex<BTreeMap<String, User>>,
    pub(super) sessions: Mutex<BTreeMap<String, Session>>,
    pub(super) signed_out: Mutex<BTreeMap<String, OffsetDateTime>>,
}

#[async_trait]
impl People for Fake {
    async fn signed_in(
        &self,
        headers: &HeaderMap,
        _: &PageKey,
        _: OffsetDateTime,
    ) -> Result<Option<SignedIn>, PeopleFault> {
        let Some(cookie) = headers.get("cookie").and_then(|value| value.to_str().ok()) else {
            return Ok(None);
        };
        let Some((user, at, signed_in_for)) = self.sessions.lock().expect("lock").get(cookie).cloned() else {
            return Ok(None);
        };
        let user = self.users.lock().expect("lock").get(&user).cloned();
        let csrf = format!("csrf-of-{cookie}");
        Ok(user.map(|user| SignedIn {
            user: Arc::new(user),
            at,
            csrf,
            key: PageKey::default(),
            signed_in_for,
        }))
    }

    async fn part(&self, _: &HeaderMap) -> Result<Vec<HeaderValue>, PeopleFault> {
        Ok(Vec::new())
    }

    async fn user(&self, id: &str) -> Result<Option<User>, PeopleFault> {
        Ok(self.users.lock().expect("lock").get(id).cloned())
    }

    async fn barred(&self) -> Result<Vec<Barred>, PeopleFault> {
        let users = self.users.lock().expect("lock");
        let disabled = users.values().filter(|user| user.disabled);
        let disabled = disabled.map(|user| Barred { user: user.id.clone(), granted_before: None });
        let signed_out = self.signed_out.lock().expect("lock");
        let signed_out =
            signed_out.iter().map(|(user, at)| Barred { user: user.clone(), granted_before: Some(*at) });
        Ok(disabled.chain(signed_out).collect())
    }
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

pub(super) fn scopes(text: &str) -> Scopes {
    Scopes::parse(text).expect("scopes")
}

/// A public client with this redirect URI, that may refresh.
pub(super) fn public(redirect_uri: &str) -> ClientRecord {
    ClientRecord {
        name: "Desk".into(),
        redirect_uris: vec![redirect_uri.into()],
        method: ClientMethod::Public,
        jwks: None,
        refresh: true,
        scope: None,
        service: None,
        exchange_for: Vec::new(),
    }
}

impl Site {
    pub(super) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = Arc::new(IdentityStore::open(folder.path()).await.expect("store"));
        let mut settings = Settings::new(ISSUER.into(), Doors::at(ISSUER, "https://admin.example.com"));
        settings.role_scopes = BTreeMap::from([
            ("operator".into(), scopes("tools:read tools:write")),
            ("reader".into(), scopes("tools:read")),
            ("approver".into(), scopes("approvals:decide")),
        ]);
        change(&mut settings);
        let people = Arc::new(Fake::default());
        for (id, role) in [("alice", "operator"), ("bob", "reader"), ("maya", "approver")] {
            let user = User {
                id: id.into(),
                name: format!("{id}@example.com"),
                display_name: id.to_uppercase(),
                tenant: "main".into(),
                roles: BTreeSet::from([role.to_owned()]),
                disabled: false,
            };
            people.users.lock().expect("lock").insert(id.into(), user);
        }
        let clock = Arc::new(Mutex::new(START));
        let read = Arc::clone(&clock);
        let seal = SealKey::derive(&[7; 32]).expect("key");
        let server = AuthorizationServer::with_clock(
            settings,
            Arc::clone(&store),
            seal.clone(),
            Arc::clone(&people) as Arc<dyn People>,
            Box::new(move || *read.lock().expect("lock")),
        );
        let server = server.await.expect("server");
        let clients = ClientStore::new(Arc::clone(&store));
        clients.add("desk", &public(REDIRECT), START).await.expect("client");
        clients.add("other", &public("https://other.example.com/cb"), START).await.expect("client");
        let router = server.router();
        Self { server, store, clients, people, seal, router, clock, folder }
    }

    /// Changes the store behind the server's back.
    pub(super) async fn meddle(&self, statement: &'static str) {
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.folder.path().join("identity.sqlite"));
        let pool = sqlx::SqlitePool::connect_with(options).await.expect("opened");
        sqlx::query(statement).execute(&pool).await.expect("changed");
        pool.close().await;
    }

    pub(super) fn now(&self) -> OffsetDateTime {
        *self.clock.lock().expect("lock")
    }

    pub(super) fn later(&self, by: Duration) {
        *self.clock.lock().expect("lock") += by;
    }

    /// Signs somebody in, now; the session's cookie.
    pub(super) fn sign_in(&self, user: &str) -> String {
        self.begin(user, None)
    }

    /// Signs somebody in, now, on the way back to a request; the session's cookie.
    pub(super) fn sign_in_for(&self, user: &str, back: &str) -> String {
        let (_, sealed) = back.split_once("request=").expect("request");
        self.begin(user, Some(crate::people::digest(sealed)))
    }

    fn begin(&self, user: &str, signed_in_for: Option<String>) -> String {
        let mut sessions = self.people.sessions.lock().expect("lock");
        let cookie = format!("{user}-{}", sessions.len());
        sessions.insert(cookie.clone(), (user.into(), self.now(), signed_in_for));
        cookie
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("response");
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("body");
        let body = String::from_utf8(bytes.to_vec()).expect("text");
        Reply { status: parts.status, headers: parts.headers, body }
    }

    pub(super) async fn get(&self, path: &str, cookie: Option<&str>) -> Reply {
        let mut request = Request::get(path);
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        self.send(request.body(Body::empty()).expect("request")).await
    }

    pub(super) async fn post(&self, path: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(encoded(form))).expect("request")).await
    }

    pub(super) async fn token(&self, form: &[(&str, &str)]) -> Reply {
        self.post("/oauth/token", form, &[]).await
    }

    pub(super) async fn authorize(&self, form: &[(&str, &str)], cookie: Option<&str>) -> Reply {
        self.get(&format!("/oauth/authorize?{}", encoded(form)), cookie).await
    }

    /// Consents to all that is shown.
    pub(super) async fn consent(&self, shown: &Reply, cookie: &str) -> Reply {
        let mut form =
            vec![("csrf", field(&shown.body, "csrf")), ("question", field(&shown.body, "question"))];
        let ticked: Vec<_> = shown.body.split("name=\"scope:").skip(1).collect();
        let ticked: Vec<_> =
            ticked.iter().map(|rest| format!("scope:{}", rest.split('"').next().expect("name"))).collect();
        form.extend(ticked.iter().map(|name| (name.as_str(), "on".to_owned())));
        form.push(("decision", "allow".to_owned()));
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post("/oauth/authorize/consent", &form, &[("cookie", cookie)]).await
    }

    /// A code for what was asked for, after consent to all of it.
    pub(super) async fn code_for(&self, user: &str, form: &[(&str, &str)]) -> String {
        let mut cookie = self.sign_in(user);
        let mut shown = self.authorize(form, Some(&cookie)).await;
        if shown.status == StatusCode::SEE_OTHER {
            let back = shown.back();
            cookie = self.sign_in_for(user, &back);
            shown = self.get(&back, Some(&cookie)).await;
        }
        assert_eq!(shown.status, StatusCode::OK, "{shown:?}");
        let answered = self.consent(&shown, &cookie).await.answer();
        answered.get("code").unwrap_or_else(|| panic!("no code in {answered:?}")).clone()
    }

    /// A code of the client `desk`, granted by Alice.
    pub(super) async fn code(&self) -> String {
        self.code_for("alice", &asking(&[])).await
    }

    /// The tokens for a code of the client `desk`.
    pub(super) async fn tokens(&self) -> Value {
        let code = self.code().await;
        let reply = self.token(&redeeming(&code, &[])).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        reply.json()
    }
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The error code of the token endpoint.
    pub(super) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// Where the person is sent, by status or by page.
    pub(super) fn target(&self) -> String {
        if self.status == StatusCode::SEE_OTHER {
            return self.header("location").to_owned();
        }
        let rest = self.body.split("content=\"0; url=").nth(1);
        let rest = rest.unwrap_or_else(|| panic!("goes nowhere: {self:?}"));
        rest.split('"').next().expect("end").replace("&amp;", "&")
    }

    /// Where the person comes back to from the sign-in page.
    pub(super) fn back(&self) -> String {
        let mut answer = self.answer();
        assert!(self.target().starts_with("/oauth/sign-in?"), "{self:?}");
        answer.remove("continue").expect("continue")
    }

    /// The parameters of the answer to a client.
    pub(super) fn answer(&self) -> BTreeMap<String, String> {
        let target = self.target();
        let (_, query) = target.split_once('?').expect("query");
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }
}

/// The hidden field of a form.
pub(super) fn field(body: &str, name: &str) -> String {
    let rest = body.split(&format!("name=\"{name}\" value=\"")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("no field {name} in {body}"));
    rest.split('"').next().expect("end").to_owned()
}

pub(super) fn encoded(form: &[(&str, &str)]) -> String {
    let mut out = url::form_urlencoded::Serializer::new(String::new());
    out.extend_pairs(form);
    out.finish()
}

pub(super) fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER.as_bytes()))
}

/// The parameters of an authorization request of `desk`, with changes: an empty value leaves one out.
pub(super) fn asking<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let challenge: &str = Box::leak(challenge().into_boxed_str());
    let usual = vec![
        ("response_type", "code"),
        ("client_id", "desk"),
        ("redirect_uri", REDIRECT),
        ("state", "s t&1"),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ];
    changed(usual, changes)
}

/// The parameters of a token request of `desk` for a code, with changes.
pub(super) fn redeeming<'a>(code: &'a str, changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = vec![
        ("grant_type", "authorization_code"),
        ("client_id", "desk"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    changed(usual, changes)
}

fn changed<'a>(
    mut usual: Vec<(&'a str, &'a str)>,
    changes: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    for (name, value) in changes {
        usual.retain(|(other, _)| other != name);
        if !value.is_empty() {
            usual.push((name, value));
        }
    }
    usual
}

/// The claims of a token, unchecked.
pub(super) fn claims(token: &str) -> Value {
    part(token, 1)
}

/// The header of a token.
pub(super) fn header(token: &str) -> Value {
    part(token, 0)
}

fn part(token: &str, at: usize) -> Value {
    let part = token.split('.').nth(at).expect("part");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("json")
}
