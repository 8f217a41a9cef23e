//! Where connections are kept: one sealed file for each user, issuer and upstream.

use std::path::{Path, PathBuf};

use aldgate_approval::SealKey;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::state::{open, seal};
use super::{ConnectionFault, ConnectionSettings};
use crate::client::keep::file::{self, Lock};
use crate::client::keep::{KeepFault, digest};
use crate::client::secret::Secret;
use crate::client::token::AccessToken;
use crate::client::token_endpoint::Tokens;

/// The form of the files.
const VERSION: u32 = 1;

/// The tokens of one user.
pub(super) struct Connection {
    access: AccessToken,
    refresh: Option<Secret>,
}

/// The folder of the connections to one upstream.
pub(super) struct Vault {
    folder: PathBuf,
    seal: SealKey,
    settings: ConnectionSettings,
}

#[derive(Deserialize, Serialize)]
struct File {
    version: u32,
    sealed: String,
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
    pub(super) fn open(
        folder: &Path,
        seal: SealKey,
        settings: &ConnectionSettings,
    ) -> Result<Self, ConnectionFault> {
        file::make_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), seal, settings: settings.clone() })
    }

    fn name(&self, user: &str) -> String {
        format!("connection-{}", key(&self.settings, user))
    }

    fn purpose(&self, user: &str) -> String {
        purpose("kept", &self.settings, user)
    }

    pub(super) fn read(&self, user: &str) -> Result<Option<Connection>, ConnectionFault> {
        let path = file::path(&self.folder, &self.name(user));
        let Some(found) = file::read::<File>(&path)? else { return Ok(None) };
        if found.version != VERSION {
            return Err(KeepFault::Content { path }.into());
        }
        let written: Written<Secret> = open(&self.seal, &self.purpose(user), &found.sealed)?;
        let at = |seconds: i64| OffsetDateTime::from_unix_timestamp(seconds);
        let expires_at = written.expires_at.map(at).transpose();
        let expires_at = expires_at.map_err(|_| KeepFault::Content { path })?;
        let access = AccessToken { token: written.access_token, scopes: None, expires_at, key: None };
        Ok(Some(Connection { access, refresh: written.refresh_token }))
    }

    pub(super) fn write(&self, user: &str, connection: &Connection) -> Result<(), ConnectionFault> {
        let written = Written {
            access_token: connection.access.token.expose(),
            refresh_token: connection.refresh.as_ref().map(Secret::expose),
            expires_at: connection.access.expires_at.map(OffsetDateTime::unix_timestamp),
        };
        let sealed = seal(&self.seal, &self.purpose(user), &written)?;
        Ok(file::replace(&self.folder, &self.name(user), &File { version: VERSION, sealed })?)
    }

    pub(super) fn remove(&self, user: &str) -> Result<(), ConnectionFault> {
        Ok(file::remove(&self.folder, &self.name(user))?)
    }

    pub(super) async fn lock(&self, user: &str) -> Result<Lock, ConnectionFault> {
        Ok(Lock::take(&self.folder, &self.name(user)).await?)
    }
}
