//! The types of `aldgate.toml`. Their doc comments are the text of `docs/configuration.md`.

mod identity;
mod upstream;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use aldgate_authority::{Prompts, Registry, Resources};
use aldgate_gateway::settings::{ApprovalTimes, Bounds, Violations};
use aldgate_identity::ConfiguredPrincipal;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use identity::{IdentitySection, IssuerSection, PersonSection, ServerSection};
pub(crate) use upstream::{Asking, Drifting, Kind, UpstreamSection};

/// The configuration of one gateway.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The endpoint for agents.
    #[serde(default)]
    pub(crate) gateway: GatewaySection,
    /// The API for approvers, auditors and operators.
    #[serde(default)]
    pub(crate) admin: AdminSection,
    /// Bounds on what one request may take.
    #[serde(default)]
    pub(crate) limits: LimitsSection,
    /// Times of an approval.
    #[serde(default)]
    pub(crate) approvals: ApprovalsSection,
    /// Whose signatures of contracts count.
    #[serde(default)]
    pub(crate) contracts: ContractsSection,
    /// Traces and metrics.
    #[serde(default)]
    pub(crate) telemetry: TelemetrySection,
    /// The host's policies.
    #[serde(default)]
    pub(crate) policy: PolicySection,
    /// Whose tokens are taken.
    #[serde(default)]
    pub(crate) identity: IdentitySection,
    /// Who calls with a token of the configuration.
    #[serde(default)]
    pub(crate) principals: Vec<ConfiguredPrincipal>,
    /// Principals that are one person: who decides an approval is another person than the caller.
    #[serde(default)]
    pub(crate) people: Vec<PersonSection>,
    /// The servers behind the gateway, under the host's name for each.
    #[serde(default)]
    pub(crate) upstreams: BTreeMap<String, UpstreamSection>,
    /// What each tool may do, under the key `upstream/tool`. A tool that is not here is prohibited.
    #[serde(default)]
    pub(crate) registry: Registry,
    /// What may happen with each resource, under the key `upstream/URI` or `upstream/template`. A resource that is not
    /// here is prohibited.
    #[serde(default)]
    pub(crate) resources: Resources,
    /// What may happen with each prompt, under the key `upstream/prompt`. A prompt that is not here is prohibited.
    #[serde(default)]
    pub(crate) prompts: Prompts,
}

impl Config {
    /// Whether the gateway has an authorization server of its own: as configured, else where nobody else gives out tokens and
    /// passwords do not go in the clear to another machine.
    pub(crate) fn runs_a_server(&self) -> bool {
        let identity = &self.identity;
        identity.server.enabled.unwrap_or_else(|| identity.issuers.is_empty() && self.is_reached_safely())
    }

    /// Whether requests come by TLS, or from this machine.
    pub(crate) fn is_reached_safely(&self) -> bool {
        match &self.gateway.public_url {
            // A URL of another form is an error of its own.
            Some(_) => true,
            None => self.gateway.listen.ip().is_loopback() || self.gateway.listen.ip().is_unspecified(),
        }
    }

    /// Whether an upstream of this name serves a tenant.
    pub(crate) fn serves(&self, upstream: &str, tenant: &str) -> bool {
        let served = self.upstreams.get(upstream).and_then(|upstream| upstream.tenants.as_ref());
        served.is_none_or(|served| served.contains(tenant))
    }

    /// The registry of tools, resources and prompts.
    pub(crate) fn registry(&self) -> Registry {
        self.registry.clone().with_resources(self.resources.clone()).with_prompts(self.prompts.clone())
    }
}

/// The endpoint for agents.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GatewaySection {
    /// IP address and port of the MCP endpoint; its path is `/mcp`.
    #[serde(deserialize_with = "address")]
    pub(crate) listen: SocketAddr,
    /// The URL under which agents and people know it, an origin such as `https://gateway.example.com`; where it listens, if
    /// this is left out. Tokens are made for it, and a proxy in front has to be known by it.
    pub(crate) public_url: Option<String>,
    /// Host names beside loopback that requests may be addressed to, without port.
    pub(crate) hosts: Vec<String>,
    /// Origins of browser pages that may send requests. Programs send no `Origin`.
    pub(crate) origins: Vec<String>,
    /// Addresses and networks (`10.0.0.0/8`) of proxies in front, whose `X-Forwarded-For` is believed: who sends wrong passwords is
    /// told apart by it. Each has to write the address at the end that it was called from.
    pub(crate) trusted_proxies: Vec<String>,
    /// Folder of the store (and of the sealing key, where none is configured).
    pub(crate) state_dir: PathBuf,
    /// Environment variable with the secret that states and pending arguments are sealed with, 32 bytes or more.
    /// Without it the gateway makes a key of its own in `state_dir`.
    pub(crate) sealing_key_env: Option<String>,
}

impl Default for GatewaySection {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7300)),
            public_url: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            trusted_proxies: Vec::new(),
            state_dir: PathBuf::from("var/aldgate"),
            sealing_key_env: None,
        }
    }
}

/// The API for approvers, auditors and operators.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AdminSection {
    /// IP address and port of the admin API.
    #[serde(deserialize_with = "address")]
    pub(crate) listen: SocketAddr,
    /// The URL under which people know it, an origin such as `https://admin.example.com`.
    pub(crate) public_url: Option<String>,
}

impl Default for AdminSection {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 7301)), public_url: None }
    }
}

/// Bounds on what one request may take.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsSection {
    /// Bytes of a request's head, 8192 or more.
    pub(crate) header_bytes: usize,
    /// Bytes of a request body.
    pub(crate) body_bytes: usize,
    /// Nesting of a request body, 8 to 100.
    pub(crate) depth: usize,
    /// Bytes of an upstream's answer.
    pub(crate) response_bytes: usize,
    /// Requests that are worked on at once. A request that waits for a person counts.
    pub(crate) in_flight: usize,
    /// Connections of agents that are open at once; the admin API has its own.
    pub(crate) connections: usize,
    /// Those of one principal.
    pub(crate) in_flight_per_principal: usize,
    /// Calls that one upstream works on at once.
    pub(crate) in_flight_per_upstream: usize,
    /// Requests of one principal a second, in bursts of twice as many; 0 is no limit.
    pub(crate) requests_per_second: u32,
    /// How long an upstream may take for one call without telling of progress, and a client for the body of one request,
    /// `1s` to `1h`. Waiting for a person does not count. `timeout_s` of a registry entry takes its place for one tool.
    pub(crate) call_timeout: Span,
    /// How long an upstream may take for one call whatever progress it tells of, `1s` to `24h`.
    pub(crate) longest_call: Span,
    /// How often a comment keeps a stream alive on which nothing happens, `1s` to `1h`. A call without an answer after this
    /// time is answered with a stream.
    pub(crate) keep_alive: Span,
    /// Rounds of input that an upstream may ask for in one call, 0 to 100.
    pub(crate) rounds: u32,
    /// Elements of one list of an upstream. An upstream that lists more is not compared, and nothing of it is served.
    pub(crate) list_items: usize,
    /// Pages of one list of an upstream.
    pub(crate) list_pages: usize,
    /// Elements on one page of a list that clients get.
    pub(crate) list_page: usize,
    /// Clients that listen to changes at once. Each needs a connection too.
    pub(crate) listens: usize,
    /// Those of one principal.
    pub(crate) listens_per_principal: usize,
    /// Resources that one client may subscribe to in one request.
    pub(crate) listen_uris: usize,
    /// So many results that do not fit the pinned output schema, within `output_violations_within`, quarantine their tool.
    pub(crate) output_violations: usize,
    /// The time within which they count, `1s` to `24h`.
    pub(crate) output_violations_within: Span,
}

impl Default for LimitsSection {
    fn default() -> Self {
        let (bounds, violations) = (Bounds::default(), Violations::default());
        Self {
            header_bytes: bounds.header_bytes,
            body_bytes: bounds.body_bytes,
            depth: bounds.depth,
            response_bytes: bounds.response_bytes,
            in_flight: bounds.in_flight,
            connections: bounds.connections,
            in_flight_per_principal: bounds.in_flight_per_principal,
            in_flight_per_upstream: bounds.in_flight_per_upstream,
            requests_per_second: bounds.requests_per_second,
            call_timeout: Span(bounds.call_timeout),
            longest_call: Span(bounds.longest_call),
            keep_alive: Span(bounds.keep_alive),
            rounds: bounds.rounds,
            list_items: bounds.list_items,
            list_pages: bounds.list_pages,
            list_page: bounds.list_page,
            listens: bounds.listens,
            listens_per_principal: bounds.listens_per_principal,
            listen_uris: bounds.listen_uris,
            output_violations: usize::try_from(violations.count).unwrap_or(usize::MAX),
            output_violations_within: Span(violations.window),
        }
    }
}

/// Times of an approval.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ApprovalsSection {
    /// How long an approval can be decided, `1s` to `30days`.
    pub(crate) pending_for: Span,
    /// How long after the decision it can be redeemed, `1s` to `24h`.
    pub(crate) redeem_within: Span,
    /// How long a caller's retry waits for a decision before it is asked to come again, at most `25s`.
    pub(crate) hold: Span,
    /// Where people decide, as callers are told. Left out, it is the page `/approvals` where the gateway has an authorization server
    /// of its own, and `aldgate approvals`.
    pub(crate) decide_with: Option<String>,
}

impl Default for ApprovalsSection {
    fn default() -> Self {
        let times = ApprovalTimes::default();
        Self {
            pending_for: Span(times.pending_for),
            redeem_within: Span(times.redeem_within),
            hold: Span(times.hold),
            decide_with: None,
        }
    }
}

/// Whose signatures of contracts count.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ContractsSection {
    /// Whether a contract that no reviewer signed is refused.
    pub(crate) require_signature: bool,
    /// Public keys of reviewers (Ed25519, JSON Web Keys): a file, relative to this one, or the key itself as a table such as
    /// `{ kty = "OKP", crv = "Ed25519", x = "…" }`. `aldgate contracts key new` makes one.
    pub(crate) keys: Vec<ReviewerKey>,
    /// Keys that no longer count, by `kid` or thumbprint (RFC 7638). What they signed is refused, whether they are listed or
    /// not.
    pub(crate) revoked: Vec<String>,
}

/// A public key of a reviewer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ReviewerKey {
    /// A file with a JSON Web Key.
    File(PathBuf),
    /// A JSON Web Key.
    Key(BTreeMap<String, serde_json::Value>),
}

/// Traces and metrics.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TelemetrySection {
    /// Base URL of a collector that takes OTLP over HTTP (protobuf), such as `http://127.0.0.1:4318`. Without it nothing is
    /// sent. Credentials for it come from the environment variable `OTEL_EXPORTER_OTLP_HEADERS`.
    pub(crate) otlp_endpoint: Option<String>,
    /// Which part of the traces that begin at the gateway is kept, 0 to 1. A trace that a client began is kept where the
    /// client keeps it.
    pub(crate) sample_ratio: f64,
    /// Whether arguments and results of tools stand in spans. They are content of your users.
    pub(crate) content: bool,
    /// Spans that are kept in memory for `aldgate trace`, up to 100000.
    pub(crate) spans: usize,
}

impl Default for TelemetrySection {
    fn default() -> Self {
        Self { otlp_endpoint: None, sample_ratio: 1.0, content: false, spans: 2048 }
    }
}

/// The host's policies.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PolicySection {
    /// Files with Cedar policies, relative to this file. Without a policy nothing is permitted.
    pub(crate) files: Vec<PathBuf>,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        let text = crate::out::plain(&text);
        serde::de::Error::custom(format!(
            "`{text}` is not an IP address with a port; expected one such as `127.0.0.1:7300` or `[::1]:7300`"
        ))
    })
}

/// A length of time, such as `500ms`, `25s`, `10m` or `24h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl Span {
    fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text).map(Self).map_err(|_| {
            serde::de::Error::custom(format!(
                "`{text}` is not a length of time; expected one such as `25s`, `10m` or `24h`"
            ))
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "A length of time, such as `500ms`, `25s`, `10m` or `24h`."})
    }
}

impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(self.0))
    }
}
