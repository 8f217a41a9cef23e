//! Clients, and the three ways to know one: written down beforehand, by a metadata document at the URL that is its id
//! (CIMD), or by its own registration (RFC 7591).

use std::collections::BTreeSet;

use aldgate_store::identity::StoredClient;
use jsonwebtoken::jwk::JwkSet;
use serde::{Deserialize, Serialize};

use super::redirect;
use crate::Scopes;

/// A client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) known: Known,
    pub(super) record: ClientRecord,
    pub(super) secret: Option<Vec<u8>>,
}

/// How a client is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Whoever runs the gateway wrote it down.
    Beforehand,
    /// By the document at its id, from this host.
    Metadata(String),
    /// It told it itself. Nobody checked.
    Itself,
}

/// How a client proves at the token endpoint who it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMethod {
    /// Not at all: a public client.
    #[default]
    #[serde(rename = "none")]
    Public,
    /// By a secret, in the header or in the form.
    #[serde(rename = "client_secret")]
    Secret,
    /// By assertions that it signs (RFC 7523).
    #[serde(rename = "private_key_jwt")]
    Assertion,
}

/// What is known of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientRecord {
    /// A name to show.
    pub name: String,
    /// Where answers may go to.
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// How it proves who it is.
    #[serde(default)]
    pub method: ClientMethod,
    /// Its public keys, for [`ClientMethod::Assertion`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<JwkSet>,
    /// Whether it may refresh.
    #[serde(default)]
    pub refresh: bool,
    /// The most that it may have, separated by spaces; `None`: whatever the person may grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// As whom it may act for itself (`client_credentials`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// The resources for which it may exchange tokens of others (RFC 8693).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchange_for: Vec<String>,
}

/// The principal that a client is when it acts for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The tenant.
    pub tenant: String,
    /// Roles, as policies name them.
    #[serde(default)]
    pub roles: BTreeSet<String>,
}

/// What is wrong with a client.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientFault {
    /// A redirect URI that no client may have.
    #[error("the redirect URI `{found}` cannot be used; expected {expected}")]
    Redirect {
        /// The URI.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A name that cannot be shown.
    #[error("the name has to have 1 to 100 characters, none of them a control character")]
    Name,
    /// Too many.
    #[error("there are {found} redirect URIs; expected 20 at most")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// Nothing that it could do.
    #[error("it has neither a redirect URI nor a service nor resources to exchange tokens for")]
    Useless,
    /// No key, no kept secret, no proof.
    #[error("a client that acts for itself or exchanges tokens needs a secret or keys")]
    Unproven,
    /// No scope that it could get.
    #[error(
        "a client that acts for itself gets the scopes that are written down for it; expected at least one"
    )]
    Unscoped,
    /// Keys that are none.
    #[error("its keys have to be 1 to 10 public ones for ES256, ES384, RS256, PS256 or EdDSA")]
    Keys,
    /// No scopes.
    #[error(transparent)]
    Scope(#[from] crate::ScopeFault),
}

impl ClientRecord {
    /// Checks what holds for clients of all kinds.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ClientFault> {
        // Letters that turn the text around could make the name lie about what follows it.
        let odd = |letter: char| letter.is_control() || crate::shown::reorders(letter);
        if self.name.trim().is_empty() || self.name.chars().count() > 100 || self.name.contains(odd) {
            return Err(ClientFault::Name);
        }
        if self.redirect_uris.len() > 20 {
            return Err(ClientFault::TooMany { found: self.redirect_uris.len() });
        }
        for uri in &self.redirect_uris {
            redirect::place(uri).map_err(|expected| {
                let found = super::refusal::shown(uri);
                ClientFault::Redirect { found, expected }
            })?;
        }
        if self.redirect_uris.is_empty() && self.service.is_none() && self.exchange_for.is_empty() {
            return Err(ClientFault::Useless);
        }
        if self.method == ClientMethod::Public && (self.service.is_some() || !self.exchange_for.is_empty()) {
            return Err(ClientFault::Unproven);
        }
        let count = self.jwks.as_ref().map_or(0, |set| set.keys.len());
        let good = self.jwks.iter().flat_map(|set| &set.keys).all(super::assertion::usable);
        if !good || count > 10 || (self.method == ClientMethod::Assertion) != (count > 0) {
            return Err(ClientFault::Keys);
        }
        let scopes = self.scopes()?;
        if self.service.is_some() && scopes.is_none_or(|scopes| scopes.is_empty()) {
            return Err(ClientFault::Unscoped);
        }
        Ok(())
    }

    /// Checks what holds besides for clients that nobody wrote down.
    pub(super) fn check_stranger(&self) -> Result<(), ClientFault> {
        self.check()?;
        for uri in &self.redirect_uris {
            if let Ok(redirect::Place::Scheme(scheme)) = redirect::place(uri)
                && !redirect::is_of_a_program(&scheme)
            {
                let found = super::refusal::shown(uri);
                let expected = "https, http on 127.0.0.1, [::1] or localhost, or a scheme that is a domain of the client's own in reverse order, such as `com.example.app:`";
                return Err(ClientFault::Redirect { found, expected });
            }
        }
        Ok(())
    }

    /// What is written down of a client of which nothing is known but that it gets nothing.
    pub(super) fn blocked() -> Self {
        Self {
            name: "Known by its document alone".to_owned(),
            redirect_uris: Vec::new(),
            method: ClientMethod::Public,
            jwks: None,
            refresh: false,
            scope: None,
            service: None,
            exchange_for: Vec::new(),
        }
    }

    /// The most that it may have.
    pub(super) fn scopes(&self) -> Result<Option<Scopes>, crate::ScopeFault> {
        self.scope.as_deref().map(Scopes::parse).transpose()
    }

    /// The registered redirect URI that one that was sent is, or the only one where none was sent.
    pub(super) fn redirect<'a>(&'a self, sent: Option<&'a str>) -> Option<&'a str> {
        match (sent, self.redirect_uris.as_slice()) {
            (Some(sent), all) => all.iter().any(|one| redirect::same(one, sent)).then_some(sent),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

impl Client {
    /// A client of the store, unless it is disabled or cannot be read.
    pub(super) fn stored(stored: StoredClient) -> Result<Option<Self>, serde_json::Error> {
        if stored.disabled {
            return Ok(None);
        }
        let known = if stored.dynamic { Known::Itself } else { Known::Beforehand };
        let record = serde_json::from_str(&stored.record)?;
        Ok(Some(Self { id: stored.id, known, record, secret: stored.secret }))
    }
}
