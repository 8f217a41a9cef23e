//! The sealed `requestState`: authenticated, short-lived, and bound to what was asked.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// How long a person has to decide.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Everything that must be equal when the answer comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding<'a> {
    pub(crate) principal: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    /// The terms that the person was shown: price and account.
    pub(crate) terms: &'a str,
}

/// Seals and opens states.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    codec: RequestStateCodec,
    lifetime: Duration,
}

/// The nonce names one exchange: all rounds of a call carry the same one, and it is spent once.
#[derive(Serialize, Deserialize)]
struct State {
    nonce: String,
}

impl Seal {
    pub(crate) fn new(key: &[u8; 32]) -> Result<Seal, RequestStateError> {
        Ok(Seal { codec: RequestStateCodec::try_new(key.to_vec())?, lifetime: LIFETIME })
    }

    #[cfg(test)]
    pub(crate) fn with_lifetime(self, lifetime: Duration) -> Seal {
        Seal { lifetime, ..self }
    }

    pub(crate) fn seal(&self, nonce: &str, binding: &Binding<'_>) -> Result<String, RequestStateError> {
        let bound = binding.bytes();
        let options = SealOptions::new().associated_data(&bound).ttl(self.lifetime);
        self.codec.seal_json_with(&State { nonce: nonce.to_owned() }, &options)
    }

    /// The nonce of a state that this server sealed for exactly this binding and that has not expired.
    pub(crate) fn open(&self, sealed: &str, binding: &Binding<'_>) -> Result<String, RequestStateError> {
        Ok(self.codec.open_json_with::<State>(sealed, &binding.bytes())?.nonce)
    }
}

impl Binding<'_> {
    /// A digest with lengths, so that no two bindings give the same bytes. Arguments are in the order of their names.
    fn bytes(&self) -> Vec<u8> {
        let arguments: BTreeMap<&String, &Value> = self.arguments.iter().collect();
        let arguments = serde_json::to_string(&arguments).unwrap_or_default();
        let mut digest = Sha256::new();
        for part in ["raise_parts_order/1", self.principal, self.tool, &arguments, self.terms] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
        digest.finalize().to_vec()
    }
}
