//! What the demonstration runs on: the three servers, the gateway with its authorization server, and who takes part.

use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use aldgate_field_service::{Access, DEFAULT_SEED, FieldService, Options};
use aldgate_gateway::Gateway;
use aldgate_gateway::settings::Credential;
use aldgate_telemetry::{Ring, SpanRecord, Telemetry};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::events::Screen;
use super::people::People;
use crate::cli::DemoArguments;
use crate::coded::WithCode as _;
use crate::command::serve::{address_of, listen, nodelay};
use crate::config::{Kind, Span, assemble, embedded};
use crate::evidence::mount;
use crate::fault::CommandFault;
use crate::{observing, random};

/// The client that works the ticket.
pub(super) const AGENT: &str = "agent";
/// The tenant of everybody in the demonstration.
pub(super) const TENANT: &str = "demo";

/// Spans of the demonstration that are kept.
const SPANS: usize = 4096;

/// Everything that runs, and how to end it.
pub(super) struct Stage {
    agents: String,
    admin: String,
    servers: Option<String>,
    people: People,
    agent_token: String,
    /// What whoever reads the events of a run that goes on needs; made where they are read.
    shown: Option<Shown>,
    watch: Watch,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<std::io::Result<()>>>,
    /// Brings what becomes of accounts and clients into the evidence.
    witness: JoinHandle<()>,
    /// The folder of all stores; removed with this value unless it was named.
    _folder: Option<tempfile::TempDir>,
}

/// Tokens of the approver for each door, from sign-ins of this program.
pub(super) struct Shown {
    /// For the admin API.
    pub(super) approver: String,
    /// For decisions, for five minutes.
    pub(super) decider: String,
    /// For the evidence server.
    pub(super) auditor: String,
    /// What the approver signs in with.
    pub(super) password: String,
}

impl Shown {
    async fn by_sign_in(people: &People, agents: &str, admin: &str) -> miette::Result<Self> {
        Ok(Self {
            approver: people.approver(&format!("{admin}/v1"), "admin evidence:read tools:read").await?,
            decider: people.decider().await?,
            auditor: people.approver(&format!("{agents}/evidence/mcp"), "evidence:read").await?,
            password: people.password().await,
        })
    }
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
        // Tokens of the configuration stand for the roles in what is checked and explained; here everybody signs in.
        loaded.config.principals.clear();
        loaded.config.identity.server.tenants = [TENANT.to_owned()].into();
        // Whoever looks around has time for it.
        loaded.config.identity.server.access_token = Span(std::time::Duration::from_secs(60 * 60));
        let stage_agents = format!("http://{}", loaded.config.gateway.listen);
        let stage_admin = format!("http://{}", loaded.config.admin.listen);
        // Before the gateway starts: it knows its clients from then on.
        let state_dir = loaded.state_dir();
        std::fs::create_dir_all(&state_dir).map_err(CommandFault::file(&state_dir, "made"))?;
        let people = People::invite(&loaded, stage_agents.clone(), stage_admin.clone()).await?;
        let mut assembled = assemble(&loaded, Some(&service)).await?;
        for upstream in &mut assembled.parts.configured.upstreams {
            upstream.credential = Credential::Bearer(secret.clone());
        }
        assembled.parts.telemetry = watch.gateway.clone();
        let doors = assembled.parts.settings.doors.clone();
        let (gateway, _) = Gateway::start(assembled.parts).await.coded()?;
        let evidence = mount(&gateway, &doors, &assembled.host_key, &assembled.identity).coded()?;
        screen.watch(gateway.watch());
        let witness = assembled.identity.witness(gateway.view());
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
        let agent_token = people.agent().await?;
        let shown = match arguments.json && !arguments.once {
            true => Some(Shown::by_sign_in(&people, &stage_agents, &stage_admin).await?),
            false => None,
        };
        let stage = Self {
            agents: stage_agents,
            admin: stage_admin,
            servers,
            people,
            agent_token,
            shown,
            watch,
            stop,
            tasks,
            witness,
            _folder: temporary,
        };
        screen.set(&stage)?;
        Ok(stage)
    }

    /// The gateway's MCP endpoint.
    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.agents)
    }

    /// The gateway's authorization server.
    pub(super) fn issuer(&self) -> &str {
        &self.agents
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

    /// Who takes part.
    pub(super) fn people(&self) -> &People {
        &self.people
    }

    /// What whoever reads the events needs to take part.
    pub(super) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
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
        self.witness.abort();
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
