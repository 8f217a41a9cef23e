//! The sixth step: a permit, at once for what runs by itself, else by redeeming a person's decision, once.

use std::time::{Duration, Instant};

use aldgate_approval::seal::NONCE_BYTES;
use aldgate_approval::{ApprovalId, Binding, Purpose, Record, RecordState, RequestState, Verdict as Decided};
use aldgate_authority::{PrincipalKind, Verdict};
use aldgate_evidence::Kind;
use aldgate_identity::{Door, Unauthenticated};
use aldgate_store::{AskOutcome, StoreFault};
use http::HeaderMap;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::{Progress, Target};
use crate::clock;
use crate::gate::Gate;
use crate::identify::{self, Credentials};
use crate::observe;
use crate::permit::Permit;
use crate::record;
use crate::refusal::Refusal;
use crate::rule::{self, Ruled};
use crate::scope;
use crate::trail::Trail;

/// For what argument bytes are sealed.
const ARGUMENTS: &str = "aldgate approval arguments";
/// Approvals of one principal that may be pending at once, so that nobody buries what an approver has to see.
const MOST_PENDING: u32 = 100;
/// How often a waiting request looks into the store though nobody woke it: another replica may have decided.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A call that needs nobody any more; what is left is to write it down and send it.
pub(crate) struct Ready {
    ruled: Ruled,
    approval: Option<Box<Approved>>,
}

/// What a person approved, and the credentials of the caller who waited for it.
struct Approved {
    record: Record,
    binding: Binding,
    credentials: Credentials,
}

impl Ready {
    /// What the call is about.
    pub(crate) fn target(&self) -> &Target {
        &self.ruled.call.target
    }

    /// Whether the registry says that the call changes nothing.
    pub(crate) fn read_only(&self) -> bool {
        self.ruled.call.target.offer().read_only()
    }
}

/// Waits until the call may be made, or says what the caller has to wait for. Nothing is lost when the caller leaves
/// meanwhile.
pub(crate) async fn ready(
    gate: &Gate,
    trail: &mut Trail,
    ruled: Ruled,
    headers: &HeaderMap,
) -> Result<Ready, Refusal> {
    match (ruled.ruling.verdict(), &ruled.call.progress) {
        (Verdict::Prohibited, _) => {
            Err(Refusal::prohibited(ruled.ruling.code().unwrap_or("AG-PROHIBITED"), ruled.ruling.rule()))
        }
        (Verdict::Automatic, _) | (Verdict::RequiresApproval, Progress::Round { approval: Some(_), .. }) => {
            Ok(Ready { ruled, approval: None })
        }
        (Verdict::RequiresApproval, Progress::Round { approval: None, .. }) => Err(Refusal::state(
            "this call needs an approval now, which it did not need when it began; start it anew without the request state",
        )),
        (Verdict::RequiresApproval, Progress::Fresh | Progress::Waiting { .. }) => {
            let span = observe::approval(gate, trail);
            // Boxed, as everything that few calls need: it would make the journey of each one large.
            let ready = Box::pin(by_approval(gate, trail, ruled, headers)).await;
            observe::approved(trail, span, ready.as_ref().err());
            ready
        }
    }
}

async fn by_approval(
    gate: &Gate,
    trail: &mut Trail,
    ruled: Ruled,
    headers: &HeaderMap,
) -> Result<Ready, Refusal> {
    let binding = binding(trail, &ruled)?;
    let record = match &ruled.call.progress {
        Progress::Waiting { approval, goes_on } => {
            let record = look(gate, trail, approval, *goes_on).await?;
            // It was compared before the wait.
            rule::contract_is_pinned(gate, trail, &ruled.call).await?;
            record
        }
        Progress::Fresh | Progress::Round { .. } => ask(gate, trail, &ruled, &binding).await?,
    };
    let credentials = Credentials::of(headers, trail.expires_at);
    settle(gate, trail, ruled, Approved { record, binding, credentials })
}

/// Writes the intent and makes the permit. From here on the call is made whether or not the caller stays.
pub(crate) async fn permit(gate: &Gate, trail: &mut Trail, ready: Ready) -> Result<Permit, Refusal> {
    let Ready { ruled, approval } = ready;
    if let Some(approved) = &approval {
        // Whoever waited for a person may not be who it was any more.
        Box::pin(identify::still(gate, trail, &approved.credentials)).await?;
        scope::covers_target(gate, trail, &ruled.call.target)?;
    }
    if trail.expires_at.is_some_and(|end| time::OffsetDateTime::now_utc() >= end) {
        let protected = gate.protected(&trail.snapshot, Door::Mcp);
        return Err(Refusal::unauthenticated(&Unauthenticated::Expired, protected.as_ref()));
    }
    // Before anything is used up: an upstream that is busy is a reason to come again.
    let place = place(&ruled)?;
    if let Some(approved) = approval {
        return Box::pin(redeemed(gate, trail, ruled, *approved, place)).await;
    }
    if let Progress::Round { approval, .. } = &ruled.call.progress {
        let approval = approval.clone();
        return Box::pin(next_round(gate, trail, ruled, approval, place)).await;
    }
    let recorded = record::intent(gate, trail, ruled.call.target.offer().read_only()).await?;
    Permit::automatic(ruled, recorded, place)
}

/// Redeems an approval; the intent row and the redemption are one transaction.
async fn redeemed(
    gate: &Gate,
    trail: &mut Trail,
    mut ruled: Ruled,
    Approved { record, binding, .. }: Approved,
    place: OwnedSemaphorePermit,
) -> Result<Permit, Refusal> {
    as_approved(gate, trail, &mut ruled, record.id.as_str()).await?;
    let redemption =
        record.redeem(&binding, clock::now()).map_err(|fault| Refusal::spent(fault.to_string()))?;
    let intent = record::intent_row(trail)?;
    let stored = record::stored(trail, &intent)?;
    let redeemed = gate.store.redeem(redemption, &trail.call, stored).await.map_err(|fault| match fault {
        StoreFault::Spent { .. } => Refusal::spent(fault.to_string()),
        StoreFault::Denied { id, by, note } => Refusal::denied(&id, &by, &note),
        other => {
            Refusal::host("AG-STORE", "the approval could not be redeemed; nothing was sent").because(other)
        }
    })?;
    trail.intended = true;
    gate.telemetry.instruments().approval("redeemed");
    gate.recorder.announce(&intent);
    Ok(Permit::redeemed(ruled, redeemed, place))
}

/// A later round of a call.
async fn next_round(
    gate: &Gate,
    trail: &mut Trail,
    mut ruled: Ruled,
    approval: Option<String>,
    place: OwnedSemaphorePermit,
) -> Result<Permit, Refusal> {
    // A read may be repeated at will, but not one that a person approved.
    let once = approval.is_some() || !ruled.call.target.offer().read_only();
    if let Some(id) = approval {
        // What was approved must still be what is called: the configuration may be another one by now. Of the arguments that
        // the request brought, before those that were approved take their place.
        let now = binding(trail, &ruled)?;
        let record = as_approved(gate, trail, &mut ruled, &id).await?;
        let changed = record.binding.difference(&now);
        let other = (record.redeemed_by.as_ref() != Some(&trail.call)).then_some("call");
        if let Some(what) = changed.or(other) {
            let message = format!("approval `{id}` was given for another {what}; start the call anew");
            return Err(Refusal::state(message));
        }
    }
    let recorded = record::next_round(gate, trail, once).await?;
    Permit::next_round(ruled, recorded, place)
}

fn place(ruled: &Ruled) -> Result<OwnedSemaphorePermit, Refusal> {
    let source = &ruled.call.target.offer().source;
    source.places.clone().try_acquire_owned().map_err(|_| {
        let name = source.upstream.name();
        let message =
            format!("upstream `{name}` works on as many calls as it may; nothing was sent, try again later");
        Refusal::too_many("AG-BUSY-UPSTREAM", message)
    })
}

fn binding(trail: &Trail, ruled: &Ruled) -> Result<Binding, Refusal> {
    let caller =
        trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let offer = ruled.call.target.offer();
    Ok(Binding {
        caller: caller.as_ref().clone(),
        upstream: offer.source.upstream.identity(),
        tool: offer.concern.to_string(),
        contract: offer.contract.to_string(),
        arguments: ruled.call.digest()?,
        registry: ruled.ruling.registry_digest().unwrap_or_default().to_owned(),
        policy: ruled.ruling.policy_digest().unwrap_or_default().to_owned(),
    })
}

async fn ask(gate: &Gate, trail: &mut Trail, ruled: &Ruled, binding: &Binding) -> Result<Record, Refusal> {
    let failed = |fault: StoreFault| {
        Refusal::host("AG-STORE", "the approval could not be asked for; nothing was sent").because(fault)
    };
    let nonce: [u8; NONCE_BYTES] = random()?;
    let arguments = ruled.call.request.params.arguments.as_deref().map_or("", RawValue::get);
    let sealed = gate
        .seal
        .seal(ARGUMENTS, nonce, arguments.as_bytes())
        .map_err(|fault| Refusal::host("AG-INTERNAL", "the arguments could not be sealed").because(fault))?;
    let id = ApprovalId::from_random(random()?);
    trail.approval = Some(id.to_string());
    let pending_for = u64::try_from(gate.settings.approvals.pending_for.as_millis()).unwrap_or(u64::MAX);
    let now = clock::now();
    let record = Record::ask(id, binding.clone(), trail.call.clone(), now, pending_for);
    let row = trail
        .row(Kind::ApprovalAsked)
        .ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let stored = record::stored(trail, &row)?;
    match gate.store.ask(record, &sealed, stored, now, MOST_PENDING).await.map_err(failed)? {
        AskOutcome::TooMany => {
            trail.approval = None;
            Err(Refusal::too_many_pending(MOST_PENDING))
        }
        AskOutcome::Asked(record) => {
            gate.recorder.announce(&row);
            gate.telemetry.instruments().approval("asked");
            Ok(record)
        }
        AskOutcome::Open(record) | AskOutcome::Denied(record) => {
            trail.approval = Some(record.id.to_string());
            Ok(record)
        }
    }
}

/// The record, as soon as it is decided or the time to wait is over.
async fn look(gate: &Gate, trail: &Trail, id: &ApprovalId, wait: bool) -> Result<Record, Refusal> {
    let tenant = trail.principal.as_ref().map(|principal| principal.tenant.clone()).unwrap_or_default();
    let mut closing = gate.closing.subscribe();
    let until = Instant::now() + if wait { gate.settings.approvals.hold } else { Duration::ZERO };
    loop {
        // Registered before the look, so that a decision in between is not missed.
        let decided = gate.decided.notified();
        let (record, _) = gate.store.approval(&tenant, id.as_str()).await.map_err(|fault| match fault {
            StoreFault::NoApproval { .. } => Refusal::state(fault.to_string()),
            other => {
                Refusal::host("AG-STORE", "the approval could not be read; nothing was sent").because(other)
            }
        })?;
        let left = until.saturating_duration_since(Instant::now());
        if record.state_at(clock::now()) != RecordState::Pending || left.is_zero() {
            return Ok(record);
        }
        tokio::select! {
            // Woken or not, the store says how it stands.
            _ = tokio::time::timeout(left.min(LOOK_EVERY), decided) => {}
            _ = closing.wait_for(|now| *now) => return Ok(record),
        }
    }
}

fn settle(gate: &Gate, trail: &Trail, ruled: Ruled, approved: Approved) -> Result<Ready, Refusal> {
    let record = &approved.record;
    let id = record.id.as_str();
    match (record.state_at(clock::now()), &record.decision) {
        (RecordState::Approved, _) => Ok(Ready { ruled, approval: Some(Box::new(approved)) }),
        (RecordState::Denied, Some(decision)) if decision.verdict == Decided::Deny => {
            Err(Refusal::denied(id, &decision.by.name, &decision.note))
        }
        (RecordState::Pending, _) => Err(wait(gate, trail, &ruled, record)?),
        (state, _) => {
            let message = format!(
                "approval `{id}` is {}; repeat the call without its request state to ask anew",
                state.as_str()
            );
            // A state that was given out for it is no good any more, whoever replays it.
            Err(match ruled.call.progress {
                Progress::Waiting { .. } => Refusal::state(message),
                Progress::Fresh | Progress::Round { .. } => Refusal::spent(message),
            })
        }
    }
}

/// The page on which the caller's own user sees how an approval stands: of a person who signs in here, whose client opens
/// pages.
fn status_page(gate: &Gate, ruled: &Ruled, record: &Record) -> Option<String> {
    let own = gate.settings.approval_pages.as_ref()?;
    let caller = &record.binding.caller;
    let is_ours = caller.kind == PrincipalKind::Person && caller.issuer == *own;
    let opens = ruled.call.request.meta.capabilities.elicitation_url;
    (is_ours && opens).then(|| format!("{own}/approvals/{}", record.id))
}

/// How the caller learns that a person must decide, by what it declared on this request: a page, then a form, then a plain
/// result.
fn wait(gate: &Gate, trail: &Trail, ruled: &Ruled, record: &Record) -> Result<Refusal, Refusal> {
    let hint = &gate.settings.decide_hint;
    let id = record.id.as_str();
    let left = matches!(ruled.call.progress, Progress::Waiting { goes_on: false, .. });
    let page = status_page(gate, ruled, record);
    if left || (page.is_none() && !ruled.call.request.meta.capabilities.elicitation_form) {
        return Ok(Refusal::pending(id, hint));
    }
    let caller =
        trail.principal.as_ref().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let state = RequestState {
        tenant: caller.tenant.clone(),
        principal: caller.id(),
        client: caller.client.clone(),
        method: ruled.call.request.method.as_str().to_owned(),
        name: ruled.call.named.clone(),
        arguments: ruled.call.digest()?,
        // The state outlives the approval: who comes too late is told so.
        expires_at: record.expires_at.plus(24 * 60 * 60 * 1000),
        purpose: Purpose::Approval { approval: record.id.clone(), call: trail.call.clone() },
    };
    let sealed = state.seal(&gate.seal, random()?).map_err(|fault| {
        Refusal::host("AG-INTERNAL", "the request state could not be sealed").because(fault)
    })?;
    Ok(match page {
        Some(page) => Refusal::page_notice(id, page, sealed),
        None => Refusal::notice(id, hint, sealed),
    })
}

/// The argument bytes that the person saw.
pub(crate) fn opened_arguments(gate: &Gate, sealed: &[u8]) -> Option<String> {
    String::from_utf8(gate.seal.open(ARGUMENTS, sealed).ok()?).ok()
}

/// Puts the argument bytes that the person saw in the place of those that the request brought: they mean the same, and
/// may be spelled otherwise.
async fn as_approved(gate: &Gate, trail: &mut Trail, ruled: &mut Ruled, id: &str) -> Result<Record, Refusal> {
    let lost = || {
        let message =
            "the approved arguments cannot be opened, the sealing key was changed; nothing was sent";
        Refusal::host("AG-STORE", message)
    };
    let tenant = trail.principal.as_ref().map(|principal| principal.tenant.as_str()).unwrap_or_default();
    let (record, sealed) = gate.store.approval(tenant, id).await.map_err(|fault| {
        Refusal::host("AG-STORE", "the approved arguments could not be read; nothing was sent").because(fault)
    })?;
    let text = opened_arguments(gate, &sealed).ok_or_else(lost)?;
    let approved =
        if text.is_empty() { None } else { Some(RawValue::from_string(text).map_err(|_| lost())?) };
    let bytes = approved.as_deref().map_or("{}", RawValue::get).as_bytes();
    trail.arguments = Some(trail.digests.of(bytes));
    ruled.call.request.params.arguments = approved;
    Ok(record)
}

fn random<const N: usize>() -> Result<[u8; N], Refusal> {
    clock::random().map_err(|fault| Refusal::host("AG-INTERNAL", fault.to_string()))
}
