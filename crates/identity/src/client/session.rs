//! What a sign-in left: tokens that are refreshed before they end, and given up when the person signs out.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use time::OffsetDateTime;
use url::Url;

use super::address::Reach;
use super::discover::{Purpose, ServerFault, authorization_server};
use super::http::Http;
use super::keep::{Keep, KeepFault, Kept, Lock};
use super::metadata::ServerMetadata;
use super::register::Preregistered;
use super::secret::Secret;
use super::token::AccessToken;
use super::token_endpoint::{ClientAuthentication, TokenEndpoint, TokenFault};

/// The kept tokens of one account at one resource. Several processes may use them at once: only one refreshes, the others
/// read what it wrote.
#[derive(Clone, Debug)]
pub struct Session {
    http: Arc<Http>,
    keep: Keep,
    resource: Url,
    account: String,
    preregistered: Vec<Preregistered>,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum SessionFault {
    /// Somebody has to sign in.
    #[error("nobody is signed in at `{resource}` as `{account}`{why}; sign in again with `aldgate login`")]
    SignIn {
        /// The resource.
        resource: String,
        /// The account's label.
        account: String,
        /// Why, with a separator before it; empty where nobody ever signed in.
        why: String,
    },
    /// The server cannot be used now. The tokens are kept.
    #[error("the tokens cannot be refreshed now: {0}")]
    Server(ServerFault),
    /// The server gave none, for a reason that may pass. The tokens are kept.
    #[error("the tokens cannot be refreshed now")]
    Refresh(#[source] TokenFault),
    /// What is kept cannot be used.
    #[error(transparent)]
    Keep(#[from] KeepFault),
}

/// What signing out did besides taking the tokens away here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedOut {
    /// The server gave them up as well.
    Revoked,
    /// The server cannot be told, or did not answer: the access token is good there until it ends.
    Here,
    /// Nobody was signed in.
    Nobody,
}

impl Session {
    /// The session of an account at a resource.
    #[must_use]
    pub const fn new(http: Arc<Http>, keep: Keep, resource: Url, account: String) -> Self {
        Self { http, keep, resource, account, preregistered: Vec::new() }
    }

    /// Names clients that authorization servers know beforehand: their credentials are not kept with the tokens.
    #[must_use]
    pub fn knowing(self, preregistered: Vec<Preregistered>) -> Self {
        Self { preregistered, ..self }
    }

    /// A token that is good now, refreshed where it ends within 30 seconds.
    ///
    /// # Errors
    /// Where nobody is signed in, or it cannot be refreshed.
    pub async fn token(&self, now: OffsetDateTime) -> Result<AccessToken, SessionFault> {
        let kept = self.kept()?;
        if kept.access.is_fresh(now) { Ok(kept.access) } else { self.refreshed(&kept, false, now).await }
    }

    /// Another token after a resource refused one although it had not ended.
    ///
    /// # Errors
    /// As [`Self::token`].
    pub async fn after_refusal(
        &self,
        refused: &AccessToken,
        now: OffsetDateTime,
    ) -> Result<AccessToken, SessionFault> {
        let kept = self.kept()?;
        if kept.access.token == refused.token || !kept.access.is_fresh(now) {
            return self.refreshed(&kept, true, now).await;
        }
        Ok(kept.access)
    }

    /// Gives the tokens up at their server (RFC 7009) and takes them away here, whatever the server says.
    ///
    /// # Errors
    /// Where they cannot be taken away.
    pub async fn sign_out(&self, now: OffsetDateTime) -> Result<SignedOut, SessionFault> {
        let Some(kept) = self.keep.latest(self.resource.as_str(), &self.account)? else {
            return Ok(SignedOut::Nobody);
        };
        let _lock = self.keep.lock(kept.key()).await?;
        // Another process may have refreshed them meanwhile.
        let Some(kept) = self.keep.read(kept.key())? else { return Ok(SignedOut::Nobody) };
        self.keep.remove(kept.key())?;
        Ok(if self.revoke(&kept, now).await { SignedOut::Revoked } else { SignedOut::Here })
    }

    fn kept(&self) -> Result<Kept, SessionFault> {
        let kept = self.keep.latest(self.resource.as_str(), &self.account)?;
        kept.ok_or_else(|| self.nobody(String::new()))
    }

    fn nobody(&self, why: String) -> SessionFault {
        let resource = super::address::without_secrets(&self.resource);
        SessionFault::SignIn { resource, account: self.account.clone(), why }
    }

    /// Refreshes `seen`, unless another process has done so while its lock was waited for.
    async fn refreshed(
        &self,
        seen: &Kept,
        is_refused: bool,
        now: OffsetDateTime,
    ) -> Result<AccessToken, SessionFault> {
        let lock = self.keep.lock(seen.key()).await?;
        let Some(kept) = self.keep.read(seen.key())? else { return Err(self.nobody(String::new())) };
        if kept.access.token != seen.access.token && kept.access.is_fresh(now) {
            return Ok(kept.access);
        }
        let Some(refresh) = kept.refresh.clone() else {
            self.keep.remove(kept.key())?;
            return Err(self.nobody(": the token has ended and there is none to refresh it with".to_owned()));
        };
        match self.refresh(&kept, &refresh, &lock, now).await {
            Ok(access) => Ok(access),
            Err(SessionFault::Refresh(fault)) if fault.ends_the_grant() => {
                self.keep.remove(kept.key())?;
                Err(self.nobody(format!(": {fault}")))
            }
            // It is good for some seconds yet, and the server may be back by then.
            Err(SessionFault::Server(_) | SessionFault::Refresh(_))
                if !is_refused && kept.access.expires_at.is_none_or(|end| now < end) =>
            {
                Ok(kept.access)
            }
            Err(fault) => Err(fault),
        }
    }

    async fn refresh(
        &self,
        kept: &Kept,
        refresh: &Secret,
        _lock: &Lock,
        now: OffsetDateTime,
    ) -> Result<AccessToken, SessionFault> {
        let server = self.server(kept).await.map_err(SessionFault::Server)?;
        let authentication = self.authentication(kept)?;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose()),
            ("resource", kept.indicator.as_str()),
        ];
        let endpoint = self.endpoint(kept, &authentication);
        let url = server.token_endpoint.as_deref().unwrap_or_default();
        let asked = endpoint.ask(url, &form, kept.access.scopes.as_ref(), now).await;
        let tokens = asked.map_err(SessionFault::Refresh)?;
        let next = Kept {
            access: tokens.access,
            // A server that does not rotate leaves it out.
            refresh: tokens.refresh.or_else(|| kept.refresh.clone()),
            ..kept.clone()
        };
        if !self.keep.write(&next)? {
            self.keep.remove(kept.key())?;
        }
        Ok(next.access)
    }

    async fn revoke(&self, kept: &Kept, now: OffsetDateTime) -> bool {
        let Ok(server) = self.server(kept).await else { return false };
        let (Some(url), Ok(authentication)) = (&server.revocation_endpoint, self.authentication(kept)) else {
            return false;
        };
        let endpoint = self.endpoint(kept, &authentication);
        // A refresh token takes the access tokens of its grant with it.
        let (token, kind) = match &kept.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&kept.access.token, "access_token"),
        };
        endpoint.revoke(url, token, kind, now).await.is_ok()
    }

    async fn server(&self, kept: &Kept) -> Result<ServerMetadata, ServerFault> {
        authorization_server(&self.http, Reach::of(&self.resource), &kept.issuer, Purpose::Program).await
    }

    fn endpoint<'a>(&'a self, kept: &'a Kept, authentication: &'a ClientAuthentication) -> TokenEndpoint<'a> {
        TokenEndpoint {
            http: &self.http,
            reach: Reach::of(&self.resource),
            issuer: &kept.issuer,
            client_id: &kept.client_id,
            authentication,
            key: kept.access.key.as_ref(),
        }
    }

    /// How the client that the tokens were given to proves to be itself; one that is not known otherwise has no secret.
    fn authentication(&self, kept: &Kept) -> Result<ClientAuthentication, KeepFault> {
        let is_it = |one: &&Preregistered| one.issuer == kept.issuer && one.client_id == kept.client_id;
        if let Some(known) = self.preregistered.iter().find(is_it) {
            return Ok(known.authentication.clone());
        }
        let registered = self.keep.read_client(&kept.issuer)?.filter(|one| one.client_id == kept.client_id);
        Ok(registered.map_or(ClientAuthentication::None, |registered| registered.authentication))
    }
}
