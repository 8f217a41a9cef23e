//! What a server beside the gateway sees of it, and where it is reached: the evidence server reads through this, and
//! changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use aldgate_approval::CallId;
use aldgate_authority::{Action, Principal};
use aldgate_contract::Lock;
use aldgate_contract::signature::Keyring;
use aldgate_evidence::{Kind, RecordFault, Row};
use aldgate_identity::{Door, Identity, Presented, Proof, Protected, Unauthenticated};
use aldgate_store::{Durability, EvidenceFilter};
use axum::Router;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;

use crate::clock;
use crate::gate::Gate;
use crate::identify::DPOP;

/// A server on the agents' listener, under other paths than `/mcp`. It checks heads and bodies itself.
pub struct Beside {
    /// Its routes.
    pub router: Router,
    /// Called after the configuration was read again.
    pub reloaded: Box<dyn Fn() + Send + Sync>,
}

/// A running gateway as a server beside it sees it. It keeps nothing alive.
#[derive(Clone)]
pub struct View(Weak<Gate>);

/// What is pinned of one upstream.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The pinned contracts.
    pub lock: Arc<Lock>,
    /// The tools that are offered: visible names, with the name that the upstream has for each.
    pub visible: BTreeMap<String, String>,
    /// The tenants that it serves; `None` is every tenant.
    pub tenants: Option<BTreeSet<String>>,
}

impl View {
    pub(crate) fn of(gate: &Arc<Gate>) -> Self {
        Self(Arc::downgrade(gate))
    }

    /// Who the credentials of a request to the evidence server stand for now. Who stands for nobody is counted.
    ///
    /// # Errors
    /// Where they stand for nobody, or the gateway has stopped.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Identity, Unauthenticated> {
        let gate = self.0.upgrade().ok_or(Unauthenticated::Unknown)?;
        let snapshot = gate.snapshot();
        let header = |name| headers.get(name).map(HeaderValue::as_bytes);
        let presented = Presented {
            authorization: header(AUTHORIZATION),
            proof: Proof::Sent(header(DPOP)),
            method: "POST",
            url: gate.settings.reach.doors.url(Door::Evidence),
            door: Door::Evidence,
        };
        let identity = snapshot.identity.authenticate(&presented, OffsetDateTime::now_utc()).await;
        if identity.is_err() {
            gate.counters.count_unauthenticated();
        }
        identity
    }

    /// What the evidence server says of itself when it refuses; nothing where no issuer gives out tokens for it.
    #[must_use]
    pub fn protected(&self) -> Option<Protected> {
        let gate = self.0.upgrade()?;
        gate.protected(&gate.snapshot(), Door::Evidence)
    }

    /// Whether the policies let a principal read the evidence of its tenant.
    #[must_use]
    pub fn may_audit(&self, principal: &Principal) -> bool {
        let gate = self.0.upgrade();
        gate.is_some_and(|gate| gate.snapshot().authorizer.may(principal, Action::Audit).is_ok())
    }

    /// Records that a principal read evidence, or was refused with this code. Nobody reads before that.
    ///
    /// # Errors
    /// Where it could not be recorded, or the gateway has stopped.
    pub async fn note_reading(
        &self,
        principal: &Arc<Principal>,
        refused: Option<&'static str>,
    ) -> Result<(), RecordFault> {
        let gate = self.0.upgrade().ok_or(RecordFault::Store)?;
        let id = clock::random().map(|random| CallId::at(clock::now(), random));
        let id = id.map_err(|_| RecordFault::Store)?;
        let kind = if refused.is_some() { Kind::Refusal } else { Kind::Answer };
        let mut row = Row::new(kind, clock::now(), id, principal.clone(), "evidence");
        row.code = refused.map(Into::into);
        gate.recorder.record(&row, None, Durability::Group).await
    }

    /// Records what became of somebody or something beside the calls, once: a row of a call that is there already is left out. It is
    /// on the disk then.
    ///
    /// # Errors
    /// Where it could not be recorded, or the gateway has stopped.
    pub async fn note_once(&self, row: &Row) -> Result<(), RecordFault> {
        let gate = self.0.upgrade().ok_or(RecordFault::Store)?;
        let same = EvidenceFilter {
            tenant: row.principal.tenant.clone(),
            call: Some(row.call.to_string()),
            limit: 1,
            ..EvidenceFilter::default()
        };
        let there = gate.store.evidence(&same).await.map_err(|fault| {
            tracing::error!(error = &fault as &dyn std::error::Error, "the evidence could not be read");
            RecordFault::Store
        })?;
        if there.is_empty() { gate.recorder.record(row, None, Durability::Full).await } else { Ok(()) }
    }

    /// The reviewers' keys that count now.
    #[must_use]
    pub fn keyring(&self) -> Keyring {
        self.0.upgrade().map(|gate| gate.snapshot().keyring.clone()).unwrap_or_default()
    }

    /// What is pinned of each upstream, and which of its tools are offered.
    #[must_use]
    pub fn shown(&self) -> Vec<Shown> {
        let Some(gate) = self.0.upgrade() else { return Vec::new() };
        let snapshot = gate.snapshot();
        let of = |source: &Arc<crate::catalog::Source>| Shown {
            lock: source.lock.clone(),
            tenants: source.tenants.clone(),
            visible: snapshot
                .catalog
                .tools()
                .filter(|tool| Arc::ptr_eq(&tool.offer.source, source))
                .map(|tool| (tool.offer.visible.clone(), tool.offer.name.clone()))
                .collect(),
        };
        snapshot.catalog.sources.iter().map(of).collect()
    }
}
