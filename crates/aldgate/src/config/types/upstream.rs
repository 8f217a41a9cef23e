//! `[upstreams.NAME]`: how a server is reached, what it is shown, and what it may do.

use std::collections::BTreeSet;
use std::path::PathBuf;

use aldgate_identity::client::upstream::ConfiguredCredential;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;

/// How an upstream is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Streamable HTTP.
    Http,
    /// A server of this program, inside its process.
    Inproc,
}

/// What an upstream may ask the caller's client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Asking {
    /// Elicitation by form.
    Form,
    /// Elicitation by URL, to `ask_origins` alone.
    Url,
    /// A message from the client's model.
    Sampling,
    /// The client's root folders.
    Roots,
}

/// What becomes of a contract whose live definition is not the pinned one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Drifting {
    /// It is quarantined, whatever changed.
    Quarantine,
    /// It is quarantined where the change is breaking or behavioural; other changes are recorded.
    #[default]
    AllowCompatible,
    /// It is recorded, and the pinned contract stays served.
    Warn,
}

/// One server behind the gateway.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamSection {
    /// `http` or `inproc`.
    pub(crate) kind: Kind,
    /// The endpoint, `http://host:port/path`; for `kind = "http"`.
    pub(crate) url: Option<String>,
    /// The server inside the process, such as `field-service/tickets`; for `kind = "inproc"`.
    pub(crate) system: Option<String>,
    /// The lock with its reviewed contracts, relative to this file. `aldgate contracts pin` writes it.
    pub(crate) lock: PathBuf,
    /// What visible tool names begin with.
    #[serde(default)]
    pub(crate) prefix: String,
    /// The tenants that it serves. To principals of all others it does not exist. Needed as soon as principals of two tenants can
    /// call, be it with a token of the configuration, from an issuer, or with an account (`identity.server.tenants`).
    pub(crate) tenants: Option<BTreeSet<String>>,
    /// Environment variable with the bearer token that the gateway shows this upstream.
    pub(crate) bearer_env: Option<String>,
    /// What the gateway shows this upstream, where it is not a token in a variable.
    pub(crate) credential: Option<ConfiguredCredential>,
    /// What it is shown with requests of the gateway's own, which compare its contracts and hear of changes, where `credential` is
    /// one of each caller: of kind `none`, `header` or `client_credentials`. Nothing, where this is left out.
    pub(crate) own_credential: Option<ConfiguredCredential>,
    /// What this upstream may ask the caller's client for. Nothing, unless it stands here.
    #[serde(default)]
    pub(crate) may_ask: Vec<Asking>,
    /// Origins that a URL may lead to that this upstream asks to have opened, such as `https://login.example.com`.
    #[serde(default)]
    pub(crate) ask_origins: Vec<String>,
    /// How often its live contracts are compared with the lock, `1s` to `5m`.
    #[serde(default = "every_minute")]
    pub(crate) verify_every: Span,
    /// What becomes of a contract whose live definition is not the pinned one. Breaking and behavioural changes quarantine it
    /// and others are recorded (`allow_compatible`), every change quarantines it (`quarantine`), or all are recorded and the
    /// pinned contract stays served (`warn`).
    #[serde(default)]
    pub(crate) on_drift: Drifting,
}

fn every_minute() -> Span {
    Span::seconds(60)
}
