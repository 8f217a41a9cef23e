//! What can go wrong in the store.

use std::path::PathBuf;

/// A failure of the store. Whoever meets one refuses the call.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// Another process holds the file.
    #[error("the store `{path}` is in use by another gateway; stop that one, or give this one a `state_dir` of its own", path = .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file system said no.
    #[error("the store `{path}` cannot be opened; check that the folder exists and can be written", path = .path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database said no.
    #[error("the store could not {doing}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// What the database said.
        source: sqlx::Error,
    },
    /// The database was written by a later version of this program.
    #[error(
        "the store has form {found} and this version knows forms up to {known}; use the version that wrote it"
    )]
    LaterVersion {
        /// The form of the file.
        found: i64,
        /// The last form that this version knows.
        known: usize,
    },
    /// The database was written by an earlier version, and is only read.
    #[error(
        "the store has form {found} and this version reads form {known}; start `aldgate serve gateway` once, which brings it up to date"
    )]
    EarlierVersion {
        /// The form of the file.
        found: usize,
        /// The form that this version reads.
        known: usize,
    },
    /// The database was made by another build under the same version.
    #[error(
        "the store was made by another build of this version and has another form; use that build, or a new `state_dir`"
    )]
    OtherForm,
    /// A row does not read back as what was written.
    #[error("the store holds a {what} that cannot be read; the file was changed by something else")]
    Unreadable {
        /// What kind of row.
        what: &'static str,
        /// Why not.
        source: serde_json::Error,
    },
    /// There is no such approval in this tenant.
    #[error("there is no approval `{id}`; `aldgate approvals list` shows those that there are")]
    NoApproval {
        /// What was asked for.
        id: String,
    },
    /// The approval cannot be decided.
    #[error(transparent)]
    Decide(#[from] aldgate_approval::record::DecideFault),
    /// The approval was redeemed or has run out meanwhile.
    #[error("approval `{id}` was redeemed already or has run out; repeat the call to ask for a new one")]
    Spent {
        /// The approval.
        id: String,
    },
    /// A person denied the same action under another approval.
    #[error("approval `{id}` for the same call was denied by {by}; the denial is final for these arguments")]
    Denied {
        /// The approval that was denied.
        id: String,
        /// Who denied it.
        by: String,
        /// What the person wrote.
        note: String,
    },
    /// The round was dispatched before.
    #[error("round {round} of call `{call}` was dispatched already; a request state is good for one request")]
    RoundSpent {
        /// The call.
        call: String,
        /// The round.
        round: u32,
    },
}

pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreFault>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, doing: &'static str) -> Result<T, StoreFault> {
        self.map_err(|source| StoreFault::Database { doing, source })
    }
}
