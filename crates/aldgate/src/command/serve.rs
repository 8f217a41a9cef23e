//! `aldgate serve`.

mod evidence;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use aldgate_field_service::{Access, FieldService, Options};
use aldgate_gateway::Gateway;
use aldgate_gateway::settings::Bounds;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use super::host_configuration;
use super::policy::{findings, told_finding};
use super::reload::{ConfigurationFile, at_hang_up};
use crate::cli::{FieldServiceArguments, HostFile, Serve};
use crate::coded::WithCode as _;
use crate::config::{Kind, Loaded, assemble, reviewed, warnings};
use crate::evidence::mount;
use crate::fault::CommandFault;
use crate::{observing, out, random, signal};

pub(super) async fn run(what: Serve) -> miette::Result<ExitCode> {
    match what {
        Serve::Gateway { file } => gateway(&file).await?,
        Serve::FieldService(arguments) => field_service(arguments).await?,
        Serve::Evidence(arguments) => evidence::run(&arguments).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Listens at an address, with an error that says at which, and what `setting` gives another.
pub(crate) async fn listen(address: SocketAddr, setting: &'static str) -> miette::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    Ok(bound.map_err(|source| CommandFault::Listen { address, setting, source })?)
}

/// Where a listener listens.
pub(crate) fn address_of(listener: &TcpListener) -> miette::Result<SocketAddr> {
    Ok(listener.local_addr().map_err(CommandFault::Serve)?)
}

/// A listener whose connections do not wait to fill a packet; without that a call takes tens of milliseconds longer.
pub(crate) fn nodelay(listener: TcpListener) -> impl axum::serve::Listener<Addr = std::net::SocketAddr> {
    listener.tap_io(|stream| {
        if let Err(fault) = stream.set_nodelay(true) {
            tracing::debug!(error = &fault as &dyn std::error::Error, "TCP_NODELAY was not set");
        }
    })
}

/// The secret in an environment variable that the command line names.
pub(super) fn secret(variable: &str) -> miette::Result<String> {
    match std::env::var(variable) {
        Ok(secret) if !secret.is_empty() => Ok(secret),
        _ => Err(CommandFault::Environment { name: variable.to_owned() }.into()),
    }
}

async fn gateway(file: &HostFile) -> miette::Result<()> {
    let mut loaded = host_configuration(file)?;
    let reviewed = reviewed(&loaded)?;
    for (what, why) in &reviewed.held_back {
        note!("held back: {}: {}", out::plain(&what.to_string()), out::plain(why));
    }
    for warning in warnings(&loaded) {
        note!("warning: {}", out::plain(&warning));
    }
    for finding in findings(&reviewed) {
        note!("{}", out::plain(&told_finding(&finding)));
    }
    let systems = systems(&loaded).await?;
    let config = &mut loaded.config;
    let agents = listen(config.gateway.listen, "`listen` in `[gateway]` of aldgate.toml").await?;
    let admin = listen(config.admin.listen, "`listen` in `[admin]` of aldgate.toml").await?;
    // Tokens are made for the gateway's URLs, which a free port is part of.
    (config.gateway.listen, config.admin.listen) = (address_of(&agents)?, address_of(&admin)?);
    let assembled = assemble(&loaded, systems.as_ref()).await?;
    enough_descriptors(&assembled.parts.settings.bounds)?;
    let telemetry = assembled.parts.telemetry.clone();
    let doors = assembled.parts.settings.doors.clone();
    let reach = assembled.parts.settings.reach.clone();
    let _kept = signal::file_size_exceeded();
    let (gateway, recovered) = Gateway::start(assembled.parts).await.coded()?;
    if recovered.unknown_calls > 0 {
        note!(
            "{} calls of an earlier run had no outcome; they are closed as unknown in the evidence",
            recovered.unknown_calls
        );
    }
    if let Some(path) = loaded.path.clone() {
        gateway.reads_again_from(Arc::new(ConfigurationFile {
            path,
            systems,
            identity: assembled.identity.clone(),
        }));
    }
    let witness = assembled.identity.witness(gateway.view());
    let hang_ups = tokio::spawn(at_hang_up(gateway.reloader()));
    let evidence = mount(&gateway, &doors, &assembled.host_key, &assembled.identity).coded()?;
    // What clients are given is what tokens are made for.
    note!("agents: {}", reach.doors.mcp);
    note!("evidence: {}", reach.doors.evidence);
    note!("admin:  {}", reach.doors.admin.trim_end_matches("/v1"));
    for (configured, listener) in
        [(&loaded.config.gateway.public_url, &agents), (&loaded.config.admin.public_url, &admin)]
    {
        if let Some(url) = configured {
            note!("{} listens on {}", out::plain(url), address_of(listener)?);
        }
    }
    let stop = async move {
        signal::stop().await;
        evidence.drain();
    };
    gateway.serve(agents, admin, stop).await;
    witness.abort();
    observing::finish(telemetry).await;
    hang_ups.abort();
    Ok(())
}

/// Raises the limit of open files to what the system allows, and refuses bounds that need more: without descriptors the
/// store cannot be opened anew, and nobody reaches the admin API.
fn enough_descriptors(bounds: &Bounds) -> miette::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    let counted = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    // A connection for each client, one for each call to an upstream; the admin API, the store and the rest.
    let needed = counted(bounds.connections).saturating_add(counted(bounds.in_flight)).saturating_add(512);
    if needed > allowed {
        return Err(CommandFault::Descriptors { needed, allowed }.into());
    }
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).map_err(|fault| CommandFault::Machine(fault.into()))?;
    Ok(())
}

/// The servers inside the process, where the configuration names any.
async fn systems(loaded: &Loaded) -> miette::Result<Option<FieldService>> {
    if loaded.config.upstreams.values().all(|upstream| upstream.kind != Kind::Inproc) {
        return Ok(None);
    }
    let folder = loaded.folder.clone().unwrap_or_default().join(&loaded.config.gateway.state_dir);
    std::fs::create_dir_all(&folder)
        .map_err(CommandFault::file(&folder, "made; `gateway.state_dir` names it"))?;
    let options = Options {
        store: Some(folder),
        tickets: aldgate_field_service::DEFAULT_TICKETS,
        seed: aldgate_field_service::DEFAULT_SEED,
        access: Access::Open,
        state_key: random::bytes()?,
    };
    Ok(Some(FieldService::open(options).await.coded()?))
}

async fn field_service(arguments: FieldServiceArguments) -> miette::Result<()> {
    let access = match &arguments.bearer_env {
        None => Access::Open,
        Some(variable) => Access::Bearer(secret(variable)?),
    };
    let options = Options {
        store: arguments.store,
        tickets: arguments.tickets,
        seed: arguments.seed,
        access,
        state_key: random::bytes()?,
    };
    note!("opening the data of {} synthetic tickets …", options.tickets);
    let telemetry = observing::start("field-service", false, None)?;
    let service = FieldService::open(options).await.coded()?.observed_by(telemetry.clone());
    if let Some(server) = arguments.stdio {
        let served = service.stdio(server).await.coded();
        observing::finish(telemetry).await;
        return served;
    }
    let address = arguments.listen.ok_or_else(|| CommandFault::usage("`--listen` or `--stdio` is needed"))?;
    let listener = listen(address, "`--listen ADDR`").await?;
    let bound = address_of(&listener)?;
    for server in ["tickets", "parts", "manuals"] {
        note!("http://{bound}/{server}/mcp");
    }
    let serving = axum::serve(nodelay(listener), service.router()).with_graceful_shutdown(signal::stop());
    let served = serving.await;
    observing::finish(telemetry).await;
    Ok(served.map_err(CommandFault::Serve)?)
}
