//! The clients that are kept: what `aldgate clients` changes, and where the server looks a client up.

use std::sync::Arc;

use aldgate_store::StoreFault;
use aldgate_store::identity::{IdentityStore, StoredClient};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::client::{Client, ClientFault, ClientMethod, ClientRecord, Known};
use super::documents::{DocumentFault, Documents};
use super::refusal::{Code, Refusal, refuse};
use super::{AuthorizationServer, millis, random};

/// The clients that are kept in the store. Works beside a gateway that runs.
#[derive(Clone)]
pub struct ClientStore(Arc<IdentityStore>);

/// A client that was added. The secret is shown this once.
pub struct AddedClient {
    /// Its `client_id`.
    pub id: String,
    /// Its secret, where it proves who it is by one.
    pub secret: Option<String>,
}

/// A client, as it is listed.
#[derive(Clone, Debug)]
pub struct ListedClient {
    /// Its `client_id`.
    pub id: String,
    /// What is known of it.
    pub record: ClientRecord,
    /// It registered itself.
    pub dynamic: bool,
    /// It gets nothing.
    pub disabled: bool,
    /// When it was written down or registered itself.
    pub created_at: OffsetDateTime,
    /// When it last got a token.
    pub used_at: Option<OffsetDateTime>,
}

/// Why the clients that are kept cannot be changed or listed.
#[derive(Debug, thiserror::Error)]
pub enum ClientsFault {
    /// What is wrong with the client.
    #[error("the client cannot be added: {0}")]
    Client(#[from] ClientFault),
    /// An id of another form.
    #[error(
        "the client id `{found}` cannot be used; expected 1 to 100 letters, digits, `.`, `_` and `-`, and not the form of a client that registered itself"
    )]
    Id {
        /// The id.
        found: String,
    },
    /// Taken already.
    #[error("there is a client `{id}` already; remove it first, or take another id")]
    Taken {
        /// The id.
        id: String,
    },
    /// Not there.
    #[error("there is no client `{id}`; `aldgate clients list` shows those that there are")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A record that is none.
    #[error("the record of client `{id}` cannot be read; the file was changed by something else")]
    Unreadable {
        /// The client.
        id: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// No randomness, no secret.
    #[error("the system's random source does not work")]
    NoRandomness,
}

impl ClientStore {
    /// The clients of a store.
    #[must_use]
    pub const fn new(store: Arc<IdentityStore>) -> Self {
        Self(store)
    }

    /// Writes a client down.
    ///
    /// # Errors
    /// Where it cannot be one, or its id is taken.
    pub async fn add(
        &self,
        id: &str,
        record: &ClientRecord,
        now: OffsetDateTime,
    ) -> Result<AddedClient, ClientsFault> {
        let good = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if id.is_empty() || id.len() > 100 || !id.chars().all(good) || id.starts_with("dyn_") {
            return Err(ClientsFault::Id { found: super::refusal::shown(id) });
        }
        record.check()?;
        let secret = match record.method {
            ClientMethod::Secret => {
                let bytes = random::<32>().map_err(|_| ClientsFault::NoRandomness)?;
                Some(format!("ags_{}", URL_SAFE_NO_PAD.encode(bytes)))
            }
            ClientMethod::Public | ClientMethod::Assertion => None,
        };
        let unreadable = |source| ClientsFault::Unreadable { id: id.to_owned(), source };
        let stored = StoredClient {
            id: id.to_owned(),
            dynamic: false,
            record: serde_json::to_string(record).map_err(unreadable)?,
            secret: secret.as_ref().map(|secret| Sha256::digest(secret.as_bytes()).to_vec()),
            disabled: false,
            created_at: millis(now),
            used_at: None,
        };
        if !self.0.add_client(&stored).await? {
            return Err(ClientsFault::Taken { id: id.to_owned() });
        }
        Ok(AddedClient { id: id.to_owned(), secret })
    }

    /// All clients that are kept.
    ///
    /// # Errors
    /// Where the store does not answer.
    pub async fn list(&self) -> Result<Vec<ListedClient>, ClientsFault> {
        let listed = |stored: StoredClient| {
            let record = serde_json::from_str(&stored.record);
            let record =
                record.map_err(|source| ClientsFault::Unreadable { id: stored.id.clone(), source })?;
            let (created_at, used_at) = (super::at(stored.created_at), stored.used_at.map(super::at));
            let StoredClient { id, dynamic, disabled, .. } = stored;
            Ok(ListedClient { id, record, dynamic, disabled, created_at, used_at })
        };
        self.0.clients().await?.into_iter().map(listed).collect()
    }

    /// Disables a client, or enables it again. A disabled one gets nothing, and what people granted to it is revoked. One that
    /// is known by its document alone can be disabled too: then it is written down as such.
    ///
    /// # Errors
    /// Where there is none.
    pub async fn set_disabled(
        &self,
        id: &str,
        disabled: bool,
        now: OffsetDateTime,
    ) -> Result<(), ClientsFault> {
        if Documents::names_document(id) {
            if !disabled {
                return self.remove(id, now).await;
            }
            let unreadable = |source| ClientsFault::Unreadable { id: id.to_owned(), source };
            let stored = StoredClient {
                id: id.to_owned(),
                dynamic: false,
                record: serde_json::to_string(&ClientRecord::blocked()).map_err(unreadable)?,
                secret: None,
                disabled: true,
                created_at: millis(now),
                used_at: None,
            };
            self.0.add_client(&stored).await?;
        }
        let done = self.0.set_client_disabled(id, disabled, millis(now)).await?;
        if done { Ok(()) } else { Err(ClientsFault::Unknown { id: id.to_owned() }) }
    }

    /// Removes a client, and revokes what people granted to it.
    ///
    /// # Errors
    /// Where there is none.
    pub async fn remove(&self, id: &str, now: OffsetDateTime) -> Result<(), ClientsFault> {
        let done = self.0.remove_client(id, millis(now)).await?;
        if done { Ok(()) } else { Err(ClientsFault::Unknown { id: id.to_owned() }) }
    }
}

impl AuthorizationServer {
    /// The client with this id, where there is one that may be used.
    pub(super) async fn client(&self, id: &str, now: OffsetDateTime) -> Result<Option<Client>, Refusal> {
        let stored = self.store.client(id).await.map_err(|fault| Refusal::ours("client_id", &fault))?;
        if let Some(stored) = stored {
            return Client::stored(stored).map_err(|fault| Refusal::ours("client_id", &fault));
        }
        if !self.settings.client_metadata || !Documents::names_document(id) {
            return Ok(None);
        }
        match self.documents.client(id, now).await {
            Ok(record) => {
                let url = url::Url::parse(id).ok();
                let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default().to_owned();
                let record = ClientRecord::clone(&record);
                Ok(Some(Client { id: id.to_owned(), known: Known::Metadata(host), record, secret: None }))
            }
            Err(fault @ DocumentFault::Busy) => {
                Err(refuse(Code::TemporarilyUnavailable, "client metadata", id, fault.to_string()))
            }
            Err(fault) => Err(refuse(
                Code::InvalidClient,
                "client metadata",
                format!("{id} ({fault})"),
                "a client metadata document at that URL",
            )),
        }
    }
}
