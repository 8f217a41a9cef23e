//! Asking issuers: no redirects, 5 seconds, 64 KiB.

use std::time::Duration;

use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap};
use reqwest::redirect::Policy;

/// How long an answer may take, with its body.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST: usize = 64 * 1024;

/// Why an issuer's answer is of no use.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchFault {
    #[error("`{url}` does not answer")]
    Sent { url: String, source: reqwest::Error },
    #[error("the issuer does not answer within {} seconds", PATIENCE.as_secs())]
    Slow,
    #[error("`{url}` answers with status {status}; expected 200")]
    Status { url: String, status: u16 },
    #[error("`{url}` answers with more than {LONGEST} bytes")]
    Long { url: String },
    #[error("the answer is no JSON object without repeated members")]
    Json(#[source] serde_json::Error),
    #[error("the answer holds no `keys` that can be used")]
    NoKeys,
    #[error("the answer holds {found} keys; {most} are read at most")]
    ManyKeys { found: usize, most: usize },
    #[error("the metadata at `{url}` is of issuer `{found}`; expected `{expected}`")]
    Issuer { url: String, found: String, expected: String },
    #[error("the `jwks_uri` `{found}` is no https URL")]
    KeysUrl { found: String },
    #[error("the answer on a token is not as RFC 7662 wants it")]
    Answer,
}

/// An answer of status 200.
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    /// Seconds.
    pub(super) max_age: Option<u64>,
}

/// A client for one issuer.
pub(super) struct Http(reqwest::Client);

impl Http {
    pub(super) fn new(loopback: bool) -> Result<Self, reqwest::Error> {
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .user_agent(concat!("aldgate/", env!("CARGO_PKG_VERSION")));
        if loopback {
            // A machine without certificates can use a server of its own.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        builder.build().map(Self)
    }

    pub(super) async fn get(&self, url: &str) -> Result<Answer, FetchFault> {
        answer(url, self.0.get(url).header(ACCEPT, "application/json")).await
    }

    /// Sends a form, with HTTP Basic.
    pub(super) async fn post(
        &self,
        url: &str,
        (user, password): (&str, &str),
        form: String,
    ) -> Result<Answer, FetchFault> {
        let request = self
            .0
            .post(url)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .basic_auth(user, Some(password))
            .body(form);
        answer(url, request).await
    }
}

async fn answer(url: &str, request: reqwest::RequestBuilder) -> Result<Answer, FetchFault> {
    let url = url.to_owned();
    let failed = |source: reqwest::Error| FetchFault::Sent { url: url.clone(), source: source.without_url() };
    let mut response = request.send().await.map_err(failed)?;
    if response.status() != reqwest::StatusCode::OK {
        return Err(FetchFault::Status { status: response.status().as_u16(), url });
    }
    let max_age = max_age(response.headers());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > LONGEST {
            return Err(FetchFault::Long { url });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { body, max_age })
}

/// `max-age` (RFC 9111 §5.2.2.1); 0 where nothing may be kept.
fn max_age(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut age = None;
    for directive in values.flat_map(|value| value.split(',')).map(str::trim) {
        if directive.eq_ignore_ascii_case("no-store") || directive.eq_ignore_ascii_case("no-cache") {
            return Some(0);
        }
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        if name.eq_ignore_ascii_case("max-age") {
            age = value.trim_matches('"').parse().ok();
        }
    }
    age
}
