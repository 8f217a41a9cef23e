use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, ProtocolVersion,
    UrlElicitationCapability,
};
use rmcp::service::{Peer, RoleClient};
use serde::Serialize;
use thiserror::Error;

use crate::refused::Refused;

/// Tokens of somebody who has signed in: an access token lives shorter than what is done with it.
#[async_trait]
pub trait Renewal: Send + Sync {
    /// A token that is good now; none where there is none to be had. It is asked for before each request.
    async fn current(&self) -> Option<String>;

    /// Another one, after the endpoint refused this one although it had not ended; none where there is no other.
    async fn another(&self, refused: &str) -> Option<String>;
}

/// Where the agent connects to, and as whom.
#[derive(Clone)]
pub struct Endpoint {
    /// The MCP endpoint, `http://HOST:PORT/mcp`.
    pub url: String,
    /// The bearer token, without the word `Bearer`.
    pub token: Option<String>,
    /// Where another token comes from once that one has ended.
    pub renewal: Option<Arc<dyn Renewal>>,
    /// The name that the client gives for itself.
    pub client_name: String,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("renewal", &self.renewal.is_some())
            .field("client_name", &self.client_name)
            .finish()
    }
}

/// What the client declares on every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientProfile {
    /// Elicitation by form. Without it a pending approval is a plain result, and the call is repeated until decided.
    pub declare_form: bool,
    /// Elicitation by address.
    pub declare_url: bool,
}

impl Default for ClientProfile {
    fn default() -> Self {
        Self { declare_form: true, declare_url: false }
    }
}

/// How the endpoint names itself; for display, never proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerIdentity {
    /// Its name, or a note that it gave none.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// The protocol revision in use.
    pub protocol: String,
    /// Its text for models, if any: data, like everything a server writes.
    pub instructions: Option<String>,
}

/// Why no connection came about, or a list could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// The address is of no use.
    #[error("`{url}` is not an MCP address: found {found}, expected `http://HOST:PORT/mcp`")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        found: String,
    },
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be set up")]
    Client(#[source] reqwest::Error),
    /// No connection, or no answer.
    #[error("no MCP server answers at `{url}` ({what}); start it or give another address")]
    Unreachable {
        /// The address.
        url: String,
        /// What happened.
        what: String,
    },
    /// The token is missing or not accepted.
    #[error(
        "`{url}` did not accept the credentials{why}; sign in with `aldgate login`, or set a valid token; a scope that a sign-in \
         does not bring is for whoever runs the gateway to allow"
    )]
    Unauthorized {
        /// The address.
        url: String,
        /// Its reason in brackets, where it gave one.
        why: String,
    },
    /// The endpoint did not take the request.
    #[error("`{url}` did not take the request: {message}")]
    Refused {
        /// The address.
        url: String,
        /// What it said.
        message: String,
        /// The gateway's stable code, `AG-…`, where it gave one.
        ag: Option<String>,
    },
    /// The server speaks another revision.
    #[error("`{url}` does not speak MCP 2026-07-28 ({what})")]
    Revision {
        /// The address.
        url: String,
        /// What it said.
        what: String,
    },
    /// A list was not had.
    #[error("`{url}` did not list its {of}: {what}")]
    List {
        /// The address.
        url: String,
        /// What was to be listed.
        of: &'static str,
        /// What happened.
        what: String,
    },
    /// The list does not end within the bounds.
    #[error(
        "`{url}` lists more than {pages} pages or {elements} {of}, or repeats a page; narrow it or raise the limits"
    )]
    TooLong {
        /// The address.
        url: String,
        /// What was to be listed.
        of: &'static str,
        /// The bound on pages.
        pages: usize,
        /// The bound on elements.
        elements: usize,
    },
}

impl ConnectionFault {
    pub(crate) fn refused(url: &str, refused: Refused) -> Self {
        Self::Refused { url: url.to_owned(), message: refused.message, ag: refused.code }
    }

    /// The stable code: the gateway's own where it gave one.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Refused { ag: Some(code), .. } => code,
            Self::Refused { ag: None, .. } => "AG-AGENT-STATUS",
            Self::Address { .. } => "AG-AGENT-ADDRESS",
            Self::Client(_) => "AG-AGENT-HTTP",
            Self::Unreachable { .. } => "AG-AGENT-UNREACHABLE",
            Self::Unauthorized { .. } => "AG-AGENT-UNAUTHORIZED",
            Self::Revision { .. } => "AG-AGENT-REVISION",
            Self::List { .. } => "AG-AGENT-LIST",
            Self::TooLong { .. } => "AG-AGENT-LIST-BOUND",
        }
    }
}

impl Endpoint {
    /// Host and port, as traces name them.
    pub(crate) fn address(&self) -> (String, u16) {
        let uri = self.url.parse::<http::Uri>().unwrap_or_default();
        (uri.host().unwrap_or_default().to_owned(), uri.port_u16().unwrap_or(80))
    }

    /// Only `http` is spoken: the endpoint is on this machine, or a proxy that speaks TLS stands before it.
    pub(crate) fn check_address(&self) -> Result<(), ConnectionFault> {
        let fail = |found: &str| ConnectionFault::Address { url: self.url.clone(), found: found.to_owned() };
        let parsed = self.url.parse::<http::Uri>().map_err(|fault| fail(&fault.to_string()))?;
        match (parsed.scheme_str(), parsed.authority()) {
            (Some("http"), Some(_)) => Ok(()),
            (Some(scheme), _) => Err(fail(&format!("the scheme `{scheme}`"))),
            (None, _) => Err(fail("no scheme")),
        }
    }
}

impl ClientProfile {
    pub(crate) fn capabilities(self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        if self.declare_form || self.declare_url {
            let mut elicitation = ElicitationCapability::new();
            if self.declare_form {
                elicitation = elicitation.with_form(FormElicitationCapability::default());
            }
            if self.declare_url {
                elicitation = elicitation.with_url(UrlElicitationCapability::default());
            }
            capabilities.elicitation = Some(elicitation);
        }
        capabilities
    }
}

impl ServerIdentity {
    pub(crate) fn of(peer: &Peer<RoleClient>) -> Self {
        let info = peer.peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.clone());
        Self {
            name: server.as_ref().map_or_else(|| "an unnamed server".to_owned(), |found| found.name.clone()),
            title: server.as_ref().and_then(|found| found.title.clone()),
            version: server.map_or_else(|| "unknown".to_owned(), |found| found.version),
            protocol: info.as_ref().map_or_else(
                || ProtocolVersion::V_2026_07_28.to_string(),
                |info| info.protocol_version.to_string(),
            ),
            instructions: info.and_then(|info| info.instructions.clone()),
        }
    }
}
