//! What can go wrong with contracts, each with its stable code.

use std::path::PathBuf;

use aldgate_contract::{Digest, LockFault, PinFault};
use aldgate_gateway::{LiveContracts, LiveFault, StartFault};
use miette::Diagnostic;

use super::item::Named;
use crate::coded::Code as _;
use crate::fault::quoted;
use crate::out;

/// What cannot be pinned or compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContractsFault {
    /// A lock that must not be used.
    #[error("the lock `{path}` cannot be used", path = .path.display())]
    Lock {
        path: PathBuf,
        #[source]
        source: Box<LockFault>,
    },
    /// A lock that could not be read again.
    #[error("the lock `{path}` would not be one that can be read again; nothing was written", path = .path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        source: Box<LockFault>,
    },
    /// An upstream that gave no list.
    #[error("upstream `{upstream}` could not be asked for its contracts")]
    Live {
        upstream: String,
        #[source]
        source: Box<LiveFault>,
    },
    /// An upstream that cannot be pinned for another reason.
    #[error(transparent)]
    Start(StartFault),
    /// One contract that cannot be pinned.
    #[error("{what} cannot be accepted")]
    Accept {
        what: String,
        #[source]
        source: Box<PinFault>,
    },
}

impl ContractsFault {
    /// The stable code.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Lock { .. } | Self::Unwritable { .. } => "AG-CONFIG-LOCK",
            Self::Live { .. } => "AG-CLI-UPSTREAM",
            Self::Start(fault) => fault.code_of(),
            Self::Accept { .. } => "AG-CLI-ACCEPT",
        }
    }

    /// A list that was not had: nothing was to be pinned on its first use.
    pub(super) fn of(upstream: &str, fault: StartFault) -> Self {
        match fault {
            StartFault::FirstUse { source, .. } => {
                Self::Live { upstream: upstream.to_owned(), source: Box::new(source) }
            }
            other => Self::Start(other),
        }
    }
}

/// What a reviewer asked for and cannot have. What peers wrote was made plain before it came here.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum ReviewFault {
    /// Findings that nobody acknowledged.
    #[error("{what} nobody acknowledged; nothing was written")]
    #[diagnostic(
        code("AG-CLI-SUSPECT"),
        help("read the definitions; the command above takes responsibility for what was found")
    )]
    Suspect { what: String },
    /// Another contract than the one that was reviewed.
    #[error("{what} has the digest {found} now, expected {expected}; nothing was written")]
    #[diagnostic(code("AG-CLI-ACCEPT"), help("review what is served now: `aldgate contracts diff`"))]
    Digest { what: String, found: Digest, expected: Digest },
    /// Another server than the one whose contracts are in the lock.
    #[error("{what}; one contract of it cannot be accepted alone")]
    #[diagnostic(
        code("AG-CLI-ACCEPT"),
        help("review all of it: `aldgate contracts diff`, then `aldgate contracts pin UPSTREAM --all`")
    )]
    Stranger { what: String },
    /// A lock whose contracts changed since they were reviewed.
    #[error("{what}; nothing was written")]
    #[diagnostic(
        code("AG-CLI-ACCEPT"),
        help(
            "review what changed and accept each with the command beside it (`aldgate contracts diff` shows it), or pin all \
             of it with `--all`"
        )
    )]
    Drifted { what: String },
    /// Nothing of this name on either side.
    #[error("{what} is neither served nor pinned; the upstream serves {served}")]
    #[diagnostic(code("AG-CLI-UNKNOWN"))]
    Nothing { what: String, served: String },
    /// A contract that is served and cannot be read.
    #[error("{what} cannot be read: {why}")]
    #[diagnostic(code("AG-CLI-ACCEPT"))]
    Unreadable { what: String, why: String },
    /// A rename that did not happen.
    #[error("{what}")]
    #[diagnostic(code("AG-CLI-RENAME"))]
    Rename {
        what: String,
        #[help]
        help: Option<String>,
    },
    /// A file or pair that cannot be compared.
    #[error("{what}")]
    #[diagnostic(code("AG-CLI-COMPARE"))]
    Compare {
        what: String,
        #[help]
        help: Option<String>,
    },
}

impl ReviewFault {
    /// That something is on neither side.
    pub(super) fn nothing(named: &Named, live: &LiveContracts) -> Self {
        let served = quoted(live.definitions(named.item.kind).map(|(name, _)| name));
        Self::Nothing { what: format!("`{}`", out::plain(&named.to_string())), served }
    }
}
