use aldgate_wire::guard::GuardFault;

use super::{FORMAT, MAX_CHOSEN, MAX_VERSION};
use crate::canonical::CanonicalFault;
use crate::digest::Digest;
use crate::kind::Item;

/// A live list that cannot be pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinFault {
    /// A definition has no canonical form.
    #[error("the definition of {item} cannot be pinned")]
    Definition {
        /// Of what.
        item: Item,
        /// Why.
        #[source]
        source: CanonicalFault,
    },
    /// A definition gives another name than the list.
    #[error(
        "the definition of {item} has another `{key}`; pin the list as the upstream serves it",
        key = .item.kind.key()
    )]
    Name {
        /// Of what.
        item: Item,
    },
    /// A name occurs twice.
    #[error("{item} occurs twice; names must be unique within an upstream")]
    Repeated {
        /// Of what.
        item: Item,
    },
    /// A version that was asked for is not above all that its name has had.
    #[error("{item} has had version {last}; expected a version above it, found {found}")]
    Version {
        /// Of what.
        item: Item,
        /// The version that was asked for.
        found: u32,
        /// The last that it has had.
        last: u32,
    },
    /// A version that was asked for is so high that there may be none after it.
    #[error("version {found} of {item} is too high; expected one up to {MAX_CHOSEN}")]
    High {
        /// Of what.
        item: Item,
        /// The version that was asked for.
        found: u32,
    },
    /// The renames are not one to one.
    #[error(
        "the renames of {item} are not one to one; expected each name once on either side, and no name for itself"
    )]
    Renames {
        /// Of what.
        item: Item,
    },
    /// The time is none.
    #[error("`{found}` is no time; expected one as RFC 3339 writes it, such as `2026-12-01T10:00:00Z`")]
    Time {
        /// What was given.
        found: String,
    },
    /// A name has had the last version that there is.
    #[error("{item} has had the last version that there is; pin it in a new lock")]
    NoVersion {
        /// Of what.
        item: Item,
    },
    /// It goes on with another's history already.
    #[error(
        "{item} goes on with the history of another already, so it takes no second place; accept it as it is"
    )]
    Heir {
        /// Of what.
        item: Item,
    },
    /// There is no past to go on with.
    #[error("{item} was never pinned, so nothing can take its place")]
    NoPast {
        /// The one whose place was to be taken.
        item: Item,
    },
}

/// A lock that must not be used.
#[derive(Debug, thiserror::Error)]
pub enum LockFault {
    /// The text is not JSON that can be read without doubt.
    #[error("the lock cannot be read at line {line}")]
    Unreadable {
        /// Where, from 1.
        line: usize,
        /// Why.
        #[source]
        source: GuardFault,
    },
    /// The text has another format than this program knows.
    #[error(
        "the lock has format {found}, expected {FORMAT}; use the version of aldgate that wrote it, or pin anew"
    )]
    Format {
        /// The format found.
        found: u64,
    },
    /// The text has not the members of a lock.
    #[error("the lock has not the shape of one")]
    Shape(#[source] serde_json::Error),
    /// A digest does not match what it stands beside.
    #[error(
        "the lock was edited: {item} records {what} {recorded}, but its definition has {computed}; \
         restore the file, or pin it anew"
    )]
    Edited {
        /// Of what.
        item: Item,
        /// `digest` or `rawDigest`.
        what: &'static str,
        /// The digest in the lock.
        recorded: Digest,
        /// The digest of the definition in the lock.
        computed: Digest,
    },
    /// The kept raw text and the definition shown for review differ in more than white space.
    #[error("the lock was edited: `raw` of {item} is not its `definition`; restore the file, or pin it anew")]
    RawDiffers {
        /// Of what.
        item: Item,
    },
    /// A definition gives another name than its key.
    #[error(
        "the lock was edited: the definition under {item} has another `{key}`; restore the file",
        key = .item.kind.key()
    )]
    Name {
        /// Of what.
        item: Item,
    },
    /// A definition has no canonical form.
    #[error("the lock was edited: the definition of {item} cannot be read; restore the file")]
    Definition {
        /// Of what.
        item: Item,
        /// Why.
        #[source]
        source: CanonicalFault,
    },
    /// Versions do not ascend from 1, or one is there twice.
    #[error("the lock was edited: the versions of {item} do not ascend from 1; restore the file")]
    Versions {
        /// Of what.
        item: Item,
    },
    /// A version beyond those that are given.
    #[error(
        "the lock was edited: {item} has version {found}, at most {MAX_VERSION} are given; restore the file"
    )]
    High {
        /// Of what.
        item: Item,
        /// The version found.
        found: u32,
    },
    /// What is said of renames cannot have been accepted.
    #[error("the lock was edited: the `renames` of {item} are not one to one; restore the file")]
    Renames {
        /// Of what.
        item: Item,
    },
    /// A check is acknowledged that there is not.
    #[error("the lock was edited: {item} has `{found}` acknowledged, which is no check; restore the file")]
    Check {
        /// Of what.
        item: Item,
        /// What was found.
        found: String,
    },
    /// It took the place of something of which there is no contract.
    #[error(
        "the lock was edited: {item} is `renamedFrom` `{found}`, whose contracts are not in its history; restore the file"
    )]
    Heir {
        /// Of what.
        item: Item,
        /// The other.
        found: String,
    },
    /// A time that is none.
    #[error(
        "the lock was edited: `pinnedAt` of {item} is `{found}`, expected a time of RFC 3339; restore the file"
    )]
    Time {
        /// Of what.
        item: Item,
        /// What was found.
        found: String,
    },
    /// Something is pinned and retired.
    #[error("the lock was edited: {item} is pinned, and retired as well; restore the file")]
    Retired {
        /// Of what.
        item: Item,
    },
}
