//! The HTTP client that metadata is read with and tokens are asked for.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde::de::DeserializeOwned;
use url::Url;

use super::address::{AddressFault, Reach, is_not_elsewhere, without_secrets};

/// What an answer may hold, in bytes.
const MOST: usize = 256 * 1024;
/// How long a request may take as a whole.
const TIME: Duration = Duration::from_secs(20);

/// A client without redirects, which would carry credentials on, and without a proxy, which would see them. Every answer is
/// bounded in size and time.
pub struct Http {
    roots: Vec<reqwest::Certificate>,
    time: Duration,
    plain: OnceLock<reqwest::Client>,
    secure: OnceLock<reqwest::Client>,
    elsewhere: OnceLock<reqwest::Client>,
}

/// Why there is no answer, or none that may be used.
#[derive(Debug, thiserror::Error)]
pub enum HttpFault {
    /// An address that is not asked.
    #[error(transparent)]
    Address(#[from] AddressFault),
    /// The certificates that are trusted cannot be read.
    #[error("no client for `https` can be made; check the certificates of this machine")]
    Certificates(#[source] reqwest::Error),
    /// No answer.
    #[error("`{url}` does not answer")]
    Unreachable {
        /// Where, without query.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The answer took too long.
    #[error("`{url}` did not answer in full within {seconds} s")]
    Slow {
        /// Where, without query.
        url: String,
        /// How long it had.
        seconds: u64,
    },
    /// The answer is too large.
    #[error("the answer of `{url}` is larger than {MOST} bytes")]
    Large {
        /// Where, without query.
        url: String,
    },
    /// A redirect, and none is followed.
    #[error("`{url}` answered with a redirect ({status}), and none is followed; give the final address")]
    Redirect {
        /// Where, without query.
        url: String,
        /// The status.
        status: u16,
    },
    /// Another status than was expected.
    #[error("`{url}` answered with status {status}, expected 200")]
    Status {
        /// Where, without query.
        url: String,
        /// The status.
        status: u16,
    },
    /// Something else than the JSON that was expected.
    #[error("the answer of `{url}` is not the JSON object that was expected: {why}")]
    Json {
        /// Where, without query.
        url: String,
        /// What is wrong, by place, without any value.
        why: String,
    },
}

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Gives only addresses that a client may connect to.
struct Names(fn(&SocketAddr) -> bool);

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let good = self.0;
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.filter(good).collect();
            if found.is_empty() {
                return Err("the name leads to no address that may be asked".into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::trusting(Vec::new())
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Http")
    }
}

impl Http {
    /// A client that trusts these roots beside those of the machine.
    #[must_use]
    pub const fn trusting(roots: Vec<reqwest::Certificate>) -> Self {
        Self {
            roots,
            time: TIME,
            plain: OnceLock::new(),
            secure: OnceLock::new(),
            elsewhere: OnceLock::new(),
        }
    }

    /// Gives every request this time.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// The client for an address. Made when it is first needed: a machine without certificates can use `http` at itself.
    fn client(&self, reach: Reach, url: &Url) -> Result<&reqwest::Client, HttpFault> {
        reach.check(url)?;
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("aldgate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            .timeout(self.time);
        let roots = self.roots.iter().cloned();
        let (kept, builder) = match (url.scheme(), reach) {
            ("http", _) => {
                let here = Names(|address| address.ip().is_loopback());
                (&self.plain, builder.tls_certs_only(std::iter::empty()).dns_resolver(Arc::new(here)))
            }
            (_, Reach::ThisMachine) => (&self.secure, builder.tls_certs_merge(roots)),
            (_, Reach::Elsewhere) => {
                let elsewhere = Names(|address| !is_not_elsewhere(address.ip()));
                (&self.elsewhere, builder.tls_certs_merge(roots).dns_resolver(Arc::new(elsewhere)))
            }
        };
        if let Some(client) = kept.get() {
            return Ok(client);
        }
        let client = builder.build().map_err(HttpFault::Certificates)?;
        Ok(kept.get_or_init(|| client))
    }

    /// Asks for a document.
    pub(super) async fn get(&self, reach: Reach, url: &Url) -> Result<Answer, HttpFault> {
        let request = self.client(reach, url)?.get(url.clone());
        self.send(url, request.header(http::header::ACCEPT, "application/json")).await
    }

    /// Sends a body, with these headers.
    pub(super) async fn post(
        &self,
        reach: Reach,
        url: &Url,
        headers: HeaderMap,
        body: String,
    ) -> Result<Answer, HttpFault> {
        let request = self.client(reach, url)?.post(url.clone()).headers(headers).body(body);
        self.send(url, request).await
    }

    async fn send(&self, url: &Url, request: reqwest::RequestBuilder) -> Result<Answer, HttpFault> {
        let at = || without_secrets(url);
        let fault = |source: reqwest::Error| match source.is_timeout() {
            true => HttpFault::Slow { url: at(), seconds: self.time.as_secs() },
            false => HttpFault::Unreachable { url: at(), source: source.without_url() },
        };
        let mut response = request.send().await.map_err(fault)?;
        let status = response.status();
        if status.is_redirection() {
            return Err(HttpFault::Redirect { url: at(), status: status.as_u16() });
        }
        let headers = std::mem::take(response.headers_mut());
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(fault)? {
            if body.len().saturating_add(chunk.len()) > MOST {
                return Err(HttpFault::Large { url: at() });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, headers, body: body.freeze() })
    }
}

impl Answer {
    /// The document of a successful answer.
    pub(super) fn document<T: DeserializeOwned>(&self, url: &Url) -> Result<T, HttpFault> {
        if self.status != StatusCode::OK {
            return Err(HttpFault::Status { url: without_secrets(url), status: self.status.as_u16() });
        }
        self.json(url)
    }

    /// The JSON of any answer. The text of its error would hold values of it, so only the place is told.
    pub(super) fn json<T: DeserializeOwned>(&self, url: &Url) -> Result<T, HttpFault> {
        serde_json::from_slice(&self.body).map_err(|fault| {
            let kind = match fault.classify() {
                serde_json::error::Category::Data => "a member is missing or of another type",
                _ => "it is no JSON",
            };
            let why = format!("{kind}, at line {} column {}", fault.line(), fault.column());
            HttpFault::Json { url: without_secrets(url), why }
        })
    }
}
