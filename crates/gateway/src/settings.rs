//! What the binary gives the gateway: values, already read and checked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aldgate_contract::Lock;
use aldgate_contract::signature::Keyring;
use aldgate_identity::client::upstream::UpstreamCredential;
use aldgate_identity::resource::{ProofRule, metadata_url};
use aldgate_identity::{Door, Protected, Scopes, scopes};
pub use aldgate_wire::head::Doors;
use axum::Router;
use http::Uri;

/// Bounds on what one request may take.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Bytes of a request's head.
    pub header_bytes: usize,
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Nesting of a request body.
    pub depth: usize,
    /// Bytes of an upstream's answer.
    pub response_bytes: usize,
    /// Requests that are worked on at once.
    pub in_flight: usize,
    /// Connections of agents that are open at once.
    pub connections: usize,
    /// Those of one principal.
    pub in_flight_per_principal: usize,
    /// Calls that one upstream works on at once.
    pub in_flight_per_upstream: usize,
    /// Requests of one principal a second, with twice as many at once; 0 is no limit.
    pub requests_per_second: u32,
    /// How long an upstream may take for one call without progress, and a client for the body of its request.
    pub call_timeout: Duration,
    /// How long an upstream may take for one call, whatever progress it tells of.
    pub longest_call: Duration,
    /// How often a comment keeps a stream alive on which nothing happens. A call without an answer after this time is
    /// answered with a stream.
    pub keep_alive: Duration,
    /// Rounds of input that an upstream may ask for in one call.
    pub rounds: u32,
    /// Elements of one list of an upstream.
    pub list_items: usize,
    /// Pages of one list of an upstream.
    pub list_pages: usize,
    /// Elements on one page of a list for clients.
    pub list_page: usize,
    /// Clients that listen at once.
    pub listens: usize,
    /// Those of one principal.
    pub listens_per_principal: usize,
    /// Resources that one client may listen to at once.
    pub listen_uris: usize,
}

impl Bounds {
    /// The longest that a request may be under way once nothing waits for a person.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest_call.max(self.call_timeout) + Duration::from_secs(5)
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            header_bytes: 64 << 10,
            body_bytes: 1 << 20,
            depth: 64,
            response_bytes: 8 << 20,
            in_flight: 512,
            connections: 2048,
            in_flight_per_principal: 256,
            in_flight_per_upstream: 256,
            requests_per_second: 0,
            call_timeout: Duration::from_secs(60),
            longest_call: Duration::from_secs(300),
            keep_alive: Duration::from_secs(15),
            rounds: 16,
            list_items: 20_000,
            list_pages: 100,
            list_page: 1000,
            listens: 1024,
            listens_per_principal: 64,
            listen_uris: 256,
        }
    }
}

/// Times of an approval.
#[derive(Clone, Debug)]
pub struct ApprovalTimes {
    /// How long it can be decided.
    pub pending_for: Duration,
    /// How long after the decision it can be redeemed.
    pub redeem_within: Duration,
    /// How long a retry waits for a decision before it is asked to come again.
    pub hold: Duration,
}

impl Default for ApprovalTimes {
    fn default() -> Self {
        Self {
            pending_for: Duration::from_secs(24 * 60 * 60),
            redeem_within: Duration::from_secs(10 * 60),
            hold: Duration::from_secs(25),
        }
    }
}

/// How an upstream is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Streamable HTTP at this `http:` URL.
    Http(Uri),
    /// A server inside this process: the router and the path of its endpoint.
    InProcess(Router, String),
}

/// Kinds of input that an upstream may ask the client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MayAsk {
    /// Elicitation by form.
    Form,
    /// Elicitation by URL, to the origins in [`UpstreamSettings::ask_origins`] alone.
    Url,
    /// A message from the client's model.
    Sampling,
    /// The client's root folders.
    Roots,
}

/// What the gateway shows an upstream.
#[derive(Clone)]
pub enum Credential {
    /// Nothing.
    None,
    /// A bearer token.
    Bearer(String),
    /// What a source has at each request: a file, or an authorization server.
    Current(Arc<dyn UpstreamCredential>),
    /// What a source has for each caller.
    OfCallers {
        /// For requests of callers.
        shown: Arc<dyn UpstreamCredential>,
        /// For those of the gateway's own, which compare contracts and hear of changes: any of the others.
        own: Box<Credential>,
    },
}

/// Nothing of a secret is shown.
impl std::fmt::Debug for Credential {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::None => "None",
            Self::Bearer(_) => "Bearer(…)",
            Self::Current(_) => "Current(…)",
            Self::OfCallers { .. } => "OfCallers(…)",
        })
    }
}

/// Which contracts an upstream is held to.
#[derive(Clone, Debug)]
pub enum Pins {
    /// The ones in a reviewed lock.
    Locked(Lock),
    /// Those that it serves when it is first reached; for development alone.
    FirstUse,
}

/// What becomes of a contract whose live definition is not the pinned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDrift {
    /// It is quarantined, whatever changed.
    Quarantine,
    /// It is quarantined where the change is breaking or behavioural; else it is recorded and the pin stays served.
    #[default]
    AllowCompatible,
    /// It is recorded, and the pin stays served.
    Warn,
}

/// How many results that do not fit the pinned output schema quarantine their tool.
#[derive(Clone, Copy, Debug)]
pub struct Violations {
    /// So many, at least 1.
    pub count: u32,
    /// Within this time.
    pub window: Duration,
}

impl Default for Violations {
    fn default() -> Self {
        Self { count: 5, window: Duration::from_secs(600) }
    }
}

/// Whose signatures of contracts count.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    /// The reviewers' public keys.
    pub keyring: Keyring,
    /// Whether a contract that none of them signed is refused.
    pub required: bool,
}

/// One upstream.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// The host's name of it; the first part of `upstream/tool`.
    pub name: String,
    /// What visible tool names begin with; may be empty.
    pub prefix: String,
    /// The tenants that it serves; `None` is every tenant. To all others it does not exist.
    pub tenants: Option<BTreeSet<String>>,
    /// How it is reached.
    pub transport: Transport,
    /// What the gateway shows it. The caller's own token is never sent there.
    pub credential: Credential,
    /// Which contracts it is held to.
    pub pins: Pins,
    /// What it may ask the client for.
    pub may_ask: Vec<MayAsk>,
    /// Origins that a URL may lead to that it asks to have opened, such as `https://login.example.com`.
    pub ask_origins: Vec<String>,
    /// How often its live list is compared with the lock, 1 s to 5 min.
    pub verify_every: Duration,
    /// What becomes of a contract that differs.
    pub on_drift: OnDrift,
}

/// All settings that do not change while the gateway runs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which requests are let in.
    pub doors: Doors,
    /// Bounds on one request.
    pub bounds: Bounds,
    /// Times of approvals.
    pub approvals: ApprovalTimes,
    /// How many results that do not fit quarantine their tool.
    pub violations: Violations,
    /// Where people decide, shown to callers that wait; a URL or a command.
    pub decide_hint: String,
    /// The issuer of the gateway's own authorization server, whose people see at `/approvals` below that URL what waits for a
    /// person; `None` where there is no such server.
    pub approval_pages: Option<String>,
    /// How the gateway is known as a protected resource.
    pub reach: Reach,
}

/// How the gateway is known outside, as the protected resources that tokens are made for.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The URLs of its doors.
    pub doors: aldgate_identity::Doors,
    /// The scopes that a client without a token is told to ask for.
    pub challenged: Scopes,
    /// What of proofs of possession.
    pub proofs: ProofRule,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            doors: aldgate_identity::Doors::at("http://127.0.0.1:7300", "http://127.0.0.1:7301"),
            challenged: Scopes::of([scopes::TOOLS_READ, scopes::TOOLS_WRITE]).unwrap_or_default(),
            proofs: ProofRule::Off,
        }
    }
}

impl Reach {
    /// What a door says of itself when it refuses a request.
    pub(crate) fn protected(&self, door: Door) -> Protected {
        let scope = match door {
            Door::Mcp => Ok(self.challenged.clone()),
            Door::Evidence => Scopes::of([scopes::EVIDENCE_READ]),
            Door::Admin => Scopes::of([scopes::ADMIN, scopes::EVIDENCE_READ, scopes::TOOLS_READ]),
            Door::Decisions => Scopes::of([scopes::APPROVALS_DECIDE]),
        };
        Protected {
            metadata: metadata_url(self.doors.url(door)),
            scope: scope.unwrap_or_default(),
            dpop: self.proofs != ProofRule::Off,
            dpop_only: self.proofs == ProofRule::Require,
        }
    }
}

/// The origin of an `https:` or `http:` URL that names no user: scheme, host in lower case, and the port where it is not
/// the scheme's own (RFC 6454 §6.2).
#[must_use]
pub fn origin_of(url: &str) -> Option<String> {
    let url: http::Uri = url.parse().ok()?;
    let authority = url.authority().filter(|authority| !authority.as_str().contains('@'))?.as_str();
    let (scheme, port) = match url.scheme_str()? {
        "https" => ("https", ":443"),
        "http" => ("http", ":80"),
        _ => return None,
    };
    let host = authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
    Some(format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_origin_has_one_spelling() {
        let of = |url| super::origin_of(url);
        let origin = Some("https://login.example.com".to_owned());
        for url in
            ["https://login.example.com", "https://LOGIN.example.com:443/a?b", "HTTPS://login.example.com/"]
        {
            assert_eq!(of(url), origin, "{url}");
        }
        assert_eq!(of("https://login.example.com:80/").as_deref(), Some("https://login.example.com:80"));
        assert_eq!(of("http://[::1]:8080/").as_deref(), Some("http://[::1]:8080"));
        for url in [
            "https://me@login.example.com/",
            "ftp://login.example.com/",
            "login.example.com",
            "/a",
            "javascript:x",
        ] {
            assert_eq!(of(url), None, "{url}");
        }
    }
}
