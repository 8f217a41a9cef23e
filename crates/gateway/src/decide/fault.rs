//! Why a decision is not taken, or an approval not shown.

use aldgate_approval::record::DecideFault;
use aldgate_authority::Reason;
use aldgate_identity::{Scopes, lacks_scope, scopes};
use aldgate_store::StoreFault;

/// A refusal or a failure. Each has a stable code.
#[derive(Debug, thiserror::Error)]
pub enum DecisionFault {
    /// Who decides shows nothing that was made for it.
    #[error("{}", lacks_scope("this", scopes::APPROVALS_DECIDE, .has))]
    Scope {
        /// What it was made for.
        has: Scopes,
    },
    /// A note of another form.
    #[error("the note may have 500 characters at most, and no control characters")]
    Note,
    /// There is none, for whoever asks.
    #[error("there is no approval `{id}`; `aldgate approvals list` shows those that there are")]
    Unknown {
        /// What was asked for.
        id: String,
    },
    /// A policy or the gateway does not let this person decide this.
    #[error("`{name}` may not decide approval `{id}`: {why}")]
    Forbidden {
        /// Who.
        name: String,
        /// What.
        id: String,
        /// Why not.
        why: String,
        /// The stable code: of what the gateway itself demands of who decides, or that no policy permits it.
        code: &'static str,
    },
    /// It was decided, used or ran out before.
    #[error(transparent)]
    Decided(DecideFault),
    /// Nobody can see what would be approved.
    #[error(
        "the arguments cannot be opened, the sealing key was changed; nobody can see what would be approved. Deny it, or let it \
         run out"
    )]
    Blind,
    /// The store failed.
    #[error("the store failed; see the gateway's log")]
    Store(#[source] StoreFault),
    /// The evidence could not be written.
    #[error("the evidence of the decision could not be written")]
    Evidence,
    /// There are no random numbers.
    #[error("the system's random source does not work")]
    Randomness,
    /// The gateway has stopped.
    #[error("the gateway has stopped")]
    Stopped,
    /// The gateway failed on the way.
    #[error("the gateway failed while it took the decision; the approval says how it stands now")]
    Failed,
}

impl DecisionFault {
    /// What a policy says stays here; what the gateway itself demands of who decides is told.
    pub(super) fn forbidden(name: &str, id: &str, reasons: &[Reason]) -> Self {
        let told = reasons.iter().find(|reason| reason.code.starts_with("AG-DECIDE-"));
        let why = told.map_or("no policy permits it", |reason| reason.message.as_str()).to_owned();
        let code = told.map_or("AG-ADMIN-FORBIDDEN", |reason| reason.code);
        Self::Forbidden { name: name.to_owned(), id: id.to_owned(), why, code }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Scope { .. } => "AG-SCOPE",
            Self::Note => "AG-ADMIN-REQUEST",
            Self::Unknown { .. } => "AG-ADMIN-APPROVAL",
            Self::Forbidden { code, .. } => code,
            Self::Decided(_) => "AG-ADMIN-DECIDED",
            Self::Blind => "AG-ADMIN-BLIND",
            Self::Store(_) => "AG-STORE",
            Self::Evidence => "AG-EVIDENCE",
            Self::Randomness | Self::Stopped | Self::Failed => "AG-INTERNAL",
        }
    }

    /// The HTTP status that goes with it.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Scope { .. } | Self::Forbidden { .. } => 403,
            Self::Note => 400,
            Self::Unknown { .. } => 404,
            Self::Decided(_) | Self::Blind => 409,
            Self::Store(_) | Self::Evidence | Self::Randomness | Self::Failed => 500,
            Self::Stopped => 503,
        }
    }
}

impl From<StoreFault> for DecisionFault {
    fn from(fault: StoreFault) -> Self {
        match fault {
            StoreFault::NoApproval { id } => Self::Unknown { id },
            StoreFault::Decide(fault) => Self::Decided(fault),
            other => {
                tracing::error!(error = &other as &dyn std::error::Error, "the store failed");
                Self::Store(other)
            }
        }
    }
}
