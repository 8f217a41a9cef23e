use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aldgate_contract::signature::SigningKey;
use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::answer::Answer;
use crate::answers::View;
use crate::arguments::{self, Asked};
use crate::era::Ask;
use crate::fault::Fault;
use crate::reader::Reader;
use crate::shelf::Shelf;
use crate::source::{Source, Unavailable};
use crate::tools::{Tools, ToolsFault};

/// How long evidence may take to be read.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// Repairs and renames that are reckoned at once.
const RECKONINGS: usize = 2;

/// The five tools over a source of evidence and the shelves of contracts; which transport they are served over is another
/// matter.
pub struct EvidenceServer {
    tools: Tools,
    source: Arc<dyn Source>,
    shelves: ArcSwap<Vec<Shelf>>,
    draining: AtomicBool,
    reckoning: Arc<Semaphore>,
}

impl EvidenceServer {
    /// A server; the host's key signs the definitions of its tools.
    ///
    /// # Errors
    /// Where the definitions that are built into the program cannot be used.
    pub fn new(
        source: Arc<dyn Source>,
        shelves: Vec<Shelf>,
        key: Option<&SigningKey>,
    ) -> Result<Self, ToolsFault> {
        Ok(Self {
            tools: Tools::new(key)?,
            source,
            shelves: ArcSwap::from_pointee(shelves),
            draining: AtomicBool::new(false),
            reckoning: Arc::new(Semaphore::new(RECKONINGS)),
        })
    }

    /// Takes other contracts, as after a reload; requests under way go on with those that they began with.
    pub fn replace_shelves(&self, shelves: Vec<Shelf>) {
        self.shelves.store(Arc::new(shelves));
    }

    /// From now on every request is told that the server is about to stop.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    pub(crate) async fn answer(&self, reader: &Reader, ask: Result<Ask, Fault>) -> Result<Answer<'_>, Fault> {
        if self.is_draining() {
            return Err(Fault::Draining);
        }
        match ask? {
            Ask::Discover => Ok(Answer::Discovered),
            Ask::Initialize(version) => Ok(Answer::Initialized(version)),
            Ask::Ping => Ok(Answer::Pong),
            Ask::ListTools => Ok(Answer::Tools(&self.tools.listed)),
            Ask::Call { name, arguments } => {
                let asked = arguments::read(&self.tools, &name, arguments.as_deref())?;
                self.call(reader, &asked).await
            }
        }
    }

    async fn call(&self, reader: &Reader, asked: &Asked) -> Result<Answer<'_>, Fault> {
        let tool = asked.tool();
        let reading = tokio::time::timeout(READ_WITHIN, self.value(reader, asked));
        let Ok(read) = reading.await else {
            tracing::error!(tool = tool.name(), "evidence was not read in time");
            return Err(Fault::Store);
        };
        let checked = read.and_then(|value| {
            let structured = json!({ "result": value });
            let told = self.tools.check_output(tool, &structured);
            told.map(|()| value).map_err(Unavailable::Invalid)
        });
        match checked {
            Ok(value) => Ok(Answer::Value(value)),
            Err(Unavailable::Store(fault)) => {
                let fault: &(dyn std::error::Error + 'static) = fault.as_ref();
                tracing::error!(error = fault, tool = tool.name(), "the store of evidence failed");
                Err(Fault::Store)
            }
            Err(fault @ Unavailable::Invalid(_)) => {
                let fault: &(dyn std::error::Error + 'static) = &fault;
                tracing::error!(
                    error = fault,
                    tool = tool.name(),
                    tenant = reader.tenant(),
                    "evidence is invalid"
                );
                Ok(Answer::Unavailable)
            }
        }
    }

    /// Reckons on a thread of its own, a few at once: what takes long for one reader does not hold up the calls of others.
    async fn aside(
        &self,
        reader: &Reader,
        reckon: impl FnOnce(&View<'_>) -> Result<Value, Unavailable> + Send + 'static,
    ) -> Result<Value, Unavailable> {
        let broken = |fault: &dyn std::error::Error| Unavailable::Store(fault.to_string().into());
        let place = self.reckoning.clone().acquire_owned().await.map_err(|fault| broken(&fault))?;
        let (source, shelves, tenant) =
            (self.source.clone(), self.shelves.load_full(), reader.tenant().to_owned());
        let reckoned = tokio::task::spawn_blocking(move || {
            let _place = place;
            reckon(&View { source: source.as_ref(), shelves: &shelves, tenant: &tenant })
        });
        reckoned.await.map_err(|fault| broken(&fault))?
    }

    async fn value(&self, reader: &Reader, asked: &Asked) -> Result<Value, Unavailable> {
        let shelves = self.shelves.load_full();
        let view = View { source: self.source.as_ref(), shelves: &shelves, tenant: reader.tenant() };
        match asked {
            Asked::Contract(asked) => {
                let asked = asked.clone();
                self.aside(reader, move |view| view.contract(&asked)).await
            }
            Asked::Drift(asked) => view.drift(asked).await,
            Asked::Audit(asked) => view.audit(asked).await,
            Asked::Repair(asked) => {
                let asked = asked.clone();
                self.aside(reader, move |view| view.repair(&asked)).await
            }
            Asked::Coverage(asked) => view.coverage(asked).await,
        }
    }
}
