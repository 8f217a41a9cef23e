//! The record of one approval and its life: `pending → approved | denied | expired → redeemed`.

#[cfg(test)]
mod tests;

use aldgate_authority::Principal;
use serde::{Deserialize, Serialize};

use crate::binding::Binding;
use crate::id::{ApprovalId, CallId, Timestamp};

/// Where an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// Waits for a person.
    Pending,
    /// A person said yes; it can be redeemed once, for a while.
    Approved,
    /// A person said no. Terminal.
    Denied,
    /// Nobody decided, or nobody redeemed it, in time. Terminal.
    Expired,
    /// Used for one call. Terminal.
    Redeemed,
}

impl RecordState {
    /// The word that is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Redeemed => "redeemed",
        }
    }
}

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call may be made, once.
    Approve,
    /// The call may not be made.
    Deny,
}

/// A decision and who made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Yes or no.
    pub verdict: Verdict,
    /// The person who decided, as authenticated.
    pub by: Principal,
    /// What the person wrote; may be empty.
    pub note: String,
    /// When.
    pub at: Timestamp,
}

/// One approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: ApprovalId,
    /// What it covers.
    pub binding: Binding,
    /// The call that asked for it.
    pub asked_by: CallId,
    /// Where it stood when it was last written; see [`Record::state_at`].
    pub state: RecordState,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Until when it can be decided, and after an approval until when it can be redeemed.
    pub expires_at: Timestamp,
    /// The decision, once made.
    pub decision: Option<Decision>,
    /// The call that redeemed it.
    pub redeemed_by: Option<CallId>,
}

/// Why a decision could not be taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideFault {
    /// It was decided, used or ran out before.
    #[error("approval `{id}` is {state}, only a pending one can be decided", state = .state.as_str())]
    NotPending {
        /// The approval.
        id: ApprovalId,
        /// Its state now.
        state: RecordState,
    },
}

/// Why an approval does not cover a call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedeemFault {
    /// It is not approved (any more).
    #[error("approval `{id}` is {state}, only an approved one can be redeemed", state = .state.as_str())]
    NotApproved {
        /// The approval.
        id: ApprovalId,
        /// Its state now.
        state: RecordState,
    },
    /// A bound value changed since it was asked for.
    #[error("approval `{id}` was given for another {what}; ask for a new one")]
    Changed {
        /// The approval.
        id: ApprovalId,
        /// The bound value that differs.
        what: &'static str,
    },
}

/// Proof that, at one instant, an approval covered a call. The store turns it into a redemption, once.
#[derive(Debug)]
pub struct Redemption {
    id: ApprovalId,
    decision: Decision,
    at: Timestamp,
}

impl Redemption {
    /// The approval to redeem.
    #[must_use]
    pub fn id(&self) -> &ApprovalId {
        &self.id
    }

    /// The decision that it rests on.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The instant for which the check was made.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

impl Record {
    /// A new pending approval.
    #[must_use]
    pub fn ask(
        id: ApprovalId,
        binding: Binding,
        asked_by: CallId,
        now: Timestamp,
        pending_for_ms: u64,
    ) -> Self {
        Self {
            id,
            binding,
            asked_by,
            state: RecordState::Pending,
            created_at: now,
            expires_at: now.plus(pending_for_ms),
            decision: None,
            redeemed_by: None,
        }
    }

    /// The state at `now`: pending and approved ones run out by the clock, whether or not somebody wrote it down.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> RecordState {
        match self.state {
            RecordState::Pending | RecordState::Approved if now >= self.expires_at => RecordState::Expired,
            state => state,
        }
    }

    /// The record after `decision`.
    ///
    /// # Errors
    /// Where it is not pending at the time of the decision.
    pub fn decide(&self, decision: Decision, redeem_within_ms: u64) -> Result<Self, DecideFault> {
        match self.state_at(decision.at) {
            RecordState::Pending => {}
            state => return Err(DecideFault::NotPending { id: self.id.clone(), state }),
        }
        let state = match decision.verdict {
            Verdict::Approve => RecordState::Approved,
            Verdict::Deny => RecordState::Denied,
        };
        let expires_at = decision.at.plus(redeem_within_ms);
        Ok(Self { state, expires_at, decision: Some(decision), ..self.clone() })
    }

    /// Checks that this approval covers the call that `binding` describes.
    ///
    /// # Errors
    /// Where it is not approved at `now`, or a bound value differs.
    pub fn redeem(&self, binding: &Binding, now: Timestamp) -> Result<Redemption, RedeemFault> {
        let state = self.state_at(now);
        let (RecordState::Approved, Some(decision)) = (state, &self.decision) else {
            return Err(RedeemFault::NotApproved { id: self.id.clone(), state });
        };
        if let Some(what) = self.binding.difference(binding) {
            return Err(RedeemFault::Changed { id: self.id.clone(), what });
        }
        Ok(Redemption { id: self.id.clone(), decision: decision.clone(), at: now })
    }
}
