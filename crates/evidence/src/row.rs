//! One row of evidence.

use std::borrow::Cow;
use std::sync::Arc;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::Principal;
use aldgate_store::NewRow;
use aws_lc_rs::hmac;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The host answered by itself (discover, lists).
    Answer,
    /// A call is about to be dispatched.
    Intent,
    /// How a dispatched call ended.
    Outcome,
    /// A request was refused.
    Refusal,
    /// An approval was asked for.
    ApprovalAsked,
    /// A person decided.
    ApprovalDecided,
    /// A contract is not the pinned one, or its quarantine ended.
    Drift,
    /// Somebody signed in or let a client do something; an account, a client or a key was changed.
    Identity,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Answer,
        Self::Intent,
        Self::Outcome,
        Self::Refusal,
        Self::ApprovalAsked,
        Self::ApprovalDecided,
        Self::Drift,
        Self::Identity,
    ];

    /// The word that is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Refusal => "refusal",
            Self::ApprovalAsked => "approval_asked",
            Self::ApprovalDecided => "approval_decided",
            Self::Drift => "drift",
            Self::Identity => "identity",
        }
    }
}

/// One row of evidence. Members that say nothing are left out of its JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// When.
    pub at: Timestamp,
    /// What the row says.
    pub kind: Kind,
    /// The call, over all its rounds.
    pub call: CallId,
    /// The round of the call, from 0.
    #[serde(default)]
    pub round: u32,
    /// Who called, or who decided.
    pub principal: Arc<Principal>,
    /// The method of the request.
    pub method: Cow<'static, str>,
    /// The tool as `upstream/tool`, or the name that was asked for where there is no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// Digest of the pinned contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Arc<str>>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract_version: Option<u32>,
    /// `automatic`, `requires_approval` or `prohibited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Cow<'static, str>>,
    /// Why it was ruled so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Arc<RawValue>>,
    /// The approval that is asked for, decided or redeemed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// `complete`, `tool_error`, `input_required`, `rpc_error`, `failed`, `cancelled`, `unknown`; for a decision `approve` or `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'static, str>>,
    /// The stable code of a refusal or failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'static, str>>,
    /// In words, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// HMAC-SHA-256 of the argument bytes under the row's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// HMAC-SHA-256 of the client's answers to what an upstream asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responses: Option<String>,
    /// HMAC-SHA-256 of the result bytes under the row's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether the result did not fit the pinned output schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub violation: bool,
    /// What became of a contract: how grave the change is, the digests before and after, and the diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Arc<RawValue>>,
    /// Milliseconds from dispatch to outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The trace that the call belongs to, a W3C `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl Row {
    /// A row with what every row has.
    #[must_use]
    pub fn new(
        kind: Kind,
        at: Timestamp,
        call: CallId,
        principal: Arc<Principal>,
        method: &'static str,
    ) -> Self {
        Self {
            at,
            kind,
            call,
            round: 0,
            principal,
            method: Cow::Borrowed(method),
            tool: None,
            contract: None,
            contract_version: None,
            ruling: None,
            explanation: None,
            approval: None,
            outcome: None,
            code: None,
            detail: None,
            arguments: None,
            responses: None,
            result: None,
            violation: false,
            drift: None,
            took_ms: None,
            trace: None,
        }
    }

    /// Why it was ruled so, to be looked into.
    #[must_use]
    pub fn explained(&self) -> Option<Value> {
        serde_json::from_str(self.explanation.as_deref()?.get()).ok()
    }

    /// The row as the store takes it.
    ///
    /// # Errors
    /// Where it does not serialise.
    pub fn to_stored(&self, digest_key: Option<[u8; 16]>) -> Result<NewRow, serde_json::Error> {
        Ok(NewRow {
            at: self.at.0,
            tenant: self.principal.tenant.clone(),
            call: self.call.to_string(),
            round: self.round,
            kind: self.kind.as_str(),
            tool: self.tool.clone(),
            digest_key,
            body: serde_json::to_string(self)?,
        })
    }
}

/// Digests of content under a key of the row's own: with the key erased nobody can test a guess against them.
pub struct Digests {
    key: [u8; 16],
    /// Boxed: it is larger than all that it stands beside.
    hmac: Box<hmac::Key>,
}

impl Digests {
    /// Digests under `key`, 16 fresh random bytes.
    #[must_use]
    pub fn new(key: [u8; 16]) -> Self {
        Self { key, hmac: Box::new(hmac::Key::new(hmac::HMAC_SHA256, &key)) }
    }

    /// The key, for the store.
    #[must_use]
    pub fn key(&self) -> [u8; 16] {
        self.key
    }

    /// `hmac-sha256:<hex>` of `content`.
    #[must_use]
    pub fn of(&self, content: &[u8]) -> String {
        format!("hmac-sha256:{}", hex::encode(hmac::sign(&self.hmac, content)))
    }
}
