//! What an upstream is shown, as a configuration names it. No secret stands in a configuration: only where one is.

mod fault;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{HeaderName, header};
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use url::Url;
use zeroize::Zeroizing;

use super::{
    ClientCredentials, ConnectionSettings, ConnectionStore, Connections, HeaderCredential, HeaderSource,
    NoCredential, Program, TokenExchange, TokenExchangeSettings, UpstreamCredential,
};
use crate::Scopes;
use crate::client::address::Reach;
use crate::client::http::Http;
use crate::client::secret::Secret;
use crate::client::token_endpoint::{ClientAuthentication, SigningKey};

pub use fault::ConfiguredFault;

/// What an upstream is shown.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// Nothing.
    #[default]
    None,
    /// A header with a value from an environment variable or a file.
    Header,
    /// A token of the gateway itself.
    ClientCredentials,
    /// A token in the caller's name, for the one that the caller sent.
    TokenExchange,
    /// A token of an account that the caller has connected.
    Connection,
}

/// How the gateway proves to be itself at the upstream's authorization server.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ClientMethod {
    /// A secret in a header.
    ClientSecretBasic,
    /// A secret in the form.
    ClientSecretPost,
    /// A signature.
    PrivateKeyJwt,
}

/// What an upstream is shown, and where the secrets for it are.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ConfiguredCredential {
    /// `none`, `header`, `client_credentials`, `token_exchange` or `connection`.
    #[serde(default)]
    pub kind: CredentialKind,
    /// Name of the header; `authorization` where it is left out. For `kind = "header"`.
    pub header: Option<String>,
    /// What stands before the value and a space; `Bearer` for `authorization`, nothing for other headers. For
    /// `kind = "header"`.
    pub scheme: Option<String>,
    /// Environment variable with the header's value, or with the client's secret.
    pub env: Option<String>,
    /// File with the header's value, the client's secret or its private key (PKCS #8, PEM), relative to this file. A header's
    /// is read again once it has changed.
    pub file: Option<PathBuf>,
    /// The upstream's authorization server, to the last letter. For all kinds with tokens.
    pub issuer: Option<String>,
    /// Where tokens are asked for, where the issuer has no metadata that say so.
    pub token_endpoint: Option<String>,
    /// The gateway's identifier at the issuer.
    pub client_id: Option<String>,
    /// `client_secret_basic`, `client_secret_post` or `private_key_jwt`; without it the gateway is a public client, which only
    /// `kind = "connection"` may be.
    pub client_method: Option<ClientMethod>,
    /// Algorithm of the private key, such as `ES256` or `EdDSA`.
    pub algorithm: Option<String>,
    /// What the issuer knows the private key by.
    pub key_id: Option<String>,
    /// What tokens are for (RFC 8707); the upstream's URL where it is left out.
    pub resource: Option<String>,
    /// The upstream's name at the issuer, for `kind = "token_exchange"`.
    pub audience: Option<String>,
    /// The issuers whose tokens the issuer takes in exchange, to the last letter; itself alone where this is left out. A
    /// caller's token goes nowhere else. For `kind = "token_exchange"`.
    pub subject_issuers: Option<Vec<String>>,
    /// Scopes to ask for.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// What credentials are made with.
pub struct Making<'a> {
    /// Asks authorization servers.
    pub http: &'a Arc<Http>,
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// What relative paths are relative to.
    pub base: &'a Path,
    /// Where connections are kept, and the issuer of those who may have one: the gateway's own authorization server, where it
    /// has one.
    pub people: Option<(&'a Arc<ConnectionStore>, &'a str)>,
    /// The gateway's URL for browsers. It takes the answers for an upstream below it, at `connections/<upstream>/callback`: each
    /// has a place of its own, so that no server can pass its answer off as another's.
    pub public: &'a Url,
}

/// What an upstream is shown.
#[derive(Clone, Debug)]
pub struct Made {
    /// The credential.
    pub credential: Arc<dyn UpstreamCredential>,
    /// The same, where users have to connect accounts first.
    pub connections: Option<Arc<Connections>>,
}

impl ConfiguredCredential {
    /// Makes the credential of an upstream with this name and, where it has one, this URL.
    ///
    /// # Errors
    /// Where a member is missing or does not belong to the kind, or a secret is not where it should be.
    pub fn make(
        &self,
        upstream: &str,
        url: Option<&str>,
        making: &Making<'_>,
    ) -> Result<Made, ConfiguredFault> {
        let fault = |why| ConfiguredFault { upstream: upstream.to_owned(), why };
        self.made(upstream, url, making).map_err(fault)
    }

    fn made(&self, upstream: &str, url: Option<&str>, making: &Making<'_>) -> Result<Made, fault::Why> {
        self.check_members()?;
        let alone = |credential| Made { credential, connections: None };
        Ok(match self.kind {
            CredentialKind::None => alone(Arc::new(NoCredential)),
            CredentialKind::Header => alone(Arc::new(self.header(making)?)),
            CredentialKind::ClientCredentials => {
                let program = self.program(url, making)?;
                alone(Arc::new(ClientCredentials::new(Arc::clone(making.http), program)?))
            }
            CredentialKind::TokenExchange => {
                let program = self.program(url, making)?;
                let settings =
                    TokenExchangeSettings { program, audience: self.audience.clone(), takes: self.takes() };
                alone(Arc::new(TokenExchange::new(Arc::clone(making.http), settings)?))
            }
            CredentialKind::Connection => {
                let program = self.program(url, making)?;
                let (kept, people) = making.people.ok_or(fault::Why::NoPeople)?;
                let settings = ConnectionSettings {
                    upstream: upstream.to_owned(),
                    program,
                    page: below(making.public, &["connections", upstream])?,
                    redirect: below(making.public, &["connections", upstream, "callback"])?,
                    people: people.to_owned(),
                };
                let http = Arc::clone(making.http);
                let connections = Arc::new(Connections::new(http, Arc::clone(kept), settings)?);
                Made { credential: Arc::clone(&connections) as _, connections: Some(connections) }
            }
        })
    }

    /// Checks what can be checked without a secret.
    ///
    /// # Errors
    /// Where a member does not belong to the kind.
    pub fn check(&self, upstream: &str) -> Result<(), ConfiguredFault> {
        self.check_members().map_err(|why| ConfiguredFault { upstream: upstream.to_owned(), why })
    }

    /// Whether each caller has a credential of its own.
    #[must_use]
    pub const fn is_of_callers(&self) -> bool {
        matches!(self.kind, CredentialKind::TokenExchange | CredentialKind::Connection)
    }

    /// SHA-256 of the secret where it is now: whether another was put in its place.
    #[must_use]
    pub fn print_of_secret(&self, making: &Making<'_>) -> [u8; 32] {
        let value = self.env.as_deref().and_then(making.env).map(Zeroizing::new);
        let file = self
            .file
            .as_ref()
            .and_then(|file| std::fs::read(making.base.join(file)).ok())
            .map(Zeroizing::new);
        let mut hash = Sha256::new();
        for part in [value.as_ref().map(|value| value.as_bytes()), file.as_ref().map(|file| file.as_slice())]
        {
            hash.update([u8::from(part.is_some())]);
            hash.update(Sha256::digest(part.unwrap_or_default()));
        }
        hash.finalize().into()
    }

    fn takes(&self) -> Vec<String> {
        let own = || self.issuer.clone().into_iter().collect();
        self.subject_issuers.clone().unwrap_or_else(own)
    }

    /// A member that does nothing would let an operator believe that it does.
    fn check_members(&self) -> Result<(), fault::Why> {
        use CredentialKind::{ClientCredentials, Connection, Header, TokenExchange};
        let tokens = &[ClientCredentials, TokenExchange, Connection][..];
        for (member, is_there, kinds) in [
            ("header", self.header.is_some(), &[Header][..]),
            ("scheme", self.scheme.is_some(), &[Header]),
            ("env", self.env.is_some(), &[Header, ClientCredentials, TokenExchange, Connection]),
            ("file", self.file.is_some(), &[Header, ClientCredentials, TokenExchange, Connection]),
            ("issuer", self.issuer.is_some(), tokens),
            // A connection needs the issuer's metadata in any case.
            ("token_endpoint", self.token_endpoint.is_some(), &[ClientCredentials, TokenExchange]),
            ("client_id", self.client_id.is_some(), tokens),
            ("client_method", self.client_method.is_some(), tokens),
            ("algorithm", self.algorithm.is_some(), tokens),
            ("key_id", self.key_id.is_some(), tokens),
            ("resource", self.resource.is_some(), tokens),
            ("audience", self.audience.is_some(), &[TokenExchange]),
            ("subject_issuers", self.subject_issuers.is_some(), &[TokenExchange]),
            ("scopes", !self.scopes.is_empty(), tokens),
        ] {
            if is_there && !kinds.contains(&self.kind) {
                return Err(fault::Why::Unused { member, kind: self.kind.name() });
            }
        }
        Ok(())
    }

    fn header(&self, making: &Making<'_>) -> Result<HeaderCredential, fault::Why> {
        let name = match &self.header {
            Some(name) => {
                HeaderName::try_from(name).map_err(|_| fault::Why::Header { found: name.clone() })?
            }
            None => header::AUTHORIZATION,
        };
        let bearer = || (name == header::AUTHORIZATION).then(|| "Bearer".to_owned());
        let scheme = self.scheme.clone().or_else(bearer);
        let source = match (&self.env, &self.file) {
            (Some(name), None) => HeaderSource::Value(variable(name, making)?),
            (None, Some(file)) => HeaderSource::File(making.base.join(file)),
            _ => return Err(fault::Why::Place),
        };
        Ok(HeaderCredential::new(name, scheme, source)?)
    }

    fn program(&self, url: Option<&str>, making: &Making<'_>) -> Result<Program, fault::Why> {
        let needed = |member: &'static str, value: &Option<String>| {
            value.clone().filter(|value| !value.is_empty()).ok_or(fault::Why::Missing { member })
        };
        let issuer = needed("issuer", &self.issuer)?;
        let parsed =
            Url::parse(&issuer).map_err(|_| fault::Why::Url { member: "issuer", found: issuer.clone() })?;
        let reach = Reach::of(&parsed);
        let address =
            |member, text: &str| reach.address(text).map_err(|fault| fault::Why::Address { member, fault });
        address("issuer", &issuer)?;
        let endpoint =
            self.token_endpoint.as_deref().map(|text| address("token_endpoint", text)).transpose()?;
        let scopes = Scopes::of(self.scopes.iter().map(String::as_str))?;
        let resource = self.resource.clone().or_else(|| url.map(str::to_owned));
        Ok(Program {
            issuer,
            token_endpoint: endpoint,
            client_id: needed("client_id", &self.client_id)?,
            authentication: self.authentication(making)?,
            // One that asks for no resource gets a token for whatever its server thinks of.
            resource: Some(resource.ok_or(fault::Why::Missing { member: "resource" })?),
            scopes: (!scopes.is_empty()).then_some(scopes),
        })
    }

    fn authentication(&self, making: &Making<'_>) -> Result<ClientAuthentication, fault::Why> {
        let secret = || match (&self.env, &self.file) {
            (Some(name), None) => variable(name, making),
            (None, Some(file)) => of_file(&making.base.join(file)),
            _ => Err(fault::Why::Place),
        };
        let Some(method) = self.client_method else {
            return match self.kind {
                CredentialKind::Connection if self.env.is_none() && self.file.is_none() => {
                    Ok(ClientAuthentication::None)
                }
                _ => Err(fault::Why::Missing { member: "client_method" }),
            };
        };
        let is_key = method == ClientMethod::PrivateKeyJwt;
        if !is_key && (self.algorithm.is_some() || self.key_id.is_some()) {
            return Err(fault::Why::NoKey);
        }
        match method {
            ClientMethod::ClientSecretBasic => Ok(ClientAuthentication::Basic(secret()?)),
            ClientMethod::ClientSecretPost => Ok(ClientAuthentication::Post(secret()?)),
            ClientMethod::PrivateKeyJwt => {
                let algorithm =
                    self.algorithm.as_deref().ok_or(fault::Why::Missing { member: "algorithm" })?;
                let key = SigningKey::from_pem(&secret()?, algorithm, self.key_id.clone());
                key.map(ClientAuthentication::Signed)
                    .ok_or(fault::Why::Key { algorithm: algorithm.to_owned() })
            }
        }
    }
}

impl CredentialKind {
    /// As a configuration writes it.
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Header => "header",
            Self::ClientCredentials => "client_credentials",
            Self::TokenExchange => "token_exchange",
            Self::Connection => "connection",
        }
    }
}

/// A page below the gateway's URL.
fn below(public: &Url, path: &[&str]) -> Result<Url, fault::Why> {
    let mut url = public.clone();
    let refused = || fault::Why::Url { member: "public", found: public.to_string() };
    url.path_segments_mut().map_err(|()| refused())?.pop_if_empty().extend(path);
    Ok(url)
}

fn variable(name: &str, making: &Making<'_>) -> Result<Secret, fault::Why> {
    let value = (making.env)(name).filter(|value| !value.trim().is_empty());
    value.map(Secret::new).ok_or_else(|| fault::Why::Variable { name: name.to_owned() })
}

/// One line of a file, or the whole of it where it has several, as keys do.
fn of_file(path: &Path) -> Result<Secret, fault::Why> {
    let unreadable = |source| fault::Why::File { path: path.to_owned(), source };
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(unreadable)?);
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(fault::Why::Empty { path: path.to_owned() });
    }
    Ok(Secret::new(text.to_owned()))
}
