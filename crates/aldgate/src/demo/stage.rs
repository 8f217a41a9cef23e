//! What the demonstration runs on: the three servers, the gateway, and two principals.

use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use aldgate_field_service::{Access, DEFAULT_SEED, FieldService, Options};
use aldgate_gateway::Gateway;
use aldgate_gateway::settings::Credential;
use aldgate_identity::TokenHash;
use aldgate_telemetry::{Ring, SpanRecord, Telemetry};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::events::Screen;
use crate::cli::DemoArguments;
use crate::coded::WithCode as _;
use crate::command::serve::{address_of, listen, nodelay};
use crate::config::{Kind, assemble, embedded};
use crate::evidence::mount;
use crate::fault::CommandFault;
use crate::{observing, random};

/// The name of the principal that works the ticket; every other principal of the demonstration decides.
pub(super) const AGENT: &str = "agent";
/// The tenant of everybody in the demonstration.
const TENANT: &str = "demo";

/// Spans of the demonstration that are kept.
const SPANS: usize = 4096;

/// Everything that runs, and how to end it.
pub(super) struct Stage {
    agents: String,
    admin: String,
    servers: Option<String>,
    agent_token: String,
    approver_token: String,
    goes_on: bool,
    watch: Watch,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<std::io::Result<()>>>,
    /// The folder of all stores; removed with this value unless it was named.
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    /// Sets the stage: generates data, starts the servers and the gateway.
    pub(super) async fn set(arguments: &DemoArguments, screen: &Screen) -> miette::Result<Self> {
        let (folder, temporary) = match &arguments.state_dir {
            Some(folder) => (folder.clone(), None),
            None => {
                let temporary = tempfile::tempdir().map_err(CommandFault::Temporary)?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        // Listening comes first: an address that is taken is found before anything is made.
        let agents = listen(arguments.listen, "`--listen ADDR`, with make `ARGS=\"--listen ADDR\"`").await?;
        let admin =
            listen(arguments.admin_listen, "`--admin-listen ADDR`, with make `ARGS=\"--admin-listen ADDR\"`")
                .await?;
        let secret = random::token()?;
        let service = field_service(arguments, &folder, &secret, screen).await?;
        let watch = Watch::set()?;
        let service = service.observed_by(watch.servers.clone());
        let (stop, stopped) = watch::channel(false);
        let mut tasks = Vec::new();
        let servers = if arguments.inproc {
            None
        } else {
            let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)), "the system's settings").await?;
            let address = address_of(&listener)?;
            tasks.push(serve(listener, service.router(), stopped.clone()));
            Some(format!("http://{address}"))
        };
        let (agent_token, approver_token) = (random::token()?, random::token()?);
        let mut loaded = embedded()?;
        loaded.config.gateway.state_dir = folder.join("gateway");
        loaded.config.gateway.listen = address_of(&agents)?;
        loaded.config.admin.listen = address_of(&admin)?;
        for (name, upstream) in &mut loaded.config.upstreams {
            match &servers {
                Some(base) => upstream.url = Some(format!("{base}/{name}/mcp")),
                None => {
                    upstream.kind = Kind::Inproc;
                    upstream.url = None;
                    upstream.system = Some(format!("field-service/{name}"));
                }
            }
        }
        for principal in &mut loaded.config.principals {
            let token = if principal.name == AGENT { &agent_token } else { &approver_token };
            principal.token_sha256 = TokenHash::of(token).to_string();
        }
        let mut assembled = assemble(&loaded, Some(&service)).await?;
        for upstream in &mut assembled.parts.configured.upstreams {
            upstream.credential = Credential::Bearer(secret.clone());
        }
        assembled.parts.telemetry = watch.gateway.clone();
        let doors = assembled.parts.settings.doors.clone();
        let (gateway, _) = Gateway::start(assembled.parts).await.coded()?;
        let evidence =
            mount(&gateway, &doors, &assembled.host_key, assembled.identity.router(&doors)).coded()?;
        screen.watch(gateway.watch());
        let stage_agents = format!("http://{}", address_of(&agents)?);
        let stage_admin = format!("http://{}", address_of(&admin)?);
        let mut until = stopped;
        tasks.push(tokio::spawn(async move {
            let stopped = async move {
                // The sender is dropped only after it has said that it is time.
                let _ = until.wait_for(|now| *now).await;
                evidence.drain();
            };
            gateway.serve(agents, admin, stopped).await;
            Ok(())
        }));
        let stage = Self {
            agents: stage_agents,
            admin: stage_admin,
            servers,
            agent_token,
            approver_token,
            goes_on: !arguments.once,
            watch,
            stop,
            tasks,
            _folder: temporary,
        };
        screen.set(&stage)?;
        Ok(stage)
    }

    /// The gateway's MCP endpoint.
    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.agents)
    }

    /// The gateway's admin API.
    pub(super) fn admin(&self) -> &str {
        &self.admin
    }

    /// The servers' base URL, where they are reached over HTTP.
    pub(super) fn servers(&self) -> Option<&str> {
        self.servers.as_deref()
    }

    /// The token of the agent.
    pub(super) fn agent_token(&self) -> &str {
        &self.agent_token
    }

    /// The token of the second principal, the person who decides.
    pub(super) fn approver_token(&self) -> &str {
        &self.approver_token
    }

    /// Whether it goes on serving after the ticket.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Traces and metrics of the agent.
    pub(super) fn agent_telemetry(&self) -> Telemetry {
        self.watch.agent.clone()
    }

    /// The spans of a trace, of all three services.
    pub(super) fn trace(&self, id: &str) -> Vec<SpanRecord> {
        self.watch.ring.trace(id, TENANT)
    }

    /// Ends everything and removes what was temporary.
    pub(super) async fn clear(self) {
        // Nobody listening any more is what this is for.
        let _ = self.stop.send(true);
        for task in self.tasks {
            match tokio::time::timeout(std::time::Duration::from_secs(10), task).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(fault))) => {
                    tracing::error!(error = &fault as &dyn std::error::Error, "a server broke")
                }
                Ok(Err(_)) | Err(_) => tracing::error!("a server did not end within 10 s"),
            }
        }
        let Watch { agent, gateway, servers, .. } = self.watch;
        tokio::join!(observing::finish(agent), observing::finish(gateway), observing::finish(servers));
    }
}

/// Traces and metrics of the three services, which keep their spans together.
struct Watch {
    ring: Arc<Ring>,
    agent: Telemetry,
    gateway: Telemetry,
    servers: Telemetry,
}

impl Watch {
    fn set() -> miette::Result<Self> {
        let ring = Ring::new(SPANS);
        let of = |service| observing::start(service, true, Some(ring.clone()));
        let (agent, gateway, servers) = (of("aldgate-agent")?, of("aldgate")?, of("field-service")?);
        Ok(Self { ring, agent, gateway, servers })
    }
}

async fn field_service(
    arguments: &DemoArguments,
    folder: &std::path::Path,
    secret: &str,
    screen: &Screen,
) -> miette::Result<FieldService> {
    let store: PathBuf = folder.join("field-service");
    std::fs::create_dir_all(&store).map_err(CommandFault::file(&store, "made"))?;
    let options = Options {
        store: Some(store),
        tickets: arguments.tickets,
        seed: DEFAULT_SEED,
        access: Access::Bearer(secret.to_owned()),
        state_key: random::bytes()?,
    };
    FieldService::open_with(options, |progress| screen.progress(progress)).await.coded()
}

fn serve(
    listener: TcpListener,
    router: axum::Router,
    mut stopped: watch::Receiver<bool>,
) -> JoinHandle<std::io::Result<()>> {
    tokio::spawn(
        axum::serve(nodelay(listener), router)
            .with_graceful_shutdown(async move {
                // The sender is dropped only after it has said that it is time.
                let _ = stopped.wait_for(|now| *now).await;
            })
            .into_future(),
    )
}
