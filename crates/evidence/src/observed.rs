//! What calls are observed to do, added up before it is kept: per tenant, tool and contract version.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::Principal;
use aldgate_store::{Observation, Store};
use tokio::time::Instant;

use crate::row::{Kind, Row};

/// How long calls are added up at the most before the sum is kept. What is not kept yet is lost in a crash.
const EVERY: Duration = Duration::from_secs(1);
/// Calls that are added up at the most.
const MOST: usize = 16_384;

/// One call that ended.
pub(crate) struct Observed {
    principal: Arc<Principal>,
    tool: Arc<str>,
    version: u32,
    failed: bool,
    violation: bool,
    took_ms: u64,
}

impl Observed {
    /// What a row says of a call; only the outcome of a call under a pinned contract does.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let version = row.contract_version.filter(|_| row.kind == Kind::Outcome)?;
        // A round that asks the client for input is not the end of its call.
        if row.outcome.as_deref() == Some("input_required") {
            return None;
        }
        Some(Self {
            principal: row.principal.clone(),
            tool: row.tool.clone()?,
            version,
            failed: row.outcome.as_deref() != Some("complete"),
            violation: row.violation,
            took_ms: row.took_ms.unwrap_or_default(),
        })
    }
}

/// Calls that are to be added to what is kept.
#[derive(Default)]
pub(crate) struct Sums {
    waiting: Vec<Observed>,
    until: Option<Instant>,
}

impl Sums {
    pub(crate) fn add(&mut self, observed: Observed) {
        self.waiting.push(observed);
        self.until.get_or_insert_with(|| Instant::now() + EVERY);
    }

    /// When they are to be kept; `None` where there are none.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Whether it is time to keep them.
    pub(crate) fn is_due(&self) -> bool {
        self.waiting.len() >= MOST || self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Keeps them. Where the store does not take them they are lost, and the log says how many.
    pub(crate) async fn keep(&mut self, store: &Store) {
        self.until = None;
        let calls = std::mem::take(&mut self.waiting);
        let mut sums: BTreeMap<(&str, &str, u32), Observation> = BTreeMap::new();
        for call in &calls {
            let key = (call.principal.tenant.as_str(), &*call.tool, call.version);
            let sum = sums
                .entry(key)
                .or_insert_with(|| Observation { version: call.version, ..Observation::default() });
            sum.add(call.failed, call.violation, call.took_ms);
        }
        if sums.is_empty() {
            return;
        }
        let rows: Vec<_> = sums.iter().map(|((tenant, tool, _), sum)| (*tenant, *tool, sum)).collect();
        if let Err(fault) = store.add_observations(&rows).await {
            let error = &fault as &dyn std::error::Error;
            tracing::error!(error, calls = calls.len(), "observations of calls were not kept");
        }
    }
}
