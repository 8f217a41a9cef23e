use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use super::fault::ModelFault;

#[cfg(test)]
mod tests;

/// Which API a model is asked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The Messages API of Anthropic.
    Anthropic,
    /// Chat completions with tools, as OpenAI made them and many others serve them.
    OpenAi,
}

impl Api {
    /// As OpenTelemetry names it (`gen_ai.provider.name`).
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// The model that is asked where none is named.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi => "gpt-5-mini",
        }
    }

    /// Where the API is served where no base URL is given.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    /// The environment variable that users know to hold the key. This crate reads none; it names it in messages.
    #[must_use]
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    /// What comes after the base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::OpenAi => "/chat/completions",
        }
    }

    /// How many tools a request may hold, where that is documented.
    pub(super) fn max_tools(self) -> Option<usize> {
        match self {
            Self::Anthropic => None,
            Self::OpenAi => Some(128),
        }
    }
}

/// The secret that a service knows its caller by. It is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key; surrounding white space is no part of it. `None` where nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// A text without the key.
    pub(super) fn out_of(&self, text: &str) -> String {
        text.replace(self.reveal(), "…")
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Which model is asked, and where.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// The API.
    pub api: Api,
    /// The model's name, as the service knows it.
    pub model: String,
    /// The part of the address that all of the API's paths share: `https://HOST/v1` for chat completions, `https://HOST`
    /// for the Messages API. Plain `http` only on this machine.
    pub base_url: String,
    /// The key; chat completions on this machine need none.
    pub key: Option<Key>,
    /// The bounds.
    pub limits: ModelLimits,
}

/// The bounds on what a model and its service may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelLimits {
    /// Tokens of one answer (`max_tokens`).
    pub max_answer_tokens: u32,
    /// How often one request is sent at most.
    pub attempts: usize,
    /// The first pause before a request is sent again; each later one is twice as long.
    pub pause: Duration,
    /// The longest pause of our own. A service that asks for a longer one gets it, within `patience`.
    pub max_pause: Duration,
    /// How long all attempts at one request may take together before the last one begins.
    pub patience: Duration,
    /// How long a service may take until its answer begins, and then between two pieces of it.
    pub idle: Duration,
    /// How long one answer may take from its beginning to its end.
    pub longest: Duration,
    /// Bytes of one answer.
    pub max_response: usize,
    /// Bytes of one event in it.
    pub max_event: usize,
    /// Calls in one answer.
    pub max_calls: usize,
    /// Bytes of the arguments of one call.
    pub max_arguments: usize,
    /// Bytes of one tool's result that the model gets to see.
    pub max_result: usize,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            max_answer_tokens: 8192,
            attempts: 5,
            pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(30),
            patience: Duration::from_secs(180),
            idle: Duration::from_secs(120),
            longest: Duration::from_secs(900),
            max_response: 8 << 20,
            max_event: 1 << 20,
            max_calls: 32,
            max_arguments: 256 << 10,
            max_result: 128 << 10,
        }
    }
}

impl ModelLimits {
    /// The pause before attempt `attempt + 1`, between half and the whole of its nominal length: `jitter` is from 0 to 1.
    pub(super) fn pause_after(&self, attempt: usize, jitter: f64) -> Duration {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
        let nominal = self.pause.saturating_mul(1 << doublings).min(self.max_pause);
        nominal.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// A base URL that was looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// Without a slash at its end.
    pub(super) url: String,
    pub(super) host: String,
    pub(super) port: u16,
    /// Whether it is on this machine.
    pub(super) is_local: bool,
    pub(super) is_tls: bool,
}

const EXPECTED: &str = "`https://HOST/PATH`, or `http://` with a loopback address";

impl Base {
    /// A key never goes over a network in the clear: `http` is for loopback addresses.
    pub(super) fn read(url: &str) -> Result<Self, ModelFault> {
        let fail = |shown: &str, found: String| ModelFault::Address {
            url: shown.to_owned(),
            found,
            expected: EXPECTED,
        };
        let parsed = url.trim().parse::<http::Uri>().map_err(|fault| fail("…", fault.to_string()))?;
        let authority = parsed.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        if authority.contains('@') {
            return Err(fail("…", "a user or password in it".to_owned()));
        }
        if parsed.query().is_some() {
            return Err(fail("…", "a query in it".to_owned()));
        }
        let host = parsed.host().unwrap_or_default().to_ascii_lowercase();
        let is_local = is_loopback(&host);
        let is_tls = match parsed.scheme_str() {
            Some("https") => true,
            Some("http") if is_local => false,
            Some("http") => return Err(fail(url, "plain `http` to another machine".to_owned())),
            Some(scheme) => return Err(fail(url, format!("the scheme `{scheme}`"))),
            None => return Err(fail(url, "no scheme".to_owned())),
        };
        let port = parsed.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        Ok(Self { url: url.trim().trim_end_matches('/').to_owned(), host, port, is_local, is_tls })
    }

    /// Whether this is the service that OpenAI or Azure runs, whose newer models take no `max_tokens`.
    pub(super) fn is_openai(&self) -> bool {
        ["openai.com", "openai.azure.com"].iter().any(|domain| {
            self.host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
