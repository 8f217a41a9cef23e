//! The sealed `requestState` that a client carries from one round of a call to the next.
//!
//! Source: MCP 2026-07-28, basic/patterns/mrtr: incoming state is hostile; inside it stand the principal, a short expiry
//! and a digest of what the request asks for, and each is verified.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use aldgate_authority::Principal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{ApprovalId, CallId, Timestamp};
use crate::seal::{NONCE_BYTES, SealKey};

const PREFIX: &str = "ag1.";
const PURPOSE: &str = "aldgate request state";

/// Why the client has to come back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An approval is pending.
    Approval {
        /// Which one.
        approval: ApprovalId,
        /// The call that waits for it.
        call: CallId,
    },
    /// The upstream asked for input in a round of a call.
    Relay {
        /// The call over all its rounds.
        call: CallId,
        /// The round that the client's answer begins, counted from 1.
        round: u32,
        /// The upstream that asked.
        upstream: String,
        /// The upstream's own state, to be given back as it was; `None` where it sent none.
        upstream_state: Option<String>,
        /// The schema of the answer for each form that was asked for; `None` for other kinds of requests.
        asked: BTreeMap<String, Option<Box<RawValue>>>,
        /// The approval that was redeemed for this call, where one was needed.
        approval: Option<String>,
    },
}

/// What the sealed state says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RequestState {
    /// Who may bring it back.
    pub tenant: String,
    /// Issuer and subject of the caller.
    pub principal: String,
    /// The authenticated client.
    pub client: String,
    /// The method of the request.
    pub method: String,
    /// The name in the request, as the client wrote it.
    pub name: String,
    /// Digest of the arguments.
    pub arguments: String,
    /// Until when it is good.
    pub expires_at: Timestamp,
    /// Why the client has to come back.
    pub purpose: Purpose,
}

/// Why a state is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateFault {
    /// Not ours, altered, or sealed with another key.
    #[error("the request state was not made by this gateway or was altered; start the call anew without it")]
    Foreign,
    /// Too old.
    #[error("the request state has expired; start the call anew without it")]
    Expired,
    /// It belongs to another request or to another caller.
    #[error(
        "the request state belongs to another {what}; send it only with the request that it was given for"
    )]
    Swapped {
        /// What differs: `caller`, `method`, `name` or `arguments`.
        what: &'static str,
    },
}

/// What a request must be for a state to be good for it.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// Who brings it.
    pub caller: &'a Principal,
    /// The method of the request.
    pub method: &'a str,
    /// The name in the request.
    pub name: &'a str,
    /// Digest of the arguments.
    pub arguments: &'a str,
}

impl RequestState {
    /// Seals the state into the text that the client gets.
    ///
    /// # Errors
    /// Where the cipher refuses.
    pub fn seal(&self, key: &SealKey, nonce: [u8; NONCE_BYTES]) -> Result<String, crate::SealFault> {
        let plain = serde_json::to_vec(self).map_err(|_| crate::SealFault::Cipher)?;
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(key.seal(PURPOSE, nonce, &plain)?)))
    }

    /// Opens a state and checks that it is good for the request that brings it.
    ///
    /// # Errors
    /// Where it was altered, has expired, or was given for another request or caller.
    pub fn open(
        text: &str,
        key: &SealKey,
        presented: Presented<'_>,
        now: Timestamp,
    ) -> Result<Self, StateFault> {
        let encoded = text.strip_prefix(PREFIX).ok_or(StateFault::Foreign)?;
        let sealed = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| StateFault::Foreign)?;
        let plain = key.open(PURPOSE, &sealed).map_err(|_| StateFault::Foreign)?;
        let state: Self = serde_json::from_slice(&plain).map_err(|_| StateFault::Foreign)?;
        if now >= state.expires_at {
            return Err(StateFault::Expired);
        }
        let caller = presented.caller;
        let same_caller =
            state.tenant == caller.tenant && state.principal == caller.id() && state.client == caller.client;
        let checks = [
            ("caller", same_caller),
            ("method", state.method == presented.method),
            ("name", state.name == presented.name),
            ("arguments", state.arguments == presented.arguments),
        ];
        match checks.into_iter().find(|(_, same)| !same) {
            Some((what, _)) => Err(StateFault::Swapped { what }),
            None => Ok(state),
        }
    }
}
