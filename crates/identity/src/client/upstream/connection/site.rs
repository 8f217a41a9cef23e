//! The authorization server of one upstream, and what is kept of what it gave.

use std::sync::Arc;

use http::HeaderValue;
use time::OffsetDateTime;

use super::vault::{Connection, Vault};
use super::{ConnectionFault, ConnectionSettings};
use crate::client::discover::Purpose;
use crate::client::http::Http;
use crate::client::metadata::ServerMetadata;
use crate::client::secret::Secret;
use crate::client::token_endpoint::Tokens;

/// What works on connections. A server that gave new tokens takes the old ones no more: whatever asks for some holds the lock
/// of the user's connection, and has to go on to the end.
pub(super) struct Site {
    pub(super) http: Arc<Http>,
    pub(super) settings: ConnectionSettings,
    pub(super) vault: Vault,
}

/// An authorization code, and where it is good.
pub(super) struct Code {
    pub(super) server: ServerMetadata,
    pub(super) code: Secret,
    pub(super) verifier: Secret,
}

impl Site {
    /// Takes the tokens for a code. There is one connection at a time: another account would leave the tokens of the first
    /// one good at the server.
    pub(super) async fn connect(
        &self,
        user: &str,
        with: Code,
        now: OffsetDateTime,
    ) -> Result<(), ConnectionFault> {
        let _lock = self.vault.lock(user).await;
        match self.vault.read(user).await {
            Ok(None) | Err(ConnectionFault::Sealed(_)) => {}
            Ok(Some(_)) => return Err(ConnectionFault::Connected),
            Err(fault) => return Err(fault),
        }
        let form = [
            ("grant_type", "authorization_code"),
            ("code", with.code.expose()),
            ("redirect_uri", self.settings.redirect.as_str()),
            ("code_verifier", with.verifier.expose()),
        ];
        let tokens = self.ask(&with.server, &form, now).await?;
        self.vault.keep(user, &Connection::of(tokens, None), now).await
    }

    /// The connection of a user, with a token that is good now and is not the one that the upstream `refused`.
    pub(super) async fn fresh(
        &self,
        user: &str,
        refused: Option<&HeaderValue>,
        now: OffsetDateTime,
    ) -> Result<Connection, ConnectionFault> {
        let is_good = |kept: &Connection| {
            kept.access().is_fresh(now) && kept.access().authorization().as_ref() != refused
        };
        let kept = self.read(user).await?;
        if is_good(&kept) {
            return Ok(kept);
        }
        let _lock = self.vault.lock(user).await;
        // Another request may have refreshed it while its lock was waited for.
        let kept = self.read(user).await?;
        if is_good(&kept) {
            return Ok(kept);
        }
        match self.refresh(&kept, now).await {
            Ok(next) if self.vault.refreshed(user, &next).await? => Ok(next),
            Ok(_) => Err(ConnectionFault::Ended),
            Err(ConnectionFault::Ended) => {
                self.vault.remove(user).await?;
                Err(ConnectionFault::Ended)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Takes a connection back here, and at the server where that can be told. Says whether it was.
    pub(super) async fn forget(&self, user: &str, now: OffsetDateTime) -> Result<bool, ConnectionFault> {
        let lock = self.vault.lock(user).await;
        // What cannot be opened any more is taken away as well.
        let kept = self.vault.read(user).await.ok().flatten();
        self.vault.take_back(user).await?;
        drop(lock);
        let Some(kept) = kept else { return Ok(false) };
        let Ok(server) = self.server(Purpose::Program).await else { return Ok(false) };
        let Some(url) = &server.revocation_endpoint else { return Ok(false) };
        let (token, kind) = kept.revocable();
        Ok(self.settings.program.endpoint(&self.http).revoke(url, token, kind, now).await.is_ok())
    }

    pub(super) async fn server(&self, purpose: Purpose) -> Result<ServerMetadata, ConnectionFault> {
        Ok(self.settings.program.server(&self.http, purpose).await?)
    }

    async fn read(&self, user: &str) -> Result<Connection, ConnectionFault> {
        match self.vault.read(user).await {
            Ok(Some(kept)) => Ok(kept),
            // What was sealed with another key, or for another resource, is connected anew.
            Ok(None) | Err(ConnectionFault::Sealed(_)) => Err(ConnectionFault::Ended),
            Err(fault) => Err(fault),
        }
    }

    async fn refresh(&self, kept: &Connection, now: OffsetDateTime) -> Result<Connection, ConnectionFault> {
        let refresh = kept.refresh().ok_or(ConnectionFault::Ended)?;
        let server = self.server(Purpose::Program).await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        match self.ask(&server, &form, now).await {
            Ok(tokens) => Ok(Connection::of(tokens, Some(kept))),
            Err(ConnectionFault::Token(fault)) if fault.ends_the_grant() => Err(ConnectionFault::Ended),
            Err(fault) => Err(fault),
        }
    }

    async fn ask(
        &self,
        server: &ServerMetadata,
        form: &[(&str, &str)],
        now: OffsetDateTime,
    ) -> Result<Tokens, ConnectionFault> {
        let url = server.token_endpoint.as_deref().unwrap_or_default();
        Ok(self.settings.program.ask_at(&self.http, url, form, now).await?)
    }
}

/// Whatever a server gave is kept, also where whoever asked for it has left meanwhile.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, ConnectionFault>> + Send + 'static,
) -> Result<T, ConnectionFault> {
    use tracing::Instrument as _;
    tokio::spawn(work.in_current_span()).await.unwrap_or(Err(ConnectionFault::Stopped))
}
