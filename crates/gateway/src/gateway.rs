//! Putting the gateway together, and its two listeners.

use std::future::Future;
use std::sync::Arc;

use aldgate_approval::SealKey;
use aldgate_authority::{AuthorizerFault, PolicySet, Registry};
use aldgate_contract::{Lock, PinFault, UpstreamIdentity};
use aldgate_evidence::{Recorder, Row, close_open_intents};
use aldgate_identity::Authenticator;
use aldgate_store::{Store, StoreFault};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::serve::ListenerExt as _;
use http::Request;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, broadcast, watch};
use tokio::task::JoinHandle;

use crate::catalog::{Catalog, CatalogFault, LiveFault, Source, Standing, keep_verifying, live_list};
use crate::gate::{Counters, Gate, Snapshot};
use crate::review::authorizer;
use crate::settings::{Pins, Settings, UpstreamSettings};
use crate::shares::Shares;
use crate::upstream::{TransportFault, Upstream};
use crate::{admin, clock, journey};

/// Everything that a gateway is made of.
pub struct Parts {
    /// Settings that do not change while it runs.
    pub settings: Settings,
    /// The upstreams.
    pub upstreams: Vec<UpstreamSettings>,
    /// The host's registry.
    pub registry: Registry,
    /// The host's policies.
    pub policies: PolicySet,
    /// Who calls.
    pub identity: Arc<dyn Authenticator>,
    /// Where evidence and approvals are kept.
    pub store: Store,
    /// What states and arguments are sealed with.
    pub seal: SealKey,
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    /// An upstream that cannot be set up.
    #[error("upstream `{name}` cannot be set up")]
    Upstream {
        /// Its name.
        name: String,
        /// Why not.
        source: TransportFault,
    },
    /// Contracts that should be pinned on first use, and cannot be had.
    #[error("the contracts of upstream `{name}` cannot be pinned on first use")]
    FirstUse {
        /// Its name.
        name: String,
        /// Why not.
        source: LiveFault,
    },
    /// Contracts that cannot be pinned.
    #[error("the contracts of upstream `{name}` cannot be pinned")]
    Pin {
        /// Its name.
        name: String,
        /// Why not.
        source: PinFault,
    },
    /// Locks and registry that do not fit together.
    #[error("locks and registry do not fit together")]
    Catalog(#[from] CatalogFault),
    /// Policies that cannot be set up.
    #[error("the policies cannot be set up")]
    Policies(#[from] AuthorizerFault),
    /// A store that does not work.
    #[error("the store does not work")]
    Store(#[from] StoreFault),
}

/// A gateway that has started.
pub struct Gateway {
    gate: Arc<Gate>,
    tasks: Vec<JoinHandle<()>>,
    recording: JoinHandle<()>,
}

/// What the last run left open and this one closed.
#[derive(Clone, Copy, Debug)]
pub struct Recovered {
    /// Calls whose outcome nobody knows.
    pub unknown_calls: usize,
}

impl Gateway {
    /// Starts a gateway: closes what an earlier run left open, builds the catalogue, and begins to compare live
    /// contracts with their locks.
    ///
    /// # Errors
    /// Where a part does not work, or locks and registry do not fit together.
    pub async fn start(parts: Parts) -> Result<(Self, Recovered), StartFault> {
        let Parts { settings, upstreams, registry, policies, identity, store, seal } = parts;
        let unknown_calls = close_open_intents(&store, clock::now()).await?;
        let mut sources = Vec::with_capacity(upstreams.len());
        let mut strict = true;
        for one in upstreams {
            strict &= matches!(one.pins, Pins::Locked(_));
            let prefix = one.prefix.clone();
            sources.push((source(one, &settings).await?, prefix));
        }
        let catalog = Catalog::build(sources, &registry, strict)?;
        let authorizer = authorizer(&catalog, registry, policies)?;
        let store = Arc::new(store);
        let (recorder, recording) = Recorder::start(store.clone());
        let in_flight = Arc::new(Semaphore::new(settings.bounds.in_flight));
        let gate = Arc::new(Gate {
            snapshot: Arc::new(Snapshot { catalog, authorizer }),
            identity,
            store,
            recorder,
            seal,
            counters: Counters::default(),
            in_flight,
            shares: Shares::new(&settings.bounds),
            closing: Arc::new(watch::Sender::new(false)),
            decided: Notify::new(),
            settings,
        });
        let tasks = gate
            .snapshot
            .catalog
            .sources
            .iter()
            .map(|source| tokio::spawn(keep_verifying(source.clone(), gate.settings.bounds.clone())))
            .collect();
        Ok((Self { gate, tasks, recording }, Recovered { unknown_calls }))
    }

    /// The endpoint for agents: `POST /mcp`.
    pub fn router(&self) -> Router {
        Router::new().route("/mcp", axum::routing::any(mcp)).with_state(self.gate.clone())
    }

    /// The API for approvers, auditors and operators.
    pub fn admin_router(&self) -> Router {
        admin::router(self.gate.clone())
    }

    /// Every row of evidence from now on.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Row> {
        self.gate.recorder.watch()
    }

    /// Serves both listeners until `stop` resolves, then lets the requests under way end and writes the last rows.
    ///
    /// # Errors
    /// Where a listener breaks.
    pub async fn serve(
        self,
        agents: TcpListener,
        admin: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let closing = self.gate.closing.clone();
        let stopped = closing.subscribe();
        let wait = |mut stopped: watch::Receiver<bool>| async move {
            // The sender is dropped only after it has said that it is time.
            let _ = stopped.wait_for(|now| *now).await;
        };
        let serve = |listener: TcpListener, router: Router| {
            axum::serve(nodelay(listener), router).with_graceful_shutdown(wait(stopped.clone())).into_future()
        };
        let both = futures::future::try_join(serve(agents, self.router()), serve(admin, self.admin_router()));
        tokio::spawn(async move {
            stop.await;
            closing.send_replace(true);
        });
        let served = both.await.map(|_| ());
        self.stop().await;
        served
    }

    /// Stops comparing contracts and writes the last rows.
    pub async fn stop(self) {
        for task in &self.tasks {
            task.abort();
        }
        for task in self.tasks {
            // Aborted above; that is how it ends.
            let _ = task.await;
        }
        // Each request keeps its place until its call has ended, whether or not its client stayed.
        let bounds = &self.gate.settings.bounds;
        let places = u32::try_from(bounds.in_flight).unwrap_or(u32::MAX);
        let longest = bounds.call_timeout * 2 + std::time::Duration::from_secs(5);
        if tokio::time::timeout(longest, self.gate.in_flight.acquire_many(places)).await.is_err() {
            tracing::error!("some calls did not end; their outcomes are closed as unknown at the next start");
        }
        drop(self.gate);
        if tokio::time::timeout(std::time::Duration::from_secs(10), self.recording).await.is_err() {
            tracing::error!("the last rows of evidence were not written within 10 s");
        }
    }
}

/// A listener whose connections do not wait to fill a packet; without that a call takes tens of milliseconds longer.
pub fn nodelay(listener: TcpListener) -> impl axum::serve::Listener<Addr = std::net::SocketAddr> {
    listener.tap_io(|stream| {
        if let Err(fault) = stream.set_nodelay(true) {
            tracing::debug!(error = &fault as &dyn std::error::Error, "TCP_NODELAY was not set");
        }
    })
}

async fn mcp(State(gate): State<Arc<Gate>>, request: Request<axum::body::Body>) -> Response {
    journey::govern(gate, request).await
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
            let tools = live.tools.iter().map(|(name, raw)| (name.as_str(), raw.get()));
            let lock = Lock::pin(identity, tools, &clock::rfc3339(clock::now()))
                .map_err(|source| StartFault::Pin { name: name.clone(), source })?;
            (lock, Standing { compared_at: Some(clock::now()), ..Standing::default() })
        }
    };
    Ok(Source::new(
        upstream,
        one.may_ask,
        lock,
        standing,
        one.verify_every,
        settings.bounds.in_flight_per_upstream,
    ))
}
