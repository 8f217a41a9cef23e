use thiserror::Error;

use super::{Authority, section};
use crate::action::Kind;
use crate::template::TemplateFault;

/// Why a registry was refused.
#[derive(Debug, Error)]
pub enum RegistryFault {
    /// A key is not an upstream and what it offers.
    #[error("`{key}` is not a {kind}'s key; expected {expected}", kind = .kind.as_str(), expected = section::form(*.kind))]
    Key {
        /// Whose key it should be.
        kind: Kind,
        /// The key as written.
        key: String,
    },
    /// A resource is neither a URI nor a template that can be matched.
    #[error("the resource of `{key}` cannot be used: {fault}")]
    Template {
        /// The key.
        key: String,
        /// Why not.
        fault: TemplateFault,
    },
    /// `as` on a resource.
    #[error("`{key}` has `as`, but resources keep their URIs; remove the line")]
    Renamed {
        /// The key.
        key: String,
    },
    /// `policy_may_relax` on something whose authority is not `requires_approval`.
    #[error(
        "`{key}` has `policy_may_relax = true` but authority `{authority}`, which policy cannot relax; \
         remove the line or set `authority = \"requires_approval\"`",
        authority = authority.as_str()
    )]
    NothingToRelax {
        /// The key.
        key: String,
        /// Its authority.
        authority: Authority,
    },
    /// `timeout_s` of no time at all.
    #[error(
        "`{key}` has `timeout_s = 0`, so that no call could be answered; expected 1 or more, or no such line"
    )]
    NoTime {
        /// The key.
        key: String,
    },
    /// A digest in `answer.requested_schema` has another form.
    #[error(
        "`answer.requested_schema` of `{key}` is `{found}`; expected `sha256:` and 64 lower-case hex digits, \
         the digest of the schema that is asked with"
    )]
    Digest {
        /// The key.
        key: String,
        /// The text as written.
        found: String,
    },
    /// `answer.fill` names something that the gateway cannot fill in.
    #[error(
        "`answer.fill` of `{key}` holds `{found}`; expected `${{approver.name}}`, `${{approval.note}}` or \
         `${{approval.id}}`"
    )]
    Placeholder {
        /// The key.
        key: String,
        /// The placeholder as written.
        found: String,
    },
    /// An entry has no canonical form.
    #[error(
        "`{key}` cannot be digested; use only text, numbers, booleans, lists and tables in `answer.fill`"
    )]
    Digestion {
        /// The key.
        key: String,
        /// What the canonical form refused.
        source: serde_json::Error,
    },
}
