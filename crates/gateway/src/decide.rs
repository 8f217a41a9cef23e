//! Approvals as people see and decide them, through the admin API and on pages: what waits, what it would do, and the
//! decision.
//!
//! **Invariant:** every decision goes through [`decide`], whatever it came by, and one that is refused leaves a row.

mod fault;
mod pending;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Weak};

use aldgate_approval::{ApprovalId, CallId, Decision, Record, RecordState, Verdict};
use aldgate_authority::{Concern, Decide, Label, Principal};
use aldgate_evidence::{Digests, Kind, Row};
use aldgate_identity::{Identity, Scopes, scopes};
use aldgate_store::{ApprovalFilter, Durability, EvidenceFilter, StoreFault};
use serde_json::Value;
use tokio::task::JoinError;

use crate::gate::{Counters, Gate};
use crate::snapshot::Snapshot;
use crate::{approve, clock};
pub use fault::DecisionFault;
pub use pending::{Pending, Waiting};

/// Earlier calls that are shown beside an approval.
const EARLIER: u32 = 5;
/// What a note may have, in characters.
const NOTE: usize = 500;
/// The method of decisions in the evidence.
const DECIDE: &str = "approvals/decide";

/// The approvals of a running gateway, for pages on which people see and decide them. It keeps nothing alive.
#[derive(Clone)]
pub struct Approvals(Weak<Gate>);

/// One approval, as somebody sees it who may.
#[derive(Clone)]
pub struct Seen {
    /// The record.
    pub record: Record,
    /// How it stands now.
    pub state: RecordState,
    /// The bytes of the arguments; nothing where they were forgotten after a denial, or the sealing key was changed.
    pub arguments: Option<String>,
    /// The tool's title, as it is pinned.
    pub title: Option<String>,
    /// The labels and boundaries of the registry's entry, where there still is one.
    pub entry: Option<SeenEntry>,
    /// Whether it is of a call of whoever sees it.
    pub own: bool,
    /// Whether who sees it may decide it while it is pending.
    pub may_decide: bool,
}

/// The arguments are the caller's alone, and of who decides.
impl fmt::Debug for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, state, own, may_decide, .. } = self;
        let mut shown = out.debug_struct("Seen");
        shown.field("id", &record.id).field("state", state).field("own", own).field("may_decide", may_decide);
        shown.finish_non_exhaustive()
    }
}

/// What the registry says of what is asked.
#[derive(Clone, Debug)]
pub struct SeenEntry {
    /// What it does to data.
    pub labels: Vec<Label>,
    /// What it promises to stay within.
    pub boundaries: Vec<String>,
}

/// A call that was made of the same action under another approval.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The approval.
    pub approval: ApprovalId,
    /// The call.
    pub call: CallId,
    /// When it was asked for, RFC 3339.
    pub asked_at: String,
    /// How it ended; `open` where nobody knows yet.
    pub outcome: String,
}

/// A page of a list, and what to ask with as `before` for the approvals before it.
pub(crate) type Listed = (Vec<Seen>, Option<ApprovalId>);

impl Approvals {
    pub(crate) fn of(gate: &Arc<Gate>) -> Self {
        Self(Arc::downgrade(gate))
    }

    fn gate(&self) -> Result<Arc<Gate>, DecisionFault> {
        self.0.upgrade().ok_or(DecisionFault::Stopped)
    }

    /// What is pending in the tenant: for somebody to decide, and of their own calls.
    ///
    /// # Errors
    /// Where the gateway has stopped or the store fails.
    pub async fn pending(&self, principal: &Principal, most: usize) -> Result<Pending, DecisionFault> {
        pending::pending(self.gate()?.as_ref(), principal, most).await
    }

    /// One approval that somebody may see, with the earlier calls of the same action.
    ///
    /// # Errors
    /// Where it does not exist for them, the gateway has stopped, or the store fails.
    pub async fn one(&self, principal: &Principal, id: &str) -> Result<(Seen, Vec<Earlier>), DecisionFault> {
        let gate = self.gate()?;
        let seen = one(&gate, principal, id).await?;
        let before = earlier(&gate, &seen.record).await?;
        Ok((seen, before))
    }

    /// Takes a decision, as the admin API does, from somebody who proved who it is for this very decision.
    ///
    /// # Errors
    /// Where it is not taken.
    pub async fn decide(
        &self,
        who: &Identity,
        id: &str,
        verdict: Verdict,
        note: String,
    ) -> Result<Seen, DecisionFault> {
        let gate = self.gate()?;
        // Whoever leaves the page meanwhile has decided all the same, and those who wait are told.
        let (who, id) = (who.clone(), id.to_owned());
        let deciding = {
            let (gate, who, id) = (gate.clone(), who.clone(), id.clone());
            async move { decide(&gate, &who.principal, &who.scopes, &id, verdict, note).await }
        };
        let ended = ended(tokio::spawn(deciding).await, &gate.counters);
        if let Err(fault @ DecisionFault::Failed) = &ended {
            refused(&gate, who.principal, &id, fault.code(), &fault.to_string()).await;
        }
        ended
    }

    /// Notes that somebody tried to decide and was refused before the gateway was asked.
    pub async fn refused(&self, principal: Arc<Principal>, id: &str, code: &'static str, message: &str) {
        if let Ok(gate) = self.gate() {
            refused(&gate, principal, id, code, message).await;
        }
    }
}

/// How a decision in a task of its own ended. A panic is counted.
fn ended(
    joined: Result<Result<Seen, DecisionFault>, JoinError>,
    counters: &Counters,
) -> Result<Seen, DecisionFault> {
    joined.unwrap_or_else(|fault| {
        if !fault.is_panic() {
            return Err(DecisionFault::Stopped);
        }
        counters.count_panic();
        Err(DecisionFault::Failed)
    })
}

/// Approvals that somebody may decide, and those that they asked for, oldest first.
pub(crate) async fn list(
    gate: &Gate,
    principal: &Principal,
    filter: ApprovalFilter,
) -> Result<Listed, DecisionFault> {
    let found = gate.store.approvals(&filter, clock::now()).await?;
    let full = u32::try_from(found.len()).is_ok_and(|read| read == filter.limit);
    let next = found.first().filter(|_| full).map(|(oldest, _)| oldest.id.clone());
    let snapshot = gate.snapshot();
    let seen = found.into_iter().filter_map(|(record, sealed)| {
        let stand = stand(&snapshot, principal, &record)?;
        Some(seen(gate, &snapshot, record, &sealed, &stand))
    });
    Ok((seen.collect(), next))
}

/// One approval. What somebody may not see does not exist for them.
pub(crate) async fn one(gate: &Gate, principal: &Principal, id: &str) -> Result<Seen, DecisionFault> {
    let (record, sealed) = gate.store.approval(&principal.tenant, id).await?;
    let snapshot = gate.snapshot();
    let unknown = || StoreFault::NoApproval { id: id.to_owned() };
    let stand = stand(&snapshot, principal, &record).ok_or_else(unknown)?;
    Ok(seen(gate, &snapshot, record, &sealed, &stand))
}

/// The calls that were made of the same action under other approvals, the newest first, with their outcomes: who decides
/// should know that it was done, or may have been. A call without an outcome is `open`.
pub(crate) async fn earlier(gate: &Gate, record: &Record) -> Result<Vec<Earlier>, DecisionFault> {
    let mut found = Vec::new();
    for past in gate.store.redeemed_before(record, EARLIER).await? {
        let Some(call) = past.redeemed_by else { continue };
        let filter = EvidenceFilter {
            tenant: record.binding.caller.tenant.clone(),
            call: Some(call.to_string()),
            kind: Some(Kind::Outcome.as_str().to_owned()),
            limit: 1,
            ..Default::default()
        };
        let rows = gate.store.evidence(&filter).await?;
        let row = rows.last().and_then(|row| serde_json::from_str::<Value>(&row.body).ok());
        let outcome = row.and_then(|row| Some(row.get("outcome")?.as_str()?.to_owned()));
        found.push(Earlier {
            approval: past.id,
            call,
            asked_at: clock::rfc3339(past.created_at),
            outcome: outcome.unwrap_or_else(|| "open".to_owned()),
        });
    }
    Ok(found)
}

/// Takes a person's decision. One that is refused leaves a row too.
pub(crate) async fn decide(
    gate: &Gate,
    principal: &Arc<Principal>,
    granted: &Scopes,
    id: &str,
    verdict: Verdict,
    note: String,
) -> Result<Seen, DecisionFault> {
    let decided = take(gate, principal, granted, id, verdict, note).await;
    if let Err(fault) = &decided {
        refused(gate, principal.clone(), id, fault.code(), &fault.to_string()).await;
    }
    decided
}

/// Writes down that somebody tried to decide and was refused.
pub(crate) async fn refused(
    gate: &Gate,
    principal: Arc<Principal>,
    id: &str,
    code: &'static str,
    message: &str,
) {
    let Ok(random) = clock::random() else { return gate.counters.count_unrecorded() };
    let call = CallId::from_random(random);
    let mut row = Row::new(Kind::Refusal, clock::now(), call, principal, DECIDE);
    row.approval = ApprovalId::parse(id).map(|id| id.to_string());
    row.code = Some(code.to_owned().into());
    row.detail = Some(message.chars().take(300).collect());
    if let Err(fault) = gate.recorder.record(&row, None, Durability::Group).await {
        tracing::error!(error = &fault as &dyn std::error::Error, "a refused decision was not recorded");
        gate.counters.count_unrecorded();
    }
}

async fn take(
    gate: &Gate,
    principal: &Arc<Principal>,
    granted: &Scopes,
    id: &str,
    verdict: Verdict,
    note: String,
) -> Result<Seen, DecisionFault> {
    if !granted.has(scopes::APPROVALS_DECIDE) {
        return Err(DecisionFault::Scope { has: granted.clone() });
    }
    if note.chars().count() > NOTE || note.chars().any(|letter| letter.is_control() && letter != '\n') {
        return Err(DecisionFault::Note);
    }
    let (record, sealed) = gate.store.approval(&principal.tenant, id).await?;
    let unknown = || StoreFault::NoApproval { id: id.to_owned() };
    // Who may see it and who may decide it is one ruling, of one configuration.
    let snapshot = gate.snapshot();
    let stand = stand(&snapshot, principal, &record).ok_or_else(unknown)?;
    if let Decide::Refused { reasons } = &stand.decide {
        return Err(DecisionFault::forbidden(&principal.name, id, reasons));
    }
    let before = seen(gate, &snapshot, record, &sealed, &stand);
    let decision = Decision { verdict, by: principal.as_ref().clone(), note, at: clock::now() };
    let digests = Digests::new(clock::random().map_err(|_| DecisionFault::Randomness)?);
    let record = &before.record;
    // The decision is part of the story of the call that asked for it.
    let mut row =
        Row::new(Kind::ApprovalDecided, decision.at, record.asked_by.clone(), principal.clone(), DECIDE);
    row.tool = Some(record.binding.tool.as_str().into());
    row.contract = Some(record.binding.contract.as_str().into());
    row.approval = Some(record.id.to_string());
    row.outcome = Some(match verdict {
        Verdict::Approve => "approve".into(),
        Verdict::Deny => "deny".into(),
    });
    row.detail = (!decision.note.is_empty()).then(|| decision.note.clone());
    let pending = record.state_at(decision.at) == RecordState::Pending;
    if before.arguments.is_none() && pending && verdict == Verdict::Approve {
        return Err(DecisionFault::Blind);
    }
    let opened = before.arguments.as_deref().unwrap_or_default();
    row.arguments = Some(digests.of(opened.as_bytes()));
    let stored = row.to_stored(Some(digests.key())).map_err(|_| DecisionFault::Evidence)?;
    let within = u64::try_from(gate.settings.approvals.redeem_within.as_millis()).unwrap_or(u64::MAX);
    let state = match verdict {
        Verdict::Approve => "approved",
        Verdict::Deny => "denied",
    };
    let decided = gate.store.decide(record, decision, within, stored).await?;
    gate.recorder.announce(&row);
    gate.telemetry.instruments().approval(state);
    gate.decided.notify_waiters();
    Ok(Seen { state: decided.state_at(clock::now()), record: decided, ..before })
}

/// How somebody stands to an approval.
struct Stand {
    own: bool,
    decide: Decide,
}

impl Stand {
    fn may_decide(&self) -> bool {
        matches!(self.decide, Decide::Allowed { .. })
    }
}

/// How somebody stands to an approval, where they may see it: who asked, and who may decide.
fn stand(snapshot: &Snapshot, principal: &Principal, record: &Record) -> Option<Stand> {
    let binding = &record.binding;
    let concern = Concern::parse(&binding.tool);
    let decide = match concern.item(&binding.contract) {
        Some(item) => snapshot.authorizer.may_decide(principal, &binding.caller, &item),
        // What no key names nobody decides.
        None => Decide::Refused { reasons: Vec::new() },
    };
    let under_another_name = match &decide {
        Decide::Allowed { .. } => false,
        // Whoever could decide it, was it not their own under another name, is told so.
        Decide::Refused { reasons } => {
            !reasons.is_empty() && reasons.iter().all(|reason| reason.code == "AG-DECIDE-SELF")
        }
    };
    let stand = Stand { own: binding.caller.is_same(principal) || under_another_name, decide };
    (stand.own || stand.may_decide()).then_some(stand)
}

/// An approval as somebody sees it who may.
fn seen(gate: &Gate, snapshot: &Snapshot, record: Record, sealed: &[u8], stand: &Stand) -> Seen {
    let catalog = &snapshot.catalog;
    let tool = catalog.tools().find(|tool| tool.offer.key == record.binding.tool);
    let concern = Concern::parse(&record.binding.tool);
    let offer = concern.item("").and_then(|item| catalog.offer(item.kind, concern.key()));
    Seen {
        state: record.state_at(clock::now()),
        arguments: approve::opened_arguments(gate, sealed),
        title: tool.and_then(|tool| tool.title.clone()),
        entry: offer.map(|offer| SeenEntry {
            labels: offer.entry.labels.iter().copied().collect(),
            boundaries: offer.entry.boundaries.clone(),
        }),
        record,
        own: stand.own,
        may_decide: stand.may_decide(),
    }
}
