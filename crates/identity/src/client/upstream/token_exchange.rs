//! A token in the name of the caller (RFC 8693).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::kept::Kept;
use super::{Caller, CredentialFault, Program, SubjectToken, UpstreamCredential, UpstreamHeader};
use crate::client::http::Http;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";

/// How many exchanged tokens are kept.
const MOST_KEPT: u64 = 10_000;
/// How long a token is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// What is exchanged for what.
#[derive(Clone, Debug)]
pub struct TokenExchangeSettings {
    /// The gateway as a client of the server.
    pub program: Program,
    /// The name of the upstream at the server, where it is not known by its URL (RFC 8693 §2.1).
    pub audience: Option<String>,
    /// The issuers whose tokens the server takes.
    pub takes: Vec<String>,
}

/// One token for each token of a caller.
pub struct TokenExchange {
    http: Arc<Http>,
    settings: TokenExchangeSettings,
    /// By the SHA-256 of the caller's token: what a token was exchanged for is used by nobody who does not have that token,
    /// and so no longer than it stands.
    kept: Cache<[u8; 32], Arc<Kept>>,
}

impl std::fmt::Debug for TokenExchange {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TokenExchange").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl TokenExchange {
    /// For one upstream.
    ///
    /// # Errors
    /// Where a scope is asked for that no program may have.
    pub fn new(http: Arc<Http>, settings: TokenExchangeSettings) -> Result<Self, CredentialFault> {
        settings.program.check()?;
        let kept = Cache::builder().max_capacity(MOST_KEPT).time_to_idle(IDLE).build();
        Ok(Self { http, settings, kept })
    }

    /// The token that stands for a caller. It is shown to a server that takes tokens of its issuer, and to no other.
    fn subject<'a>(&self, caller: &'a Caller) -> Result<&'a SubjectToken, CredentialFault> {
        if !self.settings.takes.contains(&caller.principal.issuer) {
            return Err(CredentialFault::Unfit(
                "the token that it sent is of no issuer whose tokens are exchanged for it",
            ));
        }
        caller.token.as_ref().ok_or(CredentialFault::Unfit(
            "the token that it sent is bound to a key of its client, so that nobody else can exchange it",
        ))
    }

    async fn fetch(
        &self,
        subject: &SubjectToken,
        now: OffsetDateTime,
    ) -> Result<super::kept::Fetched, CredentialFault> {
        let TokenExchangeSettings { program, audience, .. } = &self.settings;
        let mut form = vec![
            ("grant_type", GRANT),
            ("subject_token", subject.token.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ];
        form.extend(audience.as_deref().map(|audience| ("audience", audience)));
        let tokens = program.ask(&self.http, &form, now).await?;
        if tokens.access.token == subject.token {
            return Err(CredentialFault::Refused("it is the caller's own, which no upstream may see"));
        }
        if !matches!(tokens.issued_type.as_deref(), Some(ACCESS_TOKEN | JWT)) {
            return Err(CredentialFault::Refused("its `issued_token_type` is not an access token"));
        }
        let mut fetched = program.fetched(&tokens)?;
        // Nothing that comes of a token is good longer than the token.
        fetched.expires_at = [fetched.expires_at, subject.expires_at].into_iter().flatten().min();
        Ok(fetched)
    }
}

fn name(subject: &SubjectToken) -> [u8; 32] {
    Sha256::digest(subject.token.expose().as_bytes()).into()
}

#[async_trait]
impl UpstreamCredential for TokenExchange {
    async fn authorization(
        &self,
        caller: Option<&Caller>,
        now: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        let caller = caller.ok_or(CredentialFault::NoCaller)?;
        let subject = self.subject(caller)?;
        if subject.expires_at.is_some_and(|end| end <= now) {
            return Err(CredentialFault::CallerEnded);
        }
        let kept = self.kept.get_with_by_ref(&name(subject), Arc::default);
        let value = kept.get(now, self.fetch(subject, now)).await?;
        Ok(Some(UpstreamHeader { name: header::AUTHORIZATION, value }))
    }

    fn refused(&self, caller: Option<&Caller>, header: &UpstreamHeader) {
        let kept =
            caller.and_then(|caller| caller.token.as_ref()).and_then(|subject| self.kept.get(&name(subject)));
        if let Some(kept) = kept {
            kept.forget(&header.value);
        }
    }
}
