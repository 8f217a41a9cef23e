//! Whose signatures count, and how one contract stands.

use aldgate_contract::signature::{Keyring, SignatureFault, Statement};
use serde_json::{Value, json};

use crate::config::{Loaded, signatures};
use crate::out;

/// The reviewers of a configuration.
pub(super) struct Reviewers {
    keyring: Keyring,
    /// Whether an unsigned contract is refused.
    required: bool,
    /// Whether there is a key to check with.
    some: bool,
}

/// How the signature of one contract stands.
pub(super) enum Signed {
    /// Good, by the key of this id.
    By(String),
    /// There is none, and none is needed.
    Not,
    /// There is one, and no key to check it with.
    Unchecked,
    /// It is missing and needed, or it does not count.
    Refused(SignatureFault),
}

impl Reviewers {
    /// The keys that the configuration names.
    pub(super) fn of(loaded: &Loaded) -> miette::Result<Self> {
        let found = signatures(loaded)?;
        let some = !loaded.config.contracts.keys.is_empty() || !loaded.config.contracts.revoked.is_empty();
        Ok(Self { keyring: found.keyring, required: found.required, some })
    }

    /// The keys.
    pub(super) fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// How the signature of a contract stands.
    pub(super) fn state(&self, statement: &Statement<'_>, signature: Option<&str>) -> Signed {
        match self.keyring.verify(statement, signature) {
            Ok(kid) => Signed::By(kid),
            Err(SignatureFault::Missing) if !self.required => Signed::Not,
            Err(_) if !self.required && !self.some => Signed::Unchecked,
            Err(fault) => Signed::Refused(fault),
        }
    }
}

/// Says how what was written gets its signature, where one is required.
pub(super) fn note_unsigned(loaded: &Loaded, what: &str) -> miette::Result<()> {
    if Reviewers::of(loaded)?.required {
        let what = if what.is_empty() { String::new() } else { format!("{what} ") };
        note!("it is refused until it is signed: `aldgate contracts sign {}--key FILE`", out::plain(&what));
    }
    Ok(())
}

impl Signed {
    /// Whether the contract does not count because of it.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// In words.
    pub(super) fn told(&self) -> String {
        match self {
            Self::By(kid) => format!("by the key `{kid}`"),
            Self::Not => "none; none is required".to_owned(),
            Self::Unchecked => "not checked: `contracts.keys` names no key".to_owned(),
            Self::Refused(SignatureFault::Missing) => {
                "it is not signed, and `require_signature` is on".to_owned()
            }
            Self::Refused(fault) => fault.to_string(),
        }
    }

    /// As JSON.
    pub(super) fn described(&self) -> Value {
        match self {
            Self::By(kid) => json!({"state": "good", "kid": kid}),
            Self::Not => json!({"state": "none"}),
            Self::Unchecked => json!({"state": "unchecked"}),
            Self::Refused(SignatureFault::Missing) => json!({"state": "missing"}),
            Self::Refused(fault) => json!({"state": "refused", "why": fault.to_string()}),
        }
    }
}
