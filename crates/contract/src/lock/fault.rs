use aldgate_wire::guard::GuardFault;

use super::FORMAT;
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
    /// Versions do not ascend from 1.
    #[error("the lock was edited: the versions of {item} do not ascend from 1; restore the file")]
    Versions {
        /// Of what.
        item: Item,
    },
}
