//! `aldgate serve`.

use std::process::ExitCode;

use aldgate_field_service::{Access, FieldService, Options};
use aldgate_gateway::{Gateway, nodelay};
use miette::{IntoDiagnostic as _, WrapErr as _, miette};
use tokio::net::TcpListener;

use super::configuration;
use crate::cli::{ConfigFile, FieldServiceArguments, Serve};
use crate::config::{Kind, Loaded, assemble};
use crate::{random, signal};

pub(super) async fn run(what: Serve) -> miette::Result<ExitCode> {
    match what {
        Serve::Gateway { file } => gateway(&file).await?,
        Serve::FieldService(arguments) => field_service(arguments).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Listens at an address, with an error that says at which.
pub(crate) async fn listen(address: &str) -> miette::Result<TcpListener> {
    TcpListener::bind(address).await.into_diagnostic().wrap_err_with(|| {
        format!("the address `{address}` cannot be listened at; choose another, or end what uses it")
    })
}

async fn gateway(file: &ConfigFile) -> miette::Result<()> {
    let loaded = configuration(file)?;
    if loaded.folder.is_none() {
        return Err(miette!(
            help = "write an `aldgate.toml` (see docs/configuration.md), or run `aldgate demo`",
            "there is no configuration to serve"
        ));
    }
    let systems = systems(&loaded).await?;
    let assembled = assemble(&loaded, systems.as_ref()).await?;
    let agents = listen(&assembled.listen).await?;
    let admin = listen(&assembled.admin).await?;
    let (gateway, recovered) = Gateway::start(assembled.parts).await.into_diagnostic()?;
    if recovered.unknown_calls > 0 {
        note!(
            "{} calls of an earlier run had no outcome; they are closed as unknown in the evidence",
            recovered.unknown_calls
        );
    }
    note!("agents: http://{}/mcp", agents.local_addr().into_diagnostic()?);
    note!("admin:  http://{}", admin.local_addr().into_diagnostic()?);
    gateway.serve(agents, admin, signal::stop()).await.into_diagnostic()
}

/// The servers inside the process, where the configuration names any.
async fn systems(loaded: &Loaded) -> miette::Result<Option<FieldService>> {
    if loaded.config.upstreams.values().all(|upstream| upstream.kind != Kind::Inproc) {
        return Ok(None);
    }
    let folder = loaded.folder.clone().unwrap_or_default().join(&loaded.config.gateway.state_dir);
    std::fs::create_dir_all(&folder).into_diagnostic()?;
    let options = Options {
        store: Some(folder),
        tickets: aldgate_field_service::DEFAULT_TICKETS,
        seed: aldgate_field_service::DEFAULT_SEED,
        access: Access::Open,
        state_key: random::bytes().into_diagnostic()?,
    };
    Ok(Some(FieldService::open(options).await.into_diagnostic()?))
}

async fn field_service(arguments: FieldServiceArguments) -> miette::Result<()> {
    let access = match &arguments.bearer_env {
        None => Access::Open,
        Some(variable) => match std::env::var(variable) {
            Ok(secret) if !secret.is_empty() => Access::Bearer(secret),
            _ => {
                return Err(miette!(
                    "the environment variable `{variable}` is not set; `--bearer-env` names it"
                ));
            }
        },
    };
    let options = Options {
        store: arguments.store,
        tickets: arguments.tickets,
        seed: arguments.seed,
        access,
        state_key: random::bytes().into_diagnostic()?,
    };
    note!("opening the data of {} synthetic tickets …", options.tickets);
    let service = FieldService::open(options).await.into_diagnostic()?;
    if let Some(server) = arguments.stdio {
        return service.stdio(server).await.into_diagnostic();
    }
    let address = arguments.listen.ok_or_else(|| miette!("`--listen` or `--stdio` is needed"))?;
    let listener = listen(&address.to_string()).await?;
    let bound = listener.local_addr().into_diagnostic()?;
    for server in ["tickets", "parts", "manuals"] {
        note!("http://{bound}/{server}/mcp");
    }
    axum::serve(nodelay(listener), service.router())
        .with_graceful_shutdown(signal::stop())
        .await
        .into_diagnostic()
}
