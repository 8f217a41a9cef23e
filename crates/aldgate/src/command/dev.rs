//! `aldgate dev`: one server behind the gateway on this machine, without a review.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::SealKey;
use aldgate_authority::{Authority, PolicySet, PrincipalKind, Registry};
use aldgate_gateway::settings::{MayAsk, Pins, Settings, Transport, UpstreamSettings};
use aldgate_gateway::{Gateway, Parts};
use aldgate_identity::{ConfiguredPrincipal, TokenHash, TokenTable};
use aldgate_store::Store;
use miette::{IntoDiagnostic as _, miette};

use super::serve::listen;
use crate::cli::DevArguments;
use crate::{random, signal};

/// Whoever has the token may do everything; that is what `dev` is for.
const POLICY: &str = "@id(\"dev\") permit (principal, action, resource);";

pub(super) async fn run(arguments: DevArguments) -> miette::Result<ExitCode> {
    for address in [arguments.listen, arguments.admin_listen] {
        if !address.ip().is_loopback() {
            return Err(miette!(
                help = "write an `aldgate.toml` with a registry, locks and policies for anything else",
                "`aldgate dev` listens on loopback only, `{address}` is not loopback"
            ));
        }
    }
    let bearer = match &arguments.bearer_env {
        None => None,
        Some(variable) => match std::env::var(variable) {
            Ok(secret) if !secret.is_empty() => Some(secret),
            _ => {
                return Err(miette!(
                    "the environment variable `{variable}` is not set; `--bearer-env` names it"
                ));
            }
        },
    };
    let url = arguments.upstream.parse().map_err(|_| miette!("`{}` is not a URL", arguments.upstream))?;
    let token = random::token().into_diagnostic()?;
    let principal = ConfiguredPrincipal {
        name: "developer".to_owned(),
        display_name: None,
        kind: PrincipalKind::Person,
        tenant: "dev".to_owned(),
        roles: BTreeSet::new(),
        token_sha256: TokenHash::of(&token).to_string(),
    };
    let folder = tempfile::tempdir().into_diagnostic()?;
    let upstream = UpstreamSettings {
        name: arguments.name.clone(),
        prefix: String::new(),
        transport: Transport::Http(url),
        bearer,
        pins: Pins::FirstUse,
        may_ask: vec![MayAsk::Form],
        verify_every: Duration::from_secs(10),
    };
    let parts = Parts {
        settings: Settings { decide_hint: "`aldgate approvals list`".to_owned(), ..Settings::default() },
        upstreams: vec![upstream],
        registry: Registry::default().with_default(Authority::Automatic).into_diagnostic()?,
        policies: PolicySet::parse(&[("dev".to_owned(), POLICY.to_owned())]).into_diagnostic()?,
        identity: Arc::new(TokenTable::new(&[principal]).into_diagnostic()?),
        store: Store::open(folder.path()).await.into_diagnostic()?,
        seal: SealKey::derive(&random::bytes::<32>().into_diagnostic()?).into_diagnostic()?,
    };
    let agents = listen(&arguments.listen.to_string()).await?;
    let admin = listen(&arguments.admin_listen.to_string()).await?;
    let (gateway, _) = Gateway::start(parts).await.into_diagnostic()?;
    let agents_at = agents.local_addr().into_diagnostic()?;
    let admin_at = admin.local_addr().into_diagnostic()?;
    note!("┌─ aldgate dev ── NOT A REVIEWED CONFIGURATION ───────────────────────────────");
    note!("│ contracts are pinned as they are now, nobody has reviewed them");
    note!("│ every tool runs by itself; the evidence is removed at the end");
    note!("│ loopback only");
    note!("└──────────────────────────────────────────────────────────────────────────────");
    note!("agents: http://{agents_at}/mcp   (upstream {})", arguments.upstream);
    note!("admin:  http://{admin_at}");
    note!(
        "export ALDGATE_URL=http://{agents_at}/mcp ALDGATE_ADMIN_URL=http://{admin_at} ALDGATE_TOKEN={token}"
    );
    gateway.serve(agents, admin, signal::stop()).await.into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}
