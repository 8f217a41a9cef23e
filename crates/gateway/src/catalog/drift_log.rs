//! The lasting log of how contracts drifted: what the store keeps of it, and the evidence.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_contract::{Item, Kind, Lock, Pin};
use aldgate_evidence::{Kind as RowKind, Recorder, Row};
use aldgate_store::{Drifted, NewRow, PinnedVersion, Store, StoreFault};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::command::concern;
use super::drift::{Drift, Event};
use crate::clock;
use crate::settings::Violations;

/// The method under which evidence has what became of a contract; no client can ask for it.
const METHOD: &str = "contracts/drift";
/// Rows of evidence that one transaction writes.
const ROWS: usize = 64;

/// Contracts of one upstream that drifted at some time under their present pin.
pub(crate) type Drifts = BTreeMap<Item, Drift>;

/// One thing that became of a contract.
pub(crate) struct Told<'a> {
    pub(crate) event: Event,
    pub(crate) item: Option<&'a Item>,
    pub(crate) drift: &'a Drift,
}

/// Where what becomes of contracts is kept.
#[derive(Clone)]
pub(crate) struct DriftLog {
    store: Arc<Store>,
    recorder: Recorder,
    /// Whose evidence has it: a contract is every tenant's that may use it.
    tenants: Arc<BTreeSet<String>>,
    violations: Violations,
}

/// Why the log of drift could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DriftLogFault {
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// What is kept does not read or write as JSON.
    #[error("what is kept of a contract that drifted cannot be read or written")]
    Json(#[from] serde_json::Error),
    /// No random bytes for an id.
    #[error("an id could not be made")]
    Random(#[from] clock::NoRandomness),
}

/// How the contracts of an upstream stand under a lock that is about to be used, and what is to be kept once it is.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) drifts: Drifts,
    changed: Vec<Change>,
    in_use: Vec<PinnedVersion>,
    /// What has a later pin than the ones under which it was quarantined, with the rows of those, ended.
    accepted: Vec<(Item, Drift, Vec<Drifted>)>,
}

/// How one contract stands now, and what is told of it.
pub(crate) type Change = (Item, Drift, Option<Event>);

impl DriftLog {
    pub(crate) fn new(
        store: Arc<Store>,
        recorder: Recorder,
        tenants: BTreeSet<String>,
        violations: Violations,
    ) -> Self {
        Self { store, recorder, tenants: Arc::new(tenants), violations }
    }

    /// The same for an upstream that serves these tenants alone: no other one is told of its contracts.
    pub(crate) fn of_tenants(&self, served: Option<&BTreeSet<String>>) -> Self {
        let tenants = match served {
            None => self.tenants.clone(),
            Some(served) => Arc::new(self.tenants.intersection(served).cloned().collect()),
        };
        Self { tenants, ..self.clone() }
    }

    /// What is kept of an upstream's contracts under the pins of this lock. A quarantine ends where there is a later pin, and
    /// a lock that has an older version of a contract than was in use, or another one under its number, begins one. Nothing
    /// is changed before [`DriftLog::used`].
    pub(crate) async fn open(&self, lock: &Lock) -> Result<Opened, DriftLogFault> {
        let upstream = &lock.upstream.name;
        let now = clock::now();
        let mut opened = Opened::default();
        let mut ended: BTreeMap<Item, (Drift, Vec<Drifted>)> = BTreeMap::new();
        for row in self.store.drifts(upstream).await? {
            let Some((item, pin)) = pin_of(lock, &row.kind, &row.name) else { continue };
            let drift: Drift = serde_json::from_str(&row.body)?;
            if row.pinned == pin.raw_digest.to_string() {
                opened.drifts.insert(item, drift);
            } else if drift.is_quarantined() && drift.version < pin.version {
                // An older lock is a downgrade again, whatever was released before.
                let drift = Drift { known: None, ..drift.released(now) };
                let row = Drifted { body: serde_json::to_string(&drift)?, ..row };
                ended.entry(item).or_insert_with(|| (drift, Vec::new())).1.push(row);
            }
        }
        opened.accepted = ended.into_iter().map(|(item, (drift, rows))| (item, drift, rows)).collect();
        let mut highest: BTreeMap<(String, String), (u32, String)> = BTreeMap::new();
        for noted in self.store.pinned_versions(upstream).await? {
            let known = highest.entry((noted.kind, noted.name)).or_default();
            if noted.version > known.0 {
                *known = (noted.version, noted.digest);
            }
        }
        for pin in Kind::ALL.into_iter().flat_map(|kind| lock.pins(kind).values()) {
            let (kind, digest) = (pin.kind.to_string(), pin.raw_digest.to_string());
            match highest.get(&(kind.clone(), pin.name.clone())) {
                Some((known, noted))
                    if pin.version < *known || (pin.version == *known && digest != *noted) =>
                {
                    let item = pin.kind.item(&pin.name);
                    // An operator's release holds against the version that was known then.
                    if opened.drifts.get(&item).is_none_or(|before| before.known != Some(*known)) {
                        let drift = Drift::downgraded(pin.version, *known, now);
                        opened.changed.push((item, drift, Some(Event::Downgraded)));
                    }
                }
                Some((known, _)) if pin.version == *known => {}
                _ => {
                    let name = pin.name.clone();
                    opened.in_use.push(PinnedVersion { kind, name, version: pin.version, digest });
                }
            }
        }
        opened.drifts.extend(opened.changed.iter().map(|(item, drift, _)| (item.clone(), drift.clone())));
        Ok(opened)
    }

    /// Keeps what came of opening, because the lock is in use now.
    pub(crate) async fn used(&self, lock: &Lock, opened: &Opened) -> Result<(), DriftLogFault> {
        let upstream = &lock.upstream.name;
        if !opened.in_use.is_empty() {
            self.store.note_versions(upstream, &opened.in_use).await?;
        }
        for (item, drift, rows) in &opened.accepted {
            self.store.forget_violations(upstream, &item.name).await?;
            self.write(lock, rows, &[Told { event: Event::Accepted, item: Some(item), drift }], None).await?;
        }
        for changes in opened.changed.chunks(self.at_once()) {
            self.keep(lock, changes, None).await?;
        }
        Ok(())
    }

    /// How many contracts are kept in one transaction: others wait for it.
    pub(crate) fn at_once(&self) -> usize {
        (ROWS / self.tenants.len().max(1)).max(1)
    }

    /// Keeps how contracts stand now, with the evidence of what became of them, in one transaction. `by` is who did it, where
    /// it was a person or a program; else it was the gateway.
    pub(crate) async fn keep(
        &self,
        lock: &Lock,
        changed: &[Change],
        by: Option<&Principal>,
    ) -> Result<(), DriftLogFault> {
        let mut drifts = Vec::with_capacity(changed.len());
        let mut told = Vec::new();
        for (item, drift, event) in changed {
            let Some(pin) = lock.pins(item.kind).get(&item.name) else { continue };
            let kept = Drift { version: pin.version, ..drift.clone() };
            drifts.push(Drifted {
                kind: item.kind.to_string(),
                name: item.name.clone(),
                pinned: pin.raw_digest.to_string(),
                body: serde_json::to_string(&kept)?,
            });
            told.extend(event.map(|event| Told { event, item: Some(item), drift }));
        }
        self.write(lock, &drifts, &told, by).await
    }

    async fn write(
        &self,
        lock: &Lock,
        drifts: &[Drifted],
        told: &[Told<'_>],
        by: Option<&Principal>,
    ) -> Result<(), DriftLogFault> {
        let rows = self.rows(lock, told, by)?;
        let stored = rows.iter().map(|row| row.to_stored(None)).collect::<Result<Vec<NewRow>, _>>()?;
        self.store.keep_drifts(&lock.upstream.name, drifts, &stored).await?;
        rows.iter().for_each(|row| self.recorder.announce(row));
        Ok(())
    }

    /// Keeps the evidence of something that became of an upstream as a whole.
    pub(crate) async fn tell(&self, lock: &Lock, event: Event, drift: &Drift) -> Result<(), DriftLogFault> {
        self.write(lock, &[], &[Told { event, item: None, drift }], None).await
    }

    /// Notes that a result did not fit its output schema; in words where those were too many.
    pub(crate) async fn too_many_violations(
        &self,
        upstream: &str,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<String>, DriftLogFault> {
        let Violations { count, window } = self.violations;
        let within = i64::try_from(window.as_millis()).unwrap_or(i64::MAX);
        let found = self.store.note_violation(upstream, name, now.0, now.0.saturating_sub(within)).await?;
        let seconds = window.as_secs();
        Ok((found >= count)
            .then(|| format!("{found} results within {seconds} s did not fit its output schema")))
    }

    /// Forgets the violations of a tool that is served again.
    pub(crate) async fn forget_violations(&self, upstream: &str, name: &str) -> Result<(), DriftLogFault> {
        Ok(self.store.forget_violations(upstream, name).await?)
    }

    fn rows(
        &self,
        lock: &Lock,
        told: &[Told<'_>],
        by: Option<&Principal>,
    ) -> Result<Vec<Row>, DriftLogFault> {
        let now = clock::now();
        let mut rows = Vec::with_capacity(told.len() * self.tenants.len());
        for told in told {
            let pin = told.item.and_then(|item| lock.pins(item.kind).get(&item.name));
            let said = to_raw_value(&said(lock, told, pin))?.into();
            for tenant in self.tenants.iter() {
                let id = CallId::at(now, clock::random()?);
                // Who acts in another tenant is nothing that this one is told.
                let by = by.filter(|by| by.tenant == *tenant).cloned();
                let who = by.unwrap_or_else(|| gateway(tenant));
                let mut row = Row::new(RowKind::Drift, now, id, Arc::new(who), METHOD);
                row.tool = told.item.map(|item| concern(&lock.upstream.name, item).to_string().into());
                row.contract = pin.map(|pin| pin.digest.to_string().into());
                row.contract_version = pin.map(|pin| pin.version);
                row.outcome = word(told.event).map(Cow::Owned);
                row.detail = Some(told.drift.detail.clone());
                row.drift = Some(Arc::clone(&said));
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

/// What evidence has of it beside what every row has.
fn said(lock: &Lock, told: &Told<'_>, pin: Option<&Pin>) -> serde_json::Value {
    let Told { event, item, drift } = told;
    let mut said = json!({
        "event": event,
        "upstream": lock.upstream.name,
        "why": drift.why,
        "severity": drift.severity,
        "since": clock::rfc3339(drift.since),
    });
    let mut put = |key: &str, value: serde_json::Value| {
        if let Some(members) = said.as_object_mut()
            && !value.is_null()
        {
            members.insert(key.to_owned(), value);
        }
    };
    if let Some(item) = item {
        put("kind", json!(item.kind));
        put("name", json!(item.name));
    }
    put("version", json!(pin.map(|pin| pin.version)));
    // Of the upstream as a whole it is the identity that is another one.
    let before = match (item, pin) {
        (None, _) => lock.upstream.digest().ok(),
        (Some(_), pin) => pin.map(|pin| pin.digest),
    };
    put("before", json!(before.map(|digest| digest.to_string())));
    put("after", json!(drift.after));
    put("diff", drift.diff.clone());
    if !drift.renames.is_empty() {
        put("renames", json!(drift.renames));
    }
    said
}

fn word(event: Event) -> Option<String> {
    serde_json::to_value(event).ok()?.as_str().map(str::to_owned)
}

/// The gateway itself, as the evidence of a tenant names it.
fn gateway(tenant: &str) -> Principal {
    Principal {
        issuer: "aldgate".to_owned(),
        subject: "gateway".to_owned(),
        tenant: tenant.to_owned(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::new(),
        name: "the gateway".to_owned(),
        client: "gateway".to_owned(),
        actors: Vec::new(),
    }
}

/// What a lock has under the word and the name that the store keeps.
fn pin_of<'a>(lock: &'a Lock, kind: &str, name: &str) -> Option<(Item, &'a Pin)> {
    let kind = Kind::ALL.into_iter().find(|known| known.to_string() == kind)?;
    Some((kind.item(name), lock.pins(kind).get(name)?))
}
