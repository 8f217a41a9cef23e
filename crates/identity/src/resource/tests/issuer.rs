//! An issuer on a loopback address, which counts what it is asked.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use super::*;

/// What a path answers.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Page {
    pub(super) fn json(body: &Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.to_string() }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }
}

/// What was asked: path, `Authorization`, body.
pub(super) type Asked = (String, Option<String>, String);

struct Inner {
    pages: Mutex<BTreeMap<String, Page>>,
    asked: Mutex<Vec<Asked>>,
    /// One is taken for each answer.
    answers: Semaphore,
}

pub(super) struct Server {
    pub(super) url: String,
    inner: Arc<Inner>,
}

impl Server {
    pub(super) async fn start() -> Self {
        let inner = Arc::new(Inner {
            pages: Mutex::default(),
            asked: Mutex::default(),
            answers: Semaphore::new(Semaphore::MAX_PERMITS / 2),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, inner }
    }

    pub(super) fn serve(&self, path: &str, page: Page) {
        self.inner.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    pub(super) fn serve_keys(&self, signers: &[&Signer]) {
        let keys: Vec<_> = signers.iter().map(|signer| &signer.jwk).collect();
        self.serve("/keys", Page::json(&json!({"keys": keys})));
    }

    pub(super) fn asked(&self, path: &str) -> usize {
        self.all_asked().iter().filter(|(asked, ..)| asked == path).count()
    }

    /// Waits until a path was asked so often.
    pub(super) async fn until_asked(&self, path: &str, times: usize) {
        let asked = async {
            while self.asked(path) < times {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), asked).await.expect("asked");
    }

    pub(super) fn all_asked(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap().clone()
    }

    /// Nothing is answered until [`Self::release`].
    pub(super) fn hold(&self) {
        let all = self.inner.answers.available_permits();
        self.inner.answers.forget_permits(all);
    }

    pub(super) fn release(&self) {
        self.inner.answers.add_permits(1000);
    }

    /// The claims of [`good`], of this issuer.
    pub(super) fn good(&self) -> Value {
        with(&json!({"iss": self.url}))
    }

    /// Settings that trust it.
    pub(super) fn settings(&self, keys: KeySource) -> Settings {
        let mut settings = settings(keys);
        settings.issuers[0].url = self.url.clone();
        settings
    }

    pub(super) fn verifier(&self) -> Verifier {
        let keys = KeySource::Jwks(format!("{}/keys", self.url));
        Verifier::new(self.settings(keys)).expect("verifier")
    }
}

async fn answer(State(inner): State<Arc<Inner>>, uri: Uri, headers: HeaderMap, body: String) -> Response {
    let authorization = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    inner.asked.lock().unwrap().push((uri.path().to_owned(), authorization, body));
    inner.answers.acquire().await.expect("open").forget();
    let page = inner.pages.lock().unwrap().get(uri.path()).cloned().unwrap_or(Page::status(404));
    let mut response = (StatusCode::from_u16(page.status).unwrap(), page.body).into_response();
    for (name, value) in page.headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}
