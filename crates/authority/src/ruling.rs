use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::action::Concern;
use crate::policy::Policy;
use crate::registry::{Authority, Label};

/// What may happen with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs by itself.
    Automatic,
    /// It runs when a person decided so.
    RequiresApproval,
    /// It does not run.
    Prohibited,
}

/// The answer to one [`Question`](crate::Question). Only an [`Authorizer`](crate::Authorizer) makes one.
#[derive(Clone, Debug)]
pub struct Ruling {
    cause: Cause,
    read_only: bool,
    explanation: Explanation,
}

/// Why a ruling or a refusal came out as it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The stable code, `AG-…`.
    pub code: &'static str,
    /// The rule that spoke, such as `policy.forbid`.
    pub rule: &'static str,
    /// The reason in words, for the host's own people: it may name policies.
    pub message: String,
}

/// Everything that a ruling rests on, to be shown and kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What was asked about: `"tool": "upstream/name"`, and so for the other kinds.
    #[serde(flatten)]
    pub concern: Concern,
    /// The digest of the contract that was ruled on; empty for the gateway itself.
    pub contract: String,
    /// What was decided.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: &'static str,
    /// The refusal's code; absent when the call is not prohibited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The registry's entry; absent for what is not registered, and for the gateway itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<RegistryRef>,
    /// What the server's annotations would imply; shown, never used. See [`Ruling::with_implied`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implied: Option<Authority>,
    /// The policies that determined Cedar's answers.
    pub policies: Vec<PolicyRef>,
    /// The digest of the policies that could match; absent where Cedar was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_digest: Option<String>,
    /// Where arguments were `null` and so absent for policies, as JSON Pointers; at most 64.
    pub null_paths: Vec<String>,
    /// What of the arguments policies could not see, as JSON Pointers; at most 64.
    pub unmapped: Vec<String>,
    /// What each step said, in order.
    pub guardrails: Vec<Guardrail>,
    /// Every reason, the deciding one first.
    pub reasons: Vec<Reason>,
}

/// The registry's entry behind a ruling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegistryRef {
    /// Its authority.
    pub authority: Authority,
    /// Its labels.
    pub labels: BTreeSet<Label>,
    /// Its digest.
    pub digest: String,
}

/// A policy that determined an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyRef {
    /// Its id.
    pub id: String,
    /// Its file, as it was named when parsed.
    pub file: String,
    /// Its first line.
    pub line: usize,
    /// `permit` or `forbid`.
    pub effect: &'static str,
    /// The Cedar action that was asked.
    pub action: &'static str,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// One step of a ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Guardrail {
    /// `registry`, `arguments`, or `policy` and the Cedar action, such as `policy call`.
    pub name: &'static str,
    /// What it said.
    pub decision: Decision,
}

/// What a step of a ruling said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may go on.
    Allow,
    /// A person must decide.
    RequireApproval,
    /// The call must not run.
    Block,
}

/// The rules that decide. Each has a verdict, an id and, where it refuses, a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Unregistered,
    RegistryProhibits,
    Unfit,
    CannotWait,
    Unreadable,
    Unmapped,
    PolicyFault,
    PolicyForbids,
    NoPermit,
    RegistryAsks,
    PolicyAsks,
    PolicyRelaxes,
    Automatic,
}

impl Cause {
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Automatic | Self::PolicyRelaxes => Verdict::Automatic,
            Self::RegistryAsks | Self::PolicyAsks => Verdict::RequiresApproval,
            _ => Verdict::Prohibited,
        }
    }

    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Unregistered => "registry.absent",
            Self::RegistryProhibits => "registry.prohibited",
            Self::Unfit => "action.unfit",
            Self::CannotWait => "registry.cannot_wait",
            Self::Unreadable => "context.unreadable",
            Self::Unmapped => "context.unmapped",
            Self::PolicyFault => "policy.error",
            Self::PolicyForbids => "policy.forbid",
            Self::NoPermit => "policy.no_permit",
            Self::RegistryAsks => "registry.requires_approval",
            Self::PolicyAsks => "policy.attended",
            Self::PolicyRelaxes => "policy.relaxed",
            Self::Automatic => "automatic",
        }
    }

    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Unregistered => "AG-AUTHORITY-UNREGISTERED",
            Self::RegistryProhibits => "AG-AUTHORITY-PROHIBITED",
            Self::Unfit => "AG-AUTHORITY-ACTION",
            Self::CannotWait => "AG-AUTHORITY-CANNOT-WAIT",
            Self::Unreadable => "AG-AUTHORITY-UNREADABLE",
            Self::Unmapped => "AG-AUTHORITY-UNMAPPED",
            Self::PolicyFault => "AG-AUTHORITY-POLICY-ERROR",
            Self::PolicyForbids => "AG-AUTHORITY-FORBIDDEN",
            Self::NoPermit => "AG-AUTHORITY-NOT-PERMITTED",
            Self::RegistryAsks | Self::PolicyAsks => "AG-AUTHORITY-APPROVAL",
            Self::PolicyRelaxes | Self::Automatic => "AG-AUTHORITY-AUTOMATIC",
        }
    }

    pub(crate) fn reason(self, message: impl Into<String>) -> Reason {
        Reason { code: self.code(), rule: self.rule(), message: message.into() }
    }
}

impl Ruling {
    pub(crate) fn new(cause: Cause, read_only: bool, explanation: Explanation) -> Self {
        Self { cause, read_only, explanation }
    }

    /// What may happen with the call.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.cause.verdict()
    }

    /// The refusal's stable code; `None` unless the call is prohibited.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        (self.verdict() == Verdict::Prohibited).then(|| self.cause.code())
    }

    /// A short id of the rule that decided, such as `registry.prohibited`. It may leave the gateway.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.cause.rule()
    }

    /// Every reason, the deciding one first. They may name policies and so must not leave the gateway.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.explanation.reasons
    }

    /// Everything that the ruling rests on.
    #[must_use]
    pub fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// The ruling with what the server's annotations would imply beside it. The verdict does not change.
    #[must_use]
    pub fn with_implied(mut self, implied: Authority) -> Self {
        self.explanation.implied = Some(implied);
        self
    }

    /// The digest of the registry's entry; `None` for what is not registered.
    #[must_use]
    pub fn registry_digest(&self) -> Option<&str> {
        self.explanation.registry.as_ref().map(|entry| entry.digest.as_str())
    }

    /// The digest of the policies that could match; `None` where Cedar was not asked.
    #[must_use]
    pub fn policy_digest(&self) -> Option<&str> {
        self.explanation.policy_digest.as_deref()
    }

    /// Whether the registry says that it changes nothing.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.read_only
    }
}

impl PolicyRef {
    pub(crate) fn new(policy: &Policy, action: &'static str) -> Self {
        Self {
            id: policy.id.clone(),
            file: policy.file.clone(),
            line: policy.line,
            effect: if policy.is_forbid() { "forbid" } else { "permit" },
            action,
            annotations: policy.annotations.clone(),
        }
    }
}
