use std::collections::HashSet;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, ElicitationCapability, FormElicitationCapability,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
    UrlElicitationCapability,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::ask::Asker;
use crate::call::{self, CallEvent};
use crate::exchange::{self, Lost, chain};
use crate::outcome::{CallFault, CallOutcome};
use crate::pace::CallLimits;
use crate::tool::ToolSummary;

/// Where the agent connects to, and as whom.
#[derive(Clone)]
pub struct Endpoint {
    /// The MCP endpoint, `http://HOST:PORT/mcp`.
    pub url: String,
    /// The bearer token, without the word `Bearer`.
    pub token: Option<String>,
    /// The name that the client gives for itself.
    pub client_name: String,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .field("token", &self.token.as_ref().map(|_| "…"))
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

/// A connection to one MCP endpoint with revision 2026-07-28. Every request is complete in itself; dropping the
/// connection ends nothing on the server.
pub struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    url: String,
    identity: ServerIdentity,
    profile: ClientProfile,
    limits: CallLimits,
    /// Tools that the host marked read-only in the last complete listing.
    read_only: RwLock<HashSet<String>>,
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
    #[error("`{url}` did not accept the credentials; set a valid token")]
    Unauthorized {
        /// The address.
        url: String,
    },
    /// The server speaks another revision.
    #[error("`{url}` does not speak MCP 2026-07-28 ({what})")]
    Revision {
        /// The address.
        url: String,
        /// What it said.
        what: String,
    },
    /// The tools could not be listed.
    #[error("`{url}` did not list its tools: {what}")]
    List {
        /// The address.
        url: String,
        /// What happened.
        what: String,
    },
    /// The list does not end within the bounds.
    #[error(
        "`{url}` lists more than {pages} pages or {tools} tools, or repeats a page; narrow it or raise the limits"
    )]
    TooManyTools {
        /// The address.
        url: String,
        /// The bound on pages.
        pages: usize,
        /// The bound on tools.
        tools: usize,
    },
}

impl Connection {
    /// Connects with the default profile and limits.
    ///
    /// # Errors
    ///
    /// See [`ConnectionFault`].
    pub async fn open(endpoint: &Endpoint) -> Result<Self, ConnectionFault> {
        Self::open_with(endpoint, ClientProfile::default(), CallLimits::default()).await
    }

    /// Connects and asks the server who it is and what it speaks.
    ///
    /// # Errors
    ///
    /// See [`ConnectionFault`].
    pub async fn open_with(
        endpoint: &Endpoint,
        profile: ClientProfile,
        limits: CallLimits,
    ) -> Result<Self, ConnectionFault> {
        check_address(&endpoint.url)?;
        let client = http_client().map_err(ConnectionFault::Client)?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
            .reinit_on_expired_session(false);
        if let Some(token) = &endpoint.token {
            config = config.auth_header(token.as_str());
        }
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let info = Implementation::new(endpoint.client_name.as_str(), env!("CARGO_PKG_VERSION"));
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let opening = ClientConfig::new(capabilities(profile), info)
            .with_protocol_version(ProtocolVersion::V_2026_07_28)
            .serve_with_lifecycle(transport, lifecycle);
        let service = match tokio::time::timeout(limits.timeout, opening).await {
            Ok(Ok(service)) => service,
            Ok(Err(fault)) => return Err(opening_fault(&endpoint.url, &fault)),
            Err(_) => {
                let what = format!("no answer within {} s", limits.timeout.as_secs_f64());
                return Err(ConnectionFault::Unreachable { url: endpoint.url.clone(), what });
            }
        };
        // A cached list would outlive a change of the caller's rights.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        let identity = identity(service.peer());
        Ok(Self {
            service,
            url: endpoint.url.clone(),
            identity,
            profile,
            limits,
            read_only: RwLock::default(),
        })
    }

    /// How the server names itself.
    #[must_use]
    pub fn identity(&self) -> &ServerIdentity {
        &self.identity
    }

    /// Reads the whole list of tools, and remembers which of them the host marked read-only.
    ///
    /// # Errors
    ///
    /// A fault of [`ConnectionFault`], also when the list exceeds the bounds on pages and tools.
    pub async fn tools(&self) -> Result<Vec<ToolSummary>, ConnectionFault> {
        let mut tools = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor = None;
        loop {
            let page = self.page(cursor).await?;
            tools.extend(page.0);
            cursor = page.1;
            let Some(next) = &cursor else { break };
            let repeated = !seen.insert(next.clone());
            if repeated || seen.len() >= self.limits.max_pages || tools.len() > self.limits.max_tools {
                return Err(ConnectionFault::TooManyTools {
                    url: self.url(),
                    pages: self.limits.max_pages,
                    tools: self.limits.max_tools,
                });
            }
        }
        let marked = tools.iter().filter(|tool| tool.host_says_read_only()).map(|tool| tool.name.clone());
        *self.read_only.write().unwrap_or_else(PoisonError::into_inner) = marked.collect();
        Ok(tools)
    }

    /// Calls one tool and drives the call to its end: questions go to `asker`, a pending approval is waited for.
    ///
    /// Dropping the future cancels the request that is under way.
    ///
    /// # Errors
    ///
    /// See [`CallFault`]; an error result and a refusal are outcomes, not faults.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Value,
        asker: &dyn Asker,
    ) -> Result<CallOutcome, CallFault> {
        self.call_observed(tool, arguments, asker, &|_| ()).await
    }

    /// Like [`Connection::call`], and tells `observer` of every question, repetition and wait.
    ///
    /// # Errors
    ///
    /// See [`CallFault`].
    pub async fn call_observed(
        &self,
        tool: &str,
        arguments: Value,
        asker: &dyn Asker,
        observer: &(dyn Fn(CallEvent) + Send + Sync),
    ) -> Result<CallOutcome, CallFault> {
        call::drive(self, tool, arguments, asker, observer).await
    }

    /// Closes the connection and waits for its task to end.
    pub async fn close(mut self) {
        if let Err(fault) = self.service.close().await {
            tracing::debug!(%fault, "the connection's task did not end cleanly");
        }
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(crate) fn profile(&self) -> ClientProfile {
        self.profile
    }

    pub(crate) fn limits(&self) -> &CallLimits {
        &self.limits
    }

    pub(crate) fn is_read_only(&self, tool: &str) -> bool {
        self.read_only.read().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    async fn page(
        &self,
        cursor: Option<String>,
    ) -> Result<(Vec<ToolSummary>, Option<String>), ConnectionFault> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        });
        let fail = |what: String| ConnectionFault::List { url: self.url(), what };
        match exchange::send(self.peer(), request, self.limits.timeout).await {
            Ok(ServerResult::ListToolsResult(list)) => {
                Ok((list.tools.iter().map(ToolSummary::from_wire).collect(), list.next_cursor))
            }
            Ok(_) => Err(fail("found an answer that is not a list of tools".to_owned())),
            Err(Lost::Unauthorized) => Err(ConnectionFault::Unauthorized { url: self.url() }),
            Err(Lost::Rpc(error)) => Err(fail(format!("error {}: {}", error.code.0, error.message))),
            Err(Lost::NotSent(what) | Lost::Broken(what)) => {
                Err(ConnectionFault::Unreachable { url: self.url(), what })
            }
            Err(Lost::TimedOut) => {
                Err(fail(format!("no answer within {} s", self.limits.timeout.as_secs_f64())))
            }
        }
    }
}

fn capabilities(profile: ClientProfile) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    if profile.declare_form || profile.declare_url {
        let mut elicitation = ElicitationCapability::new();
        if profile.declare_form {
            elicitation = elicitation.with_form(FormElicitationCapability::default());
        }
        if profile.declare_url {
            elicitation = elicitation.with_url(UrlElicitationCapability::default());
        }
        capabilities.elicitation = Some(elicitation);
    }
    capabilities
}

/// No redirects, which would carry the token on; no proxy, which would see it.
fn http_client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(Duration::from_secs(10))
        .pool_max_idle_per_host(0)
        .build()
}

fn check_address(url: &str) -> Result<(), ConnectionFault> {
    let fail = |found: &str| ConnectionFault::Address { url: url.to_owned(), found: found.to_owned() };
    let parsed = url.parse::<http::Uri>().map_err(|fault| fail(&fault.to_string()))?;
    match (parsed.scheme_str(), parsed.authority()) {
        (Some("http"), Some(_)) => Ok(()),
        (Some(scheme), _) => Err(fail(&format!("the scheme `{scheme}`"))),
        (None, _) => Err(fail("no scheme")),
    }
}

fn opening_fault(url: &str, fault: &ClientInitializeError) -> ConnectionFault {
    let url = url.to_owned();
    if fault.is_authorization_required() || fault.auth_challenge().is_some() {
        return ConnectionFault::Unauthorized { url };
    }
    match fault {
        ClientInitializeError::TransportError { .. } | ClientInitializeError::ConnectionClosed(_) => {
            ConnectionFault::Unreachable { url, what: chain(fault) }
        }
        _ => ConnectionFault::Revision { url, what: chain(fault) },
    }
}

fn identity(peer: &Peer<RoleClient>) -> ServerIdentity {
    let info = peer.peer_info();
    let server = info.as_ref().and_then(|info| info.server_info.clone());
    ServerIdentity {
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
