//! Putting the gateway together, and its two listeners.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock, Weak};

use aldgate_approval::SealKey;
use aldgate_authority::AuthorizerFault;
use aldgate_contract::PinFault;
use aldgate_evidence::{Recorder, Row, close_open_intents};
use aldgate_store::{Store, StoreFault};
use aldgate_telemetry::Telemetry;
use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use http::{Request, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, broadcast, watch};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::catalog::{CatalogFault, DriftLogFault, LiveFault};
use crate::decide::Approvals;
use crate::gate::{Counters, Gate};
use crate::listen::Listeners;
use crate::serving::{Answering as _, Peer};
use crate::settings::Settings;
use crate::shares::Shares;
use crate::snapshot::{Books, ConfigurationSource, Configured, Snapshot};
use crate::upstream::TransportFault;
use crate::view::{Beside, View};
use crate::{admin, clock, journey, metadata, observe, serving};

/// Connections of the admin listener; agents have none of these.
const ADMIN_CONNECTIONS: usize = 128;

/// The path of the MCP endpoint.
const MCP: &str = "/mcp";

/// Everything that a gateway is made of.
pub struct Parts {
    /// Settings that do not change while it runs.
    pub settings: Settings,
    /// What can be changed while it runs.
    pub configured: Configured,
    /// Where evidence and approvals are kept.
    pub store: Store,
    /// What states and arguments are sealed with.
    pub seal: SealKey,
    /// Traces and metrics.
    pub telemetry: Telemetry,
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
    /// A lock of another upstream: what is kept of its contracts, and who signed them, is under that one's name.
    #[error("upstream `{name}` has a lock of `{found}`")]
    OtherLock {
        /// Its name.
        name: String,
        /// The name in the lock.
        found: String,
    },
    /// What is kept of an upstream's contracts cannot be read.
    #[error("what is kept of the contracts of upstream `{name}` cannot be read")]
    Drift {
        /// Its name.
        name: String,
        /// Why not.
        source: DriftLogFault,
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
    recording: JoinHandle<()>,
}

/// Has a running gateway read its configuration again.
#[derive(Clone)]
pub struct Reloader(Weak<Gate>);

impl Reloader {
    /// Reads the configuration and uses it from the next request on. Requests under way go on under the old one.
    ///
    /// # Errors
    /// In words for an operator, where it cannot be read or used; then nothing changes.
    pub async fn reload(&self) -> Result<(), String> {
        let gate = self.0.upgrade().ok_or("the gateway has stopped")?;
        gate.reload().await
    }
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
        let Parts { settings, configured, store, seal, telemetry } = parts;
        let unknown_calls = close_open_intents(&store, clock::now()).await?;
        let listeners = Arc::new(Listeners::default());
        let store = Arc::new(store);
        let (recorder, recording) = Recorder::start(store.clone());
        let books = Books { store: store.clone(), recorder: recorder.clone() };
        let snapshot = Snapshot::build(configured, &settings, &listeners, &books, None).await?;
        let in_flight = Arc::new(Semaphore::new(settings.bounds.in_flight));
        let gate = Arc::new(Gate {
            snapshot: ArcSwap::from_pointee(snapshot),
            reading: OnceLock::new(),
            beside: OnceLock::new(),
            reloading: tokio::sync::Mutex::new(()),
            store,
            recorder,
            seal,
            counters: Counters::default(),
            telemetry,
            in_flight,
            shares: Shares::new(&settings.bounds),
            listeners,
            closing: Arc::new(watch::Sender::new(false)),
            decided: Notify::new(),
            settings,
        });
        let seen = Arc::downgrade(&gate);
        let read = move || seen.upgrade().map(|gate| observe::gauges(&gate));
        gate.telemetry.instruments().observe(read);
        gate.telemetry.instruments().begin();
        Ok((Self { gate, recording }, Recovered { unknown_calls }))
    }

    /// Lets operators have the configuration read again while the gateway runs. The first source that is given counts.
    pub fn reads_again_from(&self, source: Arc<dyn ConfigurationSource>) {
        // A second source is a mistake in the program that changes nothing.
        let _ = self.gate.reading.set(source);
    }

    /// Where evidence is kept.
    #[must_use]
    pub fn store(&self) -> Arc<Store> {
        self.gate.store.clone()
    }

    /// What a server beside the gateway sees of it.
    #[must_use]
    pub fn view(&self) -> View {
        View::of(&self.gate)
    }

    /// The approvals, for pages on which people see and decide them.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        Approvals::of(&self.gate)
    }

    /// Serves the paths beside `/mcp` with this, on the agents' listener. The first that is given counts.
    pub fn beside(&self, beside: Beside) {
        // A second one is a mistake in the program that changes nothing.
        let _ = self.gate.beside.set(beside);
    }

    /// Has the configuration read again, as `POST /v1/reload` does.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        Reloader(Arc::downgrade(&self.gate))
    }

    /// The endpoint for agents, `POST /mcp`, for a client inside the process.
    pub fn router(&self) -> Router {
        let agents = Agents(self.gate.clone());
        Router::new().fallback(move |request: Request<Body>| async move { agents.answer(request).await })
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
    pub async fn serve(
        self,
        agents: TcpListener,
        admin: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let closing = self.gate.closing.clone();
        let bounds = &self.gate.settings.bounds;
        let drain = bounds.longest();
        let (ending, ended) = tokio::sync::oneshot::channel();
        let listeners = self.gate.listeners.clone();
        let (agents_most, admin_most, head) = (bounds.connections, ADMIN_CONNECTIONS, bounds.header_bytes);
        let (one, other) = (closing.subscribe(), closing.subscribe());
        let both = futures::future::join(
            serving::serve(agents, Agents(self.gate.clone()), agents_most, head, one, drain),
            serving::serve(admin, self.admin_router(), admin_most, head, other, drain),
        );
        tokio::spawn(async move {
            stop.await;
            let _ = ending.send(tokio::time::Instant::now());
            closing.send_replace(true);
            listeners.end_all();
        });
        both.await;
        let begun = ended.await.unwrap_or_else(|_| tokio::time::Instant::now());
        self.stop_within(drain.saturating_sub(begun.elapsed())).await;
    }

    /// Stops comparing contracts and writes the last rows.
    pub async fn stop(self) {
        let longest = self.gate.settings.bounds.longest();
        self.stop_within(longest).await;
    }

    async fn stop_within(self, longest: std::time::Duration) {
        self.gate.snapshot.load().retire();
        // Each request keeps its place until its call has ended, whether or not its client stayed.
        let bounds = &self.gate.settings.bounds;
        let places = u32::try_from(bounds.in_flight).unwrap_or(u32::MAX);
        if tokio::time::timeout(longest, self.gate.in_flight.acquire_many(places)).await.is_err() {
            tracing::error!("some calls did not end; their outcomes are closed as unknown at the next start");
        }
        drop(self.gate);
        if tokio::time::timeout(std::time::Duration::from_secs(10), self.recording).await.is_err() {
            tracing::error!("the last rows of evidence were not written within 10 s");
        }
    }
}

/// What agents reach: the journey at one path, and what stands beside it.
#[derive(Clone)]
struct Agents(Arc<Gate>);

impl serving::Answering for Agents {
    async fn answer(&self, mut request: Request<Body>) -> Response {
        if request.uri().path() == MCP {
            // Boxed, so that the connection does not move the whole of it about.
            Box::pin(journey::govern(self.0.clone(), request)).await
        } else if let Some(metadata) = metadata::answer(&self.0, metadata::AGENTS, &request) {
            metadata
        } else if let Some(beside) = self.0.beside.get() {
            if let Some(Peer(address)) = request.extensions().get().copied() {
                request.extensions_mut().insert(ConnectInfo::<SocketAddr>(address));
            }
            let answered = AssertUnwindSafe(Box::pin(beside.router.clone().oneshot(request))).catch_unwind();
            match answered.await {
                Ok(Ok(response)) => response,
                Err(_panic) => {
                    self.0.counters.count_panic();
                    StatusCode::INTERNAL_SERVER_ERROR.into_response()
                }
            }
        } else {
            StatusCode::NOT_FOUND.into_response()
        }
    }
}
