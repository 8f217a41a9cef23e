//! The three servers over one store.

use std::sync::Arc;

use aldgate_telemetry::Telemetry;
use aldgate_telemetry::attributes::Way;
use axum::Router;

use crate::content::Content;
use crate::contracts;
use crate::desk::{Desk, Manuals, Parts, Tickets};
use crate::front::{Allowed, Front, Observed};
use crate::generate::{Plan, Progress, TICKETS};
use crate::hub::{Change, Hub};
use crate::identity::Identity;
use crate::options::{Access, OpenFault, Options, ServerName};
use crate::order::Seal;
use crate::search::Search;
use crate::stdio::{self, StdioFault};
use crate::store::Store;

/// The three servers: tickets, parts and manuals. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct FieldService {
    inner: Arc<Inner>,
    telemetry: Telemetry,
}

struct Inner {
    store: Arc<Store>,
    desks: [Arc<dyn Desk>; 3],
    access: Access,
    allowed: Allowed,
}

impl std::fmt::Debug for FieldService {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FieldService").field("access", &self.inner.access).finish_non_exhaustive()
    }
}

impl FieldService {
    /// Opens the store, and generates the data if it is empty. An existing store keeps its data, whatever number of
    /// tickets and seed are asked for. Progress is logged.
    ///
    /// # Errors
    /// When the options are out of bounds or the store cannot be opened.
    pub async fn open(options: Options) -> Result<FieldService, OpenFault> {
        FieldService::open_with(options, |progress| {
            tracing::info!(tickets = progress.tickets, of = progress.of, "generating field-service data");
        })
        .await
    }

    /// As [`FieldService::open`], and calls `progress` about twenty times while data is generated.
    ///
    /// # Errors
    /// As [`FieldService::open`].
    pub async fn open_with(
        options: Options,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<FieldService, OpenFault> {
        if !TICKETS.contains(&options.tickets) {
            return Err(OpenFault::Size { asked: options.tickets });
        }
        if matches!(&options.access, Access::Bearer(secret) if secret.is_empty()) {
            return Err(OpenFault::EmptySecret);
        }
        let content = Content::load()?;
        let plan = Plan { tickets: options.tickets, seed: options.seed };
        let store = Store::open(options.store.as_deref(), plan, &content, &mut progress).await?;
        if store.plan() != plan {
            tracing::info!(tickets = store.plan().tickets, seed = store.plan().seed, "existing data is kept");
        }
        let store = Arc::new(store);
        let desks = desks(&store, &content, &options.state_key)?;
        for desk in &desks {
            Identity::of(desk.as_ref())?;
        }
        let allowed = Allowed::default();
        let inner = Inner { store, desks, access: options.access, allowed };
        Ok(FieldService { inner: Arc::new(inner), telemetry: Telemetry::off() })
    }

    /// Also serves requests for these host names (without port) and from these web origins; loopback ones are
    /// always served. Needed when the servers listen on another address than loopback.
    #[must_use]
    pub fn allow(
        self,
        hosts: impl IntoIterator<Item = String>,
        origins: impl IntoIterator<Item = String>,
    ) -> FieldService {
        let inner = &self.inner;
        let mut allowed = inner.allowed.clone();
        allowed.hosts.extend(hosts);
        allowed.origins.extend(origins);
        FieldService {
            inner: Arc::new(Inner {
                store: inner.store.clone(),
                desks: inner.desks.clone(),
                access: inner.access.clone(),
                allowed,
            }),
            telemetry: self.telemetry,
        }
    }

    /// Has the requests that are served from now on seen by `telemetry`.
    #[must_use]
    pub fn observed_by(self, telemetry: Telemetry) -> FieldService {
        FieldService { inner: self.inner, telemetry }
    }

    /// All three servers, at `/tickets/mcp`, `/parts/mcp` and `/manuals/mcp`.
    pub fn router(&self) -> Router {
        self.all(Way::Http)
    }

    /// The same, for a client inside the process.
    pub fn router_inside(&self) -> Router {
        self.all(Way::Inproc)
    }

    fn all(&self, way: Way) -> Router {
        ServerName::ALL.into_iter().fold(Router::new(), |router, name| {
            router.merge(self.mounted(name, &format!("/{name}/mcp"), self.inner.access.clone(), way))
        })
    }

    /// One server alone, at `/mcp`.
    pub fn server(&self, name: ServerName) -> Router {
        self.mounted(name, "/mcp", self.inner.access.clone(), Way::Http)
    }

    /// Serves one server over standard input and output until the input ends. Whoever started the process may call.
    ///
    /// # Errors
    /// When standard input or output fails.
    pub async fn stdio(&self, name: ServerName) -> Result<(), StdioFault> {
        self.lines(name, tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// As [`FieldService::stdio`], over any pair of streams with one message a line.
    ///
    /// # Errors
    /// When a stream fails.
    pub async fn lines<R, W>(&self, name: ServerName, input: R, output: W) -> Result<(), StdioFault>
    where
        R: tokio::io::AsyncRead + Unpin + Send,
        W: tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        stdio::serve(self.mounted(name, stdio::PATH, Access::Open, Way::Stdio), input, output).await
    }

    /// Tells everyone who listens to a server that its lists should be fetched anew.
    pub fn announce_lists(&self, name: ServerName) {
        self.desk(name).hub().announce(Change::Lists);
    }

    /// Ends all listens with their completing answers and closes the store.
    pub async fn close(&self) {
        for desk in &self.inner.desks {
            desk.hub().close();
        }
        self.inner.store.close().await;
    }

    fn desk(&self, name: ServerName) -> &Arc<dyn Desk> {
        let [tickets, parts, manuals] = &self.inner.desks;
        match name {
            ServerName::Tickets => tickets,
            ServerName::Parts => parts,
            ServerName::Manuals => manuals,
        }
    }

    fn mounted(&self, name: ServerName, path: &str, access: Access, way: Way) -> Router {
        let observed = Observed { telemetry: self.telemetry.clone(), way };
        match Front::new(self.desk(name).clone(), access, self.inner.allowed.clone(), observed) {
            Ok(front) => front.router(path),
            Err(fault) => {
                // `open` wrote the same identity before, so this cannot happen; an empty router serves nothing.
                tracing::error!(%fault, server = %name, "the identity of a server cannot be written");
                Router::new()
            }
        }
    }
}

fn desks(
    store: &Arc<Store>,
    content: &Content,
    state_key: &[u8; 32],
) -> Result<[Arc<dyn Desk>; 3], OpenFault> {
    let search = Arc::new(Search::new()?);
    let model_variants = content.model_variants();
    let tickets = Tickets {
        contract: contracts::server(".tickets")?,
        store: store.clone(),
        search: search.clone(),
        hub: Hub::new(),
        model_variants: model_variants.clone(),
        fault_codes: content.faults.iter().map(|fault| fault.code.clone()).collect(),
    };
    let parts = Parts {
        contract: contracts::server(".parts")?,
        store: store.clone(),
        hub: Hub::new(),
        seal: Seal::new(state_key)?,
        model_variants,
    };
    let manuals = Manuals {
        contract: contracts::server(".manuals")?,
        store: store.clone(),
        search,
        hub: Hub::new(),
        families: content.world.families.iter().map(|family| family.code.clone()).collect(),
    };
    Ok([Arc::new(tickets), Arc::new(parts), Arc::new(manuals)])
}
