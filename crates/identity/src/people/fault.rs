//! What can go wrong where people sign in, other than that somebody is refused.

use aldgate_store::StoreFault;

/// A failure. Whoever meets one lets nobody in.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The store did not answer or did not take a change.
    #[error("the accounts cannot be read or changed: the store failed")]
    Store(#[from] StoreFault),
    /// More passwords wait to be checked than may.
    #[error("too many passwords wait to be checked; try again in some seconds")]
    Busy,
    /// A password could not be hashed, or a hash not be read.
    #[error(
        "a password could not be checked: the hash in the store, or the parameters of argon2, cannot be used"
    )]
    Hash(#[source] argon2::password_hash::Error),
    /// The system has no random numbers.
    #[error("the system gives no random numbers, without which nobody can be signed in")]
    Randomness,
    /// A task ended before its time.
    #[error("a password could not be checked: the process is stopping")]
    Stopping,
    /// Sessions ended, but not what programs were granted.
    #[error("what programs were granted could not be taken back; sign out everywhere once more")]
    Revoking(#[source] Box<dyn std::error::Error + Send + Sync>),
}
