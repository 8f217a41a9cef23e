use std::sync::Arc;

use aldgate_contract::diff::Severity;
use aldgate_evidence::{Kind, Row};
use aldgate_store::{EvidenceFilter, LATENCY_BOUNDS_MS, Observation, Store, StoreFault, StoredRow};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::source::{Artefact, ArtefactKind, DriftEvent, Observed, Source, Unavailable};

#[cfg(test)]
mod tests;

/// Rows of one artefact at the most.
const MOST: u32 = 512;

/// The evidence in the host's store.
#[derive(Clone)]
pub struct Stored(Arc<Store>);

impl Stored {
    /// Reads from this store.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Self {
        Self(store)
    }
}

#[async_trait]
impl Source for Stored {
    async fn observations(&self, tenant: &str, tool: &str) -> Result<Vec<Observed>, Unavailable> {
        let seen = self.0.observations(tenant, tool).await.map_err(unavailable)?;
        Ok(seen.iter().map(observed).collect())
    }

    async fn drift_events(
        &self,
        tenant: &str,
        tool: &str,
        limit: u32,
    ) -> Result<Vec<DriftEvent>, Unavailable> {
        let rows = self.0.drift_events(tenant, tool, limit).await.map_err(unavailable)?;
        rows.iter().map(|stored| event(tenant, tool, stored)).collect()
    }

    async fn artefact(&self, tenant: &str, id: &str) -> Result<Option<Artefact>, Unavailable> {
        let filter = EvidenceFilter {
            tenant: tenant.to_owned(),
            call: Some(id.to_owned()),
            limit: MOST + 1,
            ..EvidenceFilter::default()
        };
        let stored = self.0.evidence(&filter).await.map_err(unavailable)?;
        let whole = stored.len() <= usize::try_from(MOST).unwrap_or(usize::MAX);
        let kept = stored.get(usize::from(!whole)..).unwrap_or_default();
        let mut record = Vec::with_capacity(kept.len());
        let (mut tool, mut kind) = (None, ArtefactKind::Call);
        for stored in kept {
            let row = checked(tenant, stored)?;
            if row.call.as_str() != id {
                return Err(Unavailable::Invalid(format!("row {} is of another call", stored.seq)));
            }
            if row.kind == Kind::Drift {
                kind = ArtefactKind::Drift;
            }
            tool = tool.or(row.tool.map(|tool| tool.to_string()));
            record.push(json(stored)?);
        }
        Ok((!record.is_empty()).then_some(Artefact { kind, tool, record, whole }))
    }
}

/// A row that says what its columns say. The columns found it; only the body is what was recorded.
fn checked(tenant: &str, stored: &StoredRow) -> Result<Row, Unavailable> {
    let row: Row = serde_json::from_str(&stored.body)
        .map_err(|fault| Unavailable::Invalid(format!("row {} cannot be read: {fault}", stored.seq)))?;
    if row.principal.tenant == tenant {
        Ok(row)
    } else {
        Err(Unavailable::Invalid(format!("row {} is of another tenant", stored.seq)))
    }
}

fn json(stored: &StoredRow) -> Result<Value, Unavailable> {
    serde_json::from_str(&stored.body)
        .map_err(|fault| Unavailable::Invalid(format!("row {} cannot be read: {fault}", stored.seq)))
}

/// What a row of drift says of the contract.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    severity: Option<Severity>,
    #[serde(default)]
    before: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    diff: Value,
}

fn event(tenant: &str, tool: &str, stored: &StoredRow) -> Result<DriftEvent, Unavailable> {
    let invalid = |what: &str| Unavailable::Invalid(format!("row {} {what}", stored.seq));
    let row = checked(tenant, stored)?;
    if row.kind != Kind::Drift || row.tool.as_deref() != Some(tool) {
        return Err(invalid("is no drift of that tool"));
    }
    let version = row.contract_version.ok_or_else(|| invalid("names no version of a contract"))?;
    let said = row.drift.as_deref().ok_or_else(|| invalid("does not say what drifted"))?;
    let said: Said =
        serde_json::from_str(said.get()).map_err(|_| invalid("says in another form what drifted"))?;
    Ok(DriftEvent {
        version: version.to_string(),
        id: row.call.to_string(),
        tool: tool.to_owned(),
        at: row.at.0,
        kind: row.outcome.map_or_else(|| "drift".to_owned(), std::borrow::Cow::into_owned),
        why: said.why,
        severity: said.severity,
        before: said.before,
        after: said.after,
        diff: said.diff,
    })
}

fn observed(seen: &Observation) -> Observed {
    Observed {
        version: seen.version.to_string(),
        calls: seen.calls,
        failures: seen.failures,
        violations: seen.violations,
        median_ms: at_most(seen, 50),
        p95_ms: at_most(seen, 95),
        longest_ms: seen.longest_ms,
    }
}

/// What so many in a hundred of the calls took at most: the bound of the step in which the last of them was counted.
fn at_most(seen: &Observation, percent: u64) -> u64 {
    let total = seen.latencies.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let wanted = u128::from(total) * u128::from(percent);
    let mut so_far = 0_u128;
    for (count, bound) in seen.latencies.iter().zip(LATENCY_BOUNDS_MS) {
        so_far += u128::from(*count) * 100;
        if so_far >= wanted {
            return bound.min(seen.longest_ms);
        }
    }
    seen.longest_ms
}

/// What was written by something else is invalid; all else means that the store does not work.
fn unavailable(fault: StoreFault) -> Unavailable {
    match fault {
        StoreFault::Unreadable { .. } => Unavailable::Invalid(fault.to_string()),
        fault => Unavailable::Store(Box::new(fault)),
    }
}
