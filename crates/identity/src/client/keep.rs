//! Where tokens and registrations are kept: one file for each, in a folder that only its owner reads.

pub(super) mod file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::proof_key::NoRandomness;
use super::secret::Secret;
use super::token::AccessToken;
use super::{ClientAuthentication, DpopKey};
use crate::Scopes;
use crate::scopes::APPROVALS_DECIDE;

pub(super) use file::Lock;

/// The form of the files.
const VERSION: u32 = 1;

/// A folder of tokens and registrations.
#[derive(Clone, Debug)]
pub struct Keep {
    folder: PathBuf,
}

/// What is wrong with what is kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepFault {
    /// A file or the folder cannot be used.
    #[error("`{path}` cannot be used to keep tokens")]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Others can read it.
    #[error(
        "others on this machine may use `{path}` (its mode is {mode:o}); run `chmod {expected:o} {path}` and sign in again"
    )]
    Open {
        /// Which.
        path: PathBuf,
        /// Its rights.
        mode: u32,
        /// The rights that it has to have.
        expected: u32,
    },
    /// Not what is written here.
    #[error("`{path}` is not as this version writes it; remove it and sign in again")]
    Content {
        /// Which.
        path: PathBuf,
    },
    /// Another process holds it.
    #[error("another process has been refreshing the tokens in `{path}` for too long; end it and try again")]
    Held {
        /// Which.
        path: PathBuf,
    },
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
}

/// What tokens are for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    pub(super) issuer: &'a str,
    pub(super) resource: &'a str,
    pub(super) account: &'a str,
}

/// Tokens that are kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) issuer: String,
    /// The URL that the person gave.
    pub(super) resource: String,
    pub(super) account: String,
    /// The resource as it calls itself.
    pub(super) indicator: String,
    pub(super) client_id: String,
    pub(super) access: AccessToken,
    pub(super) refresh: Option<Secret>,
    pub(super) signed_in_at: OffsetDateTime,
}

#[derive(Deserialize, Serialize)]
struct Written<S> {
    version: u32,
    issuer: String,
    resource: String,
    account: String,
    indicator: String,
    client_id: String,
    access_token: S,
    refresh_token: Option<S>,
    scope: Option<String>,
    expires_at: Option<i64>,
    dpop_key: Option<S>,
    signed_in_at: i64,
}

#[derive(Deserialize, Serialize)]
struct WrittenClient<S> {
    version: u32,
    issuer: String,
    client_id: String,
    method: String,
    client_secret: Option<S>,
    port: Option<u16>,
}

impl Kept {
    pub(super) fn key(&self) -> Key<'_> {
        Key { issuer: &self.issuer, resource: &self.resource, account: &self.account }
    }
}

impl Key<'_> {
    fn name(&self) -> String {
        format!("tokens-{}", digest(&[self.issuer, self.resource, self.account]))
    }
}

pub(super) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

impl Keep {
    /// Opens or makes the folder, mode 0700.
    ///
    /// # Errors
    /// Where it cannot be made, or others may use it.
    pub fn open(folder: &Path) -> Result<Self, KeepFault> {
        file::make_folder(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Writes tokens. What may decide approvals is never written: it would let any program of this person's machine decide
    /// in the person's name. Says whether they were written.
    pub(super) fn write(&self, kept: &Kept) -> Result<bool, KeepFault> {
        if kept.access.scopes.as_ref().is_some_and(|scopes| scopes.has(APPROVALS_DECIDE)) {
            return Ok(false);
        }
        let written = Written {
            version: VERSION,
            issuer: kept.issuer.clone(),
            resource: kept.resource.clone(),
            account: kept.account.clone(),
            indicator: kept.indicator.clone(),
            client_id: kept.client_id.clone(),
            access_token: kept.access.token.expose(),
            refresh_token: kept.refresh.as_ref().map(Secret::expose),
            scope: kept.access.scopes.as_ref().map(ToString::to_string),
            expires_at: kept.access.expires_at.map(OffsetDateTime::unix_timestamp),
            dpop_key: kept.access.key.as_ref().map(|key| key.document().expose()),
            signed_in_at: kept.signed_in_at.unix_timestamp(),
        };
        file::replace(&self.folder, &kept.key().name(), &written)?;
        Ok(true)
    }

    /// The tokens for a key.
    pub(super) fn read(&self, key: Key<'_>) -> Result<Option<Kept>, KeepFault> {
        let path = file::path(&self.folder, &key.name());
        let Some(written) = file::read::<Written<Secret>>(&path)? else { return Ok(None) };
        let kept = read(written).ok_or_else(|| KeepFault::Content { path: path.clone() })?;
        let is_same =
            kept.issuer == key.issuer && kept.resource == key.resource && kept.account == key.account;
        if is_same { Ok(Some(kept)) } else { Err(KeepFault::Content { path }) }
    }

    /// The latest tokens for a resource and an account, of whatever issuer.
    pub(super) fn latest(&self, resource: &str, account: &str) -> Result<Option<Kept>, KeepFault> {
        let mut found: Vec<Kept> = Vec::new();
        for path in file::list(&self.folder, "tokens-")? {
            let written = match file::read::<Written<Secret>>(&path) {
                Ok(Some(written)) => written,
                // A file may be taken away while others are read, and another version's says nothing to this one: whoever
                // is meant by it signs in again.
                Ok(None) | Err(KeepFault::Content { .. }) => continue,
                Err(fault) => return Err(fault),
            };
            if written.resource == resource && written.account == account {
                found.extend(read(written));
            }
        }
        Ok(found.into_iter().max_by_key(|kept| kept.signed_in_at))
    }

    /// Takes tokens away.
    pub(super) fn remove(&self, key: Key<'_>) -> Result<(), KeepFault> {
        file::remove(&self.folder, &key.name())
    }

    /// Waits until no other process refreshes these tokens.
    pub(super) async fn lock(&self, key: Key<'_>) -> Result<Lock, KeepFault> {
        Lock::take(&self.folder, &key.name()).await
    }

    /// Writes who the client is to an issuer.
    pub(super) fn write_client(
        &self,
        issuer: &str,
        client: &super::register::Registration,
    ) -> Result<(), KeepFault> {
        let (ClientAuthentication::Basic(secret) | ClientAuthentication::Post(secret)) =
            &client.authentication
        else {
            return self.write_client_with(issuer, client, None);
        };
        self.write_client_with(issuer, client, Some(secret.expose()))
    }

    fn write_client_with(
        &self,
        issuer: &str,
        client: &super::register::Registration,
        secret: Option<&str>,
    ) -> Result<(), KeepFault> {
        let written = WrittenClient {
            version: VERSION,
            issuer: issuer.to_owned(),
            client_id: client.client_id.clone(),
            method: client.authentication.method().to_owned(),
            client_secret: secret,
            port: client.port,
        };
        file::replace(&self.folder, &client_name(issuer), &written)
    }

    /// Who the client is to an issuer, where it registered itself there.
    pub(super) fn read_client(
        &self,
        issuer: &str,
    ) -> Result<Option<super::register::Registration>, KeepFault> {
        let path = file::path(&self.folder, &client_name(issuer));
        let Some(written) = file::read::<WrittenClient<Secret>>(&path)? else { return Ok(None) };
        let authentication = match (written.method.as_str(), written.client_secret) {
            ("none", None) => ClientAuthentication::None,
            ("client_secret_basic", Some(secret)) => ClientAuthentication::Basic(secret),
            ("client_secret_post", Some(secret)) => ClientAuthentication::Post(secret),
            _ => return Err(KeepFault::Content { path }),
        };
        if written.version != VERSION || written.issuer != issuer {
            return Err(KeepFault::Content { path });
        }
        let (client_id, port) = (written.client_id, written.port);
        Ok(Some(super::register::Registration { client_id, authentication, port }))
    }

    /// Forgets who the client is to an issuer.
    pub(super) fn remove_client(&self, issuer: &str) -> Result<(), KeepFault> {
        file::remove(&self.folder, &client_name(issuer))
    }
}

fn client_name(issuer: &str) -> String {
    format!("client-{}", digest(&[issuer]))
}

fn read(written: Written<Secret>) -> Option<Kept> {
    let at = |seconds: i64| OffsetDateTime::from_unix_timestamp(seconds).ok();
    let access = AccessToken {
        token: written.access_token,
        scopes: written.scope.map(|scope| Scopes::parse(&scope)).transpose().ok()?,
        expires_at: match written.expires_at {
            Some(seconds) => Some(at(seconds)?),
            None => None,
        },
        key: written.dpop_key.map(DpopKey::read).transpose().ok()?,
    };
    Some(Kept {
        issuer: written.issuer,
        resource: written.resource,
        account: written.account,
        indicator: written.indicator,
        client_id: written.client_id,
        access,
        refresh: written.refresh_token,
        signed_in_at: at(written.signed_in_at)?,
    })
    .filter(|_| written.version == VERSION)
}
