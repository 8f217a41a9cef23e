//! Where connections are kept: sealed, in the store of the accounts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use aldgate_approval::SealKey;
use aldgate_store::identity::{ConnectionKey, IdentityStore};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::sync::OwnedMutexGuard;

use super::state::{open, seal};
use super::{ConnectionFault, ConnectionSettings};
use crate::client::keep::digest;
use crate::client::secret::Secret;
use crate::client::token::AccessToken;
use crate::client::token_endpoint::Tokens;
use crate::people::{kept, stored};

type Lock = tokio::sync::Mutex<()>;

/// Where the connections of one gateway are kept. One for each process: a refresh token that rotates is used once, however many
/// configurations there are.
pub struct ConnectionStore {
    store: Arc<IdentityStore>,
    seal: SealKey,
    /// One for each connection that somebody works on.
    locks: Mutex<HashMap<String, Weak<Lock>>>,
}

impl std::fmt::Debug for ConnectionStore {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ConnectionStore").finish_non_exhaustive()
    }
}

impl ConnectionStore {
    /// In this store, sealed with this key.
    #[must_use]
    pub fn new(store: Arc<IdentityStore>, seal: SealKey) -> Arc<Self> {
        Arc::new(Self { store, seal, locks: Mutex::default() })
    }

    /// Ends what a person has connected to an upstream, because the person takes it back: no server is told.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn end(&self, upstream: &str, user: &str) -> Result<(), ConnectionFault> {
        Ok(self.store.disconnect(upstream, user).await?)
    }

    /// The upstreams that a person has connected an account to, and when, the oldest first. One that was connected with two
    /// authorization servers is one: both connections end together.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn of(&self, user: &str) -> Result<Vec<(String, OffsetDateTime)>, ConnectionFault> {
        let mut found: Vec<(String, OffsetDateTime)> = Vec::new();
        for one in self.store.connections_of(user).await? {
            if !found.iter().any(|(upstream, _)| *upstream == one.upstream) {
                found.push((one.upstream, kept(one.connected_at)));
            }
        }
        Ok(found)
    }
}

/// The tokens of one user.
pub(super) struct Connection {
    access: AccessToken,
    refresh: Option<Secret>,
}

/// The connections to one upstream.
pub(super) struct Vault {
    kept: Arc<ConnectionStore>,
    settings: ConnectionSettings,
}

#[derive(Deserialize, Serialize)]
struct Written<S> {
    access_token: S,
    refresh_token: Option<S>,
    expires_at: Option<i64>,
}

/// What a sealed value is for: it opens for no other user, issuer or upstream.
pub(super) fn purpose(what: &str, settings: &ConnectionSettings, user: &str) -> String {
    format!("upstream connection {what} {}", key(settings, user))
}

fn key(settings: &ConnectionSettings, user: &str) -> String {
    let resource = settings.program.resource.as_deref().unwrap_or_default();
    digest(&[&settings.program.issuer, &settings.upstream, resource, user])
}

impl Connection {
    /// What a server gave. One that does not rotate refresh tokens leaves them out.
    pub(super) fn of(tokens: Tokens, before: Option<&Self>) -> Self {
        let refresh = tokens.refresh.or_else(|| before.and_then(|before| before.refresh.clone()));
        Self { access: tokens.access, refresh }
    }

    pub(super) const fn access(&self) -> &AccessToken {
        &self.access
    }

    pub(super) const fn refresh(&self) -> Option<&Secret> {
        self.refresh.as_ref()
    }

    /// The token that takes the others with it, and its kind.
    pub(super) fn revocable(&self) -> (&Secret, &'static str) {
        match &self.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&self.access.token, "access_token"),
        }
    }
}

impl Vault {
    pub(super) fn new(kept: Arc<ConnectionStore>, settings: &ConnectionSettings) -> Self {
        Self { kept, settings: settings.clone() }
    }

    /// What states of this gateway are sealed with.
    pub(super) fn seal(&self) -> &SealKey {
        &self.kept.seal
    }

    fn purpose(&self, user: &str) -> String {
        purpose("kept", &self.settings, user)
    }

    fn key<'a>(&'a self, user: &'a str) -> ConnectionKey<'a> {
        ConnectionKey { issuer: &self.settings.program.issuer, upstream: &self.settings.upstream, user }
    }

    pub(super) async fn read(&self, user: &str) -> Result<Option<Connection>, ConnectionFault> {
        let Some(sealed) = self.kept.store.connection(self.key(user)).await? else { return Ok(None) };
        let written: Written<Secret> = open(&self.kept.seal, &self.purpose(user), &sealed)?;
        let expires_at = written.expires_at.map(OffsetDateTime::from_unix_timestamp).transpose();
        let altered = |_| ConnectionFault::Sealed(aldgate_approval::SealFault::Altered);
        let expires_at = expires_at.map_err(altered)?;
        let access = AccessToken { token: written.access_token, scopes: None, expires_at, key: None };
        Ok(Some(Connection { access, refresh: written.refresh_token }))
    }

    fn sealed(&self, user: &str, connection: &Connection) -> Result<String, ConnectionFault> {
        let written = Written {
            access_token: connection.access.token.expose(),
            refresh_token: connection.refresh.as_ref().map(Secret::expose),
            expires_at: connection.access.expires_at.map(OffsetDateTime::unix_timestamp),
        };
        seal(&self.kept.seal, &self.purpose(user), &written)
    }

    pub(super) async fn keep(
        &self,
        user: &str,
        connection: &Connection,
        now: OffsetDateTime,
    ) -> Result<(), ConnectionFault> {
        let sealed = self.sealed(user, connection)?;
        Ok(self.kept.store.connect(self.key(user), &sealed, stored(now)).await?)
    }

    /// Keeps fresh tokens; `false` where the connection has ended meanwhile.
    pub(super) async fn refreshed(
        &self,
        user: &str,
        connection: &Connection,
    ) -> Result<bool, ConnectionFault> {
        let sealed = self.sealed(user, connection)?;
        Ok(self.kept.store.refresh_connection(self.key(user), &sealed).await?)
    }

    /// Ends what the person has connected to the upstream, with whichever authorization server.
    pub(super) async fn take_back(&self, user: &str) -> Result<(), ConnectionFault> {
        self.kept.end(&self.settings.upstream, user).await
    }

    /// Takes away what has ended at the server.
    pub(super) async fn remove(&self, user: &str) -> Result<(), ConnectionFault> {
        self.kept.store.end_connection(self.key(user)).await?;
        Ok(())
    }

    /// One at a time works on a connection, and nobody waits for the work on another one.
    pub(super) async fn lock(&self, user: &str) -> OwnedMutexGuard<()> {
        let place = key(&self.settings, user);
        let lock = {
            let mut locks = self.kept.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            match locks.get(&place).and_then(Weak::upgrade) {
                Some(lock) => lock,
                None => {
                    let lock = Arc::<Lock>::default();
                    locks.insert(place, Arc::downgrade(&lock));
                    lock
                }
            }
        };
        lock.lock_owned().await
    }
}
