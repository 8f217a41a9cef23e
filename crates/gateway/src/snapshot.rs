//! One snapshot of the configuration: what a request sees does not change under it, however long it takes.

use std::sync::Arc;

use aldgate_authority::{Authorizer, PolicySet, Registry};
use aldgate_contract::{Lock, UpstreamIdentity};
use aldgate_identity::Authenticator;
use async_trait::async_trait;
use tokio::task::AbortHandle;

use crate::catalog::{Asking, Catalog, Source, Standing, keep_verifying, live_list};
use crate::clock;
use crate::gateway::StartFault;
use crate::review::authorizer;
use crate::settings::{Pins, Settings, UpstreamSettings};
use crate::upstream::Upstream;

/// What can be changed while the gateway runs.
pub struct Configured {
    /// The upstreams.
    pub upstreams: Vec<UpstreamSettings>,
    /// The host's registry.
    pub registry: Registry,
    /// The host's policies.
    pub policies: PolicySet,
    /// Who calls.
    pub identity: Arc<dyn Authenticator>,
}

/// Where a running gateway reads its configuration again.
#[async_trait]
pub trait ConfigurationSource: Send + Sync {
    /// The configuration as it is now.
    ///
    /// # Errors
    /// In words for an operator, where it cannot be used; then the gateway goes on with the one that it has.
    async fn read(&self) -> Result<Configured, String>;
}

/// A configuration that is in use.
pub(crate) struct Snapshot {
    pub(crate) catalog: Catalog,
    pub(crate) authorizer: Authorizer,
    pub(crate) identity: Arc<dyn Authenticator>,
    comparing: Vec<AbortHandle>,
}

impl Snapshot {
    /// Builds the catalogue and begins to compare live contracts with their locks.
    pub(crate) async fn build(configured: Configured, settings: &Settings) -> Result<Self, StartFault> {
        let Configured { upstreams, registry, policies, identity } = configured;
        let mut sources = Vec::with_capacity(upstreams.len());
        let mut strict = true;
        for one in upstreams {
            strict &= matches!(one.pins, Pins::Locked(_));
            let prefix = one.prefix.clone();
            sources.push((source(one, settings).await?, prefix));
        }
        let catalog = Catalog::build(sources, &registry, strict)?;
        let authorizer = authorizer(&catalog, registry, policies)?;
        let comparing = catalog.sources.iter().map(|source| {
            let task = tokio::spawn(keep_verifying(source.clone(), settings.bounds.clone()));
            task.abort_handle()
        });
        Ok(Self { comparing: comparing.collect(), catalog, authorizer, identity })
    }

    /// Stops comparing; requests that still hold the snapshot compare at need.
    pub(crate) fn retire(&self) {
        self.comparing.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.retire();
    }
}

async fn source(one: UpstreamSettings, settings: &Settings) -> Result<Source, StartFault> {
    let name = one.name;
    let upstream = Upstream::new(&name, one.transport, one.bearer.as_deref())
        .map_err(|source| StartFault::Upstream { name: name.clone(), source })?;
    let (lock, standing) = match one.pins {
        Pins::Locked(lock) => (lock, Standing::default()),
        Pins::FirstUse => {
            let live = live_list(&upstream, &settings.bounds)
                .await
                .map_err(|source| StartFault::FirstUse { name: name.clone(), source })?;
            for unreadable in &live.unreadable {
                tracing::warn!(upstream = name, unreadable, "a tool was left out");
            }
            let identity = UpstreamIdentity {
                name: name.clone(),
                endpoint: upstream.endpoint().to_owned(),
                server: live.server.clone(),
            };
            // One definition that cannot be pinned does not keep the others from being served.
            let tools = live.tools.iter().map(|(name, raw)| (name.as_str(), raw.get()));
            let tools = tools.filter(|(tool, definition)| match aldgate_contract::fingerprint(definition) {
                Ok(_) => true,
                Err(fault) => {
                    tracing::warn!(
                        upstream = name,
                        tool,
                        error = &fault as &dyn std::error::Error,
                        "a tool that cannot be pinned was left out"
                    );
                    false
                }
            });
            let lock = Lock::pin(identity, tools, &clock::rfc3339(clock::now()))
                .map_err(|source| StartFault::Pin { name: name.clone(), source })?;
            (lock, Standing { compared_at: Some(clock::now()), ..Standing::default() })
        }
    };
    Ok(Source::new(
        upstream,
        Asking { kinds: one.may_ask, origins: one.ask_origins },
        lock,
        standing,
        one.verify_every,
        settings.bounds.in_flight_per_upstream,
    ))
}
