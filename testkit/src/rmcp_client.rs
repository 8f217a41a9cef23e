//! The official Rust SDK as a client: what comes of its calls, as text and JSON.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, ClientConfig, GetPromptRequestParams, Implementation, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RunningService,
    ServiceError, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A connected client of revision 2026-07-28.
pub struct RmcpClient {
    service: RunningService<RoleClient, Handler>,
    progress: Progress,
}

/// A subscription; it ends when this is dropped.
pub struct RmcpHearing(Subscription);

/// What a client was told of the progress of its calls, in order.
type Progress = Arc<Mutex<Vec<Value>>>;

/// Why something did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum RmcpFault {
    /// There is no HTTP client.
    #[error("there is no HTTP client")]
    Http(#[from] reqwest::Error),
    /// The client did not connect.
    #[error("the client did not connect")]
    Connect(#[source] Box<ClientInitializeError>),
    /// Nobody signed in, or what came of it cannot be used.
    #[error("the sign-in did not succeed")]
    SignIn(#[source] Box<AuthError>),
    /// A JSON-RPC error.
    #[error("error {code}: {message}")]
    Rpc {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data; `null` where it has none.
        data: Value,
    },
    /// Anything else.
    #[error("the request failed")]
    Service(#[source] Box<ServiceError>),
    /// A subscription ended.
    #[error("the subscription ended: {0}")]
    Ended(String),
    /// What came cannot be written as JSON.
    #[error("what came cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

struct Handler {
    config: ClientConfig,
    progress: Progress,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let told = json!({"progress": params.progress, "total": params.total, "message": params.message});
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
}

impl From<ServiceError> for RmcpFault {
    fn from(fault: ServiceError) -> Self {
        match fault {
            ServiceError::McpError(error) => Self::Rpc {
                code: error.code.0.into(),
                message: error.message.into_owned(),
                data: error.data.unwrap_or_default(),
            },
            other => Self::Service(Box::new(other)),
        }
    }
}

impl RmcpClient {
    /// Connects by `server/discover`.
    ///
    /// # Errors
    /// [`RmcpFault::Connect`], and [`RmcpFault::Http`].
    pub async fn connect(url: &str, token: &str) -> Result<Self, RmcpFault> {
        Self::over(StreamableHttpClientTransport::with_client(http()?, config(url).auth_header(token))).await
    }

    pub(crate) async fn over<C>(transport: StreamableHttpClientTransport<C>) -> Result<Self, RmcpFault>
    where
        C: StreamableHttpClient + Send + 'static,
    {
        let info = Implementation::new("aldgate-testkit", env!("CARGO_PKG_VERSION"));
        let progress = Progress::default();
        let handler = Handler {
            config: ClientConfig::new(Default::default(), info)
                .with_protocol_version(ProtocolVersion::V_2026_07_28),
            progress: progress.clone(),
        };
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let service = handler
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .map_err(|fault| RmcpFault::Connect(Box::new(fault)))?;
        Ok(Self { service, progress })
    }

    /// The resources, as they are listed.
    ///
    /// # Errors
    /// What the server says, and what the SDK cannot read.
    pub async fn resources(&self) -> Result<Vec<Value>, RmcpFault> {
        values(self.service.list_all_resources().await?)
    }

    /// The resource templates, as they are listed.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn templates(&self) -> Result<Vec<Value>, RmcpFault> {
        values(self.service.list_all_resource_templates().await?)
    }

    /// The prompts, as they are listed.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn prompts(&self) -> Result<Vec<Value>, RmcpFault> {
        values(self.service.list_all_prompts().await?)
    }

    /// The result of reading a resource.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn read(&self, uri: &str) -> Result<Value, RmcpFault> {
        let result = self.service.read_resource(ReadResourceRequestParams::new(uri)).await?;
        Ok(serde_json::to_value(result)?)
    }

    /// The result of getting a prompt.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn prompt(&self, name: &str, arguments: &[(&str, &str)]) -> Result<Value, RmcpFault> {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        Ok(serde_json::to_value(self.service.get_prompt(params).await?)?)
    }

    /// What an argument of a prompt is completed to.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn complete_prompt(
        &self,
        name: &str,
        argument: &str,
        begun: &str,
    ) -> Result<Vec<String>, RmcpFault> {
        Ok(self.service.complete_prompt_simple(name, argument, begun).await?)
    }

    /// What a variable of a template is completed to.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn complete_template(
        &self,
        template: &str,
        variable: &str,
        begun: &str,
    ) -> Result<Vec<String>, RmcpFault> {
        Ok(self.service.complete_resource_simple(template, variable, begun).await?)
    }

    /// The result of a tool, an error result included.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, RmcpFault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        Ok(serde_json::to_value(self.service.call_tool(params).await?)?)
    }

    /// Takes what was told of progress until now.
    #[must_use]
    pub fn progress(&self) -> Vec<Value> {
        std::mem::take(&mut *self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Listens to changes of all lists and of these resources.
    ///
    /// # Errors
    /// As [`RmcpClient::resources`].
    pub async fn listen(&self, uris: &[&str]) -> Result<RmcpHearing, RmcpFault> {
        let filter =
            uris.iter().fold(SubscriptionFilter::builder(), |filter, uri| filter.resource_subscription(*uri));
        let filter = filter.tools_list_changed().prompts_list_changed().resources_list_changed().build();
        Ok(RmcpHearing(self.service.listen(filter).await?))
    }
}

/// No proxy, whatever the environment says: everything here is on loopback. Without certificates, which are slow to read and
/// which nothing here needs.
pub(crate) fn http() -> reqwest::Result<reqwest::Client> {
    let http = reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty());
    http.redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0).build()
}

pub(crate) fn config(url: &str) -> StreamableHttpClientTransportConfig {
    StreamableHttpClientTransportConfig::with_uri(url).reinit_on_expired_session(false)
}

impl RmcpHearing {
    /// What the server honours.
    ///
    /// # Errors
    /// [`RmcpFault::Json`].
    pub fn honoured(&self) -> Result<Value, RmcpFault> {
        Ok(serde_json::to_value(self.0.acknowledged())?)
    }

    /// What is told next: the method, and the URI where there is one.
    ///
    /// # Errors
    /// What the SDK cannot take, and the end of the subscription.
    pub async fn next(&mut self) -> Result<String, RmcpFault> {
        let Some(told) = self.0.next().await? else {
            return Err(RmcpFault::Ended(format!("{:?}", self.0.end())));
        };
        Ok(match told {
            ServerNotification::ResourceUpdatedNotification(updated) => {
                format!("notifications/resources/updated {}", updated.params.uri)
            }
            other => {
                let written = serde_json::to_value(&other)?;
                written.get("method").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
        })
    }
}

fn values<T: Serialize>(all: Vec<T>) -> Result<Vec<Value>, RmcpFault> {
    Ok(all.iter().map(serde_json::to_value).collect::<Result<_, _>>()?)
}
