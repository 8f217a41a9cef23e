//! The eighth step, and what goes before a dispatch: the evidence.
//!
//! **Invariant:** what the registry does not call read-only is on the disk before it is dispatched.
//! **Invariant:** an [`Intent`] is made here alone, after its row was taken.

use aldgate_evidence::{Kind, RecordFault, Row};
use aldgate_store::{Durability, NewRow, StoreFault};
use bytes::Bytes;

use crate::catalog::Answer;
use crate::gate::Gate;
use crate::observe;
use crate::refusal::Refusal;
use crate::trail::Trail;
use crate::upstream::{Ended, Outcome};

/// Proof that the intent of a call was recorded.
pub(crate) struct Intent(());

/// What is sent to the client, recorded.
pub(crate) enum Recorded {
    /// A result.
    Result(Bytes),
    /// A notification was taken.
    Accepted,
}

fn nobody() -> Refusal {
    Refusal::host("AG-INTERNAL", "nobody was identified")
}

fn unwritten(fault: RecordFault) -> Refusal {
    match fault {
        RecordFault::Full => Refusal::busy("the evidence queue is full; try again later"),
        other => {
            Refusal::host("AG-EVIDENCE", "the evidence could not be written; nothing was sent").because(other)
        }
    }
}

/// The intent row of a call.
pub(crate) fn intent_row(trail: &Trail) -> Result<Row, Refusal> {
    trail.row(Kind::Intent).ok_or_else(nobody)
}

/// A row as the store takes it.
pub(crate) fn stored(trail: &Trail, row: &Row) -> Result<NewRow, Refusal> {
    row.to_stored(Some(trail.digests.key()))
        .map_err(|fault| Refusal::host("AG-EVIDENCE", "the evidence could not be written").because(fault))
}

/// Records the intent of a call: on the disk, or queued where nothing changes.
pub(crate) async fn intent(gate: &Gate, trail: &mut Trail, read_only: bool) -> Result<Intent, Refusal> {
    let row = intent_row(trail)?;
    // While the store fails, a read is not sent either before its row is taken.
    if read_only && !gate.store.is_failing() {
        trail.queued = Some(gate.recorder.queue(&row, Some(&trail.digests)).map_err(unwritten)?);
    } else {
        let durability = if read_only { Durability::Group } else { Durability::Full };
        let span = (!read_only).then(|| observe::check(gate, trail, "evidence"));
        gate.recorder.record(&row, Some(&trail.digests), durability).await.map_err(unwritten)?;
        span.into_iter().for_each(observe::written);
    }
    trail.intended = true;
    Ok(Intent(()))
}

/// Records the intent of a later round, which can be taken `once`, or as often as its client likes.
pub(crate) async fn next_round(gate: &Gate, trail: &mut Trail, once: bool) -> Result<Intent, Refusal> {
    if !once {
        return intent(gate, trail, true).await;
    }
    let row = intent_row(trail)?;
    let new = stored(trail, &row)?;
    gate.store.spend_round(trail.call.as_str(), trail.round, new).await.map_err(|fault| match fault {
        StoreFault::RoundSpent { .. } => Refusal::state(fault.to_string()),
        other => {
            Refusal::host("AG-STORE", "the round could not be recorded; nothing was sent").because(other)
        }
    })?;
    gate.recorder.announce(&row);
    trail.intended = true;
    Ok(Intent(()))
}

/// Records how a call ended; nothing of the result leaves before that.
pub(crate) async fn outcome(
    gate: &Gate,
    trail: &mut Trail,
    outcome: Outcome,
    read_only: bool,
) -> Result<Recorded, Refusal> {
    let mut row = trail.row(Kind::Outcome).ok_or_else(nobody)?;
    row.took_ms = Some(outcome.took_ms);
    row.violation = outcome.violation;
    match &outcome.ended {
        Ended::Complete { result, is_error } => {
            row.outcome = Some(if *is_error { "tool_error" } else { "complete" }.into());
            row.result = Some(trail.digests.of(result));
        }
        Ended::Asked { result } => {
            row.outcome = Some("input_required".into());
            row.result = Some(trail.digests.of(result));
        }
        Ended::Error { error, code, told } => {
            describe(&mut row, told);
            // What the upstream wrote is content: kept as a digest.
            row.detail = Some(format!("the upstream answered with the JSON-RPC error {code}"));
            if told.code() != "AG-OUTCOME-UNKNOWN" {
                row.outcome = Some("rpc_error".into());
            }
            row.result = Some(trail.digests.of(error.get().as_bytes()));
        }
        Ended::Failed(refusal) => describe(&mut row, refusal),
    }
    let durability = if read_only { Durability::Group } else { Durability::Full };
    let intent = trail.queued.take();
    let span = (!read_only).then(|| observe::check(gate, trail, "evidence"));
    let written = async {
        gate.recorder.record(&row, Some(&trail.digests), durability).await?;
        if let Some(intent) = intent {
            intent.committed().await?;
        }
        span.into_iter().for_each(observe::written);
        Ok::<_, RecordFault>(())
    };
    if let Err(fault) = written.await {
        let refusal = match outcome.ended {
            Ended::Failed(refusal) | Ended::Error { told: refusal, .. } => refusal,
            _ if read_only => {
                Refusal::host("AG-EVIDENCE", "the evidence could not be written; the result is withheld")
            }
            _ => Refusal::unknown("the evidence of the outcome could not be written"),
        };
        return Err(refusal.because(fault));
    }
    match outcome.ended {
        Ended::Complete { result, .. } | Ended::Asked { result } => Ok(Recorded::Result(result.into())),
        Ended::Failed(refusal) | Ended::Error { told: refusal, .. } => Err(refusal),
    }
}

/// Records what the host answered by itself.
pub(crate) async fn answer(gate: &Gate, trail: &Trail, answer: Answer) -> Result<Recorded, Refusal> {
    let row = trail.row(Kind::Answer).ok_or_else(nobody)?;
    gate.recorder.record(&row, None, Durability::Group).await.map_err(unwritten)?;
    Ok(Recorded::Result(answer.0))
}

/// Records a refusal. A refused request is refused whether or not its row can be written; a row that cannot is counted.
pub(crate) async fn refusal(gate: &Gate, trail: &Trail, refusal: &Refusal) {
    let kind = if trail.intended { Kind::Outcome } else { Kind::Refusal };
    let Some(mut row) = trail.row(kind) else { return };
    describe(&mut row, refusal);
    if let Err(fault) = gate.recorder.record(&row, Some(&trail.digests), Durability::Group).await {
        tracing::error!(error = &fault as &dyn std::error::Error, call = %trail.call, "a refusal was not recorded");
        gate.counters.count_unrecorded();
    }
}

/// Records that a client left before its call was made. Nobody is there who could wait for the commit.
pub(crate) fn abandoned(gate: &Gate, trail: &Trail) {
    let Some(mut row) = trail.row(Kind::Refusal) else { return };
    row.code = Some("AG-CLIENT-LEFT".into());
    row.detail = Some("the client left before the call was made; nothing was sent".to_owned());
    match gate.recorder.queue(&row, Some(&trail.digests)) {
        // The group that it is in is committed or told in the log.
        Ok(queued) => drop(queued),
        Err(fault) => {
            tracing::error!(error = &fault as &dyn std::error::Error, call = %trail.call, "a request was not recorded");
            gate.counters.count_unrecorded();
        }
    }
}

fn describe(row: &mut Row, refusal: &Refusal) {
    let outcome = match refusal.code() {
        "AG-OUTCOME-UNKNOWN" => "unknown",
        "AG-CLIENT-LEFT" => "cancelled",
        _ => "failed",
    };
    row.outcome = (row.kind == Kind::Outcome).then_some(outcome.into());
    row.code = Some(refusal.code().into());
    // What the guard says may quote the body; content is not kept.
    row.detail = (!refusal.code().starts_with("AG-WIRE-")).then(|| refusal.to_string());
}
