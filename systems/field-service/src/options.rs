//! How the servers are opened, and why they could not be.

use std::path::PathBuf;
use std::str::FromStr;

use rmcp::model::RequestStateError;
use thiserror::Error;

use crate::content::ContentFault;
use crate::contracts::ContractFault;
use crate::generate::TICKETS;
use crate::store::StoreFault;

/// How to open the servers.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder or file of the SQLite data; `None` is a private temporary file that is removed at the end.
    pub store: Option<PathBuf>,
    /// How many tickets to generate if the store is empty, from 100 to 100,000; 2,000 is usual.
    pub tickets: usize,
    /// The same seed always gives the same data.
    pub seed: u64,
    /// Who may call over HTTP.
    pub access: Access,
    /// Seals the `requestState` of orders. Servers that share callers must share the key.
    pub state_key: [u8; 32],
}

/// The usual number of tickets.
pub const DEFAULT_TICKETS: usize = 2_000;
/// The usual seed.
pub const DEFAULT_SEED: u64 = 20_031;

/// Who may call over HTTP.
#[derive(Clone)]
pub enum Access {
    /// Anyone who can connect.
    Open,
    /// Requests with `Authorization: Bearer` and this secret; others are answered with 401.
    Bearer(String),
}

impl std::fmt::Debug for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Access::Open => "Open",
            Access::Bearer(_) => "Bearer(…)",
        })
    }
}

/// One of the three servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerName {
    /// Ticket history.
    Tickets,
    /// Parts catalogue and ordering.
    Parts,
    /// Technical manuals.
    Manuals,
}

impl ServerName {
    /// All servers.
    pub const ALL: [ServerName; 3] = [ServerName::Tickets, ServerName::Parts, ServerName::Manuals];

    /// The name in addresses and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerName::Tickets => "tickets",
            ServerName::Parts => "parts",
            ServerName::Manuals => "manuals",
        }
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is not one of the three servers.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown server `{name}`, expected tickets, parts or manuals")]
pub struct UnknownServer {
    name: String,
}

impl FromStr for ServerName {
    type Err = UnknownServer;

    fn from_str(name: &str) -> Result<ServerName, UnknownServer> {
        ServerName::ALL
            .into_iter()
            .find(|server| server.as_str() == name)
            .ok_or_else(|| UnknownServer { name: name.to_owned() })
    }
}

/// The servers could not be opened.
#[derive(Debug, Error)]
pub enum OpenFault {
    /// The number of tickets is out of bounds.
    #[error("`{asked}` tickets cannot be generated, expected {} to {}", TICKETS.start(), TICKETS.end())]
    Size {
        /// What was asked for.
        asked: usize,
    },
    /// The secret is empty.
    #[error("the secret of `Access::Bearer` is empty, expected at least one character")]
    EmptySecret,
    /// The store.
    #[error("the field-service data could not be opened")]
    Store(#[from] StoreFault),
    /// The contract file.
    #[error("the field-service contracts could not be read")]
    Contract(#[from] ContractFault),
    /// A content file.
    #[error("the field-service content could not be read")]
    Content(#[from] ContentFault),
    /// The key.
    #[error("the key of the order state cannot be used")]
    Key(#[from] RequestStateError),
    /// What a server says about itself.
    #[error("the identity of a server cannot be written")]
    Identity(#[from] serde_json::Error),
}
