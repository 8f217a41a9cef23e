use std::time::Duration;

use futures::StreamExt as _;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;

use super::config::{Api, Base, Key, ModelConfig, ModelLimits};
use super::fault::ModelFault;
use super::reply::Reply;
use super::talk::Request;
use super::{anthropic, openai, stream};
use crate::exchange::chain;

/// Bytes of an error's body that are read.
const MAX_ERROR: usize = 64 << 10;

/// The service that a model is asked through.
pub(super) struct Service {
    client: reqwest::Client,
    api: Api,
    base: Base,
    url: String,
    key: Option<Key>,
    limits: ModelLimits,
}

/// Something that is told while a request is under way.
pub(super) enum Told {
    Said(String),
    Retried { attempt: usize, after: Duration, cause: String },
}

/// What failed in one attempt and may not fail in the next.
struct Trouble {
    said: String,
    status: Option<u16>,
    /// When the service wants to be asked again.
    retry_after: Option<Duration>,
}

impl Service {
    /// No redirects, which would carry the key on; no proxy, which would see what is asked of a service on this machine.
    pub(super) fn new(config: &ModelConfig) -> Result<Self, ModelFault> {
        let base = Base::read(&config.base_url)?;
        let url = format!("{}{}", base.url, config.api.path());
        if config.key.is_none() && !(config.api == Api::OpenAi && base.is_local) {
            return Err(ModelFault::NoKey { url: base.url, variable: config.api.key_variable() });
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("aldgate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10));
        if !base.is_tls {
            // Nothing that needs them: a machine without certificates can use a model of its own.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        let client = builder.build().map_err(ModelFault::Client)?;
        let (api, key, limits) = (config.api, config.key.clone(), config.limits.clone());
        Ok(Self { client, api, base, url, key, limits })
    }

    /// Host and port.
    pub(super) fn address(&self) -> (&str, u16) {
        (&self.base.host, self.base.port)
    }

    /// The body of a request.
    pub(super) fn body(&self, request: &Request<'_>) -> String {
        match self.api {
            Api::Anthropic => anthropic::body(request).to_string(),
            Api::OpenAi => openai::body(request, self.base.is_openai()).to_string(),
        }
    }

    /// Sends a request, again where that may help, and reads the answer to its end.
    pub(super) async fn ask(
        &self,
        body: &str,
        told: &(dyn Fn(Told) + Send + Sync),
    ) -> Result<Reply, ModelFault> {
        let headers = self.headers()?;
        let began = Instant::now();
        let mut attempt = 1;
        loop {
            let trouble = match self.send(body, &headers).await? {
                Ok(response) => {
                    let reading = stream::read(self.api, response, &self.limits, self.key.as_ref(), told);
                    let done = tokio::time::timeout(self.limits.longest, reading).await;
                    return done.unwrap_or_else(|_| Err(ModelFault::too_slow(self.limits.longest)));
                }
                Err(trouble) => trouble,
            };
            let pause = self.limits.pause_after(attempt, rand::random::<f64>());
            let after = trouble.retry_after.unwrap_or(pause);
            if attempt >= self.limits.attempts || began.elapsed().saturating_add(after) > self.limits.patience
            {
                return Err(self.unavailable(attempt, &trouble));
            }
            attempt += 1;
            told(Told::Retried { attempt, after, cause: trouble.said });
            tokio::time::sleep(after).await;
        }
    }

    fn headers(&self) -> Result<HeaderMap, ModelFault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        if self.api == Api::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
        }
        let Some(key) = &self.key else { return Ok(headers) };
        let (name, value) = match self.api {
            Api::Anthropic => ("x-api-key", key.reveal().to_owned()),
            Api::OpenAi => (AUTHORIZATION.as_str(), format!("Bearer {}", key.reveal())),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| ModelFault::NoHeader { variable: self.api.key_variable() })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// One attempt: a response that is an answer, or what may pass.
    async fn send(
        &self,
        body: &str,
        headers: &HeaderMap,
    ) -> Result<Result<reqwest::Response, Trouble>, ModelFault> {
        let sending = self.client.post(&self.url).headers(headers.clone()).body(body.to_owned()).send();
        let trouble = |said: String| Trouble { said, status: None, retry_after: None };
        let response = match tokio::time::timeout(self.limits.idle, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(fault)) if fault.is_builder() => return Err(ModelFault::Client(fault.without_url())),
            Ok(Err(fault)) => return Ok(Err(trouble(chain(&fault.without_url())))),
            Err(_) => {
                let waited = self.limits.idle.as_secs_f64();
                return Ok(Err(trouble(format!("no answer began within {waited} s"))));
            }
        };
        let status = response.status().as_u16();
        if status == 200 {
            return Ok(Ok(response));
        }
        let retry_after = retry_after(response.headers());
        let said = self.error(response).await;
        if status == 429 || status >= 500 {
            return Ok(Err(Trouble {
                said: format!("HTTP {status}, {said}"),
                status: Some(status),
                retry_after,
            }));
        }
        let (url, variable) = (self.url.clone(), self.api.key_variable());
        let what = match status {
            401 | 403 => return Err(ModelFault::Key { url, status, said, variable }),
            300..=399 => {
                "no redirect is followed: give the address that it names as the base URL, if you trust it"
            }
            404 => "look at the name of the model and at the base URL",
            413 => "give a smaller task, or a principal that sees fewer tools",
            _ => "look at the name of the model and at what the service says",
        };
        Err(ModelFault::Refused { url, status, said, what })
    }

    /// What the service says of an error, cut, and without the key if it should hold that.
    async fn error(&self, response: reqwest::Response) -> String {
        let mut body = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(self.limits.idle, pieces.next()).await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR {
                // The key could be cut in two at the end, and not be found.
                let of_key = self.key.as_ref().map_or(0, |key| key.reveal().len());
                body.truncate(MAX_ERROR.saturating_sub(of_key));
                break;
            }
        }
        let text = String::from_utf8_lossy(&body);
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = json.pointer("/error/message").or(json.get("error")).and_then(Value::as_str);
        let said = said.unwrap_or(if text.trim().is_empty() { "without a word" } else { text.trim() });
        let said = self.key.as_ref().map_or_else(|| said.to_owned(), |key| key.out_of(said));
        cut(&said, 400)
    }

    fn unavailable(&self, attempts: usize, trouble: &Trouble) -> ModelFault {
        let what = match (trouble.status, trouble.retry_after) {
            (_, Some(after)) => format!("it asks for a pause of {} s: try again later", after.as_secs_f64()),
            (Some(429), _) => "try again later, or look at the limits of your account".to_owned(),
            (Some(_), _) => "the service has trouble: try again later".to_owned(),
            (None, _) => "look at the base URL and at the network".to_owned(),
        };
        ModelFault::Unavailable { url: self.url.clone(), attempts, said: trouble.said.clone(), what }
    }
}

/// When a service wants to be asked again: in milliseconds, or in seconds (RFC 9110 §10.2.3). A date is not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Text of a service for a message, on one line and not too long.
pub(super) fn cut(text: &str, characters: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(characters) {
        Some((at, _)) => format!("{} …", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
