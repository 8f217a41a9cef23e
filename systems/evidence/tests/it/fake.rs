//! A source whose evidence the tests choose, and that can fail in ways in which a store seldom does.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use aldgate_contract::diff::Severity;
use aldgate_evidence_server::{Artefact, ArtefactKind, DriftEvent, Observed, Source, Unavailable};
use async_trait::async_trait;
use serde_json::{Value, json};

/// How the source answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// From what it holds.
    #[default]
    Sound,
    /// As if the store were gone.
    Down,
    /// As if what is stored failed its check.
    Invalid,
    /// Never.
    Silent,
    /// With what its tool may not answer.
    Misshapen,
}

#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) observed: BTreeMap<(String, String), Vec<Observed>>,
    pub(crate) drift: BTreeMap<(String, String), Vec<DriftEvent>>,
    pub(crate) artefacts: BTreeMap<(String, String), Artefact>,
    state: Mutex<State>,
}

impl Fake {
    pub(crate) fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    async fn ready(&self) -> Result<State, Unavailable> {
        let state = *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state {
            State::Sound | State::Misshapen => Ok(state),
            State::Down => Err(Unavailable::Store("the disk is gone".into())),
            State::Invalid => Err(Unavailable::Invalid("row 7 cannot be read".to_owned())),
            State::Silent => std::future::pending().await,
        }
    }
}

fn of<T: Clone>(map: &BTreeMap<(String, String), T>, tenant: &str, name: &str) -> Option<T> {
    map.get(&(tenant.to_owned(), name.to_owned())).cloned()
}

#[async_trait]
impl Source for Fake {
    async fn observations(&self, tenant: &str, tool: &str) -> Result<Vec<Observed>, Unavailable> {
        self.ready().await?;
        Ok(of(&self.observed, tenant, tool).unwrap_or_default())
    }

    async fn drift_events(
        &self,
        tenant: &str,
        tool: &str,
        limit: u32,
    ) -> Result<Vec<DriftEvent>, Unavailable> {
        let misshapen = self.ready().await? == State::Misshapen;
        let mut events = of(&self.drift, tenant, tool).unwrap_or_default();
        events.truncate(limit as usize);
        for event in events.iter_mut().filter(|_| misshapen) {
            event.before = Some("md5:0".to_owned());
        }
        Ok(events)
    }

    async fn artefact(&self, tenant: &str, id: &str) -> Result<Option<Artefact>, Unavailable> {
        self.ready().await?;
        Ok(of(&self.artefacts, tenant, id))
    }
}

pub(crate) fn observed(version: &str, calls: u64) -> Observed {
    Observed {
        version: version.to_owned(),
        calls,
        failures: 1,
        violations: 0,
        median_ms: 5,
        p95_ms: 50,
        longest_ms: 41,
    }
}

pub(crate) fn event(tool: &str, number: u32, secret: &str) -> DriftEvent {
    DriftEvent {
        version: "2".to_owned(),
        id: format!("call_{number}"),
        tool: tool.to_owned(),
        at: 1_700_000_000_000 + i64::from(number),
        kind: "quarantined".to_owned(),
        why: Some("definition".to_owned()),
        severity: Some(Severity::Breaking),
        before: Some(format!("sha256:{}", "a".repeat(64))),
        after: Some(format!("sha256:{}", "b".repeat(64))),
        diff: json!([{ "severity": "breaking", "path": "/inputSchema/required", "what": secret }]),
    }
}

pub(crate) fn artefact(kind: ArtefactKind, tool: &str, record: Vec<Value>) -> Artefact {
    Artefact { kind, tool: Some(tool.to_owned()), record, whole: true }
}
