//! The command line of accounts, clients and keys.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::HostFile;

/// Where accounts are kept: the store that the configuration names.
#[derive(Clone, Debug, Args)]
pub(crate) struct IdentityTarget {
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Accounts of people who sign in at the gateway's own authorization server.
#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Make an account. Prints a password that is good once, for a day.
    Add {
        /// What the person signs in with.
        name: String,
        /// A role, as policies name it; may be given several times.
        #[arg(long, value_name = "ROLE")]
        role: Vec<String>,
        /// The tenant, one of `identity.server.tenants`; the only one where there is one.
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
        /// A name to show.
        #[arg(long, value_name = "TEXT")]
        display_name: Option<String>,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// Give a person other roles, another tenant or another name to show. Ends sessions, and what clients were granted.
    Change {
        /// What the person signs in with.
        name: String,
        /// A role, in the place of all that there are; may be given several times.
        #[arg(long, value_name = "ROLE")]
        role: Vec<String>,
        /// Take all roles away.
        #[arg(long, conflicts_with = "role")]
        no_roles: bool,
        /// The tenant, one of `identity.server.tenants`.
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
        /// A name to show.
        #[arg(long, value_name = "TEXT")]
        display_name: Option<String>,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// List the accounts.
    List(IdentityTarget),
    /// Keep a person out: ends sessions, and within seconds what clients were granted.
    Disable {
        /// What the person signs in with.
        name: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// Let a person in again who was disabled.
    Enable {
        /// What the person signs in with.
        name: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// Give a person a new password that is good once. Ends sessions, and what clients were granted.
    Reset {
        /// What the person signs in with.
        name: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
}

/// Keys that tokens are signed with.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Sign with a new key from now on; what the old one signed stays good until it expires.
    Rotate(IdentityTarget),
}

/// Clients that the gateway's own authorization server knows.
#[derive(Debug, Subcommand)]
pub(crate) enum ClientsCommand {
    /// Write a client down. Prints its secret once, where it gets one.
    Add(AddClient),
    /// List the clients, those that registered themselves included.
    List(IdentityTarget),
    /// Give a client nothing any more; what people granted to it is revoked.
    Disable {
        /// Its id.
        id: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// Let a client in again that was disabled. What was revoked stays revoked.
    Enable {
        /// Its id.
        id: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
    /// Forget a client; what people granted to it is revoked.
    Remove {
        /// Its id.
        id: String,
        #[command(flatten)]
        target: IdentityTarget,
    },
}

/// A client that is written down.
#[derive(Clone, Debug, Args)]
pub(crate) struct AddClient {
    /// Its id: letters, digits, `.`, `_` and `-`.
    pub(crate) id: String,
    /// A name to show to people who are asked for their consent; the id where it is left out.
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Where answers may go to, to the last letter; of a loopback address any port. May be given several times.
    #[arg(long, value_name = "URI")]
    pub(crate) redirect: Vec<String>,
    /// Give it a secret.
    #[arg(long, conflicts_with = "keys")]
    pub(crate) secret: bool,
    /// A file with its public keys (a JSON Web Key Set): it signs assertions.
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// The most scopes that it may have, separated by spaces. A service gets these and no others.
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Option<String>,
    /// It may refresh its tokens without the person.
    #[arg(long)]
    pub(crate) refresh: bool,
    /// It may act for itself (client credentials), as a service of this tenant: with `--scope`, and `--secret` or `--keys`.
    #[arg(long, value_name = "TENANT", requires = "scope")]
    pub(crate) service: Option<String>,
    /// A role of the service, as policies name it; may be given several times.
    #[arg(long, value_name = "ROLE", requires = "service")]
    pub(crate) role: Vec<String>,
    /// It may exchange tokens of others for ones of this resource (RFC 8693), with a secret or keys; may be given several
    /// times.
    #[arg(long, value_name = "URL")]
    pub(crate) exchange_for: Vec<String>,
    #[command(flatten)]
    pub(crate) target: IdentityTarget,
}

/// Who signs in where.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoginArguments {
    #[command(flatten)]
    pub(crate) door: DoorArguments,
    /// Scopes to ask for, separated by spaces; those that the gateway names, where they are left out.
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Option<String>,
    /// The authorization server, where the gateway names several.
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    /// The id of this command line at that server, where it was registered there beforehand.
    #[arg(long, value_name = "ID", requires = "issuer")]
    pub(crate) client_id: Option<String>,
    /// Only print the URL, and open no browser.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What somebody signs in for.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoorArguments {
    /// The MCP endpoint.
    #[arg(long, value_name = "URL", env = "ALDGATE_URL", default_value = "http://127.0.0.1:7300/mcp")]
    pub(crate) url: String,
    /// At the admin API instead: for `status`, `audit`, `approvals list` and the like.
    #[arg(long)]
    pub(crate) admin: bool,
    /// The admin API.
    #[arg(long, value_name = "URL", env = "ALDGATE_ADMIN_URL", default_value = "http://127.0.0.1:7301")]
    pub(crate) admin_url: String,
}

/// What somebody signs out of.
#[derive(Clone, Debug, Args)]
pub(crate) struct LogoutArguments {
    #[command(flatten)]
    pub(crate) door: DoorArguments,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
