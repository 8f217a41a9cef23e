//! `aldgate dev`: one server behind the gateway on this machine, without a review.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::SealKey;
use aldgate_authority::{Aliases, Authority, PolicySet, PrincipalKind, Registry};
use aldgate_gateway::settings::{
    Credential, MayAsk, OnDrift, Pins, Settings, Signatures, Transport, UpstreamSettings,
};
use aldgate_gateway::{Configured, Gateway, Parts};
use aldgate_identity::{ConfiguredPrincipal, TokenHash, TokenTable};
use aldgate_store::Store;
use aldgate_telemetry::Ring;

use super::serve::{address_of, listen, secret};
use crate::cli::DevArguments;
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::{observing, random, signal};

/// Spans that `aldgate trace` shows.
const SPANS: usize = 2048;
/// Whoever has the token may do everything; that is what `dev` is for.
const POLICY: &str = "@id(\"dev\") permit (principal, action, resource);";

pub(super) async fn run(arguments: DevArguments) -> miette::Result<ExitCode> {
    for address in [arguments.listen, arguments.admin_listen] {
        if !address.ip().is_loopback() {
            let help = "write an `aldgate.toml` with a registry, locks and policies for anything else";
            let what = format!("`aldgate dev` listens on loopback only, `{address}` is not loopback");
            return Err(CommandFault::Usage { what, help: Some(help.to_owned()) }.into());
        }
    }
    let bearer = arguments.bearer_env.as_deref().map(secret).transpose()?;
    let url = arguments.upstream.parse().map_err(|_| {
        let found = &arguments.upstream;
        CommandFault::usage(format!("`{found}` is not a URL of the form `http://host:port/path`"))
    })?;
    let token = random::token()?;
    let principal = ConfiguredPrincipal {
        scopes: None,
        name: "developer".to_owned(),
        display_name: None,
        kind: PrincipalKind::Person,
        tenant: "dev".to_owned(),
        roles: BTreeSet::new(),
        token_sha256: TokenHash::of(&token).to_string(),
        expires_at: None,
    };
    let folder = tempfile::tempdir().map_err(CommandFault::Temporary)?;
    let upstream = UpstreamSettings {
        name: arguments.name.clone(),
        prefix: String::new(),
        tenants: None,
        transport: Transport::Http(url),
        credential: bearer.map_or(Credential::None, Credential::Bearer),
        pins: Pins::FirstUse,
        may_ask: vec![MayAsk::Form, MayAsk::Sampling, MayAsk::Roots],
        ask_origins: Vec::new(),
        verify_every: Duration::from_secs(10),
        on_drift: OnDrift::default(),
    };
    let parts = Parts {
        settings: Settings { decide_hint: "`aldgate approvals approve`".to_owned(), ..Settings::default() },
        configured: Configured {
            upstreams: vec![upstream],
            registry: Registry::default().with_default(Authority::Automatic).coded()?,
            policies: PolicySet::parse(&[("dev".to_owned(), POLICY.to_owned())]).coded()?,
            aliases: Aliases::default(),
            issuers: Vec::new(),
            tenants: [principal.tenant.clone()].into(),
            identity: Arc::new(TokenTable::new(&[principal]).coded()?),
            signatures: Signatures::default(),
        },
        store: Store::open(folder.path()).await.coded()?,
        seal: SealKey::derive(&random::bytes::<32>()?).coded()?,
        telemetry: observing::start("aldgate", false, Some(Ring::new(SPANS)))?,
    };
    let agents = listen(arguments.listen, "`--listen ADDR`").await?;
    let admin = listen(arguments.admin_listen, "`--admin-listen ADDR`").await?;
    let telemetry = parts.telemetry.clone();
    let (gateway, _) = Gateway::start(parts).await.coded()?;
    let (agents_at, admin_at) = (address_of(&agents)?, address_of(&admin)?);
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
    gateway.serve(agents, admin, signal::stop()).await;
    observing::finish(telemetry).await;
    Ok(ExitCode::SUCCESS)
}
