//! Asking for tokens, and giving them up (RFC 6749 §3.2 and §5, RFC 7009).

mod authentication;
#[cfg(test)]
mod tests;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use time::{Duration, OffsetDateTime};
use url::Url;
use url::form_urlencoded::Serializer;

use super::address::{AddressFault, Reach, shown};
use super::dpop::{DpopFault, DpopKey};
use super::http::{Answer, Http, HttpFault};
use super::proof_key::NoRandomness;
use super::secret::Secret;
use super::token::AccessToken;
use crate::Scopes;

pub use authentication::{ClientAuthentication, SigningKey};

/// The longest token that fits a header everywhere.
const LONGEST: usize = 16 * 1024;

/// Why there are no tokens. Holds nothing of what was sent.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// No answer, or none that could be read.
    #[error("the token endpoint cannot be used")]
    Http(#[from] HttpFault),
    /// The address is not asked.
    #[error("the token endpoint cannot be used: {0}")]
    Address(#[from] AddressFault),
    /// The server refused (RFC 6749 §5.2).
    #[error("the authorization server refused: `{code}`{description}")]
    Refused {
        /// The error code.
        code: String,
        /// What it says besides, with a separator before it; empty where it says nothing.
        description: String,
    },
    /// Neither tokens nor an error.
    #[error("the token endpoint answered with status {status} and neither tokens nor an error code")]
    Status {
        /// The status.
        status: u16,
    },
    /// A successful answer that is none.
    #[error("the answer of the token endpoint is refused: {0}")]
    Answer(&'static str),
    /// The client cannot sign.
    #[error("the client's key cannot sign; check the key and its algorithm")]
    Signature,
    /// Possession cannot be proven.
    #[error(transparent)]
    Proof(#[from] DpopFault),
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
}

impl TokenFault {
    /// Whether the grant has ended at the server, so that its refresh token will never be taken again. A client that is not
    /// known, or has another secret now, ends nothing: its operator can put that right.
    #[must_use]
    pub fn ends_the_grant(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == "invalid_grant")
    }
}

/// Where tokens are asked for, and by whom.
#[derive(Clone, Copy)]
pub(super) struct TokenEndpoint<'a> {
    pub(super) http: &'a Http,
    pub(super) reach: Reach,
    /// The server that the client proves to be itself to.
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) authentication: &'a ClientAuthentication,
    /// Tokens are to be bound to it.
    pub(super) key: Option<&'a DpopKey>,
}

/// Tokens that were given.
pub(super) struct Tokens {
    pub(super) access: AccessToken,
    pub(super) refresh: Option<Secret>,
    pub(super) issued_type: Option<String>,
}

#[derive(Deserialize)]
struct Given {
    access_token: Option<Secret>,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
    refresh_token: Option<Secret>,
    scope: Option<String>,
    issued_token_type: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl TokenEndpoint<'_> {
    /// Asks for tokens. `asked` are the scopes that they have where the answer does not say (RFC 6749 §5.1).
    pub(super) async fn ask(
        &self,
        url: &str,
        form: &[(&str, &str)],
        asked: Option<&Scopes>,
        now: OffsetDateTime,
    ) -> Result<Tokens, TokenFault> {
        let url = self.reach.address(url)?;
        let mut nonce = None;
        loop {
            let answer = self.send(&url, form, nonce.as_deref(), now).await?;
            let given: Given = match answer.json(&url) {
                Ok(given) => given,
                Err(_) if answer.status != StatusCode::OK => return Err(self.status(&answer)),
                Err(fault) => return Err(fault.into()),
            };
            let Some(code) = &given.error else {
                return self.tokens(&answer, given, asked, now);
            };
            // A nonce is asked for once; a server that asks again and again would be asked for ever.
            let asked_for = answer.headers.get("dpop-nonce").and_then(|value| value.to_str().ok());
            match asked_for {
                Some(value) if code == "use_dpop_nonce" && self.key.is_some() && nonce.is_none() => {
                    nonce = Some(value.to_owned());
                }
                _ => return Err(self.refused(form, code, given.error_description.as_deref())),
            }
        }
    }

    /// Gives a token up (RFC 7009). A server answers alike whether it knew the token.
    pub(super) async fn revoke(
        &self,
        url: &str,
        token: &Secret,
        kind: &str,
        now: OffsetDateTime,
    ) -> Result<(), TokenFault> {
        let url = self.reach.address(url)?;
        let form = [("token", token.expose()), ("token_type_hint", kind)];
        let answer = self.send(&url, &form, None, now).await?;
        if answer.status.is_success() { Ok(()) } else { Err(self.status(&answer)) }
    }

    async fn send(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        nonce: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Answer, TokenFault> {
        let (headers, body) = self.request(url, form, nonce, now)?;
        Ok(self.http.post(self.reach, url, headers, body).await?)
    }

    fn request(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        nonce: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<(HeaderMap, String), TokenFault> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        if let Some(key) = self.key {
            headers.insert("dpop", key.proof("POST", url.as_str(), nonce, None, now)?);
        }
        let mut body = Serializer::new(String::new());
        body.extend_pairs(form);
        self.authentication.add(self.client_id, self.issuer, now, &mut headers, &mut body)?;
        Ok((headers, body.finish()))
    }

    fn tokens(
        &self,
        answer: &Answer,
        given: Given,
        asked: Option<&Scopes>,
        now: OffsetDateTime,
    ) -> Result<Tokens, TokenFault> {
        if answer.status != StatusCode::OK {
            return Err(self.status(answer));
        }
        let token = given.access_token.ok_or(TokenFault::Answer("it has no `access_token`"))?;
        let is_sendable = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if token.expose().len() > LONGEST || !is_sendable(token.expose()) {
            return Err(TokenFault::Answer("its `access_token` cannot be sent in a header"));
        }
        let kind = given.token_type.unwrap_or_default();
        let key = match (kind.to_ascii_lowercase().as_str(), self.key) {
            ("bearer", _) => None,
            ("dpop", Some(key)) => Some(key.clone()),
            _ => return Err(TokenFault::Answer("its `token_type` is not one that was asked for")),
        };
        let scopes = match given.scope {
            Some(scope) => {
                let read = Scopes::parse(&scope);
                Some(read.map_err(|_| TokenFault::Answer("its `scope` is no list of scopes"))?)
            }
            None => asked.cloned(),
        };
        let expires_at = match given.expires_in {
            None | Some(serde_json::Value::Null) => None,
            Some(value) => Some(
                lifetime(&value)
                    .and_then(|lifetime| now.checked_add(lifetime))
                    .ok_or(TokenFault::Answer("its `expires_in` is no number of seconds"))?,
            ),
        };
        let refresh = given.refresh_token.filter(|token| !token.expose().is_empty());
        let access = AccessToken { token, scopes, expires_at, key };
        Ok(Tokens { access, refresh, issued_type: given.issued_token_type })
    }

    fn status(&self, answer: &Answer) -> TokenFault {
        TokenFault::Status { status: answer.status.as_u16() }
    }

    /// What the server says, unless it says what it was told.
    fn refused(&self, form: &[(&str, &str)], code: &str, description: Option<&str>) -> TokenFault {
        let open = ["grant_type", "redirect_uri", "resource", "scope", "audience", "client_id"];
        let kinds =
            ["subject_token_type", "requested_token_type", "token_type_hint", "client_assertion_type"];
        let sent = form.iter().filter(|(name, _)| !open.contains(name) && !kinds.contains(name));
        let secrets: Vec<&str> = sent.map(|(_, value)| *value).chain(self.authentication.secret()).collect();
        let tells = |text: &str| {
            let decoded: String =
                url::form_urlencoded::parse(text.as_bytes()).map(|(a, b)| format!("{a}={b}&")).collect();
            secrets.iter().any(|secret| text.contains(secret) || decoded.contains(secret))
        };
        let code = if tells(code) { "withheld".to_owned() } else { shown(code) };
        let description = match description {
            Some(text) if tells(text) => {
                " (its description repeats what was sent, and is withheld)".to_owned()
            }
            Some(text) if !text.is_empty() => format!(": `{}`", shown(text)),
            _ => String::new(),
        };
        TokenFault::Refused { code, description }
    }
}

/// Seconds, which some servers write as text; no more than a token of 100 years has.
fn lifetime(value: &serde_json::Value) -> Option<Duration> {
    let seconds = match value {
        serde_json::Value::String(text) => text.parse().ok()?,
        other => other.as_u64()?,
    };
    Some(Duration::seconds(i64::try_from(seconds.min(3_155_760_000)).ok()?))
}
