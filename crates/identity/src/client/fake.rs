//! A protected resource and its authorization server on this machine, which behave well unless a test says otherwise.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};
use url::Url;

use super::proof_key::challenge_of;
use super::secret::Secret;
use super::{Http, LoginEvent, LoginSettings, Probe};

/// A request that came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: HashMap<String, String>,
    pub(super) headers: http::HeaderMap,
    pub(super) form: HashMap<String, String>,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// What is answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    pub(super) after: Duration,
    /// Answered only once this says so.
    pub(super) gate: Option<tokio::sync::watch::Receiver<bool>>,
}

pub(super) fn reply(status: u16, body: Value) -> Reply {
    Reply { status, body: body.to_string(), ..Reply::default() }
}

pub(super) fn redirect(to: String) -> Reply {
    Reply { status: 302, headers: vec![("location", to)], ..Reply::default() }
}

type Handler = Arc<dyn Fn(&Fake, &Asked) -> Reply + Send + Sync>;

#[derive(Default)]
struct State {
    asked: Vec<Asked>,
    handlers: HashMap<String, Handler>,
    challenge: String,
    refresh: u32,
    revoked: bool,
}

#[derive(Clone)]
pub(super) struct Fake {
    pub(super) base: String,
    state: Arc<Mutex<State>>,
}

pub(super) const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
pub(super) const SERVER: &str = "/.well-known/oauth-authorization-server";

impl Fake {
    pub(super) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let fake = Self { base, state: Arc::default() };
        let router = Router::new().fallback({
            let fake = fake.clone();
            move |request: Request| async move { fake.answer(request).await }
        });
        tokio::spawn(axum::serve(listener, router).into_future());
        fake
    }

    /// Answers a path in another way.
    pub(super) fn on(&self, path: &str, handler: impl Fn(&Self, &Asked) -> Reply + Send + Sync + 'static) {
        self.state.lock().unwrap().handlers.insert(path.to_owned(), Arc::new(handler));
    }

    /// Answers a path with changed members; `null` takes one away.
    pub(super) fn change(&self, path: &str, members: Value) {
        let path = path.to_owned();
        let at = path.clone();
        self.on(&path, move |fake, asked| {
            let mut reply = fake.good(&Asked { path: at.clone(), ..asked.clone() });
            let mut document: Value = serde_json::from_str(&reply.body).unwrap();
            for (name, value) in members.as_object().unwrap() {
                match value {
                    Value::Null => document.as_object_mut().unwrap().remove(name),
                    value => document.as_object_mut().unwrap().insert(name.clone(), value.clone()),
                };
            }
            reply.body = document.to_string();
            reply
        });
    }

    pub(super) fn asked(&self, path: &str) -> Vec<Asked> {
        self.state.lock().unwrap().asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.state
            .lock()
            .unwrap()
            .asked
            .iter()
            .map(|asked| format!("{} {}", asked.method, asked.path))
            .collect()
    }

    pub(super) fn resource(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.base)).unwrap()
    }

    /// Settings of a sign-in here in which no browser is opened.
    pub(super) fn settings(&self) -> LoginSettings {
        LoginSettings {
            browser: false,
            wait: Duration::from_secs(20),
            probe: Probe::Mcp,
            ..LoginSettings::at(self.resource(), time::OffsetDateTime::now_utc)
        }
    }

    async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let pairs = |text: &[u8]| url::form_urlencoded::parse(text).into_owned().collect::<HashMap<_, _>>();
        let asked = Asked {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: pairs(parts.uri.query().unwrap_or_default().as_bytes()),
            headers: parts.headers,
            form: pairs(&body),
            body: String::from_utf8(body.to_vec()).unwrap(),
        };
        let handler = {
            let mut state = self.state.lock().unwrap();
            state.asked.push(asked.clone());
            state.handlers.get(&asked.path).cloned()
        };
        let reply = match handler {
            Some(handler) => handler(self, &asked),
            None => self.good(&asked),
        };
        tokio::time::sleep(reply.after).await;
        if let Some(mut gate) = reply.gate {
            let _ = gate.wait_for(|open| *open).await;
        }
        let mut response = Response::builder().status(reply.status);
        for (name, value) in reply.headers {
            response = response.header(name, value);
        }
        response.body(Body::from(reply.body)).unwrap()
    }

    /// What a server answers that does all as it should.
    pub(super) fn good(&self, asked: &Asked) -> Reply {
        let base = &self.base;
        match asked.path.as_str() {
            "/mcp" => Reply {
                status: 401,
                headers: vec![(
                    "www-authenticate",
                    format!("Bearer resource_metadata=\"{base}{RESOURCE}\", scope=\"tools:read\""),
                )],
                ..Reply::default()
            },
            RESOURCE => reply(
                200,
                json!({
                    "resource": format!("{base}/mcp"), "authorization_servers": [base],
                    "scopes_supported": ["tools:read", "tools:write", "approvals:decide"],
                }),
            ),
            SERVER => reply(
                200,
                json!({
                    "issuer": base,
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": format!("{base}/register"),
                    "revocation_endpoint": format!("{base}/revoke"),
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported":
                        ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
                    "authorization_response_iss_parameter_supported": true,
                }),
            ),
            "/register" => reply(201, json!({ "client_id": "registered" })),
            "/authorize" => {
                self.state.lock().unwrap().challenge.clone_from(&asked.query["code_challenge"]);
                let mut to = Url::parse(&asked.query["redirect_uri"]).unwrap();
                to.query_pairs_mut()
                    .append_pair("code", "code-canary")
                    .append_pair("state", &asked.query["state"])
                    .append_pair("iss", base);
                redirect(to.into())
            }
            "/token" => self.token(asked),
            "/revoke" => Reply { status: 200, ..Reply::default() },
            _ => reply(404, json!({})),
        }
    }

    fn token(&self, asked: &Asked) -> Reply {
        let mut state = self.state.lock().unwrap();
        let refused = |code: &str| reply(400, json!({ "error": code }));
        match asked.form["grant_type"].as_str() {
            "authorization_code" => {
                let verifier = Secret::new(asked.form["code_verifier"].clone());
                if asked.form["code"] != "code-canary" || challenge_of(&verifier) != state.challenge {
                    return refused("invalid_grant");
                }
            }
            // A refresh token is good once; used again it takes the family with it.
            "refresh_token" => {
                if state.revoked || asked.form["refresh_token"] != format!("refresh-{}", state.refresh) {
                    state.revoked = true;
                    return refused("invalid_grant");
                }
            }
            "client_credentials" | "urn:ietf:params:oauth:grant-type:token-exchange" => {}
            _ => return refused("unsupported_grant_type"),
        }
        state.refresh += 1;
        let (number, dpop) = (state.refresh, asked.headers.contains_key("dpop"));
        reply(
            200,
            json!({
                "access_token": format!("access-{number}"), "token_type": if dpop { "DPoP" } else { "bearer" },
                "expires_in": 300, "refresh_token": format!("refresh-{number}"),
                "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            }),
        )
    }
}

pub(super) fn http() -> Http {
    Http::default().within(Duration::from_secs(10))
}

/// What a browser does with the page: it follows redirects until it is back.
pub(super) fn browser(event: LoginEvent<'_>) {
    let LoginEvent::Open { url, .. } = event;
    let url = url.clone();
    tokio::spawn(async move {
        let client =
            reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty()).build().unwrap();
        let _ = client.get(url).send().await;
    });
}

/// Where the accounts of `alice`, `bob` and `mallory` are kept.
pub(super) async fn connections(
    folder: &std::path::Path,
    seal: aldgate_approval::SealKey,
) -> Arc<super::upstream::ConnectionStore> {
    let store = aldgate_store::identity::IdentityStore::open(folder).await.unwrap();
    for name in ["alice", "bob", "mallory"] {
        let account = aldgate_store::identity::NewAccount {
            id: name.to_owned(),
            name: name.to_owned(),
            display_name: name.to_owned(),
            tenant: "default".to_owned(),
            roles: Default::default(),
            password: "none".to_owned(),
            one_time_until: None,
            at: 0,
        };
        store.add_account(&account).await.unwrap();
    }
    super::upstream::ConnectionStore::new(Arc::new(store), seal)
}
