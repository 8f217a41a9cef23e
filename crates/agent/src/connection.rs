use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use aldgate_telemetry::Telemetry;
use rmcp::model::{
    ClientConfig, ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    ServerResult, Tool,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use serde_json::Value;

use crate::ask::Asker;
use crate::call::{self, CallEvent};
use crate::endpoint::{ClientProfile, ConnectionFault, Endpoint, ServerIdentity};
use crate::exchange::{self, Lost, chain, reason};
use crate::http::HttpClient;
use crate::outcome::{CallFault, CallOutcome};
use crate::pace::CallLimits;
use crate::refused::Refused;
use crate::tool::ToolSummary;
use crate::trace::{Hop, Within};

/// A connection to one MCP endpoint with revision 2026-07-28. Every request is complete in itself; dropping the
/// connection ends nothing on the server.
pub struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    url: String,
    identity: ServerIdentity,
    profile: ClientProfile,
    limits: CallLimits,
    telemetry: Telemetry,
    /// Host and port.
    address: (String, u16),
    /// Tools that the host marked read-only in the last complete listing.
    read_only: RwLock<HashSet<String>>,
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
        endpoint.check_address()?;
        let client = HttpClient::new(endpoint.renewal.clone()).map_err(ConnectionFault::Client)?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
            .reinit_on_expired_session(false);
        if let Some(token) = &endpoint.token {
            config = config.auth_header(token.as_str());
        }
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let info = Implementation::new(endpoint.client_name.as_str(), env!("CARGO_PKG_VERSION"));
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let opening = ClientConfig::new(profile.capabilities(), info)
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
        let identity = ServerIdentity::of(service.peer());
        Ok(Self {
            service,
            url: endpoint.url.clone(),
            identity,
            profile,
            limits,
            telemetry: Telemetry::off(),
            address: endpoint.address(),
            read_only: RwLock::default(),
        })
    }

    /// Has the requests that are made from now on seen by `telemetry`.
    #[must_use]
    pub fn observed_by(self, telemetry: Telemetry) -> Self {
        Self { telemetry, ..self }
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
        self.tools_within(None).await
    }

    /// The same, as a part of a trace.
    pub(crate) async fn tools_within(
        &self,
        within: Option<&Within>,
    ) -> Result<Vec<ToolSummary>, ConnectionFault> {
        let mut tools = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor = None;
        loop {
            let page = self.page(cursor, within).await?;
            tools.extend(page.0);
            cursor = page.1;
            let Some(next) = &cursor else { break };
            let repeated = !seen.insert(next.clone());
            if repeated || seen.len() >= self.limits.max_pages || tools.len() > self.limits.max_tools {
                return Err(self.too_long("tools"));
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
        self.call_observed(tool, arguments, asker, &|_| (), None).await
    }

    /// Like [`Connection::call`], and tells `observer` of every question, repetition and wait. The requests are made `within` a
    /// part of a trace, where there is one.
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
        within: Option<&Within>,
    ) -> Result<CallOutcome, CallFault> {
        call::drive(self, tool, arguments, asker, observer, within).await
    }

    /// Closes the connection and waits for its task to end.
    pub async fn close(mut self) {
        if let Err(fault) = self.service.close().await {
            tracing::debug!(%fault, "the connection's task did not end cleanly");
        }
    }

    pub(crate) fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// What the requests of this connection have in common.
    pub(crate) fn hop<'a>(&'a self, within: Option<&'a Within>) -> Hop<'a> {
        Hop { telemetry: &self.telemetry, address: &self.address, within }
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

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    async fn page(
        &self,
        cursor: Option<String>,
        within: Option<&Within>,
    ) -> Result<(Vec<ToolSummary>, Option<String>), ConnectionFault> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        });
        match self.list_answer("tools", request, within).await? {
            ServerResult::ListToolsResult(list) => {
                Ok((list.tools.iter().map(ToolSummary::from_wire).collect(), list.next_cursor))
            }
            ServerResult::CustomResult(raw) => salvage(&raw.0).ok_or_else(|| self.no_list("tools")),
            _ => Err(self.no_list("tools")),
        }
    }

    /// The answer to a request for one page of a list.
    pub(crate) async fn list_answer(
        &self,
        of: &'static str,
        request: ClientRequest,
        within: Option<&Within>,
    ) -> Result<ServerResult, ConnectionFault> {
        let fail = |what: String| ConnectionFault::List { url: self.url(), of, what };
        exchange::send(self.peer(), request, self.limits.timeout, self.hop(within)).await.map_err(|lost| {
            match lost {
                Lost::Unauthorized { why, .. } => ConnectionFault::Unauthorized { url: self.url(), why },
                Lost::Rpc(error) => match Refused::of_error(&error) {
                    Some(refused) => ConnectionFault::refused(&self.url, refused),
                    None => fail(format!("error {}: {}", error.code.0, error.message)),
                },
                Lost::Refused(refused) => ConnectionFault::refused(&self.url, refused),
                Lost::NotSent(what) | Lost::Broken(what) => {
                    ConnectionFault::Unreachable { url: self.url(), what }
                }
                Lost::TimedOut => fail(format!("no answer within {} s", self.limits.timeout.as_secs_f64())),
            }
        })
    }

    /// A list that does not end within the bounds.
    pub(crate) fn too_long(&self, of: &'static str) -> ConnectionFault {
        let CallLimits { max_pages: pages, max_tools: elements, .. } = self.limits;
        ConnectionFault::TooLong { url: self.url(), of, pages, elements }
    }

    /// An answer that is not the list that was asked for.
    pub(crate) fn no_list(&self, of: &'static str) -> ConnectionFault {
        let what = "found an answer that is not such a list".to_owned();
        ConnectionFault::List { url: self.url(), of, what }
    }
}

/// The client library gives up on a whole page for one tool that it cannot read. The others are still good.
fn salvage(page: &Value) -> Option<(Vec<ToolSummary>, Option<String>)> {
    let read = |(index, raw): (usize, &Value)| match serde_json::from_value::<Tool>(raw.clone()) {
        Ok(tool) => Some(ToolSummary::from_wire(&tool)),
        Err(fault) => {
            tracing::warn!(index, %fault, "a listed tool is left out because it cannot be read");
            None
        }
    };
    let tools = page.get("tools")?.as_array()?.iter().enumerate().filter_map(read).collect();
    Some((tools, page.get("nextCursor").and_then(Value::as_str).map(str::to_owned)))
}

fn opening_fault(url: &str, fault: &ClientInitializeError) -> ConnectionFault {
    let at = url.to_owned();
    if fault.is_authorization_required() || fault.auth_challenge().is_some() {
        return ConnectionFault::Unauthorized { url: at, why: reason(fault.auth_challenge()) };
    }
    let refused = match fault {
        ClientInitializeError::JsonRpcError(error) => Refused::of_error(error),
        ClientInitializeError::TransportError { error, .. } => {
            error.error.downcast_ref().and_then(Refused::of_transport)
        }
        _ => None,
    };
    match (refused, fault) {
        (Some(Refused { status: Some(401), code: None, .. }), _) => {
            ConnectionFault::Unauthorized { url: at, why: String::new() }
        }
        (Some(refused), _) => ConnectionFault::refused(url, refused),
        (None, ClientInitializeError::TransportError { error, .. }) => {
            // What the client library puts around the cause names its own types.
            let what = match error.error.downcast_ref() {
                Some(StreamableHttpError::<reqwest::Error>::Client(http)) => chain(http),
                _ => chain(fault),
            };
            ConnectionFault::Unreachable { url: at, what }
        }
        (None, ClientInitializeError::ConnectionClosed(_)) => {
            ConnectionFault::Unreachable { url: at, what: chain(fault) }
        }
        _ => ConnectionFault::Revision { url: at, what: chain(fault) },
    }
}
